package ui

import (
	"adgateway/gateway/call"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/ui/texts"
	"bytes"
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
)

// applyToMany checks what an operation would do with all that are selected, as a list of the person.
func applyToMany(c *visit, l *listing) {
	form := c.r.PostForm
	i := slices.IndexFunc(l.many, func(m many) bool { return m.id == form.Get("many") })
	refuse := func(key string) {
		c.page(http.StatusBadRequest, "message", page{
			Title: texts.Of("page." + l.path), Section: l.path, Alert: &alert{Text: texts.Of(key)},
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
	m := l.many[i]
	heads, fixed := []string{l.object}, []string(nil)
	if m.asks != "" {
		value := strings.TrimSpace(form.Get("with-" + m.id))
		if value == "" {
			refuse("many.missing")
			return
		}
		heads, fixed = append(heads, m.asks), []string{value}
	}
	var document bytes.Buffer
	rows := csv.NewWriter(&document)
	_ = rows.Write(heads) // to memory
	for _, guid := range form["who"] {
		_ = rows.Write(append([]string{guid}, fixed...))
	}
	rows.Flush()
	name := texts.Of("many.name", "what", texts.Of("many."+m.id), "n", len(form["who"])).In(c.lookOf(c.r).lang)
	made := send(c, "job.submit", call.Call{Input: uploaded{
		values:   call.Values{"Mode": string(jobstate.DryRun), "Operation": m.operation, "Name": name},
		document: document.Bytes(), media: "text/csv",
	}})
	submitted := records[job](made)
	if !made.ok() || len(submitted) != 1 {
		c.failed(made)
		return
	}
	c.goTo(address("jobs", submitted[0].ID))
}
