package work

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/sheet"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/table"
	"adgateway/gateway/ui/texts"
)

// ApplyToMany submits a dry run of an operation on all selected objects, as a list that belongs to the
// person.
func ApplyToMany(c *frame.Visit, l *table.Listing) {
	form := c.R.PostForm
	i := slices.IndexFunc(l.Many, func(m table.Many) bool { return m.ID == form.Get("many") })
	refuse := func(key string) {
		c.Page(http.StatusBadRequest, "message", frame.Page{
			Title: texts.Of("page." + l.Path), Section: l.Path, Alert: &frame.Alert{Text: texts.Of(key)},
		})
	}
	switch {
	case i < 0:
		refuse("many.unknown")
		return
	case len(form["who"]) == 0:
		refuse("many.nobody")
		return
	}
	m := l.Many[i]
	heads, fixed := []string{l.Object}, []string(nil)
	if m.Asks != "" {
		value := strings.TrimSpace(form.Get("with-" + m.ID))
		if value == "" {
			refuse("many.missing")
			return
		}
		heads, fixed = append(heads, m.Asks), []string{value}
	}
	if c.NeedsReason(m.Operation) {
		why := strings.TrimSpace(form.Get("why-" + m.ID))
		if why == "" {
			refuse("many.missing")
			return
		}
		heads, fixed = append(heads, ops.ReasonName), append(fixed, why)
	}
	var document bytes.Buffer
	rows := sheet.NewWriter(&document, ',')
	_ = rows.Write(heads) // cannot fail: it writes to memory
	for _, guid := range form["who"] {
		_ = rows.Write(append([]string{guid}, fixed...))
	}
	_ = rows.Flush()
	name := texts.Of("many.name", "what", texts.Of("many."+m.ID), "n", len(form["who"])).In(c.LookOf(c.R).Lang)
	list := keptSheet{Name: name, Operation: m.Operation, Mode: string(jobstate.DryRun), Media: ops.MediaCSV}
	made, job := submit(c, list, document.Bytes())
	if job == "" {
		c.Failed(made)
		return
	}
	c.GoTo(say.Address("jobs", job))
}
