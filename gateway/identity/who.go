package identity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Who is a caller in stored data: its ID, and its name for people. Names may be reused, so
// [Who.Identity] distinguishes callers.
type Who struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // empty if stored by an earlier version
	// id of the account; empty if there is none, or if stored by an earlier version
	ID string `json:"id,omitempty"`
}

// Who returns the caller in the form for stored data.
func (p *Principal) Who() Who { return Who{Name: p.Name, Kind: p.Kind, ID: p.ID} }

// Identity returns the ID of the caller. An account of the sandbox has no id and is identified by
// its name.
func (w Who) Identity() ID { return ID{Kind: w.Kind, ID: cmp.Or(w.ID, w.Name)} }

// Kinds returns the kinds of callers.
func Kinds() []string { return []string{KindToken, KindUser, KindCertificate, KindPerson, KindGateway} }

// Reference selects callers by name or by id, and optionally only callers of one kind.
type Reference struct {
	kind  string // empty for any
	text  string // a name or an id
	exact bool   // whether text is an id
}

// ParseReference parses "portal", "token:portal", "4f0c" or "token:4f0c", and "token::4f0c", which
// is never a name. Names and ids contain no colons.
func ParseReference(text string) (Reference, error) {
	kind, rest, qualified := strings.Cut(text, ":")
	if !qualified {
		return Reference{text: text}, nil
	}
	if kind = strings.ToLower(kind); !slices.Contains(Kinds(), kind) {
		return Reference{}, fmt.Errorf(
			"names the kind '%s', which no caller has: write a name, an id, or one of %s "+
				"and a colon before it", kind, strings.Join(Kinds(), ", "))
	}
	rest, exact := strings.CutPrefix(rest, ":")
	if rest == "" {
		return Reference{}, fmt.Errorf("has no name or id after '%s:'", kind)
	}
	return Reference{kind: kind, text: rest, exact: exact}, nil
}

// ReferenceTo returns the reference to exactly one caller.
func ReferenceTo(id ID) string { return id.Kind + "::" + id.ID }

// Means reports whether the reference selects a caller. A stored caller without an id is selected
// by name alone.
func (r Reference) Means(w Who) bool {
	if r.exact {
		return ID{Kind: r.kind, ID: r.text} == w.Identity()
	}
	return (r.kind == "" || r.kind == w.Kind) &&
		(strings.EqualFold(r.text, w.Name) || w.ID != "" && r.text == w.ID)
}

// Unqualified reports whether the reference is a text without a kind, which may be the name of
// several callers.
func (r Reference) Unqualified() bool { return r.kind == "" }
