package ui

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

// The one list: of people, groups, computers, zones and whatever else has a row in [listings].

const (
	perPage  = 100 // rows of a page
	wholeMax = 500 // up to so many rows are read at once, so that they can be counted and sorted
)

// asked is what the address of a list asks for.
type asked struct {
	list   *listing
	view   view
	text   string   // that is searched for
	chips  []string // conditions
	sort   string   // a column; with a minus before it, downwards
	after  string   // where the directory goes on; empty: from the beginning
	back   []string // where the pages before began
	from   int      // the first row, of a list that was read whole
	object string   // of changes
}

// mostBack limits the pages that one can go back by the page's own links.
const mostBack = 20

func askedOf(c *visit, l *listing) asked {
	q := c.r.URL.Query()
	a := asked{
		list: l, text: typed(q.Get("q")), sort: q.Get("sort"), after: q.Get("after"), back: q["back"],
		object: q.Get("object"),
	}
	if len(l.filters) > 0 {
		a.chips = q["f"]
	}
	for _, v := range l.views {
		if v.id == q.Get("view") {
			a.view = v
		}
	}
	field, op, value := q.Get("field"), q.Get("op"), strings.TrimSpace(q.Get("value"))
	if field != "" && value != "" {
		if slices.Contains(l.filters, field) && slices.Contains(operators, op) {
			a.chips = append(a.chips, field+" "+op+" "+quoted(value))
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

// operators are those that a filter is made with. Each has a text below "operator.".
var operators = []string{"eq", "sw", "co", "ne"}

// quoted returns a text as filters have it.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// address returns the address of the list as it is asked for, with changes: pairs of names and values.
func (a asked) address(pairs ...string) string {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("view", a.view.id)
	set("q", a.text)
	set("sort", a.sort)
	set("object", a.object)
	q["f"] = a.chips
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Del(pairs[i])
		set(pairs[i], pairs[i+1])
	}
	if len(q["f"]) == 0 {
		q.Del("f")
	}
	if len(q) == 0 {
		return a.list.address()
	}
	return a.list.address() + "?" + q.Encode()
}

// values returns the parameters of the call.
func (a asked) values(c *visit) call.Values {
	values := call.Values{}
	for name, value := range a.list.fixed {
		values[name] = value
	}
	if a.text != "" && a.list.searches {
		values["Text"] = a.text
	}
	conditions := slices.Clone(a.chips)
	if a.view.filter != "" {
		conditions = append([]string{a.view.filter}, conditions...)
	}
	if len(conditions) > 0 && len(a.list.filters) > 0 {
		values["Filter"] = strings.Join(conditions, " and ")
	}
	if a.list.operation == "change.list" {
		if a.view.id == "mine" {
			values["Caller"] = identity.ReferenceTo(c.identity())
		}
		if a.view.days > 0 {
			day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-a.view.days)
			values["Since"] = day.Format(time.RFC3339)
		}
		if a.object != "" {
			values["Object"] = a.object
		}
	}
	return values
}

// slowFilter is the warning that the directory has no index for a filter, which people need not know.
const slowFilter = "slow_filter"

// listPage is the page of a list.
type listPage struct {
	Path       string
	Query      string
	Searches   bool
	Views      []viewTab
	Chips      []chip
	Fields     []choice
	Operators  []choice
	Hidden     []hiddenInput // what the forms keep of the address
	Counted    texts.Text
	Note       texts.Text
	Heads      []head
	Rows       []listRow
	Many       []manyButton
	Prev, Next string
	CSV        string
	Warnings   []warning
	Title      texts.Text
	Within     link   // the object that the list is a part of
	New        string // address of the form for a new one; empty: none
}

type (
	viewTab struct {
		Path    string
		Title   texts.Text
		Current bool
	}
	chip struct {
		Text texts.Text
		Path string // of the list without it
	}
	hiddenInput struct{ Name, Value string }
	head        struct {
		Text  texts.Text
		Class string
		Path  string // that sorts by it; empty: nothing does
		Sort  string // ascending or descending
	}
	listRow struct {
		ID    string
		Name  texts.Text
		Cells []cell
	}
	manyButton struct {
		ID, Asks string
		Text     texts.Text
		Label    texts.Text
		Danger   bool
	}
)

// showListing shows a list.
func showListing(c *visit, l *listing) {
	a := askedOf(c, l)
	title := l.title()
	shown := page{Title: title, Section: cmp.Or(l.section, l.path)}
	if a.text != "" {
		shown.Title = texts.Of("search.title", "query", a.text, "what", title)
	}
	if !c.may(l.scope) {
		shown.Alert = &alert{Text: texts.Of("search.forbidden", "what", title), Help: texts.Of("alert.right")}
		shown.Body = listPage{Path: l.address(), Title: title}
		c.page(http.StatusForbidden, "list", shown)
		return
	}
	found, whole := readListing(c, a)
	if c.r.URL.Query().Get("format") == "csv" && found.ok() {
		writeCSV(c, a)
		return
	}
	body := a.page(c)
	body.Title, body.Within = title, l.within
	if shown.Alert = alertOf(found); shown.Alert != nil {
		shown.Body = body
		c.page(found.Status, "list", shown)
		return
	}
	rows := a.sorted(a.found(c, records[record](found)))
	body.Warnings = slices.DeleteFunc(found.Warnings, func(w warning) bool { return w.Code == slowFilter })
	body.fill(a, rows, whole, found.Next)
	if len(rows) == 0 {
		shown.Empty = nothingIn(c, a)
	}
	shown.Body = body
	c.page(http.StatusOK, "list", shown)
}

// readListing reads a page of a list. Whole reports whether it is all of the list.
func readListing(c *visit, a asked) (found *answer, whole bool) {
	l := list{operation: a.list.operation, key: a.list.key, before: a.list.before, values: a.values(c)}
	if !a.list.pages {
		return c.listed(l), true
	}
	if a.after == "" && a.list.operation != "change.list" {
		l.most = wholeMax
		if found = c.listed(l); !found.ok() || found.Next == "" {
			return found, true
		}
	}
	l.most = cmp.Or(a.list.rows, perPage)
	l.values["After"] = a.after
	found = c.listed(l)
	return found, a.after == "" && found.Next == ""
}

// found returns the records that have the text that is searched for, of a list that the directory does
// not search.
func (a asked) found(c *visit, all []record) []record {
	if a.text == "" || a.list.searches || a.list.pages {
		return all
	}
	lang, text := c.lookOf(c.r).lang, strings.ToLower(a.text)
	return slices.DeleteFunc(all, func(r record) bool {
		return !slices.ContainsFunc(a.list.columns, func(col column) bool {
			return strings.Contains(strings.ToLower(col.cell(r).plain(lang)), text)
		})
	})
}

// sorted returns records in the order that is asked for; without one by the first column that has an
// order.
func (a asked) sorted(all []record) []record {
	now := time.Now()
	for i := range all {
		all[i] = stated(all[i], now)
	}
	name, down := strings.CutPrefix(a.sort, "-")
	for _, col := range a.list.columns {
		if col.order == "" || name != "" && col.name != name {
			continue
		}
		fields := strings.Fields(col.order)
		slices.SortStableFunc(all, func(x, y record) int {
			order := compareTexts(x.first(fields...), y.first(fields...))
			if down {
				return -order
			}
			return order
		})
		break
	}
	return all
}

// page returns what a list shows besides its rows.
func (a asked) page(c *visit) listPage {
	body := listPage{
		Path: a.list.address(), Query: a.text, Searches: a.list.searches || !a.list.pages,
		CSV: a.address("format", "csv"),
	}
	if len(a.list.views) > 0 {
		body.Views = append(body.Views, viewTab{a.address("view", ""), texts.Of("view.all"), a.view.id == ""})
	}
	for _, v := range a.list.views {
		body.Views = append(
			body.Views, viewTab{a.address("view", v.id), texts.Of("view." + v.id), a.view.id == v.id},
		)
	}
	for i, condition := range a.chips {
		without := a
		without.chips = slices.Delete(slices.Clone(a.chips), i, i+1)
		body.Chips = append(body.Chips, chip{saidCondition(condition), without.address()})
	}
	for _, field := range a.list.filters {
		body.Fields = append(body.Fields, choice{ID: field, Label: texts.Of("column." + field)})
	}
	for _, op := range operators {
		body.Operators = append(body.Operators, choice{ID: op, Label: texts.Of("operator." + op)})
	}
	for _, kept := range [][2]string{{"view", a.view.id}, {"sort", a.sort}} {
		if kept[1] != "" {
			body.Hidden = append(body.Hidden, hiddenInput{kept[0], kept[1]})
		}
	}
	for _, condition := range a.chips {
		body.Hidden = append(body.Hidden, hiddenInput{"f", condition})
	}
	for _, col := range a.list.columns {
		h := head{Text: texts.Of("column." + col.name), Class: col.class}
		if col.order != "" {
			h.Path = a.address("sort", col.name)
			switch a.sort {
			case col.name:
				h.Sort, h.Path = "ascending", a.address("sort", "-"+col.name)
			case "-" + col.name:
				h.Sort = "descending"
			}
		}
		body.Heads = append(body.Heads, h)
	}
	if c.may(identity.JobSubmit) {
		for _, m := range a.list.many {
			if c.may(m.scope) {
				b := manyButton{ID: m.id, Text: texts.Of("many." + m.id), Danger: m.danger}
				if m.asks != "" {
					b.Asks, b.Label = m.asks, texts.Of("many."+m.asks)
				}
				body.Many = append(body.Many, b)
			}
		}
	}
	return body
}

// saidCondition says a condition of a filter in words.
func saidCondition(condition string) texts.Text {
	parts := strings.SplitN(condition, " ", 3)
	if len(parts) != 3 || !texts.Has("column."+parts[0]) || !texts.Has("operator."+parts[1]) {
		return texts.Raw(condition)
	}
	value := strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(strings.Trim(parts[2], `"`))
	return texts.Of(
		"chip", "field", texts.Of("column."+parts[0]), "is", texts.Of("operator."+parts[1]), "value", value,
	)
}

// fill adds the rows of the page and the ways to others.
func (b *listPage) fill(a asked, all []record, whole bool, next string) {
	total := len(all)
	if whole {
		from := min(a.from, total)
		all = all[from:min(from+perPage, total)]
		if from > 0 {
			b.Prev = a.address("from", strconv.Itoa(max(0, from-perPage)))
		}
		if from+perPage < total {
			b.Next = a.address("from", strconv.Itoa(from+perPage))
		}
		b.Counted = texts.Count("list.all."+a.list.path, total)
		if total > perPage {
			b.Note = texts.Of("list.part", "from", from+1, "to", from+len(all), "of", total)
		}
	} else {
		b.Counted = texts.Of("list.page", "n", len(all))
		b.Note = texts.Of("list.more")
		if next != "" {
			b.Next = a.onward(next)
		}
		if a.after != "" {
			b.Prev = a.backward()
		}
	}
	for _, r := range all {
		row := listRow{ID: r.Text(a.list.key)}
		for i, col := range a.list.columns {
			one := col.cell(r)
			one.Class = col.class
			if i > 0 && col.class != "ou" && col.class != "nm" && !strings.Contains(col.class, "last") {
				one.Label = "column." + col.name
			}
			if col.class == "nm" {
				row.Name = one.Text
			}
			row.Cells = append(row.Cells, one)
		}
		b.Rows = append(b.Rows, row)
	}
}

// onward returns the address of the next page, which knows the way back.
func (a asked) onward(next string) string {
	back := append(slices.Clone(a.back), cmp.Or(a.after, "first"))
	return a.address("after", next) + backs(back[max(0, len(back)-mostBack):])
}

// backward returns the address of the page before, or of the first one.
func (a asked) backward() string {
	if len(a.back) == 0 || a.back[len(a.back)-1] == "first" {
		return a.address()
	}
	last := len(a.back) - 1
	return a.address("after", a.back[last]) + backs(a.back[:last])
}

func backs(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return "&" + url.Values{"back": all}.Encode()
}

// nothingIn says that a list has no rows.
func nothingIn(c *visit, a asked) *empty {
	if a.text == "" && len(a.chips) == 0 && a.view.id == "" && a.object == "" {
		return &empty{Text: texts.Of("list.none")}
	}
	nothing := &empty{
		Title: texts.Of("list.noMatch"), Links: []link{{a.list.address(), texts.Of("list.clear")}},
	}
	if a.text != "" {
		nothing.Text = texts.Of("search.looked")
		nothing.Links = append(
			nothing.Links, link{asking(address("search"), "q", a.text), texts.Of("search.everywhere")},
		)
	}
	return nothing
}

// defused returns a cell of a CSV file that no spreadsheet takes for a formula.
func defused(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// writeCSV writes the whole list as a file, with the columns of the page.
func writeCSV(c *visit, a asked) {
	lang := c.lookOf(c.r).lang
	l := list{operation: a.list.operation, key: a.list.key, before: a.list.before, values: a.values(c)}
	if a.list.operation == "change.list" {
		l.most = wholeMax
	}
	found := c.listed(l)
	if !found.ok() {
		c.failed(found)
		return
	}
	var file bytes.Buffer
	file.WriteString("\ufeff") // by which spreadsheets know UTF-8
	out := csv.NewWriter(&file)
	out.UseCRLF = true
	var line []string
	for _, col := range a.list.columns {
		line = append(line, defused(texts.Of("column."+col.name).In(lang)))
	}
	_ = out.Write(line) // to memory
	for _, r := range a.sorted(a.found(c, records[record](found))) {
		line = line[:0]
		for _, col := range a.list.columns {
			line = append(line, defused(col.cell(r).plain(lang)))
		}
		_ = out.Write(line)
	}
	out.Flush()
	c.w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	c.w.Header().Set("Content-Disposition", `attachment; filename="`+a.list.path+`.csv"`)
	_, _ = c.w.Write(file.Bytes()) // fails only if the browser has left
}

// plain returns the cell as a text.
func (f cell) plain(lang texts.Lang) string {
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

// typed returns what was typed into a search box as the directory knows it: without the domain in front
// of a logon name.
func typed(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if domain, account, has := strings.Cut(text, `\`); has && domain != "" && account != "" {
		return account
	}
	return text
}
