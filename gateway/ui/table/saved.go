package table

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"adgateway/gateway/schema"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/texts"
)

// A person can save the filter, search and sort order of a list under a name. Saved filters belong to the
// person, and are available in every browser.

const (
	savedName  = "filters"
	mostSaved  = 30 // per person, in all lists together
	mostNamed  = 40 // characters in a name
	mostQuery  = 1000
	namingPart = "naming" // query parameter with the refused name
	savedPart  = "saved"
)

// saved contains the saved filters of a person.
type saved struct{ Filters []savedFilter }

type savedFilter struct{ List, Name, Query string }

// savedViews are the saved filters on the page of their list.
type savedViews struct {
	Saved    []savedLink
	SavedAt  string  // address that saves a filter; empty if filters cannot be saved
	RemoveAt string  // address that removes a filter
	Naming   *naming // nil if there is nothing to save
}

// savedLink is a link to a saved filter.
type savedLink struct {
	Name, Path string
	Current    bool
}

// naming is the form that saves the current filter under a name.
type naming struct {
	Query, Typed string
	Error        texts.Text
}

// keptNaming is a name that was refused, with the key of the message.
type keptNaming struct{ Typed, Key string }

// savedAddress returns the address that saves filters of the list.
func (l *Listing) savedAddress() string { return l.Address() + "/" + savedPart }

// Narrows reports whether the list can be filtered, or its current filter can be saved.
func (b ListPage) Narrows() bool { return len(b.Fields) > 0 || b.Naming != nil }

// Unfolds reports whether the button asks for a value or a reason.
func (b manyButton) Unfolds() bool { return b.Asks != "" || b.Why }

// query returns the query in the list's address without the page. It is empty for the whole list.
func (a Asked) query() string {
	_, query, _ := strings.Cut(a.Address(), "?")
	return query
}

// addSaved adds the saved filters of a list to its page, and the form that saves the current filter.
func (b *ListPage) addSaved(c *frame.Visit, a Asked) {
	if a.List.Within.Path != "" {
		return
	}
	var kept saved
	_, _ = c.Session.Recall(c.R.Context(), savedName, &kept) // empty if the store is unavailable
	b.SavedAt = a.List.savedAddress()
	b.RemoveAt = b.SavedAt + "/remove"
	now := a.query()
	taken := false
	for _, one := range kept.Filters {
		if one.List != a.List.Path {
			continue
		}
		taken = taken || one.Query == now
		b.Saved = append(b.Saved, savedLink{one.Name, a.List.Address() + "?" + one.Query, one.Query == now})
	}
	if now == "" || taken || len(now) > mostQuery {
		return
	}
	b.Naming = &naming{Query: now}
	var refused keptNaming
	if id := c.R.URL.Query().Get(namingPart); id != "" {
		if at, err := c.Session.Kept(c.R.Context(), id, &refused); err == nil && at != 0 {
			b.Naming.Typed, b.Naming.Error = refused.Typed, texts.Of(refused.Key, "n", mostNamed, "most", mostSaved)
		}
	}
}

// wrongName returns the key of the message for a name that cannot be used, or "" if it can be used.
func (s saved) wrongName(list, name string) string {
	same := func(one savedFilter) bool { return one.List == list && strings.EqualFold(one.Name, name) }
	switch {
	case name == "":
		return "saved.missing"
	case utf8.RuneCountInString(name) > mostNamed:
		return "saved.long"
	case unseen(name):
		return "saved.letters"
	case slices.ContainsFunc(s.Filters, same):
		return "saved.twice"
	case len(s.Filters) >= mostSaved:
		return "saved.many"
	}
	return ""
}

// unseen reports whether a name has characters that people do not see.
func unseen(name string) bool {
	_, problem := schema.Label.Decode(name)
	return problem != nil
}

// SaveFilter saves the current filter of a list.
func SaveFilter(c *frame.Visit, l *Listing) {
	form := c.R.PostForm
	name := strings.Join(strings.Fields(form.Get("name")), " ")
	asked, err := url.ParseQuery(form.Get("query"))
	if err != nil {
		asked = url.Values{}
	}
	a := askedIn(asked, l)
	query := a.query()
	var kept saved
	at, err := c.Session.Recall(c.R.Context(), savedName, &kept)
	if err != nil {
		notSaved(c, l, err)
		return
	}
	if wrong := kept.wrongName(l.Path, name); wrong != "" || query == "" || len(query) > mostQuery {
		refuseName(c, a, keptNaming{form.Get("name"), cmp.Or(wrong, "saved.letters")})
		return
	}
	kept.Filters = append(kept.Filters, savedFilter{l.Path, name, query})
	if err := c.Session.Remember(c.R.Context(), savedName, at, kept); err != nil {
		notSaved(c, l, err)
		return
	}
	c.GoTo(l.Address() + "?" + query)
}

// RemoveFilter removes a saved filter of a list.
func RemoveFilter(c *frame.Visit, l *Listing) {
	var kept saved
	at, err := c.Session.Recall(c.R.Context(), savedName, &kept)
	if err == nil {
		kept.Filters = slices.DeleteFunc(kept.Filters, func(one savedFilter) bool {
			return one.List == l.Path && one.Name == c.R.PostForm.Get("name")
		})
		err = c.Session.Remember(c.R.Context(), savedName, at, kept)
	}
	if err != nil {
		notSaved(c, l, err)
		return
	}
	c.GoTo(l.Address())
}

// refuseName shows the list again, with the mistake in the name.
func refuseName(c *frame.Visit, a Asked, refused keptNaming) {
	if len(refused.Typed) > mostQuery {
		refused.Typed = refused.Typed[:mostQuery]
	}
	id, err := c.KeepNew(refused)
	if err != nil {
		notSaved(c, a.List, err)
		return
	}
	c.GoTo(a.Address(namingPart, id))
}

// notSaved sends a page with the message that the store is unavailable.
func notSaved(c *frame.Visit, l *Listing, err error) {
	c.Page(http.StatusServiceUnavailable, "message", frame.Page{
		Title: l.title(), Section: cmp.Or(l.Section, l.Path),
		Alert: &frame.Alert{Text: texts.Of("saved.not", "why", frame.WithoutStore(err))},
	})
}
