package identity

import "strings"

// Scope is a right of an account. Every operation requires one.
type Scope string

// The scopes. A write scope does not imply the read scope; [All] implies every scope.
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
	BinRead            Scope = "bin:read"
	BinRestore         Scope = "bin:restore"
	ChangeRead         Scope = "change:read"
	ChangeUndo         Scope = "change:undo"
	JobRead            Scope = "job:read"
	JobSubmit          Scope = "job:submit"
	OpsRead            Scope = "ops:read"

	// Privileged is required in addition to an operation's own scope to change what
	// protects the domain: adminCount=1, built-in groups, domain controllers.
	Privileged Scope = "privileged"

	All Scope = "*"
)

// Scopes returns every scope in the order of the documentation, [All] last.
func Scopes() []Scope {
	return []Scope{
		DNSRead, DNSWrite, DNSDelete, DNSAcme,
		UserRead, UserWrite, UserPassword, UserDelete, UserDeleteTree,
		GroupRead, GroupWrite, GroupDelete,
		MemberRead, MemberWrite,
		OURead, OUWrite, OUDelete, OUDeleteTree,
		ComputerRead, ComputerWrite, ComputerDelete, ComputerDeleteTree, ComputerBulkDelete,
		BinRead, BinRestore, ChangeRead, ChangeUndo, JobRead, JobSubmit, OpsRead, Privileged, All,
	}
}

// Deletes reports whether the scope permits removing objects, and whether one
// request with it may remove many.
func (s Scope) Deletes() (deletes, many bool) {
	_, verb, _ := strings.Cut(string(s), ":")
	return strings.Contains(verb, "delete"), strings.Contains(verb, "delete-") || strings.Contains(verb, "-delete")
}
