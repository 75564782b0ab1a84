package ui

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"adgateway/gateway/auth"
)

// searchPage is a search over one kind of object.
type searchPage struct {
	Kind     *kind
	Query    string
	Asked    bool
	Hits     []hit
	Warnings []warning
}

type hit struct {
	Type, GUID, Name, Username, DisplayName, EmailAddress, Description, OUPath, Matched string
	Enabled                                                                             *bool
}

func (c *visit) search(k *kind) {
	body := searchPage{Kind: k, Query: strings.Join(strings.Fields(c.r.URL.Query().Get("q")), " ")}
	shown := page{Title: k.Title, Section: k.path}
	status := http.StatusOK
	switch {
	case !c.may(k.scope):
		status = http.StatusForbidden
		shown.Alert = &alert{Text: fmt.Sprintf("To search here you need the right '%s', which none of your roles gives you.", k.scope)}
	case body.Query != "":
		found := c.get("/api/Search", "Text", body.Query, "Type", k.hitType, "Limit", "50")
		if shown.Alert = alertOf(found); shown.Alert == nil {
			body.Asked, body.Hits, body.Warnings = true, records[hit](found), found.Warnings
			shown.Title = body.Query + " – " + k.Title
		} else {
			status = found.Status
		}
	}
	shown.Body = body
	c.page(status, "search", shown)
}

// object is the page of an object.
type object struct {
	Kind    *kind
	GUID    string
	Record  map[string]any
	Buttons []action // without inputs
	Forms   []action // with inputs
	Denied  []action // that a role allows elsewhere only
	Inline  map[string]bool
	Given   url.Values // of a form that was not accepted
	Failed  string     // id of its action

	State   *logonState
	Policy  *policy
	Groups  []group
	Members []member
	Next    string
	Changes []made
	Unread  []string // what could not be read, and why
}

// Text returns a field of the record.
func (o *object) Text(name string) string {
	switch v := o.Record[name].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

type logonState struct {
	CanLogOn                                                      bool
	Verdicts                                                      []verdict
	BadPwdCount                                                   *int
	LastBadPassword, PasswordExpires, AccountExpires, LockoutEnds string
}

type verdict struct{ Code, Since, Until, Text string }

type policy struct {
	Name                                                                                      string
	MinLength, HistoryCount, MinAge, MaxAge, LockoutThreshold, LockoutWindow, LockoutDuration int
	Complexity                                                                                bool
}

type group struct {
	GUID, Name, SamName, Description, Scope, Type string
	Direct, Primary                               bool
}

type member struct {
	Type, GUID, Name, Username, Via string
	Enabled                         *bool
	Direct, Primary                 bool
}

// made is a change in the history.
type made struct {
	ID, Time, Caller, Operation, Outcome, Server string
	Objects                                      []planned
}

// show shows an object, with a message about a form that was not accepted.
func (c *visit) show(k *kind, status int, refused *object, said ...*alert) {
	o := &object{Kind: k, GUID: c.r.PathValue("guid"), Inline: map[string]bool{}, Given: url.Values{}}
	if refused != nil {
		o.Given, o.Failed = refused.Given, refused.Failed
	}
	read := c.get(k.read(o.GUID))
	if !read.ok() {
		c.failed(read)
		return
	}
	found := records[map[string]any](read)
	if len(found) != 1 {
		c.failed(&answer{Status: http.StatusNotFound, Error: &failure{Message: "There is no such " + k.One + "."}})
		return
	}
	o.Record = found[0]
	if guid := o.Text("guid"); guid != "" {
		o.GUID = guid
	}
	for _, a := range k.actions {
		switch {
		case !c.may(a.scope) || a.fits != nil && !a.fits(o.Record):
		case !c.reaches(k, o.GUID, a.scope):
			if !a.Inline {
				o.Denied = append(o.Denied, a)
			}
		case a.Inline:
			o.Inline[a.ID] = true
		case a.Secondary():
			o.Forms = append(o.Forms, a)
		default:
			o.Buttons = append(o.Buttons, a)
		}
	}
	k.fill(c, o)
	c.readChanges(o)
	title := o.Text("displayName")
	for _, name := range []string{"name", "computerName"} {
		if title == "" {
			title = o.Text(name)
		}
	}
	shown := page{Title: title, Section: k.path, Body: o}
	if len(said) > 0 {
		shown.Alert = said[0]
	}
	c.page(status, k.hitType, shown)
}

// reaches reports whether a role with the scope sees the object. Roles are not merged: one
// role may show an object, and another one allow the action elsewhere only.
func (c *visit) reaches(k *kind, guid string, scope auth.Scope) bool {
	if len(c.principals) == 1 {
		return true
	}
	for _, principal := range c.principals {
		if !principal.Has(scope) {
			continue
		}
		if c.sees == nil {
			c.sees = map[*auth.Principal]bool{}
		}
		seen, known := c.sees[principal]
		if !known {
			seen = principal.Has(k.scope) && c.callAs(principal, http.MethodGet, k.read(guid), nil, nil).ok()
			c.sees[principal] = seen
		}
		if seen {
			return true
		}
	}
	return false
}

// part reads a part of a page, or notes why it could not be read.
func part[T any](c *visit, o *object, what, path string, pairs ...string) ([]T, *answer) {
	a := c.get(path, pairs...)
	if !a.ok() {
		text := a.Output
		if a.Error != nil {
			text = a.Error.Message
		}
		o.Unread = append(o.Unread, what+": "+text)
		return nil, a
	}
	for _, w := range a.Warnings {
		o.Unread = append(o.Unread, w.Message)
	}
	return records[T](a), a
}

func (c *visit) fillUser(o *object) {
	at := "/api/ADUser/" + segment(o.GUID)
	if states, _ := part[logonState](c, o, "Logon", at+"/LogonState"); len(states) == 1 {
		o.State = &states[0]
	}
	if policies, _ := part[policy](c, o, "Password policy", at+"/PasswordPolicy"); len(policies) == 1 {
		o.Policy = &policies[0]
	}
	if c.may(auth.MemberRead) {
		o.Groups, _ = part[group](c, o, "Groups", at+"/Group/All")
	}
}

func (c *visit) fillGroup(o *object) {
	if !c.may(auth.MemberRead) {
		return
	}
	members, a := part[member](c, o, "Members", "/api/ADGroups/"+segment(o.GUID)+"/Members", "Limit", "50", "After", c.r.URL.Query().Get("after"))
	o.Members, o.Next = members, a.Next
}

func (c *visit) readChanges(o *object) {
	if c.may(auth.ChangeRead) {
		o.Changes, _ = part[made](c, o, "Changes", "/api/Changes", "Object", o.GUID, "Limit", "10")
	}
}

// statusPage says whether the gateway works.
type statusPage struct {
	Known   bool // somebody is signed in
	Ready   bool
	Sound   bool
	Checks  []checked
	Changes []made
	Figures *Figures // nil: they may not be shown
	Roles   []string // that would give rights to somebody without any
	Person  bool
}

type checked struct {
	Name     string
	OK       bool
	Degraded bool
	Reason   string
}

func (k checked) Label() string {
	if text, ok := checkNames[k.Name]; ok {
		return text
	}
	return k.Name
}

var checkNames = map[string]string{
	"directorySessions": "Sessions for the directory", "dnsSessions": "Sessions for DNS", "domainController": "Domain controller",
	"dnsServer": "DNS server", "store": "Store of plans and changes", "settings": "Settings", "log": "Log", "audit": "Audit log", "certificate": "Certificate",
	"credentials": "Credentials",
}

// status shows the verdict to everybody, and the checks to people who are signed in.
func (p *Pages) status(w http.ResponseWriter, r *http.Request) {
	session, _ := p.Gate.Find(r.Context(), p.cookie(r)) // the page is for everybody
	c := &visit{Pages: p, w: w, r: r, session: session}
	if session != nil {
		var err error
		if c, err = p.visit(w, r, session); err != nil {
			session, c = nil, &visit{Pages: p, w: w, r: r}
		}
	}
	var principal *auth.Principal
	for _, one := range c.principals {
		if principal == nil || one.Has(auth.OpsRead) {
			principal = one
		}
	}
	ready := p.send(r, principal, http.MethodGet, "/readyz", nil, nil)
	body := statusPage{Known: session != nil, Ready: ready.ok(), Sound: true}
	for _, check := range records[checked](ready) {
		body.Sound = body.Sound && check.OK && !check.Degraded
		if session != nil {
			body.Checks = append(body.Checks, check)
		}
	}
	shown := page{Title: "Status", Section: "status"}
	if session == nil {
		shown.Form, shown.Body = p.newForm(w, r), body
		p.write(w, r, http.StatusOK, "status", shown)
		return
	}
	if len(c.principals) == 0 {
		body.Roles = p.Gate.Roles()
	}
	if c.may(auth.ChangeRead) {
		body.Changes = records[made](c.get("/api/Changes", "Caller", session.Name, "Limit", "10"))
	}
	if c.may(auth.OpsRead) && p.Figures != nil {
		figures := p.Figures()
		body.Figures = &figures
	}
	shown.Body = body
	c.page(http.StatusOK, "status", shown)
}

// changes shows what the person has changed.
func (c *visit) changes() {
	shown := page{Title: "My changes", Section: "changes"}
	status := http.StatusOK
	a := c.get("/api/Changes", "Caller", c.session.Name, "Limit", "50", "After", c.r.URL.Query().Get("after"))
	if shown.Alert = alertOf(a); shown.Alert != nil {
		status = a.Status
	}
	shown.Body = struct {
		Changes []made
		Next    string
	}{records[made](a), a.Next}
	c.page(status, "changes", shown)
}
