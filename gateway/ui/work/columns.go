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

// sheetPath is the path of the page that asks for the columns of a list.
const sheetPath = "lists"

// keptSheet is a list whose columns must still be chosen.
type keptSheet struct {
	Name, Operation, Mode, Once, File string
	// Text is compressed and encrypted with the session cookie, because it may contain passwords.
	Text   []byte
	Fields []string // chosen fields; nil if none were chosen yet
	Cells  []cellProblem
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
		why := field.Name == ops.ReasonName && c.NeedsReason(f.Op.ID)
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
	id := signin.NewID()
	return say.Address(sheetPath, id), c.Session.Keep(c.R.Context(), id, 0, kept)
}

var errNoSheet = errors.New("the list is no longer kept")

// openSheet returns a stored list.
func openSheet(c *frame.Visit) (kept keptSheet, at signin.Version, document []byte, err error) {
	at, err = c.Session.Kept(c.R.Context(), c.R.PathValue("id"), &kept)
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
	f := form.Of(kept.Operation)
	if f == nil {
		noSheet(c)
		return
	}
	columns := f.Columns(form.ReadSheet(document))
	body := SheetPage{
		Action: say.Address(sheetPath, c.R.PathValue("id")), Back: say.Address("jobs"),
		What: actionIn(f), Name: texts.Raw(kept.listName()),
	}
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
		if field != nil && slices.Index(fields, fields[i]) < i && kept.Fields != nil {
			shown.Error = texts.Of(
				"sheet.twice", "field", texts.Each(field.Label), "n", slices.Index(fields, fields[i])+1,
			)
			body.Wrong = true
		}
		for j := range f.Fields {
			shown.Choices = append(shown.Choices, frame.Choice{
				ID: f.Fields[j].Name, Label: texts.Each(f.Fields[j].Label), Chosen: f.Fields[j].Name == fields[i],
			})
		}
		if fields[i] == "" {
			left = append(left, say.Or(texts.Raw(one.Called), texts.Of("sheet.nameless", "n", i+1)))
		}
		body.Columns = append(body.Columns, shown)
	}
	if len(left) > 0 {
		body.Left = texts.List(left...)
	}
	for _, field := range lacking(c, f, fields) {
		body.Problems = append(body.Problems, texts.Of("sheet.missing", "field", texts.Each(field.Label)))
	}
	status := http.StatusOK
	if body.Wrong = body.Wrong || kept.Fields != nil && len(body.Problems) > 0; body.Wrong {
		status = http.StatusUnprocessableEntity
	}
	body.Count = texts.Of("sheet.wrong")
	if body.Cells = kept.Cells; body.Cells != nil {
		status = http.StatusUnprocessableEntity
	}
	shown := frame.Page{Title: texts.Of("sheet.title"), Section: "jobs", Body: body}
	if refused != nil {
		shown.Alert, status = frame.AlertOf(refused), refused.Status
	}
	c.Page(status, "sheet", shown)
}

func (k keptSheet) listName() string {
	if k.Name != "" {
		return k.Name
	}
	return k.File
}

// SubmitSheet submits a list with the chosen columns.
func SubmitSheet(c *frame.Visit) {
	kept, at, document, err := openSheet(c)
	f := form.Of(kept.Operation)
	if err != nil || f == nil {
		noSheet(c)
		return
	}
	sheet := form.ReadSheet(document)
	kept.Fields = []string{}
	twice := false
	for i, one := range f.Columns(sheet) {
		chosen := c.R.PostForm.Get(fmt.Sprint("c", i))
		switch {
		case one.Own:
			chosen = one.Called
		case f.Field(chosen) == nil:
			chosen = ""
		}
		twice = twice || chosen != "" && slices.Contains(kept.Fields, chosen)
		kept.Fields = append(kept.Fields, chosen)
	}
	if kept.Cells = nil; !twice && len(lacking(c, f, kept.Fields)) == 0 {
		document, kept.Cells = resolvedCells(c, f, sheet, kept.Fields)
	}
	if twice || len(kept.Cells) > 0 || len(lacking(c, f, kept.Fields)) > 0 {
		if err := c.Session.Keep(c.R.Context(), c.R.PathValue("id"), at, kept); err != nil {
			showSheet(c, kept, document, nil) // this response at least keeps what was chosen
			return
		}
		c.GoTo(say.Address(sheetPath, c.R.PathValue("id")))
		return
	}
	a, job := submit(c, kept, document, mediaCSV)
	if job == "" {
		showSheet(c, kept, document, a)
		return
	}
	c.GoTo(say.Address("jobs", job))
}
