package ui

import (
	"net/http"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/figures"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// statusPage says whether the gateway works.
type statusPage struct {
	Known   bool // somebody is signed in
	Verdict say.Word
	Checks  []checkRow
	Figures *figures.Figures // nil: they may not be shown
	Roles   []string         // that would give rights to somebody without any
	Person  bool
}

// checkRow is a check as a page shows it.
type checkRow struct {
	Label  texts.Text
	Word   say.Word
	Reason string
}

func rowOf(k frame.Check) checkRow {
	label := texts.Raw(k.Name)
	if key := "check." + k.Name; texts.Has(key) {
		label = texts.Of(key)
	}
	return checkRow{Label: label, Word: say.CheckWord(k.OK, k.Degraded), Reason: k.Reason}
}

// verdictOf sums up the readiness of the gateway.
func verdictOf(ready, degraded bool) string {
	switch {
	case !ready:
		return "down"
	case degraded:
		return "degraded"
	}
	return "sound"
}

// readiness returns the checks of the gateway as the person may see them.
func readiness(c *frame.Visit) (rows []checkRow, ready, degraded bool) {
	var principal *identity.Principal
	for _, one := range c.Principals {
		if principal == nil || one.Has(identity.OpsRead) {
			principal = one
		}
	}
	checks, ready := c.API.Readiness(c.R.Context(), principal)
	for _, check := range checks {
		degraded = degraded || !check.OK || check.Degraded
		row := rowOf(check)
		if check.OK && !check.Degraded {
			rows = append(rows, row)
		} else {
			rows = append([]checkRow{row}, rows...) // what needs attention comes first
		}
	}
	return rows, ready, degraded
}

// front is where people begin; those who are not signed in see whether the gateway works.
func front(p *frame.Pages, w http.ResponseWriter, r *http.Request) {
	c := visitor(p, w, r)
	switch {
	case c.Session != nil && len(c.Principals) > 0:
		home(c)
	case c.Session == nil && p.TriesTicket(r):
		http.Redirect(w, r, say.Asking(frame.TicketPath, "next", r.URL.RequestURI()), http.StatusSeeOther)
	default:
		showStatus(p, w, r)
	}
}

// visitor returns the visit of somebody who may not be signed in.
func visitor(p *frame.Pages, w http.ResponseWriter, r *http.Request) *frame.Visit {
	session, _ := p.Gate.Find(r.Context(), p.Cookie(r)) // the page is for everybody
	if session != nil {
		if c, err := p.Visit(w, r, session); err == nil {
			return c
		}
	}
	return &frame.Visit{Pages: p, W: w, R: r}
}

// showStatus shows the verdict to everybody, and the checks to people who are signed in.
func showStatus(p *frame.Pages, w http.ResponseWriter, r *http.Request) {
	c := visitor(p, w, r)
	rows, ready, degraded := readiness(c)
	body := statusPage{
		Known: c.Session != nil, Verdict: say.WordOf("readiness.verdict", verdictOf(ready, degraded)),
	}
	shown := frame.Page{Title: texts.Of("page.status"), Section: "status"}
	if c.Session == nil {
		shown.Form, shown.Body = p.NewForm(w, r), body
		p.Write(w, r, http.StatusOK, "status", shown)
		return
	}
	body.Checks = rows
	if len(c.Principals) == 0 {
		body.Roles = p.Gate.Roles()
	}
	if c.May(identity.OpsRead) && p.Figures != nil {
		figures := p.Figures().In(c.Now().Location())
		body.Figures = &figures
	}
	shown.Body = body
	c.Page(http.StatusOK, "status", shown)
}

// ownChanges is the list of what the person has changed.
func ownChanges(c *frame.Visit, after string, most int) frame.List {
	return frame.List{
		Operation: "change.list", Key: "id", Before: frame.Newest, Most: most,
		Values: map[string]any{"Caller": identity.ReferenceTo(c.Identity()), "After": after},
	}
}
