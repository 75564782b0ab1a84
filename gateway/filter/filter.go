// Package filter is the language in which clients say which objects of the directory
// they want.
//
// It is a subset of the filters of SCIM (RFC 7644, 3.4.2.2):
//
//	filter  = or ;  or = and *( "or" and ) ;  and = term *( "and" term )
//	term    = [ "not" ] "(" filter ")" | field "pr" | field op value
//	op      = eq | ne | co | sw | ew | gt | ge | lt | le
//	value   = JSON string | true | false | integer
//
// [Parse] checks a filter against the fields of a [Class], and [Expr.Compile] turns it
// into an LDAP filter. What only the script that searches can know, such as the
// distinguished name of a group, is left open in it (see [Search]). [ParseText] and
// [Text.Clause] do the same for what people type into a search box.
package filter

import (
	"fmt"
	"strings"
)

// The limits on a filter.
const (
	MaxLength      = 2000 // in characters
	MaxComparisons = 30
	MaxDepth       = 8 // counted are parentheses and "not"
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
	Position int    // of the token, in characters from 1; 0: the filter as a whole
	Token    string // as it was written, shortened; empty: the end of the filter
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

// Expr is a filter that was checked against a class.
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
	value value // none for Present
	at    token // the field's name
}

// value is the value of a comparison, by the type of its field.
type value struct {
	text string // also of references and words
	yes  bool
	when when
}

// Search is an LDAP filter for a script.
type Search struct {
	// Filter has text at even places. At odd ones it has what the script replaces by
	// text: a word, a colon and a value.
	//
	//	user:NAME     the distinguished name of a user
	//	account:NAME  that of a user or a group
	//	present:ATTR  a filter for objects whose attribute names one that the caller may know of
	//	member:NAME   a filter for the members of a group
	//	nested:NAME   one for its members at any depth
	//	age:TICKS     a file time earlier by the shortest maximum age of a password
	//	stale:file    when objects that are stale now were last seen, as a file time
	//	stale:time    the same as a generalized time
	//	common:       a filter for the groups that are the primary group of most accounts
	Filter []string

	// Checks are conditions on the objects found that no LDAP filter can have, all of
	// which must hold.
	//
	//	locked             the account is locked out now
	//	expires:FROM:TO    its password expires between two file times, inclusive
	//	empty              no account has the group as its primary group
	Checks []string

	// Slow is the field that makes the directory read all objects of the class; empty: none.
	Slow string
}

// shorten makes a token safe to be repeated in an answer.
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
