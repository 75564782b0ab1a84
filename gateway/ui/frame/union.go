package frame

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/say"
)

// Roles are not merged, because each role sees only its own records. A list contains the records that any of
// the roles sees, each once. Each page of a list is therefore merged from the lists of the roles, which have
// the same order.

// List is an operation that lists records, and their order.
type List struct {
	Operation string
	Key       string // field that identifies a record
	Before    func(a, b say.Record) bool
	Values    call.Values
	Most      int // records per page; 0 if there are no pages and the values limit the list
	// Started is called when it is certain that the list will not be refused, before its records are read. If
	// the person has several roles, Started is not called, because another role may be refused. Started may be
	// nil.
	Started func()
}

// Newest is the order of records whose ids ascend with time, newest first.
func Newest(a, b say.Record) bool { return a.Text("id") > b.Text("id") }

func ByLine(a, b say.Record) bool { return number(a, "line") < number(b, "line") }

func number(r say.Record, field string) float64 {
	n, _ := r[field].(float64)
	return n
}

func ByName(a, b say.Record) bool {
	return strings.ToUpper(a.Text("name")) < strings.ToUpper(b.Text("name"))
}

// ByGUID is the order of the directory's pages. It compares GUIDs by their octets.
func ByGUID(a, b say.Record) bool { return octets(a.Text("guid")) < octets(b.Text("guid")) }

// octets returns a GUID as the directory stores it, with the octets of its first three parts reversed.
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

// BestFor is the order of search hits. Hits that the text identifies come first.
func BestFor(text string) func(a, b say.Record) bool {
	exact := func(r say.Record) bool {
		return slices.ContainsFunc([]string{"username", "emailAddress"}, func(field string) bool {
			return strings.EqualFold(strings.TrimSuffix(r.Text(field), "$"), text)
		})
	}
	return func(a, b say.Record) bool {
		if one, other := exact(a), exact(b); one != other {
			return one
		}
		return ByName(a, b)
	}
}

// Listed returns a page of the combined list of all roles. It ignores roles without the right to the list,
// unless no role has the right. It returns any other refusal, even if only one role has reached a limit,
// because the list would be incomplete.
func (c *Visit) Listed(l List) *Answer {
	after := c.text(l.Values["After"])
	if len(c.Principals) < 2 {
		return Send(c, l.Operation, call.Call{Input: l.paged(after), Started: l.Started})
	}
	at, ok := openPlace(after, len(c.Principals))
	if !ok {
		return &Answer{Status: http.StatusBadRequest, Error: &Failure{
			Code: "invalid_request", Message: "This part of the list is not there any more. Open the list again.",
		}}
	}
	var all []*source
	var refused *Answer
	for i, principal := range c.Principals {
		s := &source{Visit: c, list: l, principal: principal, cursor: at.Cursors[i], skip: at.Last}
		switch failed := s.fetch(); {
		case failed == nil:
			all = append(all, s)
		case lacksRight(failed.Status):
			refused = Outranking(refused, failed)
			all = append(all, &source{done: true})
		default:
			return failed
		}
	}
	if refused != nil && !slices.ContainsFunc(all, func(s *source) bool { return s.Visit != nil }) {
		return refused
	}
	return merge(l, all)
}

// paged returns the values of the call for the page at a cursor.
func (l List) paged(after string) call.Values {
	values := call.Values{}
	for name, value := range l.Values {
		values[name] = value
	}
	delete(values, "After")
	if after != "" {
		values["After"] = after
	}
	if l.Most > 0 {
		values["Limit"] = strconv.Itoa(l.Most)
	}
	return values
}

func (c *Visit) text(value any) string {
	text, _ := value.(string)
	return text
}

// source is the list of one role.
type source struct {
	*Visit
	list      List
	principal *identity.Principal
	cursor    string     // cursor of the page that was read; empty for the first page
	skip      say.Record // last record of the previous page; nil if there is none
	page      *Answer
	raw       []json.RawMessage
	records   []say.Record
	done      bool
}

// fetch reads pages until one contains a record that was not shown yet, or the list ends.
func (s *source) fetch() (failed *Answer) {
	for {
		if s.page = s.CallAs(s.principal, s.list.Operation, s.list.paged(s.cursor)); !s.page.Ok() {
			return s.page
		}
		s.raw, s.records = Records[json.RawMessage](s.page), Records[say.Record](s.page)
		for len(s.records) > 0 && s.skip != nil && !s.list.Before(s.skip, s.records[0]) {
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

// next drops the first record, and reads another page if no record is left.
func (s *source) next() (failed *Answer) {
	s.raw, s.records = s.raw[1:], s.records[1:]
	if len(s.records) > 0 || s.list.Most == 0 {
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

// place is the position in each role's list at which the next page starts.
type place struct {
	Last    say.Record // last record that was shown
	Cursors []string   // the page on which each role continues
}

// openPlace decodes the place at which the previous page ended. An empty text is the start.
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

// merge returns a page of the records of all roles in order, each once.
func merge(l List, all []*source) *Answer {
	made := &Answer{Status: http.StatusOK}
	seen, shown := map[string]bool{}, []json.RawMessage{}
	at := place{}
	for {
		var first *source
		for _, s := range all {
			if !s.done && (first == nil || l.Before(s.records[0], first.records[0])) {
				first = s
			}
		}
		if first == nil || l.Most > 0 && len(shown) == l.Most {
			made.Next = at.from(first, all)
			break
		}
		r := first.records[0]
		if key := keyOf(r, l.Key); !seen[key] {
			seen[key], at.Last = true, r
			shown = append(shown, first.raw[0])
		}
		if failed := first.next(); failed != nil {
			return failed
		}
		if at.Last != nil && l.Most > 0 {
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
	made.Result, _ = json.Marshal(shown) // our own records can always be encoded
	return made
}

// dropShown drops records that another role has already shown from the start of each list. Otherwise the next
// page could be empty.
func dropShown(l List, all []*source, seen map[string]bool) (failed *Answer) {
	for _, s := range all {
		for !s.done && seen[keyOf(s.records[0], l.Key)] {
			if failed = s.next(); failed != nil {
				return failed
			}
		}
	}
	return nil
}

func keyOf(r say.Record, field string) string {
	if text := r.Text(field); text != "" {
		return text
	}
	whole, _ := json.Marshal(r) // it was decoded from JSON
	return string(whole)
}

// from encodes the place as text. It returns "" if no role has more records.
func (at place) from(first *source, all []*source) string {
	if first == nil {
		return ""
	}
	for _, s := range all {
		at.Cursors = append(at.Cursors, s.cursor)
	}
	last := say.Record{}
	for _, field := range []string{"id", "guid", "line", "name"} { // the fields that orders compare
		if value, has := at.Last[field]; has {
			last[field] = value
		}
	}
	at.Last = last
	text, _ := json.Marshal(at) // strings can always be encoded
	return base64.RawURLEncoding.EncodeToString(text)
}

// lacksRight reports whether a refusal with the status means that the role may not see any of a list.
func lacksRight(status int) bool {
	return status == http.StatusForbidden || status == http.StatusNotFound
}

// Outranking returns the refusal to show, given two of them. It prefers a refusal because of a reached limit,
// which is only temporary.
func Outranking(first, second *Answer) *Answer {
	const reached = http.StatusTooManyRequests
	if first == nil || first.Status != reached && second.Status == reached {
		return second
	}
	return first
}

func ByZone(a, b say.Record) bool { return a.First("zoneName", "name") < b.First("zoneName", "name") }
