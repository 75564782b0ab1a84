package ui

import (
	"net/http"

	"adgateway/gateway/identity"
	"adgateway/gateway/readiness"
	"adgateway/gateway/ui/figures"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// statusPage shows whether the gateway works.
type statusPage struct {
	Known   bool // a person is signed in
	Verdict say.Word
	Checks  []checkRow
	Figures *figures.Figures // nil if the person may not see them
	Roles   []string         // available roles, for a person who has none
	Person  bool
}

// checkRow is a check on a page.
type checkRow struct {
	Label  texts.Text
	Word   say.Word
	Reason string
}

func rowOf(k readiness.Check) checkRow {
	label := texts.Raw(k.Name)
	if key := "check." + k.Name; texts.Has(key) {
		label = texts.Of(key)
	}
	return checkRow{Label: label, Word: say.CheckWord(k.OK, k.Degraded), Reason: k.Reason}
}

// verdictOf summarizes the readiness of the gateway in one word.
func verdictOf(ready, degraded bool) string {
	switch {
	case !ready:
		return "down"
	case degraded:
		return "degraded"
	}
	return "sound"
}

// checksOf returns the checks of the gateway that the person may see, and whether it is ready or degraded.
func checksOf(c *frame.Visit) (rows []checkRow, ready, degraded bool) {
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
			rows = append([]checkRow{row}, rows...) // checks that need attention come first
		}
	}
	return rows, ready, degraded
}

// front shows the home page to people with a role. To other people it shows the status page, or it redirects
// them to the sign-in with a ticket.
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

// visitor returns the visit of a person who need not be signed in.
func visitor(p *frame.Pages, w http.ResponseWriter, r *http.Request) *frame.Visit {
	session, _ := p.Gate.Find(r.Context(), p.Cookie(r)) // everybody may see the page
	if session != nil {
		if c, err := p.Visit(w, r, session); err == nil {
			return c
		}
	}
	return &frame.Visit{Pages: p, W: w, R: r}
}

// showStatus shows the verdict to everybody, and the checks only to people who are signed in.
func showStatus(p *frame.Pages, w http.ResponseWriter, r *http.Request) {
	c := visitor(p, w, r)
	rows, ready, degraded := checksOf(c)
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

// ownChanges returns the list of the changes made by the person.
func ownChanges(c *frame.Visit, after string, most int) frame.List {
	return frame.List{
		Operation: "change.list", Key: "id", Before: frame.Newest, Most: most,
		Values: map[string]any{"Caller": identity.ReferenceTo(c.Identity()), "After": after},
	}
}
