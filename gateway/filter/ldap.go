package filter

import (
	"strings"

	"github.com/go-ldap/ldap/v3"
)

// clause is one part of an LDAP filter.
type clause struct {
	join  byte // '&', '|' or '!'; 0 for a comparison or a placeholder
	subs  []*clause
	attr  string
	rule  string   // operator of a comparison: "=", ">=", "<=", or a matching rule between colons
	parts []string // the value; several parts are substrings with any text between them
	ref   string   // placeholder for the value or, if attr is empty, for the whole clause
}

// bitRule is the matching rule that compares the bits of a number.
const bitRule = ":1.2.840.113556.1.4.803:="

func join(op byte, subs ...*clause) *clause { return &clause{join: op, subs: subs} }

func negation(c *clause) *clause { return join('!', c) }

func compare(attr, rule string, parts ...string) *clause {
	return &clause{attr: attr, rule: rule, parts: parts}
}

func present(attr string) *clause { return compare(attr, "=", "", "") }

func refer(attr, rule, ref string) *clause { return &clause{attr: attr, rule: rule, ref: ref} }

// segments renders the filter, with placeholders at the odd indexes.
func (c *clause) segments() []string {
	all := []string{""}
	c.render(&all)
	return all
}

func (c *clause) render(all *[]string) {
	write := func(text string) { (*all)[len(*all)-1] += text }
	switch {
	case c.join != 0:
		write("(" + string(c.join))
		for _, sub := range c.subs {
			sub.render(all)
		}
		write(")")
	case c.attr == "":
		*all = append(*all, c.ref, "")
	case c.ref != "":
		write("(" + c.attr + c.rule)
		*all = append(*all, c.ref, ")")
	default:
		escaped := make([]string, len(c.parts))
		for i, part := range c.parts {
			escaped[i] = ldap.EscapeFilter(part)
		}
		write("(" + c.attr + c.rule + strings.Join(escaped, "*") + ")")
	}
}
