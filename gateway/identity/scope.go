package identity

import "strings"

// Scope is a right of an account. Operations require scopes.
type Scope string

// The scopes. A write scope does not imply the read scope. [All] implies every scope that is not
// [Scope.Apart].
const (
	DNSRead            Scope = "dns:read"
	DNSWrite           Scope = "dns:write"
	DNSDelete          Scope = "dns:delete"
	DNSAcme            Scope = "dns:acme"
	UserRead           Scope = "user:read"
	UserWrite          Scope = "user:write"
	UserPassword       Scope = "user:password"
	UserDelete         Scope = "user:delete"
	UserDeleteTree     Scope = "user:delete-tree"
	UserLockouts       Scope = "user:lockouts"
	GroupRead          Scope = "group:read"
	GroupWrite         Scope = "group:write"
	GroupDelete        Scope = "group:delete"
	MemberRead         Scope = "member:read"
	MemberWrite        Scope = "member:write"
	OURead             Scope = "ou:read"
	OUWrite            Scope = "ou:write"
	OUDelete           Scope = "ou:delete"
	OUDeleteTree       Scope = "ou:delete-tree"
	ComputerRead       Scope = "computer:read"
	ComputerWrite      Scope = "computer:write"
	ComputerDelete     Scope = "computer:delete"
	ComputerDeleteTree Scope = "computer:delete-tree"
	ComputerBulkDelete Scope = "computer:bulk-delete"
	LapsReveal         Scope = "laps:reveal"
	LapsExpire         Scope = "laps:expire"
	RecoveryList       Scope = "recovery:list"
	RecoveryReveal     Scope = "recovery:reveal"
	BinRead            Scope = "bin:read"
	BinRestore         Scope = "bin:restore"
	ChangeRead         Scope = "change:read"
	ChangeUndo         Scope = "change:undo"
	JobRead            Scope = "job:read"
	JobSubmit          Scope = "job:submit"
	OpsRead            Scope = "ops:read"

	// Privileged is required in addition to an operation's own scope to change objects that protect
	// the domain: adminCount=1, built-in groups, domain controllers.
	Privileged Scope = "privileged"

	All Scope = "*"
)

// Scopes returns all scopes in documentation order, [All] last.
func Scopes() []Scope {
	return []Scope{
		DNSRead, DNSWrite, DNSDelete, DNSAcme,
		UserRead, UserWrite, UserPassword, UserDelete, UserDeleteTree, UserLockouts,
		GroupRead, GroupWrite, GroupDelete,
		MemberRead, MemberWrite,
		OURead, OUWrite, OUDelete, OUDeleteTree,
		ComputerRead, ComputerWrite, ComputerDelete, ComputerDeleteTree, ComputerBulkDelete,
		LapsReveal, LapsExpire, RecoveryList, RecoveryReveal,
		BinRead, BinRestore, ChangeRead, ChangeUndo, JobRead, JobSubmit, OpsRead, Privileged, All,
	}
}

// Apart reports whether [All] excludes the scope, which must then be granted by name. Such a scope
// reveals data that gives rights outside the directory.
func (s Scope) Apart() bool {
	switch s {
	case LapsReveal, LapsExpire, RecoveryList, RecoveryReveal:
		return true
	}
	return false
}

// Everything returns [All] and the scopes that it does not imply.
func Everything() []Scope {
	every := []Scope{All}
	for _, scope := range Scopes() {
		if scope.Apart() {
			every = append(every, scope)
		}
	}
	return every
}

// Deletes reports whether the scope permits removing objects, and whether it permits removing many objects
// with a single request.
func (s Scope) Deletes() (deletes, many bool) {
	_, verb, _ := strings.Cut(string(s), ":")
	return strings.Contains(verb, "delete"),
		strings.Contains(verb, "delete-") || strings.Contains(verb, "-delete")
}
