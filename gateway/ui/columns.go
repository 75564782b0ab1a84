package ui

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

// listing is a row of the table of lists: what a list shows, and of which operation.
type listing struct {
	path      string // of its page, and its texts below "page."
	within    link   // the object that it is a part of, such as a zone
	section   string // of the menu; empty: path
	icon      string
	scope     identity.Scope
	operation string
	fixed     map[string]string // parameters that the list always has
	key       string            // the field that tells records apart
	before    func(a, b record) bool
	pages     bool // the operation has Limit and After
	rows      int  // of a page; 0: [perPage]
	searches  bool // it has Text
	columns   []column
	views     []view
	filters   []string // fields that can be filtered by, which have the texts "column."
	many      []many
	object    string // parameter that names an object in the operations for many
}

// address returns the address of the list's page.
func (l *listing) address() string {
	if l.within.Path != "" {
		return l.within.Path + "/" + url.PathEscape(l.path)
	}
	return address(l.path)
}

// title returns the heading of the list's page.
func (l *listing) title() texts.Text {
	title := texts.Of("page." + l.path)
	if l.within.Path != "" {
		return texts.Of("list.within", "what", title, "object", l.within.Text)
	}
	return title
}

// column is a column of a list. Its text has the key "column." and its name.
type column struct {
	name, class string
	cell        func(r record) cell
	order       string // the field that it is sorted by; empty: it is not
}

// cell is what stands in one place of a table.
type cell struct {
	Class, Label string
	Text         texts.Text
	Link, Time   string
	Words        []word
	Path         []string // of an organizational unit, from the top
	Last         string   // the end of the path, which is never cut
	Code         bool
}

// view is a filter that people often want. Its text has the key "view." and its id.
type view struct {
	id, filter string
	tone       color
	days       int  // since when, for changes
	tile       bool // it stands on the home page
}

// many is what can be done with all that are selected. Its text has the key "many." and its id.
type many struct {
	id, operation string
	scope         identity.Scope
	asks          string // a parameter that is asked for; its text is below "many."
	danger        bool
}

func textCell(fields ...string) func(record) cell {
	return func(r record) cell { return cell{Text: texts.Raw(r.first(fields...))} }
}

func timeCell(field string) func(record) cell {
	return func(r record) cell { return cell{Time: r.Text(field)} }
}

// nameCell shows the name of an object, which leads to its page.
func nameCell(path, key string, fields ...string) func(record) cell {
	return func(r record) cell {
		return cell{Text: texts.Raw(cmp.Or(r.first(fields...), r.Text(key))), Link: address(path, r.Text(key))}
	}
}

func pathCell(field string) func(record) cell {
	return func(r record) cell {
		parts := pathOf(r.Text(field))
		if len(parts) == 0 {
			return cell{}
		}
		return cell{Path: parts[:len(parts)-1], Last: parts[len(parts)-1], Link: address("ous", r.Text(field))}
	}
}

// pathOf returns the names of an organizational unit and those above it, from the top. The domain is
// left out: all have it.
func pathOf(dn string) []string {
	var parts []string
	for _, part := range splitDN(dn) {
		kind, name, has := strings.Cut(part, "=")
		if !has || strings.EqualFold(kind, "DC") {
			break
		}
		parts = append([]string{unescaped(name)}, parts...)
	}
	return parts
}

// nameOfDN returns the name of an object of a distinguished name; of other texts themselves.
func nameOfDN(text string) string {
	first, rest := cutDN(text)
	_, name, has := strings.Cut(first, "=")
	if !has || rest == "" || !strings.Contains(strings.ToUpper(text), "DC=") {
		return text
	}
	return unescaped(name)
}

// splitDN returns the parts of a distinguished name as they are written.
func splitDN(dn string) (parts []string) {
	for dn != "" {
		var first string
		first, dn = cutDN(dn)
		parts = append(parts, first)
	}
	return parts
}

// stateFields are the fields that say how an account is, the most important first.
var stateFields = []string{"enabled", "lockedOut", "locked", "accountExpired", "changePasswordNextLogon"}

// accountState says in one word how an account is. The first that holds counts.
func accountState(r record) cell {
	for _, field := range stateFields {
		if w := wordOf("state."+field, r[field]); !w.Text.Empty() {
			return cell{Words: []word{w}}
		}
	}
	if r["enabled"] != true {
		return cell{}
	}
	return cell{Words: []word{wordOf("state", "active")}}
}

// stated adds to the record of an account what follows from its times.
func stated(r record, now time.Time) record {
	if at, err := time.Parse(time.RFC3339, r.Text("accountExpires")); err == nil {
		r["accountExpired"] = !at.After(now)
	}
	return r
}

// Filters of views.
const (
	ninety = `"-P90D"`
	soon   = `enabled eq true and accountExpires gt "P0D" and accountExpires lt "P7D"`
)

// listings are the lists of the console.
var listings = []listing{
	{
		path: "people", icon: "person", scope: identity.UserRead, operation: "user.listAll",
		key: "guid", before: byGUID, pages: true, searches: true, object: "Username",
		fixed: map[string]string{"ShowFields": "guid,name,displayName,username,department,jobTitle,ouPath," +
			"enabled,lockedOut,accountExpires,changePasswordNextLogon,created"},
		columns: []column{
			{"name", "nm", nameCell("people", "guid", "displayName", "name"), "displayName name"},
			{"logonName", "", textCell("username"), "username"},
			{"department", "", textCell("department"), "department"},
			{"jobTitle", "", textCell("jobTitle"), "jobTitle"},
			{"ou", "ou", pathCell("ouPath"), "ouPath"},
			{"state", "fit last", accountState, ""},
		},
		views: []view{
			{id: "locked", filter: "lockedOut eq true", tone: bad, tile: true},
			{id: "passwordExpired", filter: "enabled eq true and passwordExpired eq true", tone: warn, tile: true},
			{id: "expiring", filter: soon, tone: warn, tile: true},
			{id: "expired", filter: "accountExpired eq true", tile: true},
			{id: "disabled", filter: "enabled eq false", tile: true},
			{id: "never", filter: "enabled eq true and neverLoggedOn eq true", tile: true},
			{id: "unused", filter: "enabled eq true and lastLogonApprox lt " + ninety, tile: true},
			{id: "new", filter: `created gt "-P7D"`},
		},
		filters: []string{
			"department", "jobTitle", "company", "office", "city", "lastName", "username", "description", "memberOf",
		},
		many: []many{
			{id: "join", operation: "membership.add", scope: identity.MemberWrite, asks: "GroupName"},
			{id: "leave", operation: "membership.remove", scope: identity.MemberWrite, asks: "GroupName"},
			{id: "move", operation: "user.update", scope: identity.UserWrite, asks: "OUPath"},
			{id: "unlock", operation: "user.unlock", scope: identity.UserWrite},
			{id: "enable", operation: "user.enable", scope: identity.UserWrite},
			{id: "disable", operation: "user.disable", scope: identity.UserWrite, danger: true},
		},
	},
	{
		path: "groups", icon: "group", scope: identity.GroupRead, operation: "group.listAll",
		key: "guid", before: byGUID, pages: true, searches: true, object: "GroupName",
		columns: []column{
			{"name", "nm", nameCell("groups", "guid", "name"), "name"},
			{"kind", "", func(r record) cell {
				return cell{Words: said(r, "type", "scope")}
			}, "type"},
			{"description", "long", textCell("description"), "description"},
			{"mail", "long", textCell("email"), "email"},
			{"ou", "ou", pathCell("ouPath"), "ouPath"},
			{"created", "num", timeCell("created"), "created"},
		},
		views: []view{
			{id: "empty", filter: "empty eq true", tile: true},
			{id: "security", filter: `type eq "Security"`},
			{id: "distribution", filter: `type eq "Distribution"`},
			{id: "new", filter: `created gt "-P7D"`},
		},
		filters: []string{"name", "description", "email"},
	},
	{
		path: "computers", icon: "computer", scope: identity.ComputerRead, operation: "computer.listAll",
		key: "guid", before: byGUID, pages: true, searches: true, object: "ADComputerName",
		columns: []column{
			{"name", "nm", nameCell("computers", "guid", "computerName"), "computerName"},
			{"system", "", textCell("operatingSystem"), "operatingSystem"},
			{"description", "long", textCell("description"), "description"},
			{"ou", "ou", pathCell("path"), "path"},
			{"state", "fit last", accountState, ""},
			{"lastLogon", "num", timeCell("lastLogon"), "lastLogon"},
		},
		views: []view{
			{id: "stale", filter: "stale eq true", tone: warn, tile: true},
			{id: "disabled", filter: "enabled eq false", tile: true},
			{id: "servers", filter: `operatingSystem co "Server"`},
			{id: "new", filter: `created gt "-P7D"`},
		},
		filters: []string{"computerName", "operatingSystem", "description", "dnsName"},
		many: []many{
			{id: "move", operation: "computer.move", scope: identity.ComputerWrite, asks: "OUPath"},
			{id: "enable", operation: "computer.enable", scope: identity.ComputerWrite},
			{id: "disable", operation: "computer.disable", scope: identity.ComputerWrite, danger: true},
		},
	},
	{
		path: "bin", icon: "bin", scope: identity.BinRead, operation: "bin.list", key: "guid", before: byName,
		columns: []column{
			{"name", "nm", textCell("name"), "name"},
			{"kind", "", func(r record) cell { return cell{Words: said(r, "type")} }, "type"},
			{"logonName", "", textCell("account"), "account"},
			{"ou", "ou", pathCell("lastOUPath"), "lastOUPath"},
			{"restorable", "fit last", func(r record) cell { return cell{Words: said(r, "restorable")} }, ""},
			{"deleted", "num", timeCell("deletedAbout"), "deletedAbout"},
			{"until", "num", timeCell("expiresAbout"), "expiresAbout"},
		},
	},
	{
		path: "zones", icon: "zone", scope: identity.DNSRead, operation: "zone.list",
		key: "zoneName", before: byZone,
		columns: []column{
			{"zone", "nm", nameCell("zones", "zoneName"), "zoneName"},
			{"lookup", "", func(r record) cell { return cell{Words: said(r, "lookup")} }, "lookup"},
			{"kind", "", func(r record) cell { return cell{Words: said(r, "zoneType")} }, "zoneType"},
			{"dynamic", "", func(r record) cell { return cell{Words: said(r, "dynamicUpdate")} }, ""},
			{"state", "fit last", func(r record) cell {
				return cell{
					Words: said(r, "paused", "readOnly", "signed"),
				}
			}, ""},
		},
	},
	{
		path: "changes", icon: "history", scope: identity.ChangeRead, operation: "change.list",
		key: "id", before: newest, pages: true, rows: 50,
		columns: []column{
			{"when", "num", timeCell("time"), ""},
			{"what", "nm", func(r record) cell {
				return cell{Text: didText(r), Link: address("changes", r.Text("id"))}
			}, ""},
			{"before", "", func(r record) cell { return cell{Text: sideOf(r, "before")} }, ""},
			{"after", "", func(r record) cell { return cell{Text: sideOf(r, "after")} }, ""},
			{"by", "", func(r record) cell { return cell{Text: texts.Raw(callerIn(r))} }, ""},
			{"outcome", "fit last", func(r record) cell { return cell{Words: said(r, "outcome")} }, ""},
		},
		views: []view{{id: "mine"}, {id: "today", days: 1, tile: true}, {id: "week", days: 7}},
	},
}

func listingAt(path string) *listing {
	for i := range listings {
		if listings[i].path == path {
			return &listings[i]
		}
	}
	return nil
}
