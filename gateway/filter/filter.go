// Package filter implements the language in which clients describe the directory objects that they
// want.
//
// It is a subset of the SCIM filter language (RFC 7644, 3.4.2.2):
//
//	filter  = or ;  or = and *( "or" and ) ;  and = term *( "and" term )
//	term    = [ "not" ] "(" filter ")" | field "pr" | field op value
//	op      = eq | ne | co | sw | ew | gt | ge | lt | le
//	value   = JSON string | true | false | integer
//
// [Parse] checks a filter against the fields of a [Class], and [Expr.Compile] turns it into an LDAP filter.
// For facts that only the searching script can know, such as the distinguished name of a group, the LDAP
// filter contains placeholders (see [Search]). [ParseText] and [Text.Clause] do the same for texts that
// people type into a search box.
package filter

import (
	"fmt"
	"strings"
)

// The limits on a filter.
const (
	MaxLength      = 2000 // in characters
	MaxComparisons = 30
	MaxDepth       = 8 // parentheses and "not" are counted
)

// Op is an operator.
type Op string

// The operators.
const (
	Equal        Op = "eq"
	NotEqual     Op = "ne"
	Contains     Op = "co"
	StartsWith   Op = "sw"
	EndsWith     Op = "ew"
	Greater      Op = "gt"
	GreaterEqual Op = "ge"
	Less         Op = "lt"
	LessEqual    Op = "le"
	Present      Op = "pr"
)

// Error is a fault of a filter.
type Error struct {
	Position int    // position of the token, in characters from 1; 0 for the filter as a whole
	Token    string // the token as it was written, shortened; empty at the end of the filter
	Message  string
}

func (e *Error) Error() string {
	switch {
	case e.Position == 0:
		return e.Message
	case e.Token == "":
		return fmt.Sprintf("is wrong at its end, position %d: %s", e.Position, e.Message)
	default:
		return fmt.Sprintf("is wrong at position %d, at '%s': %s", e.Position, e.Token, e.Message)
	}
}

// Expr is a filter that has been checked against a class.
type Expr struct{ root *node }

type nodeKind uint8

const (
	comparison nodeKind = iota
	and
	or
	not
)

// node is one part of a filter.
type node struct {
	kind  nodeKind
	subs  []*node
	field *field
	op    Op
	value value // unset for Present
	at    token // the field's name
}

// value is the value of a comparison, by the type of its field.
type value struct {
	text string // also used for references and words
	yes  bool
	when when
}

// Search is an LDAP filter for a script.
type Search struct {
	// Filter has text at even indexes, and placeholders at odd ones, which the script replaces by
	// text. A placeholder is a word, a colon and a value.
	//
	//	user:NAME     the distinguished name of a user
	//	account:NAME  the distinguished name of a user or a group
	//	present:ATTR  a filter for objects whose attribute names an object that the caller may know
	//	member:NAME   a filter for the members of a group
	//	nested:NAME   a filter for the members of a group at any depth
	//	age:TICKS     a file time earlier by the shortest maximum password age
	//	stale:file    the time when objects that are stale now were last seen, as a file time
	//	stale:time    the same as a generalized time
	//	common:       a filter for the groups that are the primary group of most accounts
	Filter []string

	// Checks are conditions on the objects found that cannot be expressed in LDAP. All of them must
	// hold.
	//
	//	locked             the account is currently locked out
	//	expires:FROM:TO    its password expires between two file times, inclusive
	//	empty              no account has the group as its primary group
	Checks []string

	// Slow is the field that makes the directory read all objects of the class, or "" if no field does.
	Slow string
}

// shorten shortens a token so that an answer can repeat it.
func shorten(token string) string {
	const most = 40
	shown := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, token)
	if runes := []rune(shown); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return shown
}
