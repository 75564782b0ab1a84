// Package table shows lists, with columns, filters, quick views and pages, and exports them as files.
package table

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/sheet"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// All lists share one page: people, groups, computers, zones and every other [Listing].

const (
	PerPage  = 100 // rows per page
	firstMax = 500 // rows that the first call reads; a list with no more rows is counted and sorted as a whole
)

// Asked is the request in the address of a list.
type Asked struct {
	List   *Listing
	View   View
	text   string   // text to search for
	Chips  []string // conditions of the filter
	sort   string   // column to sort by; a leading minus means descending
	after  string   // cursor of the page; empty means the first page
	back   []string // cursors of the previous pages
	from   int      // index of the first row among the rows that are read without a cursor
	Object string   // the object whose changes are listed

	started func() // called when the records are about to be read; may be nil
}

// mostBack is the maximum number of previous pages to which the links of a page lead back.
const mostBack = 20

func askedOf(c *frame.Visit, l *Listing) Asked { return askedIn(c.R.URL.Query(), l) }

// askedIn parses the query of a list's address.
func askedIn(q url.Values, l *Listing) Asked {
	a := Asked{
		List: l, text: strings.Join(strings.Fields(q.Get("q")), " "), sort: q.Get("sort"),
		after: q.Get("after"), back: q["back"], Object: q.Get("object"),
	}
	if len(l.Filters) > 0 {
		a.Chips = q["f"]
	}
	for _, v := range l.Views {
		if v.ID == q.Get("view") {
			a.View = v
		}
	}
	field, op, value := q.Get("field"), q.Get("op"), strings.TrimSpace(q.Get("value"))
	if field != "" && value != "" {
		if slices.Contains(l.Filters, field) && slices.Contains(operators, op) {
			a.Chips = append(a.Chips, field+" "+op+" "+Quoted(value))
		}
	}
	for _, digit := range q.Get("from") {
		if digit < '0' || digit > '9' || a.from > 1e6 {
			a.from = 0
			break
		}
		a.from = 10*a.from + int(digit-'0')
	}
	return a
}

// operators contains the filter operators that people can choose. The keys of their texts start with
// "operator.".
var operators = []string{"eq", "sw", "co", "ne"}

// Quoted returns a text as a string in a filter.
func Quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// Address returns the address of the requested list with some query parameters replaced. pairs contains
// alternating names and values. An empty value removes the parameter.
func (a Asked) Address(pairs ...string) string {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("view", a.View.ID)
	set("q", a.text)
	set("sort", a.sort)
	set("object", a.Object)
	q["f"] = a.Chips
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Del(pairs[i])
		set(pairs[i], pairs[i+1])
	}
	if len(q["f"]) == 0 {
		q.Del("f")
	}
	if len(q) == 0 {
		return a.List.Address()
	}
	return a.List.Address() + "?" + q.Encode()
}

// Values returns the parameters of the call for the list.
func (a Asked) Values(c *frame.Visit) call.Values {
	values := call.Values{}
	for name, value := range a.List.Fixed {
		values[name] = value
	}
	if a.text != "" && a.List.Searches {
		values["Text"] = a.text
	}
	conditions := slices.Clone(a.Chips)
	if a.View.Filter != "" {
		conditions = append([]string{a.View.Filter}, conditions...)
	}
	if len(conditions) > 0 && len(a.List.Filters) > 0 {
		values["Filter"] = strings.Join(conditions, " and ")
	}
	for name, value := range a.View.Values {
		values[name] = value
	}
	if a.List.Operation == "change.list" {
		if a.View.ID == "mine" {
			values["Caller"] = identity.ReferenceTo(c.Identity())
		}
		if a.View.Days > 0 {
			day := say.Midnight(c.Now()).AddDate(0, 0, 1-a.View.Days)
			values["Since"] = day.Format(time.RFC3339)
		}
		if a.Object != "" {
			values["Object"] = a.Object
		}
	}
	return values
}

// slowFilter is the code of the warning that the directory has no index for a filter. People need not see it.
const slowFilter = "slow_filter"

// ListPage is the page of a list.
type ListPage struct {
	Path      string
	Query     string
	Searches  bool
	Views     []viewTab
	Chips     []chip
	Fields    []frame.Choice
	Operators []frame.Choice
	Hidden    []hiddenInput // query parameters that the forms keep
	Counted   texts.Text
	Note      texts.Text
	Heads     []Head
	Rows      []ListRow
	Many      []manyButton
	ways
	Warnings []frame.Warning
	Title    texts.Text
	Within   frame.Link // object that the list belongs to
	Above    any        // content above the list; may be nil
	savedViews
	New string // address of the form that creates an object; empty if there is none
}

type (
	ways    struct{ Prev, Next, CSV string } // addresses of other pages, and of the whole list as a file
	viewTab struct {
		Path    string
		Title   texts.Text
		Current bool
	}
	chip struct {
		Text texts.Text
		Path string // address of the list without the condition
	}
	hiddenInput struct{ Name, Value string }
	Head        struct {
		Text  texts.Text
		Class string
		Path  string // address of the list sorted by the column; empty if that is not possible
		Sort  string // ascending or descending
	}
	ListRow struct {
		ID    string
		Name  texts.Text
		Cells []Cell
	}
	manyButton struct {
		ID, Asks string
		Text     texts.Text
		Label    texts.Text
		Danger   bool
		Why      bool // a reason is required
	}
)

// ShowListing shows a list.
func ShowListing(c *frame.Visit, l *Listing) { showListing(c, l, nil, nil) }

// Refuse shows a list with the filled-in content above it, and the reason for the refusal.
func Refuse(c *frame.Visit, l *Listing, above any, refused *frame.Answer) {
	showListing(c, l, above, refused)
}

func showListing(c *frame.Visit, l *Listing, above any, refused *frame.Answer) {
	a := askedOf(c, l)
	title := l.title()
	shown := frame.Page{Title: title, Section: cmp.Or(l.Section, l.Path)}
	if a.text != "" {
		shown.Title = texts.Of("search.title", "query", a.text, "what", title)
	}
	if !c.May(l.Scope) {
		shown.Alert = &frame.Alert{
			Text: texts.Of("search.forbidden", "what", title), Help: texts.Of("alert.right"),
			Code: string(schema.Forbidden),
		}
		shown.Body = ListPage{Path: l.Address(), Title: title}
		c.Page(http.StatusForbidden, "list", shown)
		return
	}
	file := c.R.URL.Query().Get("format") == "csv"
	if !file {
		a.started = c.Opening("list", shown)
	}
	found, whole := ReadListing(c, a)
	if file && found.Ok() {
		writeCSV(c, a)
		return
	}
	body := a.page(c)
	body.Title, body.Within, body.Above = title, l.Within, above
	body.addSaved(c, a)
	if above == nil && l.Above != nil {
		body.Above = l.Above(c)
	}
	if shown.Alert = frame.AlertOf(found); shown.Alert != nil {
		shown.Body = body
		c.Page(found.Status, "list", shown)
		return
	}
	rows := a.found(c, frame.Records[say.Record](found))
	if whole {
		rows = a.Sorted(rows)
	}
	body.Warnings = slices.DeleteFunc(found.Warnings, func(w frame.Warning) bool { return w.Code == slowFilter })
	body.Fill(a, rows, whole, found.Next)
	if len(rows) == 0 {
		shown.Empty = nothingIn(c, a)
	}
	shown.Body = body
	status := http.StatusOK
	if refused != nil {
		shown.Alert, status = frame.AlertOf(refused), refused.Status
	}
	c.Page(status, "list", shown)
}

// ReadListing reads the part of a list that contains the page, in one call for each role. whole reports
// whether the part is the complete list.
func ReadListing(c *frame.Visit, a Asked) (found *frame.Answer, whole bool) {
	l := frame.List{Operation: a.List.Operation, Key: a.List.Key, Before: a.List.Before, Values: a.Values(c)}
	if !a.List.Pages {
		return c.Listed(l), true
	}
	l.Most = cmp.Or(a.List.Rows, PerPage)
	if a.after == "" && (!a.List.AsRead || a.sort != "") {
		l.Most = firstMax
	}
	l.Values["After"], l.Started = a.after, a.started
	found = c.Listed(l)
	return found, a.after == "" && found.Next == ""
}

// found returns the records that contain the searched text. It filters lists that the directory cannot
// search, and returns other lists unchanged.
func (a Asked) found(c *frame.Visit, all []say.Record) []say.Record {
	if a.text == "" || a.List.Searches || a.List.Pages {
		return all
	}
	lang, text := c.LookOf(c.R).Lang, strings.ToLower(a.text)
	return slices.DeleteFunc(all, func(r say.Record) bool {
		return !slices.ContainsFunc(a.List.Columns, func(col Column) bool {
			return strings.Contains(strings.ToLower(col.Cell(r).plain(lang)), text)
		})
	})
}

// Sorted sorts all in place in the requested order, and returns it. By default it sorts by the first column
// that has an order.
func (a Asked) Sorted(all []say.Record) []say.Record {
	now := time.Now()
	for i := range all {
		all[i] = Stated(all[i], now)
	}
	if a.sort == "" && a.List.AsRead {
		return all
	}
	name, down := strings.CutPrefix(a.sort, "-")
	for _, col := range a.List.Columns {
		if col.Order == "" || name != "" && col.Name != name {
			continue
		}
		fields := strings.Fields(col.Order)
		slices.SortStableFunc(all, func(x, y say.Record) int {
			order := say.CompareTexts(x.First(fields...), y.First(fields...))
			if down {
				return -order
			}
			return order
		})
		break
	}
	return all
}

// page returns the page of a list without its rows.
func (a Asked) page(c *frame.Visit) ListPage {
	body := ListPage{
		Path: a.List.Address(), Query: a.text, Searches: a.List.Searches || !a.List.Pages,
		ways: ways{CSV: a.Address("format", "csv")},
	}
	if len(a.List.Views) > 0 {
		body.Views = append(body.Views, viewTab{a.Address("view", ""), texts.Of("view.all"), a.View.ID == ""})
	}
	for _, v := range a.List.Views {
		body.Views = append(
			body.Views, viewTab{a.Address("view", v.ID), texts.Of("view." + v.ID), a.View.ID == v.ID},
		)
	}
	for i, condition := range a.Chips {
		without := a
		without.Chips = slices.Delete(slices.Clone(a.Chips), i, i+1)
		body.Chips = append(body.Chips, chip{SaidCondition(condition), without.Address()})
	}
	for _, field := range a.List.Filters {
		body.Fields = append(body.Fields, frame.Choice{ID: field, Label: texts.Of("column." + field)})
	}
	for _, op := range operators {
		body.Operators = append(body.Operators, frame.Choice{ID: op, Label: texts.Of("operator." + op)})
	}
	for _, kept := range [][2]string{{"view", a.View.ID}, {"sort", a.sort}} {
		if kept[1] != "" {
			body.Hidden = append(body.Hidden, hiddenInput{kept[0], kept[1]})
		}
	}
	for _, condition := range a.Chips {
		body.Hidden = append(body.Hidden, hiddenInput{"f", condition})
	}
	for _, col := range a.List.Columns {
		h := Head{Text: texts.Of("column." + col.Name), Class: col.Class}
		if col.Order != "" {
			h.Path = a.Address("sort", col.Name)
			switch a.sort {
			case col.Name:
				h.Sort, h.Path = "ascending", a.Address("sort", "-"+col.Name)
			case "-" + col.Name:
				h.Sort = "descending"
			}
		}
		body.Heads = append(body.Heads, h)
	}
	if c.May(identity.JobSubmit) {
		for _, m := range a.List.Many {
			if c.May(m.Scope) {
				b := manyButton{ID: m.ID, Text: texts.Of("many." + m.ID), Danger: m.Danger}
				if m.Asks != "" {
					b.Asks, b.Label = m.Asks, texts.Of("many."+m.Asks)
				}
				b.Why = c.NeedsReason(m.Operation)
				body.Many = append(body.Many, b)
			}
		}
	}
	return body
}

// SaidCondition describes a condition of a filter in words.
func SaidCondition(condition string) texts.Text {
	parts := strings.SplitN(condition, " ", 3)
	if len(parts) != 3 || !texts.Has("column."+parts[0]) || !texts.Has("operator."+parts[1]) {
		return texts.Raw(condition)
	}
	value := strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(strings.Trim(parts[2], `"`))
	return texts.Of(
		"chip", "field", texts.Of("column."+parts[0]), "is", texts.Of("operator."+parts[1]), "value", value,
	)
}

// Fill adds the rows of the page, and links to other pages. all is the part of the list that was read. If it
// is the whole list, it must be in order. Otherwise Fill sorts the page.
func (b *ListPage) Fill(a Asked, all []say.Record, whole bool, next string) {
	total, from := len(all), 0
	if a.after == "" {
		from = min(a.from, max(0, total-1)/PerPage*PerPage)
	}
	all = all[from:min(from+PerPage, total)]
	switch {
	case from > 0:
		b.Prev = a.Address("from", strconv.Itoa(max(0, from-PerPage)))
	case a.after != "":
		b.Prev = a.backward()
	}
	switch {
	case from+PerPage < total:
		b.Next = a.Address("from", strconv.Itoa(from+PerPage))
	case next != "":
		b.Next = a.onward(next)
	}
	if whole {
		b.Counted = texts.Count("list.all."+a.List.Path, total)
		if total > PerPage {
			b.Note = texts.Of("list.part", "from", from+1, "to", from+len(all), "of", total)
		}
	} else {
		all = a.Sorted(all)
		b.Counted = texts.Of("list.page", "n", len(all))
		b.Note = texts.Of("list.more")
	}
	for _, r := range all {
		row := ListRow{ID: r.Text(a.List.Key)}
		for i, col := range a.List.Columns {
			one := col.Cell(r)
			if one.Class = col.Class; one.nothing() {
				one.Class += " none"
			}
			if i > 0 && col.Class != "ou" && col.Class != "nm" && !strings.Contains(col.Class, "last") {
				one.Label = "column." + col.Name
			}
			if col.Class == "long" {
				one.Whole = one.Text
			}
			if col.Class == "nm" {
				row.Name = one.Text
			}
			row.Cells = append(row.Cells, one)
		}
		b.Rows = append(b.Rows, row)
	}
}

// onward returns the address of the next page, including the cursors to go back.
func (a Asked) onward(next string) string {
	back := append(slices.Clone(a.back), cmp.Or(a.after, "first"))
	return a.Address("after", next) + backs(back[max(0, len(back)-mostBack):])
}

// backward returns the address of the page before a page with a cursor.
func (a Asked) backward() string {
	if len(a.back) == 0 {
		return a.Address()
	}
	last := len(a.back) - 1
	if a.back[last] != "first" {
		return a.Address("after", a.back[last]) + backs(a.back[:last])
	}
	if a.List.AsRead && a.sort == "" {
		return a.Address()
	}
	// the last page of the rows that the first call reads
	return a.Address("from", strconv.Itoa(firstMax-PerPage))
}

func backs(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return "&" + url.Values{"back": all}.Encode()
}

// nothingIn returns the message for a list without rows.
func nothingIn(c *frame.Visit, a Asked) *frame.Empty {
	if a.text == "" && len(a.Chips) == 0 && a.View.ID == "" && a.Object == "" {
		return &frame.Empty{
			Icon: a.List.Icon, Title: texts.Of("list.none." + a.List.Path), Text: texts.Of("list.soon." + a.List.Path),
		}
	}
	nothing := &frame.Empty{
		Title: texts.Of("list.noMatch"), Links: []frame.Link{
			{Path: a.List.Address(), Text: texts.Of("list.clear")},
		},
	}
	if a.text != "" {
		nothing.Text = texts.Of("search.looked")
		nothing.Links = append(
			nothing.Links, frame.Link{
				Path: say.Asking(say.Address("search"), "q", a.text), Text: texts.Of("search.everywhere"),
			},
		)
	}
	return nothing
}

// mostInFile limits the rows in the file of a paged list.
const mostInFile = 10_000

// writeCSV sends the whole list as a CSV file with the columns of the page.
func writeCSV(c *frame.Visit, a Asked) {
	lang := c.LookOf(c.R).Lang
	l := frame.List{Operation: a.List.Operation, Key: a.List.Key, Before: a.List.Before, Values: a.Values(c)}
	if a.List.AsRead {
		l.Most = firstMax
	}
	found := c.Listed(l)
	rows := frame.Records[say.Record](found)
	for found.Ok() && found.Next != "" && len(rows) < mostInFile {
		l.Values["After"] = found.Next
		found = c.Listed(l)
		rows = append(rows, frame.Records[say.Record](found)...)
	}
	if !found.Ok() {
		c.Failed(found)
		return
	}
	cut := found.Next != ""
	var file bytes.Buffer
	file.WriteString("\ufeff") // marks the file as UTF-8 for spreadsheets
	out := sheet.NewWriter(&file, ',')
	var line []string
	for _, col := range a.List.Columns {
		line = append(line, texts.Of("column."+col.Name).In(lang))
	}
	_ = out.WriteDefused(line) // cannot fail: it writes to memory
	for _, r := range a.Sorted(a.found(c, rows)) {
		line = line[:0]
		for _, col := range a.List.Columns {
			line = append(line, col.Cell(r).plain(lang))
		}
		_ = out.WriteDefused(line)
	}
	if cut { // a file that ends early must not look complete
		end := texts.Of("list.fileCut", "n", len(rows)).In(lang)
		_ = out.WriteDefused(append([]string{end}, make([]string, max(len(a.List.Columns)-1, 0))...))
	}
	_ = out.Flush()
	c.W.Header().Set("Content-Type", "text/csv; charset=utf-8")
	c.W.Header().Set("Content-Disposition", `attachment; filename="`+a.List.Path+`.csv"`)
	_, _ = c.W.Write(file.Bytes()) // fails only if the browser has disconnected
}

// plain returns the content of the cell as text.
func (f Cell) plain(lang texts.Lang) string {
	switch {
	case f.Time != "":
		return f.Time
	case len(f.Words) > 0:
		var all []texts.Text
		for _, w := range f.Words {
			all = append(all, w.Text)
		}
		return texts.List(all...).In(lang)
	case f.Last != "":
		return strings.Join(append(slices.Clone(f.Path), f.Last), " › ")
	}
	return f.Text.In(lang)
}
