package filter

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits on a text.
const (
	MinText = 2
	MaxText = 64
)

// Text is what somebody types to find objects.
type Text struct{ text string } // its words, with one blank between them

// ParseText checks a text. The error is a clause that continues a sentence about it.
func ParseText(s string) (*Text, error) {
	t := &Text{strings.Join(strings.Fields(s), " ")}
	switch n := utf8.RuneCountInString(t.text); {
	case n < MinText || n > MaxText:
		return nil, fmt.Errorf("must have %d to %d characters", MinText, MaxText)
	case t.text[0] == '=' || t.text[0] == '*':
		return nil, fmt.Errorf("must not begin with %c: what begins with the text is found anyway", t.text[0])
	}
	return t, nil
}

func (t *Text) String() string { return t.text }

// Clause returns an LDAP filter for the objects of a class that begin with the text in
// one of the attributes that people are searched by. It says more than anr does, and
// what switches of the forest may take from anr (facts S2, S5, S6).
func (t *Text) Clause(class *Class) string {
	begins := func(attr, s string) *clause { return compare(attr, "=", s, "") }
	any := join('|', compare("anr", "=", t.text))
	switch class {
	case Computers:
		if host, _, dotted := strings.Cut(t.text, "."); dotted && host != "" {
			any.subs = append(any.subs, begins("name", host)) // dNSHostName has no index
		}
	case Groups:
		any.subs = append(any.subs, begins("mail", t.text))
	default:
		any.subs = append(any.subs, begins("mail", t.text), begins("userPrincipalName", t.text))
		if strings.ContainsFunc(t.text, unicode.IsDigit) && !strings.Contains(t.text, " ") {
			any.subs = append(any.subs, compare("employeeID", "=", t.text))
		}
		first, last := strings.Index(t.text, " "), strings.LastIndex(t.text, " ")
		for i, at := range []int{first, last} {
			if at < 0 || i == 1 && first == last {
				continue
			}
			a, b := t.text[:at], t.text[at+1:]
			any.subs = append(any.subs,
				join('&', begins("givenName", a), begins("sn", b)), join('&', begins("givenName", b), begins("sn", a)))
		}
	}
	return strings.Join(any.segments(), "")
}
