// Package auth authenticates callers and knows what they may do.
//
// A request carries one credential, a bearer token or a user's name and password,
// in one of two headers (see [Header]). An [Authenticator] turns it into a
// [Principal] with scopes, limits and quotas, or into a [*Refusal] with the status
// to respond with. [Static] has fixed tokens and users, for the sandbox; [Store]
// follows a file of [Account]s; [Chain] combines the two.
package auth

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/nearest"
)

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
		UserRead, UserWrite, UserPassword, UserDelete,
		GroupRead, GroupWrite, GroupDelete,
		MemberRead, MemberWrite,
		OURead, OUWrite, OUDelete, OUDeleteTree,
		ComputerRead, ComputerWrite, ComputerDelete, ComputerBulkDelete,
		BinRead, BinRestore, ChangeRead, ChangeUndo, JobRead, JobSubmit, OpsRead, Privileged, All,
	}
}

// ParseScopes parses names of scopes. The error names every unknown one with the
// nearest known one, and all known scopes.
func ParseScopes(names []string) ([]Scope, error) {
	var scopes []Scope
	var unknown []string
	for _, name := range names {
		scope := Scope(strings.TrimSpace(name))
		if !slices.Contains(Scopes(), scope) {
			unknown = append(unknown, fmt.Sprintf("%q%s", name, meant(name)))
			continue
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("unknown scope %s; known are %s", strings.Join(unknown, ", "), join(Scopes()))
	}
	return scopes, nil
}

// meant suggests the scope nearest to a misspelt one.
func meant(name string) string {
	known := make([]string, len(Scopes()))
	for i, scope := range Scopes() {
		known[i] = string(scope)
	}
	best := nearest.Of(name, known)
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

func join(scopes []Scope) string {
	names := make([]string, len(scopes))
	for i, scope := range scopes {
		names[i] = string(scope)
	}
	return strings.Join(names, " ")
}

// Deletes reports whether the scope permits removing objects, and whether one
// request with it may remove many.
func (s Scope) Deletes() (deletes, many bool) {
	_, verb, _ := strings.Cut(string(s), ":")
	return strings.Contains(verb, "delete"), strings.Contains(verb, "delete-") || strings.Contains(verb, "-delete")
}

// Limits restrict what a principal sees and changes. An empty list means no limit.
type Limits struct {
	OUs    []string `json:"ous,omitempty"`    // distinguished names, each including everything below
	Zones  []string `json:"zones,omitempty"`  // DNS zone names
	Groups []string `json:"groups,omitempty"` // sAMAccountNames, distinguished names or GUIDs of groups
	Names  []string `json:"names,omitempty"`  // DNS names whose records, and those below, may be changed
}

// Dialect is the shape of the responses that a client expects.
type Dialect string

// The dialects; empty means the server's default.
const (
	Standard Dialect = "standard"
	Classic  Dialect = "classic"
)

// Principal is an authenticated caller. It is not changed after its creation; its
// quota is counted by [Principal.Enter] and [Principal.Spend].
type Principal struct {
	ID      string // of the account, never reused; empty for static accounts
	Name    string // of the user or the token, never the token itself
	Kind    string // KindToken, KindUser or KindCertificate
	Scopes  []Scope
	Limits  Limits
	Dialect Dialect

	SecretsInQuery bool // passwords may stand in the query

	RequireGuard []Scope // whose changes must have a guard

	Expires time.Time // zero: never

	Quota     *Quota // of its own; nil: the default of everything
	Uncounted bool   // no quota applies, not even the default

	meter *meter // see [Meters.Of]; nil: nothing is counted
}

// Key identifies the caller in what is counted: accounts of the sandbox have no ID.
func (p *Principal) Key() string {
	return cmp.Or(p.ID, p.Kind+" "+p.Name)
}

// String names the principal in messages: "token 'portal'".
func (p *Principal) String() string {
	return fmt.Sprintf("%s '%s'", cmp.Or(p.Kind, "credential"), p.Name)
}

// Has reports whether the principal has the scope, directly or through [All].
func (p *Principal) Has(scope Scope) bool {
	return slices.Contains(p.Scopes, scope) || slices.Contains(p.Scopes, All)
}
