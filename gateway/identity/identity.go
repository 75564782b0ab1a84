// Package identity describes callers: their identities, their rights and their quotas. It only has values;
// package authn identifies callers.
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
	KindPerson      = "person"  // of the domain, on the pages
	KindGateway     = "gateway" // the gateway itself
)

// ID identifies a caller in stored data and in counts. It is comparable.
type ID struct {
	Kind string `json:"kind"` // KindToken or another kind
	ID   string `json:"id"`   // id of the account, or SID of the person
}

// String returns the ID as text: "token 4f0c".
func (id ID) String() string { return id.Kind + " " + id.ID }

// Principal is an authenticated caller. It must not be changed after its creation.
// [Principal.Enter] and [Principal.Spend] count against its quota.
type Principal struct {
	ID      string // id of the account, or SID of the person; never reused; empty for static accounts
	Name    string // name of the user or the token, never the token itself
	Kind    string // KindToken or another kind
	Scopes  []Scope
	Limits  Limits
	Dialect Dialect

	SecretsInQuery bool // passwords may be sent in the query

	RequireGuard []Scope // scopes whose changes must have a guard

	Expires time.Time // zero for never

	Quota     *Quota // its own quota; nil means the default for everyone
	Uncounted bool   // no quota applies, not even the default

	gauge *gauge // see [Meters.Of]; nil if nothing is counted
}

// Identity returns the ID of the caller. An account of the sandbox has no id and is identified by
// its name.
func (p *Principal) Identity() ID {
	return ID{Kind: p.Kind, ID: cmp.Or(p.ID, p.Name)}
}

// String names the principal in messages: "token 'portal'".
func (p *Principal) String() string {
	return fmt.Sprintf("%s '%s'", cmp.Or(p.Kind, "credential"), p.Name)
}

// Has reports whether the principal has the scope, directly or through [All]. All does not imply
// scopes that are [Scope.Apart].
func (p *Principal) Has(scope Scope) bool {
	return slices.Contains(p.Scopes, scope) || !scope.Apart() && slices.Contains(p.Scopes, All)
}
