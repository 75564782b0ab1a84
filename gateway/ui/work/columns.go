package work

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/ops"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// If the columns of a list are not all known, the list is kept with the session, and a page asks for the
// field of each column.

// sheetPath is the path of the page that asks for the columns of a list. sheetPart is the query parameter by
// which the page of lists shows the form of a stored list again.
const sheetPath, sheetPart = "lists", "list"

// keptSheet is a list that the person still has to correct, or whose columns are still unknown.
type keptSheet struct {
	Name, Operation, Mode, Once, File, Media string
	// Text is compressed and encrypted with the session cookie, because it may contain passwords.
	Text     []byte
	FirstRow string   // content of the first row: a value of the API's parameter; empty for lists in JSON
	Fields   []string // chosen fields; nil if none were chosen yet
	Cells    []cellProblem
}

// sheetOf reads the list as CSV. If the person has not chosen what the first row contains, sheetOf guesses it
// from the names.
func (k *keptSheet) sheetOf(document []byte) (form.Sheet, form.Forms) {
	sheet := form.ReadSheet(document)
	forms := form.FormsOf(k.Operation, sheet.Operations())
	if k.FirstRow == "" {
		k.FirstRow = ops.RowOfNames
		if forms.All != nil && !forms.All.Named(sheet) {
			k.FirstRow = ops.RowOfData
		}
	}
	if k.FirstRow == ops.RowOfData {
		sheet = sheet.WithoutNames()
		forms = form.FormsOf(k.Operation, nil)
	}
	return sheet, forms
}

// itemsOf reads the list as JSON.
func (k *keptSheet) itemsOf(document []byte) ([]form.Item, form.Forms) {
	items := form.ReadItems(document, k.Media == ops.MediaNDJSON)
	return items, form.FormsOf(k.Operation, form.Operations(items))
}

// ready returns the list as it is submitted. It reports whether it can be submitted, because all columns are
// known and no cell has a mistake. Mistakes in cells are kept.
func (k *keptSheet) ready(c *frame.Visit, document []byte) (sent []byte, ok bool) {
	if k.Cells = nil; k.Media != ops.MediaCSV {
		items, forms := k.itemsOf(document)
		document, k.Cells = resolvedItems(c, forms, document, items)
		return document, len(k.Cells) == 0
	}
	sheet, forms := k.sheetOf(document)
	if forms.All == nil {
		return document, true
	}
	columns := forms.All.Columns(sheet)
	switch {
	case len(columns) == 0:
		return document, true // the API reports the mistake
	case k.Fields == nil && !known(c, forms.All, columns):
		return nil, false
	case k.Fields == nil:
		k.Fields = fieldsOf(columns)
	}
	if len(k.Fields) != len(columns) || twice(k.Fields) || len(lacking(c, forms.All, k.Fields)) > 0 {
		return nil, false
	}
	document, k.Cells = resolvedSheet(c, forms, sheet, columns, k.Fields)
	return document, len(k.Cells) == 0
}

// twice reports whether a field was chosen for several columns.
func twice(fields []string) bool {
	for i, field := range fields {
		if field != "" && slices.Contains(fields[:i], field) {
			return true
		}
	}
	return false
}

// known reports whether the names of all columns are known and no required column is missing.
func known(c *frame.Visit, f *form.Form, columns []form.Column) bool {
	for _, one := range columns {
		if !one.Sure && !one.Own {
			return false
		}
	}
	return len(lacking(c, f, fieldsOf(columns))) == 0
}

// fieldsOf returns the API's names of the columns, or "" for a column to ignore.
func fieldsOf(columns []form.Column) (fields []string) {
	for _, one := range columns {
		if one.Own {
			fields = append(fields, one.Called)
		} else {
			fields = append(fields, one.Field)
		}
	}
	return fields
}

// lacking returns the required fields for which there is no column.
func lacking(c *frame.Visit, f *form.Form, fields []string) (all []*form.Field) {
	for i := range f.Fields {
		field := &f.Fields[i]
		why := field.Name == ops.ReasonName && f.Op != nil && c.NeedsReason(f.Op.ID)
		if (field.Required && field.Default == "" || why) && !slices.Contains(fields, field.Name) {
			all = append(all, field)
		}
	}
	return all
}

// keepSheet stores a list, and returns the address of the page that asks for its columns.
func keepSheet(c *frame.Visit, kept keptSheet, document []byte) (page string, err error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(document) // cannot fail: it writes to memory
	_ = w.Close()
	if kept.Text, err = signin.SealSecret(c.Cookie(c.R), packed.String()); err != nil {
		return "", err
	}
	id, err := c.KeepNew(kept)
	return say.Address(sheetPath, id), err
}

var errNoSheet = errors.New("the list is no longer kept")

// openSheet returns the stored list in the path.
func openSheet(c *frame.Visit) (kept keptSheet, at signin.Version, document []byte, err error) {
	return sheetAt(c, c.R.PathValue("id"))
}

// sheetAt returns a stored list.
func sheetAt(c *frame.Visit, id string) (kept keptSheet, at signin.Version, document []byte, err error) {
	at, err = c.Session.Kept(c.R.Context(), id, &kept)
	if err == nil && (at == 0 || kept.Text == nil) {
		err = errNoSheet
	}
	if err != nil {
		return kept, at, nil, err
	}
	packed, err := signin.OpenSecret(c.Cookie(c.R), kept.Text)
	if err != nil {
		return kept, at, nil, err
	}
	r, err := gzip.NewReader(strings.NewReader(packed))
	if err == nil {
		document, err = io.ReadAll(r)
	}
	return kept, at, document, err
}

// SheetPage is the page that asks for the columns of a list.
type SheetPage struct {
	Action, Back string
	What, Name   texts.Text
	Columns      []sheetColumn
	Left         texts.Text   // ignored columns; nil if there are none
	Problems     []texts.Text // problems of the whole list
	Cells        []cellProblem
	Count        texts.Text
	Wrong        bool
	Named        bool // the first row contains the column names
}

// sheetColumn is a column on the page.
type sheetColumn struct {
	ID, Called, Values string
	Number             int
	Own                bool
	Secret             bool // the values are not shown
	Choices            []frame.Choice
	Error              texts.Text
}

// Name returns the name of the column, or its number if it has none.
func (c sheetColumn) Name() texts.Text {
	return say.Or(texts.Raw(c.Called), texts.Of("sheet.nameless", "n", c.Number))
}

// Here returns the address of the column on its page.
func (c sheetColumn) Here() string { return "#" + c.ID }

// ShowSheet asks for the columns of a list.
func ShowSheet(c *frame.Visit) {
	kept, _, document, err := openSheet(c)
	if err != nil {
		noSheet(c)
		return
	}
	showSheet(c, kept, document, nil)
}

// noSheet sends a page with the message that a list is no longer stored.
func noSheet(c *frame.Visit) {
	gone := &frame.Alert{Text: texts.Of("sheet.gone")}
	c.Page(http.StatusGone, "message", frame.Page{Title: texts.Of("step.late"), Section: "jobs", Alert: gone})
}

func showSheet(c *frame.Visit, kept keptSheet, document []byte, refused *frame.Answer) {
	id := c.R.PathValue("id")
	body := SheetPage{
		Action: say.Address(sheetPath, id), Back: say.Address("jobs") + "?" + sheetPart + "=" + id,
		What: texts.Of("job.several"), Name: texts.Raw(kept.listName()),
		Cells: kept.Cells, Count: texts.Of("sheet.wrong"),
	}
	title := texts.Of("sheet.title")
	if kept.Media == ops.MediaCSV {
		sheet, forms := kept.sheetOf(document)
		if forms.All == nil {
			noSheet(c)
			return
		}
		if forms.All.Op != nil {
			body.What = actionIn(forms.All)
		}
		body.columns(c, kept, sheet, forms.All)
	} else {
		title = texts.Of("sheet.names")
		if f := form.Of(kept.Operation); f != nil {
			body.What = actionIn(f)
		}
	}
	status := http.StatusOK
	if body.Wrong || body.Cells != nil {
		status = http.StatusUnprocessableEntity
	}
	shown := frame.Page{Title: title, Section: "jobs", Body: body}
	if refused != nil {
		shown.Alert, status = frame.AlertOf(refused), refused.Status
	}
	c.Page(status, "sheet", shown)
}

// columns adds the columns of the list to the page, and the mistakes in the chosen fields.
func (p *SheetPage) columns(c *frame.Visit, kept keptSheet, sheet form.Sheet, f *form.Form) {
	columns := f.Columns(sheet)
	p.Named = kept.FirstRow == ops.RowOfNames
	fields := fieldsOf(columns)
	if len(kept.Fields) == len(fields) {
		fields = kept.Fields
	}
	var left []texts.Text
	for i, one := range columns {
		shown := sheetColumn{ID: fmt.Sprint("c", i), Number: i + 1, Called: one.Called, Own: one.Own}
		field := f.Field(fields[i])
		if shown.Secret = one.Secret || field != nil && field.Control == form.Secret; !shown.Secret {
			shown.Values = strings.Join(one.Values, ", ")
		}
		if first := slices.Index(fields, fields[i]); field != nil && first < i && kept.Fields != nil {
			shown.Error = texts.Of("sheet.twice", "field", texts.Each(field.Label), "n", first+1)
			p.Wrong = true
		}
		for j := range f.Fields {
			shown.Choices = append(shown.Choices, frame.Choice{
				ID: f.Fields[j].Name, Label: texts.Each(f.Fields[j].Label), Chosen: f.Fields[j].Name == fields[i],
			})
		}
		if fields[i] == "" {
			left = append(left, shown.Name())
		}
		p.Columns = append(p.Columns, shown)
	}
	if len(left) > 0 && len(left) < len(columns) {
		p.Left = texts.List(left...)
	}
	for _, field := range lacking(c, f, fields) {
		p.Problems = append(p.Problems, texts.Of("sheet.missing", "field", texts.Each(field.Label)))
	}
	p.Wrong = p.Wrong || kept.Fields != nil && len(p.Problems) > 0
}

// listName returns the name of the list's job: the typed name, or the name of the file, without invisible
// characters.
func (k keptSheet) listName() string {
	if k.Name != "" {
		return k.Name
	}
	return frame.Seen(k.File)
}

// SubmitSheet submits a list with the chosen columns.
func SubmitSheet(c *frame.Visit) {
	kept, at, document, err := openSheet(c)
	if err != nil {
		noSheet(c)
		return
	}
	kept.choose(c, document)
	sent, ok := kept.ready(c, document)
	if !ok {
		if err := c.Session.Keep(c.R.Context(), c.R.PathValue("id"), at, kept); err != nil {
			showSheet(c, kept, document, nil) // this response at least keeps what was chosen
			return
		}
		c.GoTo(say.Address(sheetPath, c.R.PathValue("id")))
		return
	}
	a, job := submit(c, kept, sent)
	if job == "" {
		showSheet(c, kept, document, a)
		return
	}
	c.GoTo(say.Address("jobs", job))
}

// choose takes the chosen fields from the form. If the person has only changed what the first row contains,
// the fields are suggested again.
func (k *keptSheet) choose(c *frame.Visit, document []byte) {
	if k.Media != ops.MediaCSV {
		return
	}
	given := c.R.PostForm
	first := given.Get("first")
	changed := (first == ops.RowOfNames || first == ops.RowOfData) && first != k.FirstRow
	if changed {
		k.FirstRow = first
	}
	sheet, forms := k.sheetOf(document)
	if k.Fields = []string{}; forms.All == nil {
		return
	}
	for i, one := range forms.All.Columns(sheet) {
		chosen := given.Get(fmt.Sprint("c", i))
		switch {
		case one.Own:
			chosen = one.Called
		case forms.All.Field(chosen) == nil:
			chosen = ""
		}
		k.Fields = append(k.Fields, chosen)
	}
	if changed && strings.Join(k.Fields, "") == "" {
		k.Fields = nil
	}
}
