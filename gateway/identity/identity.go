// Package identity says who a caller is, what it may do and how much. It has values only: package
// authn identifies callers.
package identity

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Kinds of callers, for messages, logs and the audit log.
const (
	KindToken       = "token"
	KindUser        = "user"
	KindCertificate = "certificate"
	KindPerson      = "person"  // of the domain, at the pages
	KindGateway     = "gateway" // the gateway itself
)

// ID identifies a caller in stored data and counts. It is comparable.
type ID struct {
	Kind string `json:"kind"` // KindToken or another kind
	ID   string `json:"id"`   // of the account, or the SID of a person
}

// String returns the ID as text: "token 4f0c".
func (id ID) String() string { return id.Kind + " " + id.ID }

// Principal is an authenticated caller. It is not changed after its creation; its
// quota is counted by [Principal.Enter] and [Principal.Spend].
type Principal struct {
	ID      string // of the account, or the SID of a person; never reused; empty for static accounts
	Name    string // of the user or the token, never the token itself
	Kind    string // KindToken or another kind
	Scopes  []Scope
	Limits  Limits
	Dialect Dialect

	SecretsInQuery bool // passwords may stand in the query

	RequireGuard []Scope // whose changes must have a guard

	Expires time.Time // zero: never

	Quota     *Quota // of its own; nil: the default of everything
	Uncounted bool   // no quota applies, not even the default

	gauge *gauge // see [Meters.Of]; nil: nothing is counted
}

// Identity returns the ID of the caller. An account of the sandbox has no id and goes by
// its name.
func (p *Principal) Identity() ID {
	return ID{Kind: p.Kind, ID: cmp.Or(p.ID, p.Name)}
}

// String names the principal in messages: "token 'portal'".
func (p *Principal) String() string {
	return fmt.Sprintf("%s '%s'", cmp.Or(p.Kind, "credential"), p.Name)
}

// Has reports whether the principal has the scope, directly or through [All], which does not imply
// those that are [Scope.Apart].
func (p *Principal) Has(scope Scope) bool {
	return slices.Contains(p.Scopes, scope) || !scope.Apart() && slices.Contains(p.Scopes, All)
}
