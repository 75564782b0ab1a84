package ui

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
)

// Roles are not merged: each shows what it shows alone. A list is what all of them show together,
// each entry once. So a page of it is taken from the lists of the roles in the order that they
// have in common.

// list is an operation that lists, and the order of its records.
type list struct {
	operation string
	key       string // the field that tells records apart
	before    func(a, b record) bool
	values    call.Values
	most      int // records on a page; 0: there are no pages, and the values limit the list
}

// newest is the order of records whose ids ascend with time.
func newest(a, b record) bool { return a.Text("id") > b.Text("id") }

func byLine(a, b record) bool { return number(a, "line") < number(b, "line") }

func number(r record, field string) float64 {
	n, _ := r[field].(float64)
	return n
}

func byName(a, b record) bool {
	return strings.ToUpper(a.Text("name")) < strings.ToUpper(b.Text("name"))
}

// byGUID is the order of pages of the directory, which compares GUIDs by their octets.
func byGUID(a, b record) bool { return octets(a.Text("guid")) < octets(b.Text("guid")) }

// octets returns a GUID as the directory holds it: its first three parts have their octets reversed.
func octets(guid string) string {
	digits := strings.ToLower(strings.ReplaceAll(guid, "-", ""))
	if len(digits) != 32 {
		return digits
	}
	order := []int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}
	var all strings.Builder
	for _, i := range order {
		all.WriteString(digits[2*i : 2*i+2])
	}
	return all.String()
}

// bestFor is the order of the hits of a search: those that the text identifies come first.
func bestFor(text string) func(a, b record) bool {
	exact := func(r record) bool {
		return slices.ContainsFunc([]string{"username", "emailAddress"}, func(field string) bool {
			return strings.EqualFold(strings.TrimSuffix(r.Text(field), "$"), text)
		})
	}
	return func(a, b record) bool {
		if one, other := exact(a), exact(b); one != other {
			return one
		}
		return byName(a, b)
	}
}

// listed returns a page of a list as all roles show it together. A role without the right counts
// for nothing, unless no role has it. Any other refusal is the answer, also that a limit of one role is
// reached: a part is not the list.
func (c *visit) listed(l list) *answer {
	after := c.text(l.values["After"])
	if len(c.principals) < 2 {
		return c.call(l.operation, l.paged(after))
	}
	at, ok := openPlace(after, len(c.principals))
	if !ok {
		return &answer{Status: http.StatusBadRequest, Error: &failure{
			Code: "invalid_request", Message: "This part of the list is not there any more. Open the list again.",
		}}
	}
	var all []*source
	var refused *answer
	for i, principal := range c.principals {
		s := &source{visit: c, list: l, principal: principal, cursor: at.Cursors[i], skip: at.Last}
		switch failed := s.fetch(); {
		case failed == nil:
			all = append(all, s)
		case lacksRight(failed.Status):
			refused = outranking(refused, failed)
			all = append(all, &source{done: true})
		default:
			return failed
		}
	}
	if refused != nil && !slices.ContainsFunc(all, func(s *source) bool { return s.visit != nil }) {
		return refused
	}
	return merge(l, all)
}

// paged returns the values of a call for a page.
func (l list) paged(after string) call.Values {
	values := call.Values{}
	for name, value := range l.values {
		values[name] = value
	}
	delete(values, "After")
	if after != "" {
		values["After"] = after
	}
	if l.most > 0 {
		values["Limit"] = strconv.Itoa(l.most)
	}
	return values
}

func (c *visit) text(value any) string {
	text, _ := value.(string)
	return text
}

// source is the list as one role shows it.
type source struct {
	*visit
	list      list
	principal *identity.Principal
	cursor    string // of the page that was read; empty: the first
	skip      record // what was shown last, on the page before; nil: nothing was
	page      *answer
	raw       []json.RawMessage
	records   []record
	done      bool
}

// fetch reads pages until one has a record that is not yet shown, or the list ends.
func (s *source) fetch() (failed *answer) {
	for {
		if s.page = s.callAs(s.principal, s.list.operation, s.list.paged(s.cursor)); !s.page.ok() {
			return s.page
		}
		s.raw, s.records = records[json.RawMessage](s.page), records[record](s.page)
		for len(s.records) > 0 && s.skip != nil && !s.list.before(s.skip, s.records[0]) {
			s.raw, s.records = s.raw[1:], s.records[1:]
		}
		switch {
		case len(s.records) > 0:
			return nil
		case s.page.Next == "":
			s.done = true
			return nil
		}
		s.cursor = s.page.Next
	}
}

// next drops the first record.
func (s *source) next() (failed *answer) {
	s.raw, s.records = s.raw[1:], s.records[1:]
	if len(s.records) > 0 || s.list.most == 0 {
		s.done = len(s.records) == 0
		return nil
	}
	if s.page.Next == "" {
		s.done = true
		return nil
	}
	s.cursor = s.page.Next
	return s.fetch()
}

// place is where the next page begins, in the list of each role.
type place struct {
	Last    record   // what was shown last
	Cursors []string // of the pages on which the roles go on
}

// openPlace returns the place that a page before has ended with; an empty text is the beginning.
func openPlace(text string, roles int) (at place, ok bool) {
	if text == "" {
		return place{Cursors: make([]string, roles)}, true
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &at) != nil {
		return at, false
	}
	return at, at.Last != nil && len(at.Cursors) == roles
}

// merge returns the records of all roles in order, each once.
func merge(l list, all []*source) *answer {
	made := &answer{Status: http.StatusOK}
	seen, shown := map[string]bool{}, []json.RawMessage{}
	at := place{}
	for {
		var first *source
		for _, s := range all {
			if !s.done && (first == nil || l.before(s.records[0], first.records[0])) {
				first = s
			}
		}
		if first == nil || l.most > 0 && len(shown) == l.most {
			made.Next = at.from(first, all)
			break
		}
		r := first.records[0]
		if key := keyOf(r, l.key); !seen[key] {
			seen[key], at.Last = true, r
			shown = append(shown, first.raw[0])
		}
		if failed := first.next(); failed != nil {
			return failed
		}
		if at.Last != nil && l.most > 0 {
			if failed := dropShown(l, all, seen); failed != nil {
				return failed
			}
		}
	}
	for _, s := range all {
		if s.page == nil {
			continue
		}
		made.Output = s.page.Output
		for _, w := range s.page.Warnings {
			if !slices.Contains(made.Warnings, w) {
				made.Warnings = append(made.Warnings, w)
			}
		}
	}
	made.Result, _ = json.Marshal(shown) // records of ours can be encoded
	return made
}

// dropShown drops what another role has shown already from the beginnings of the lists, so that no
// page follows that has nothing on it.
func dropShown(l list, all []*source, seen map[string]bool) (failed *answer) {
	for _, s := range all {
		for !s.done && seen[keyOf(s.records[0], l.key)] {
			if failed = s.next(); failed != nil {
				return failed
			}
		}
	}
	return nil
}

func keyOf(r record, field string) string {
	if text := r.Text(field); text != "" {
		return text
	}
	whole, _ := json.Marshal(r) // it was decoded
	return string(whole)
}

// from returns the place as a text; empty: no role has more.
func (at place) from(first *source, all []*source) string {
	if first == nil {
		return ""
	}
	for _, s := range all {
		at.Cursors = append(at.Cursors, s.cursor)
	}
	last := record{}
	for _, field := range []string{"id", "guid", "line", "name"} { // what orders compare
		if value, has := at.Last[field]; has {
			last[field] = value
		}
	}
	at.Last = last
	text, _ := json.Marshal(at) // texts can be encoded
	return base64.RawURLEncoding.EncodeToString(text)
}

// lacksRight reports whether a role that refuses with a status shows nothing of a list.
func lacksRight(status int) bool {
	return status == http.StatusForbidden || status == http.StatusNotFound
}

// passedOn reports whether another role may do what one of them refuses with a status. Nothing was
// done then.
func passedOn(status int) bool {
	return lacksRight(status) || status == http.StatusTooManyRequests
}

// outranking returns the refusal to show of two: a limit that was reached passes, and the others do
// not.
func outranking(first, second *answer) *answer {
	if first == nil || first.Status != http.StatusTooManyRequests && second.Status == http.StatusTooManyRequests {
		return second
	}
	return first
}

func byZone(a, b record) bool { return a.first("zoneName", "name") < b.first("zoneName", "name") }
