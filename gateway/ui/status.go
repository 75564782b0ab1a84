package ui

import (
	"net/http"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

// statusPage says whether the gateway works.
type statusPage struct {
	Known   bool // somebody is signed in
	Verdict word
	Checks  []checkRow
	Figures *Figures // nil: they may not be shown
	Roles   []string // that would give rights to somebody without any
	Person  bool
}

// checkRow is a check as a page shows it.
type checkRow struct {
	Label  texts.Text
	Word   word
	Reason string
}

func rowOf(k Check) checkRow {
	label := texts.Raw(k.Name)
	if key := "check." + k.Name; texts.Has(key) {
		label = texts.Of(key)
	}
	return checkRow{Label: label, Word: checkWord(k.OK, k.Degraded), Reason: k.Reason}
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
func readiness(c *visit) (rows []checkRow, ready, degraded bool) {
	var principal *identity.Principal
	for _, one := range c.principals {
		if principal == nil || one.Has(identity.OpsRead) {
			principal = one
		}
	}
	checks, ready := c.API.Readiness(c.r.Context(), principal)
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
func front(p *Pages, w http.ResponseWriter, r *http.Request) {
	c := visitor(p, w, r)
	switch {
	case c.session != nil && len(c.principals) > 0:
		home(c)
	case c.session == nil && p.triesTicket(r):
		http.Redirect(w, r, asking(ticketPath, "next", r.URL.RequestURI()), http.StatusSeeOther)
	default:
		showStatus(p, w, r)
	}
}

// visitor returns the visit of somebody who may not be signed in.
func visitor(p *Pages, w http.ResponseWriter, r *http.Request) *visit {
	session, _ := p.Gate.Find(r.Context(), p.cookie(r)) // the page is for everybody
	if session != nil {
		if c, err := p.visit(w, r, session); err == nil {
			return c
		}
	}
	return &visit{Pages: p, w: w, r: r}
}

// showStatus shows the verdict to everybody, and the checks to people who are signed in.
func showStatus(p *Pages, w http.ResponseWriter, r *http.Request) {
	c := visitor(p, w, r)
	rows, ready, degraded := readiness(c)
	body := statusPage{Known: c.session != nil, Verdict: wordOf("readiness.verdict", verdictOf(ready, degraded))}
	shown := page{Title: texts.Of("page.status"), Section: "status"}
	if c.session == nil {
		shown.Form, shown.Body = p.newForm(w, r), body
		p.write(w, r, http.StatusOK, "status", shown)
		return
	}
	body.Checks = rows
	if len(c.principals) == 0 {
		body.Roles = p.Gate.Roles()
	}
	if c.may(identity.OpsRead) && p.Figures != nil {
		figures := p.Figures()
		body.Figures = &figures
	}
	shown.Body = body
	c.page(http.StatusOK, "status", shown)
}

// ownChanges is the list of what the person has changed.
func ownChanges(c *visit, after string, most int) list {
	return list{
		operation: "change.list", key: "id", before: newest, most: most,
		values: map[string]any{"Caller": identity.ReferenceTo(c.identity()), "After": after},
	}
}
