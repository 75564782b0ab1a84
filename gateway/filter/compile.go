package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// form is the type of a field's values: their syntax, and the compilation of comparisons with them.
type form interface {
	about() string // description for people
	parse(op Op, t *token) (value, string)
	compile(n *node, at moment) (*clause, []string)
}

// moment is the time when a search begins.
type moment struct{ now time.Time }

// parse reads the value of a comparison.
func (f *field) parse(op Op, t *token) (value, *Error) {
	v, problem := f.form.parse(op, t)
	if problem != "" {
		return v, t.wrong(f.name + " " + problem)
	}
	return v, nil
}

// Compile turns the filter into an LDAP filter for a search that begins now.
func (e *Expr) Compile(now time.Time) *Search {
	s := &Search{Slow: slow(e.root)}
	s.Filter = s.compile(e.root, moment{now.UTC()}).segments()
	return s
}

func (s *Search) compile(n *node, at moment) *clause {
	switch n.kind {
	case comparison:
		c, checks := n.field.form.compile(n, at)
		s.Checks = append(s.Checks, checks...)
		return c
	case not:
		return negation(s.compile(n.subs[0], at))
	}
	c := &clause{join: '&'}
	if n.kind == or {
		c.join = '|'
	}
	for _, sub := range n.subs {
		c.subs = append(c.subs, s.compile(sub, at))
	}
	return c
}

// Links reports whether the filter tests memberships, whose reading needs a separate right.
func (e *Expr) Links() bool {
	var asks func(n *node) bool
	asks = func(n *node) bool {
		return n.kind == comparison && n.field.links || slices.ContainsFunc(n.subs, asks)
	}
	return asks(e.root)
}

// slow returns "" if an index limits what a filter can match, which requires an indexed condition that every
// match fulfills (facts S12). Otherwise it returns the first field of the filter.
func slow(n *node) string {
	first := ""
	var visit func(n *node, top bool) bool
	visit = func(n *node, top bool) bool {
		if n.kind == comparison {
			if first == "" {
				first = n.field.name
			}
			return top && n.field.indexed && n.op != NotEqual && n.op != Present && n.op != Contains &&
				n.op != EndsWith
		}
		seeks := false
		for _, sub := range n.subs {
			seeks = visit(sub, top && n.kind == and) || seeks
		}
		return seeks
	}
	if visit(n, true) {
		return ""
	}
	return first
}

// textOf returns the value of a token that must be a string. The second result is a problem, or "".
func textOf(t *token) (string, string) {
	switch {
	case t.kind != tokenText:
		return "", `must be compared with text in double quotes: "Sales"`
	case t.text == "":
		return "", `cannot be compared with an empty text: use "pr" to test whether there is a value, ` +
			`as in not (mail pr)`
	default:
		return t.text, ""
	}
}

type textForm struct{}

func (textForm) about() string { return "text" }

// leastInside is the minimum length, in characters, of a text that is searched for inside of values.
const leastInside = 3

func (textForm) parse(op Op, t *token) (value, string) {
	s, problem := textOf(t)
	if problem == "" && (op == Contains || op == EndsWith) && utf8.RuneCountInString(s) < leastInside {
		problem = fmt.Sprintf("needs at least %d characters with %s", leastInside, op)
	}
	return value{text: s}, problem
}

func (textForm) compile(n *node, _ moment) (*clause, []string) {
	attr, s := n.field.attr, n.value.text
	switch n.op {
	case Present:
		return present(attr), nil
	case NotEqual:
		return negation(compare(attr, "=", s)), nil
	case StartsWith:
		return compare(attr, "=", s, ""), nil
	case Contains:
		return compare(attr, "=", "", s, ""), nil
	case EndsWith:
		return compare(attr, "=", "", s), nil
	default:
		return compare(attr, "=", s), nil
	}
}

// Attributes and bits that several fields share.
const (
	accountControl = "userAccountControl"
	neverExpires   = "65536"
	smartcard      = "262144"
	groupType      = "groupType"
	securityGroup  = "2147483648"
	passwordSet    = "pwdLastSet"
	lastLogon      = "lastLogonTimestamp"
)

// boolean reads true or false.
func boolean(t *token) (value, string) {
	switch {
	case t.is("true"):
		return value{yes: true}, ""
	case t.is("false"):
		return value{}, ""
	default:
		return value{}, "must be compared with true or false, without quotes"
	}
}

// holds reports whether a comparison with a boolean requires the field to be true.
func (n *node) holds() bool { return n.value.yes == (n.op == Equal) }

func unless(yes bool, c *clause) *clause {
	if yes {
		return c
	}
	return negation(c)
}

type bitForm struct {
	mask     string
	inverted bool
}

func (bitForm) about() string                        { return "true or false" }
func (bitForm) parse(_ Op, t *token) (value, string) { return boolean(t) }

func (b bitForm) compile(n *node, _ moment) (*clause, []string) {
	return unless(n.holds() != b.inverted, compare(accountControl, bitRule, b.mask)), nil
}

// mustChangeForm is the form of changePasswordNextLogon, which is derived as in records (facts H9).
type mustChangeForm struct{}

func (mustChangeForm) about() string                        { return "true or false" }
func (mustChangeForm) parse(_ Op, t *token) (value, string) { return boolean(t) }

func (mustChangeForm) compile(n *node, _ moment) (*clause, []string) {
	expires := negation(compare(accountControl, bitRule, neverExpires))
	return unless(n.holds(), join('&', expires, negation(compare(passwordSet, ">=", "1")))), nil
}

// stateForm is a state that can only be tested as "eq true".
type stateForm struct {
	clause func(at moment) *clause
	// check for the script; empty if the LDAP filter suffices; the moment is appended if it ends with a colon
	check string
}

func (stateForm) about() string { return "true" }

func (stateForm) parse(_ Op, t *token) (value, string) {
	if !t.is("true") {
		return value{}, "can only be compared as eq true"
	}
	return value{yes: true}, ""
}

func (s stateForm) compile(_ *node, at moment) (*clause, []string) {
	c := s.clause(at)
	switch {
	case s.check == "":
		return c, nil
	case strings.HasSuffix(s.check, ":"):
		return c, []string{s.check + decimal(ticks(at.now, false))}
	default:
		return c, []string{s.check}
	}
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// lockedOut also finds lockouts that may have ended (facts S20).
func lockedOut(moment) *clause { return compare("lockoutTime", ">=", "1") }

// passwordExpired leaves out accounts that must change their password.
func passwordExpired(at moment) *clause { return passwordsUntil(ticks(at.now, false)) }

// passwordsUntil finds accounts whose password may expire before a file time, because it is older
// than the shortest maximum age (facts S22).
func passwordsUntil(end int64) *clause {
	return join('&', expiring(), refer(passwordSet, "<=", "age:"+decimal(end)))
}

// expiring finds accounts whose passwords can expire.
func expiring() *clause {
	return join('&', negation(compare(accountControl, bitRule, neverExpires)),
		negation(compare(accountControl, bitRule, smartcard)), compare(passwordSet, ">=", "1"))
}

func accountExpired(at moment) *clause {
	return between("accountExpires", 1, ticks(at.now, false))
}

func neverLoggedOn(moment) *clause { return negation(compare(lastLogon, ">=", "1")) }

func noGroups(moment) *clause { return negation(present("memberOf")) }

// empty finds groups without direct members. It does not find the primary groups of most accounts, whose
// members are not listed as direct members (facts S26).
func empty(moment) *clause {
	return join('&', negation(present("member")), &clause{ref: "common:"})
}

// stale finds objects that have not been seen for a long time, and old objects that were never seen.
func stale(at moment) *clause {
	return join('|',
		join('&', compare(lastLogon, ">=", "1"), refer(lastLogon, "<=", "stale:file")),
		join('&', neverLoggedOn(at), refer("whenCreated", "<=", "stale:time")))
}

func between(attr string, from, to int64) *clause {
	return join('&', compare(attr, ">=", decimal(from)), compare(attr, "<=", decimal(to)))
}

// date reads a date.
func date(t *token) (value, string) {
	if t.kind == tokenText {
		if w, ok := parseWhen(t.text); ok {
			return value{when: w}, ""
		}
	}
	return value{}, `must be compared with a date such as "2026-06-30" or "2026-06-30T12:00:00Z", ` +
		`or a duration from now such as "-P90D" or "P14D"`
}

const aboutDates = `date ("2026-06-30", "2026-06-30T12:00:00Z") or duration from now ("-P90D", "P14D")`

// bounds returns the range of numbers that satisfy a comparison with a number. down and up are that number
// rounded down and up.
func (n *node) bounds(down, up, least, most int64) (from, to int64) {
	switch n.op {
	case Greater:
		return max(down+1, least), most
	case GreaterEqual:
		return max(up, least), most
	case Less:
		return least, up - 1
	case LessEqual:
		return least, down
	default:
		return least, most
	}
}

// fileTimeForm is the form of a FILETIME. 0 means that there is none and, if never is set, the largest number
// means never.
type fileTimeForm struct{ never bool }

func (fileTimeForm) about() string                        { return aboutDates }
func (fileTimeForm) parse(_ Op, t *token) (value, string) { return date(t) }

func (f fileTimeForm) compile(n *node, at moment) (*clause, []string) {
	most := int64(never)
	if f.never {
		most--
	}
	at.now = n.value.when.resolve(at.now)
	from, to := n.bounds(ticks(at.now, false), ticks(at.now, true), 1, most)
	if to == never {
		return compare(n.field.attr, ">=", decimal(from)), nil
	}
	return between(n.field.attr, from, to), nil
}

// passwordExpiresForm is the expiry time of a password, which the directory computes (facts S21).
type passwordExpiresForm struct{}

func (passwordExpiresForm) about() string                        { return aboutDates }
func (passwordExpiresForm) parse(_ Op, t *token) (value, string) { return date(t) }

func (passwordExpiresForm) compile(n *node, at moment) (*clause, []string) {
	moment := n.value.when.resolve(at.now)
	from, to := n.bounds(ticks(moment, false), ticks(moment, true), 1, never-1)
	check := []string{"expires:" + decimal(from) + ":" + decimal(to)}
	if to == never-1 {
		return expiring(), check
	}
	return passwordsUntil(to), check
}

// generalizedForm is a time in whole seconds.
type generalizedForm struct{}

func (generalizedForm) about() string                        { return aboutDates }
func (generalizedForm) parse(_ Op, t *token) (value, string) { return date(t) }

func (generalizedForm) compile(n *node, at moment) (*clause, []string) {
	moment := n.value.when.resolve(at.now)
	down, up := generalized(moment, false), generalized(moment, true)
	text := func(t time.Time) string { return t.Format(generalizedTime) }
	switch attr := n.field.attr; n.op {
	case Greater:
		return compare(attr, ">=", text(down.Add(time.Second))), nil
	case GreaterEqual:
		return compare(attr, ">=", text(up)), nil
	case Less:
		return compare(attr, "<=", text(up.Add(-time.Second))), nil
	case LessEqual:
		return compare(attr, "<=", text(down)), nil
	default:
		return present(attr), nil
	}
}

// referenceForm is a reference to another object. word is the kind of reference, for the script.
type referenceForm struct{ word string }

func (referenceForm) about() string { return "account name, distinguished name or GUID" }

func (referenceForm) parse(_ Op, t *token) (value, string) {
	s, problem := textOf(t)
	return value{text: s}, problem
}

func (r referenceForm) compile(n *node, _ moment) (*clause, []string) {
	if n.op == Present && (r.word == "user" || r.word == "account") { // objects outside the limits are ignored
		return refer("", "", "present:"+n.field.attr), nil
	}
	if n.op == Present {
		return present(n.field.attr), nil
	}
	c := refer(n.field.attr, "=", r.word+":"+n.value.text)
	if r.word == "member" || r.word == "nested" {
		c.attr, c.rule = "", "" // memberOf does not include the primary group
	}
	return unless(n.op == Equal, c), nil
}

// word is one of a field's values, with the bit that is set for this value. If bit is empty, the value means
// that the bit of the other word is not set.
type word struct{ text, bit string }

type wordForm struct{ words []word }

func (w wordForm) about() string {
	texts := make([]string, len(w.words))
	for i, word := range w.words {
		texts[i] = `"` + word.text + `"`
	}
	return strings.Join(texts, ", ")
}

func (w wordForm) parse(_ Op, t *token) (value, string) {
	for _, word := range w.words {
		if t.kind == tokenText && strings.EqualFold(word.text, t.text) {
			return value{text: word.text}, ""
		}
	}
	return value{}, "is one of " + w.about()
}

func (w wordForm) compile(n *node, _ moment) (*clause, []string) {
	for _, word := range w.words {
		if word.text == n.value.text && word.bit != "" {
			return unless(n.op == Equal, compare(groupType, bitRule, word.bit)), nil
		}
	}
	return unless(n.op != Equal, compare(groupType, bitRule, w.words[0].bit)), nil
}
