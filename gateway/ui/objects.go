package ui

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/table"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
)

// heading is the top of an object's page.
type heading struct {
	Lead     string
	Code     string // the object's name in the directory
	Initials string
	State    say.Word // state of the account; without a text it is not shown
}

// offers contains the actions that a page offers.
type offers struct {
	Buttons []actionForm // without inputs
	Danger  []actionForm // actions that take something away
	Forms   []actionForm // with inputs
	Seldom  []actionForm // actions that few people need
	Denied  []action     // actions that a role allows only on other objects
}

// object is the page of an object.
type object struct {
	Kind   *frame.Kind
	GUID   string
	record say.Record
	Cards  []card // facts, in cards
	heading
	offers
	Reports []frame.Link

	Logon      *logonBox
	PolicyName string
	Policy     []say.Fact
	besides
	Groups     []relatedRow
	Leaves     bool         // the groups have a column with actions
	Members    *membersPart // nil if they were not read
	Changes    []madeRow
	AllChanges string       // address of all changes
	Unread     []texts.Text // parts that could not be read, and why

	inline map[string]*action
	guarding
}

// besides holds the data that the page of a person or computer shows in addition to the facts.
type besides struct {
	Lockouts []lockoutRow
	Secrets  []secretOf
	Compare  string // address of the group comparison; empty if the person may not use it
	Rights   string // address of the person's rights; empty if the reader may not see them
	Photo    string // address; empty if only the initials are shown
}

// card is a group of facts.
type card struct {
	ID    string
	Title texts.Text
	Facts []say.Fact
}

// dangerous contains the ids of dangerous actions. Pages show them last.
var dangerous = []string{"disable", "delete"}

// mostShown is the maximum number of actions with inputs that a page shows together. If there are more, those
// that few people need are in a menu.
const mostShown = 4

// sortOut moves dangerous actions to the end, and actions that few people need into a menu.
func (o *object) sortOut() {
	for _, all := range []*[]actionForm{&o.Buttons, &o.Forms} {
		*all = slices.DeleteFunc(*all, func(a actionForm) bool {
			if !slices.Contains(dangerous, a.ID) {
				return false
			}
			o.Danger = append(o.Danger, a)
			return true
		})
	}
	if len(o.Forms) <= mostShown {
		return
	}
	o.Forms = slices.DeleteFunc(o.Forms, func(a actionForm) bool {
		if !slices.Contains(seldom, a.ID) {
			return false
		}
		o.Seldom = append(o.Seldom, a)
		return true
	})
}

// stateWord returns the word for the state of an account.
func stateWord(r say.Record) say.Word {
	if words := table.AccountState(table.Stated(r, time.Now())).Words; len(words) == 1 {
		return words[0]
	}
	return say.Word{}
}

// logonBox shows whether a person can log on.
type logonBox struct {
	say.Word
	Reasons []reason
	Remedy  *actionForm // action that helps; nil if there is none, or if the reader may not use it
}

type reason struct {
	Text  texts.Text
	Until string
}

// membersPart are the members of a group.
type membersPart struct {
	Rows []relatedRow
	Next string // address of the next page
	Acts bool   // there is a column with actions
}

// relatedRow is a group of a person, or a member of a group.
type relatedRow struct {
	Link, Name, Description string
	Kind                    texts.Text
	Words                   []say.Word
	Remove                  *actionForm
	Guard                   texts.Text // why the group's guard withholds the action; nil if it does not
}

// madeRow is a change in the history.
type madeRow struct {
	Time, Caller, Link  string
	What, Before, After texts.Text
}

func madeRows(all []say.Record) []madeRow {
	var rows []madeRow
	for _, r := range all {
		rows = append(rows, madeRow{
			Time: r.Text("time"), Caller: say.CallerIn(r), Link: say.Address("changes", r.Text("id")),
			What: say.DidText(r), Before: say.SideOf(r, "before"), After: say.SideOf(r, "after"),
		})
	}
	return rows
}

// showObject shows an object.
func showObject(c *frame.Visit, k *frame.Kind) {
	o := &object{Kind: k, GUID: c.R.PathValue("guid"), inline: map[string]*action{}}
	var read *frame.Answer
	frame.SideBySide(func() { read = c.Read(k, o.GUID) }, func() { o.guarding = readGuard(c, o.GUID) })
	if !read.Ok() {
		c.Failed(read)
		return
	}
	found := frame.Records[say.Record](read)
	if len(found) != 1 {
		c.Failed(&frame.Answer{
			Status: http.StatusNotFound, Error: &frame.Failure{
				Message: texts.Of("object.gone").In(c.LookOf(c.R).Lang),
			},
		})
		return
	}
	o.record = found[0]
	if guid := o.record.Text("guid"); guid != "" {
		o.GUID = guid
	}
	if k.HitType != "computer" { // the actions of a computer depend on its secrets, which are read later
		offerActions(c, o)
	}
	title := o.record.First("displayName", "name", "computerName")
	frame.SideBySide(func() { lookedAt(c, k, o.GUID, title) }, func() {
		fills[k.HitType](c, o)
		readChanges(c, o)
	})
	for _, section := range sections[k.HitType] {
		title := texts.Of("object." + section.Title)
		o.Cards = append(o.Cards, card{"card-" + section.Title, title, say.FactsOf(o.record, section.Rows)})
	}
	o.sortOut()
	o.Initials, o.State = frame.Initials(title), stateWord(o.record)
	shown := frame.Page{Title: texts.Raw(title), Section: k.Path, Body: o}
	c.Page(http.StatusOK, k.HitType, shown)
}

// offerActions adds the actions that the person may use and that fit the object's state.
func offerActions(c *frame.Visit, o *object) {
	for i := range actions[o.Kind.HitType] {
		a := &actions[o.Kind.HitType][i]
		switch {
		case !work.MayDo(c, a.row()) || a.fits != nil && !a.Inline && !a.fits(o.record):
		case !a.free && o.guards(c, cmp.Or(a.guard, whyChanged), a.row()):
		case !reaches(c, o.Kind, o.GUID, a.row().Scope):
			if !a.Inline {
				o.Denied = append(o.Denied, *a)
			}
		case a.Inline:
			o.inline[a.ID] = a
		case a.Secondary():
			o.Forms = append(o.Forms, actionOf(c, o, a))
		default:
			o.Buttons = append(o.Buttons, actionOf(c, o, a))
		}
	}
}

// related returns the row of a group or member, including the action that removes the group or member if it
// applies and the person may use it. Why is the reason why the group is guarded, or empty.
func related(c *frame.Visit, o *object, r say.Record, remove, why string) relatedRow {
	row := relatedRow{
		Name: r.Text("name"), Description: r.Text("description"), Kind: say.WordOf("type", r["type"]).Text,
		Words: say.Said(r, "enabled", "primary"),
	}
	k := frame.KindOf(r.Text("type"))
	if remove == "leave" {
		k = frame.KindOf("group")
	}
	if k != nil {
		row.Link = k.At(r.Text("guid"))
	}
	if a := o.inline[remove]; a != nil && a.fits(r) {
		if keeps(c, why, a.row()) {
			row.Guard = texts.Guarded("group.protected", why)
		} else {
			row.Remove = inlineForm(c, o, a, a.input, r)
		}
	}
	return row
}

// reaches reports whether a role with the scope sees the object. Roles are not merged, so one role may show
// an object while another role allows the action, but only on other objects.
func reaches(c *frame.Visit, k *frame.Kind, guid string, scope identity.Scope) bool {
	if len(c.Principals) == 1 {
		return true
	}
	for _, principal := range c.Principals {
		if !principal.Has(scope) {
			continue
		}
		if c.Sees == nil {
			c.Sees = map[*identity.Principal]bool{}
		}
		seen, known := c.Sees[principal]
		if !known {
			seen = principal.Has(k.Scope) && c.CallAs(principal, k.Reader, call.Values{k.Object: guid}).Ok()
			c.Sees[principal] = seen
		}
		if seen {
			return true
		}
	}
	return false
}

// noted returns the records of a part of a page. If the part could not be read, it adds the reason to the
// page.
func noted[T any](o *object, what string, a *frame.Answer) ([]T, *frame.Answer) {
	if !a.Ok() {
		o.Unread = append(
			o.Unread, texts.Of("unread", "what", texts.Of("unread."+what), "why", frame.AlertOf(a).Text),
		)
		return nil, a
	}
	for _, w := range a.Warnings {
		o.Unread = append(o.Unread, w.Said())
	}
	return frame.Records[T](a), a
}

// fills contains the functions that add the parts of an object's page that are not in its record.
var fills = map[string]func(*frame.Visit, *object){
	"user": fillUser, "group": fillGroup, "computer": fillComputer,
}

// fillUser adds information about the logon to the record. The facts are derived from this information.
func fillUser(c *frame.Visit, o *object) {
	o.setLead("username", "jobTitle", "department")
	o.Photo = o.Kind.At(o.GUID, "photo")
	var logon, policy, groups, reports, seen *frame.Answer
	var guards map[string]say.Record
	ask := func(into **frame.Answer, operation string) func() {
		return func() { *into = c.Get(operation, o.Kind.Object, o.GUID) }
	}
	frame.SideBySide(
		ask(&logon, "user.logonState"), ask(&policy, "user.passwordPolicy"), ask(&seen, "user.lastLogon"),
		func() {
			if c.May(identity.MemberRead) {
				groups = c.Listed(frame.List{
					Operation: "membership.list", Key: "guid", Before: frame.ByName,
					Values: call.Values{o.Kind.Object: o.GUID},
				})
				guards = guardsOfGroups(c, o, groups)
			}
		},
		func() {
			values := call.Values{
				"Filter": "manager eq " + table.Quoted(o.GUID), "ShowFields": "guid,name,displayName",
			}
			reports = c.Listed(frame.List{
				Operation: "user.listAll", Key: "guid", Before: frame.ByGUID, Most: mostReports, Values: values,
			})
		},
	)
	states, read := noted[say.LogonState](o, "logon", logon)
	if o.record["logonUnread"] = len(states) != 1; len(states) == 1 {
		o.Logon = o.logonBox(states[0])
		for _, v := range states[0].Verdicts {
			o.record["logon."+v.Code] = true
		}
		for _, r := range frame.Records[say.Record](read) {
			o.record["passwordExpires"], o.record["lastBadPassword"] = r["passwordExpires"], r["lastBadPassword"]
			o.Lockouts = lockoutsOf(r)
		}
	}
	if policies, _ := noted[say.Record](o, "policy", policy); len(policies) == 1 {
		o.PolicyName, o.Policy = policies[0].Text("name"), say.FactsOf(policies[0], policyFacts)
	}
	for _, r := range frame.Records[say.Record](seen) {
		o.record["lastLogon"] = r["lastLogon"]
	}
	for _, r := range frame.Records[say.Record](reports) {
		o.Reports = append(
			o.Reports, frame.Link{Path: o.Kind.At(r.Text("guid")), Text: texts.Raw(r.First("displayName", "name"))},
		)
	}
	if reports.Next != "" {
		o.Reports = append(o.Reports, frame.Link{Path: table.Asked{
			List: listingAt("people"), Chips: []string{"manager eq " + table.Quoted(o.GUID)},
		}.Address(), Text: texts.Of("object.more")})
	}
	o.Leaves = o.inline["leave"] != nil
	if c.May(identity.OpsRead) {
		o.Rights = say.Asking(say.Address("rights"), "who", o.GUID)
	}
	if groups != nil {
		o.Compare = o.Kind.At(o.GUID, "compare")
		found, _ := noted[say.Record](o, "groups", groups)
		for _, r := range found {
			o.Groups = append(o.Groups, related(c, o, r, "leave", guards[r.Text("guid")].Text(whyChanged)))
		}
	}
}

// lockoutRow is a computer that sent wrong passwords and locked an account out.
type lockoutRow struct {
	Time, Source, Controller string
	Link                     string     // address of the computer's page
	Count                    texts.Text // number of wrong passwords; nil if unknown
}

// lockoutsOf returns the computers that locked an account out.
func lockoutsOf(r say.Record) (rows []lockoutRow) {
	for _, one := range say.ListIn(r, "lockouts") {
		row := lockoutRow{Time: one.Text("time"), Source: one.Text("source"), Controller: one.Text("controller")}
		if row.Source != "" {
			row.Link = say.Asking(say.Address("search"), "q", row.Source)
		}
		if n, is := one.Number("count"); is {
			row.Count = texts.Count("lockout.count", n)
		}
		rows = append(rows, row)
	}
	return rows
}

// mostReports limits the direct reports on a person's page.
const mostReports = 8

// logonBox describes whether the person can log on, and offers an action that helps.
func (o *object) logonBox(s say.LogonState) *logonBox {
	says := s.Says()
	box := &logonBox{Word: says.Word}
	for _, v := range s.Verdicts {
		box.Reasons = append(box.Reasons, reason{texts.Verdict(v.Code, v.Text), v.Until})
	}
	for i := range o.Buttons {
		if o.Buttons[i].ID == says.Remedy {
			box.Remedy = &o.Buttons[i]
		}
	}
	return box
}

// setLead sets the line below the title: the values of fields, followed by a name in the directory.
func (o *object) setLead(name string, fields ...string) {
	var texts []string
	for _, field := range fields {
		if text := o.record.Text(field); text != "" {
			texts = append(texts, text)
		}
	}
	o.Lead, o.Code = strings.Join(texts, " · "), o.record.Text(name)
}

func fillGroup(c *frame.Visit, o *object) {
	o.setLead("", "description")
	if !c.May(identity.MemberRead) {
		return
	}
	members, a := noted[say.Record](o, "members", c.Listed(frame.List{
		Operation: "group.members", Key: "guid", Before: frame.ByGUID, Most: 50,
		Values: call.Values{o.Kind.Object: o.GUID, "After": c.R.URL.Query().Get("after")},
	}))
	if !a.Ok() {
		return
	}
	o.Members = &membersPart{Acts: o.inline["remove"] != nil}
	for _, r := range members {
		o.Members.Rows = append(o.Members.Rows, related(c, o, r, "remove", ""))
	}
	if a.Next != "" {
		o.Members.Next = say.Asking(o.Kind.At(o.GUID), "after", a.Next)
	}
}

// passwordReset is the operation that sets a password.
const passwordReset = "user.resetPassword"

func readChanges(c *frame.Visit, o *object) {
	if c.May(identity.ChangeRead) {
		made, _ := noted[say.Record](o, "changes", c.Listed(frame.List{
			Operation: "change.list", Key: "id", Before: frame.Newest, Most: 10, Values: call.Values{"Object": o.GUID},
		}))
		o.Changes, o.AllChanges = madeRows(made), table.Asked{List: listingAt("changes"), Object: o.GUID}.Address()
		for _, r := range made {
			if r["operation"] == passwordReset && r["outcome"] == "done" {
				o.record["lastReset"], o.record["lastResetBy"] = r["time"], say.CallerIn(r)
				break
			}
		}
	}
}

// findObject redirects to the page of an object of any kind, by its distinguished name or GUID.
func findObject(c *frame.Visit) {
	var last *frame.Answer
	for _, k := range frame.Kinds {
		found := c.Read(k, c.R.PathValue("id"))
		if !found.Ok() {
			// Either no object of this kind can have such an id, or none has it. The first error that says more is
			// kept.
			if last == nil || found.Status != http.StatusBadRequest && last.Status != http.StatusNotFound {
				last = found
			}
			continue
		}
		for _, r := range frame.Records[say.Record](found) {
			c.GoTo(k.At(r.Text(cmp.Or(k.Key, "guid"))))
			return
		}
	}
	c.Failed(last)
}
