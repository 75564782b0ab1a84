package ui

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

// heading is what stands at the top of a page of an object.
type heading struct {
	Lead     string
	Code     string // a name in the directory
	Initials string
	State    word // of the account; without a text nothing is said
}

// offers are the actions that a page offers.
type offers struct {
	Buttons []actionForm // without inputs
	Danger  []actionForm // what takes something away
	Denied  []action     // that a role allows elsewhere only
}

// object is the page of an object.
type object struct {
	Kind   *kind
	GUID   string
	record record
	Cards  []card // of facts
	heading
	offers
	Reports []link
	Forms   []actionForm // with inputs

	Logon      *logonBox
	PolicyName string
	Policy     []fact
	Groups     []relatedRow
	Leaves     bool         // the groups have a column of actions
	Members    *membersPart // nil: they were not read
	Changes    []madeRow
	AllChanges string   // address of all of them
	Unread     []string // what could not be read, and why

	inline map[string]*action
}

// card are facts that belong together.
type card struct {
	ID    string
	Title texts.Text
	Facts []fact
}

// dangerous are the actions that take something away, by their id. They stand last.
var dangerous = []string{"disable", "delete"}

// sortOut moves dangerous actions behind the others.
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
}

// stateWord returns the one word for the state of an account.
func stateWord(r record) word {
	if words := accountState(stated(r, time.Now())).Words; len(words) == 1 {
		return words[0]
	}
	return word{}
}

// logonBox says whether a person can log on.
type logonBox struct {
	word
	Reasons []reason
	Remedy  *actionForm // what helps; nil: nothing, or the person may not do it
}

type reason struct{ Text, Until string }

// membersPart are the members of a group.
type membersPart struct {
	Rows []relatedRow
	Next string // address
	Acts bool   // there is a column of actions
}

// relatedRow is a group of a person, or a member of a group.
type relatedRow struct {
	Link, Name, Description string
	Kind                    texts.Text
	Words                   []word
	Remove                  *actionForm
}

// madeRow is a change in the history.
type madeRow struct {
	Time, Caller, Link  string
	What, Before, After texts.Text
}

func madeRows(all []record) []madeRow {
	var rows []madeRow
	for _, r := range all {
		rows = append(rows, madeRow{
			Time: r.Text("time"), Caller: callerIn(r), Link: address("changes", r.Text("id")),
			What: didText(r), Before: sideOf(r, "before"), After: sideOf(r, "after"),
		})
	}
	return rows
}

// showObject shows an object.
func showObject(c *visit, k *kind) {
	o := &object{Kind: k, GUID: c.r.PathValue("guid"), inline: map[string]*action{}}
	read := c.read(k, o.GUID)
	if !read.ok() {
		c.failed(read)
		return
	}
	found := records[record](read)
	if len(found) != 1 {
		c.failed(&answer{
			Status: http.StatusNotFound, Error: &failure{Message: texts.Of("object.gone").In(c.lookOf(c.r).lang)},
		})
		return
	}
	o.record = found[0]
	if guid := o.record.Text("guid"); guid != "" {
		o.GUID = guid
	}
	offerActions(c, o)
	fills[k.hitType](c, o)
	readChanges(c, o)
	for _, section := range sections[k.hitType] {
		title := texts.Of("object." + section.title)
		o.Cards = append(o.Cards, card{"card-" + section.title, title, factsOf(o.record, section.rows)})
	}
	o.sortOut()
	title := o.record.first("displayName", "name", "computerName")
	o.Initials, o.State = initials(title), stateWord(o.record)
	lookedAt(c, k, o.GUID, title)
	shown := page{Title: texts.Raw(title), Section: k.path, Body: o}
	c.page(http.StatusOK, k.hitType, shown)
}

// offerActions adds the actions that the person may do with the object as it is.
func offerActions(c *visit, o *object) {
	for i := range actions[o.Kind.hitType] {
		a := &actions[o.Kind.hitType][i]
		switch {
		case !mayDo(c, a.row()) || a.fits != nil && !a.Inline && !a.fits(o.record):
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

// related returns the row of a group or member, with the action that takes it away if the
// person may do it and it fits.
func related(c *visit, o *object, r record, remove string) relatedRow {
	row := relatedRow{
		Name: r.Text("name"), Description: r.Text("description"), Kind: wordOf("type", r["type"]).Text,
		Words: said(r, "enabled", "primary"),
	}
	k := kindOf(r.Text("type"))
	if remove == "leave" {
		k = kindOf("group")
	}
	if k != nil {
		row.Link = k.at(r.Text("guid"))
	}
	if a := o.inline[remove]; a != nil && a.fits(r) {
		row.Remove = inlineForm(c, o, a, a.input, r)
	}
	return row
}

// reaches reports whether a role with the scope sees the object. Roles are not merged: one
// role may show an object, and another one allow the action elsewhere only.
func reaches(c *visit, k *kind, guid string, scope identity.Scope) bool {
	if len(c.principals) == 1 {
		return true
	}
	for _, principal := range c.principals {
		if !principal.Has(scope) {
			continue
		}
		if c.sees == nil {
			c.sees = map[*identity.Principal]bool{}
		}
		seen, known := c.sees[principal]
		if !known {
			seen = principal.Has(k.scope) && c.callAs(principal, k.reader, call.Values{k.object: guid}).ok()
			c.sees[principal] = seen
		}
		if seen {
			return true
		}
	}
	return false
}

// noted returns the records of a part of a page, or notes why it could not be read.
func noted[T any](o *object, what string, a *answer) ([]T, *answer) {
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

// fills add what the page of an object shows besides its record.
var fills = map[string]func(*visit, *object){
	"user": fillUser, "group": fillGroup, "computer": fillComputer,
}

// fillUser adds what is known of the logon to the record, of which the facts are made.
func fillUser(c *visit, o *object) {
	o.setLead("username", "jobTitle", "department")
	var logon, policy, groups, reports, seen *answer
	ask := func(into **answer, operation string) func() {
		return func() { *into = c.get(operation, o.Kind.object, o.GUID) }
	}
	sideBySide(
		ask(&logon, "user.logonState"), ask(&policy, "user.passwordPolicy"), ask(&seen, "user.lastLogon"),
		func() {
			if c.may(identity.MemberRead) {
				groups = c.listed(list{
					operation: "membership.list", key: "guid", before: byName, values: call.Values{o.Kind.object: o.GUID},
				})
			}
		},
		func() {
			values := call.Values{
				"Filter": "manager eq " + quoted(o.GUID), "ShowFields": "guid,name,displayName",
			}
			reports = c.listed(list{
				operation: "user.listAll", key: "guid", before: byGUID, most: mostReports, values: values,
			})
		},
	)
	states, read := noted[logonState](o, "Logon", logon)
	if o.record["logonUnread"] = len(states) != 1; len(states) == 1 {
		o.Logon = o.logonBox(states[0])
		for _, v := range states[0].Verdicts {
			o.record["logon."+v.Code] = true
		}
		for _, r := range records[record](read) {
			o.record["passwordExpires"], o.record["lastBadPassword"] = r["passwordExpires"], r["lastBadPassword"]
		}
	}
	if policies, _ := noted[record](o, "Password policy", policy); len(policies) == 1 {
		o.PolicyName, o.Policy = policies[0].Text("name"), factsOf(policies[0], policyFacts)
	}
	for _, r := range records[record](seen) {
		o.record["lastLogon"] = r["lastLogon"]
	}
	for _, r := range records[record](reports) {
		o.Reports = append(o.Reports, link{o.Kind.at(r.Text("guid")), texts.Raw(r.first("displayName", "name"))})
	}
	if reports.Next != "" {
		o.Reports = append(o.Reports, link{asked{
			list: listingAt("people"), chips: []string{"manager eq " + quoted(o.GUID)},
		}.address(), texts.Of("object.more")})
	}
	o.Leaves = o.inline["leave"] != nil
	if groups != nil {
		found, _ := noted[record](o, "Groups", groups)
		for _, r := range found {
			o.Groups = append(o.Groups, related(c, o, r, "leave"))
		}
	}
}

// mostReports limits the people on a page who report to somebody.
const mostReports = 8

// logonBox says whether the person can log on, and offers what helps.
func (o *object) logonBox(s logonState) *logonBox {
	says := s.says()
	box := &logonBox{word: says.word}
	for _, v := range s.Verdicts {
		box.Reasons = append(box.Reasons, reason{v.Text, v.Until})
	}
	for i := range o.Buttons {
		if o.Buttons[i].ID == says.remedy {
			box.Remedy = &o.Buttons[i]
		}
	}
	return box
}

// setLead sets the line below the title: texts, and then a name in the directory.
func (o *object) setLead(name string, fields ...string) {
	var texts []string
	for _, field := range fields {
		if text := o.record.Text(field); text != "" {
			texts = append(texts, text)
		}
	}
	o.Lead, o.Code = strings.Join(texts, " · "), o.record.Text(name)
}

func fillComputer(c *visit, o *object) { o.setLead("dnsName", "description") }

func fillGroup(c *visit, o *object) {
	o.setLead("", "description")
	if !c.may(identity.MemberRead) {
		return
	}
	members, a := noted[record](o, "Members", c.listed(list{
		operation: "group.members", key: "guid", before: byGUID, most: 50,
		values: call.Values{o.Kind.object: o.GUID, "After": c.r.URL.Query().Get("after")},
	}))
	if !a.ok() {
		return
	}
	o.Members = &membersPart{Acts: o.inline["remove"] != nil}
	for _, r := range members {
		o.Members.Rows = append(o.Members.Rows, related(c, o, r, "remove"))
	}
	if a.Next != "" {
		o.Members.Next = asking(o.Kind.at(o.GUID), "after", a.Next)
	}
}

// passwordReset is the operation that sets a password.
const passwordReset = "user.resetPassword"

func readChanges(c *visit, o *object) {
	if c.may(identity.ChangeRead) {
		made, _ := noted[record](o, "Changes", c.listed(list{
			operation: "change.list", key: "id", before: newest, most: 10, values: call.Values{"Object": o.GUID},
		}))
		o.Changes, o.AllChanges = madeRows(made), asked{list: listingAt("changes"), object: o.GUID}.address()
		for _, r := range made {
			if r["operation"] == passwordReset && r["outcome"] == "done" {
				o.record["lastReset"], o.record["lastResetBy"] = r["time"], callerIn(r)
				break
			}
		}
	}
}

// findObject leads to the page of an object of any kind, by its distinguished name or GUID.
func findObject(c *visit) {
	var last *answer
	for _, k := range kinds {
		found := c.read(k, c.r.PathValue("id"))
		if !found.ok() {
			if last == nil || found.Status != http.StatusBadRequest { // it cannot name an object of the kind
				last = found
			}
			continue
		}
		for _, r := range records[record](found) {
			c.goTo(k.at(r.Text(cmp.Or(k.key, "guid"))))
			return
		}
	}
	c.failed(last)
}
