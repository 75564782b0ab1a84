package ui

import (
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/table"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
)

// The filters of views.
const (
	ninety = `"-P90D"`
	soon   = `enabled eq true and accountExpires gt "P0D" and accountExpires lt "P7D"`
)

// listings are the lists of the console.
var listings = []table.Listing{
	{
		Path: "people", Icon: "person", Scope: identity.UserRead, Operation: "user.listAll",
		Key: "guid", Before: frame.ByGUID, Pages: true, Searches: true, Object: "Username",
		Fixed: map[string]string{"ShowFields": "guid,name,displayName,username,department,jobTitle,ouPath," +
			"enabled,lockedOut,accountExpires,changePasswordNextLogon,created"},
		Columns: []table.Column{
			{Name: "name", Class: "nm", Cell: table.NameCell("people", "guid", "displayName", "name"), Order: "displayName name"},
			{Name: "logonName", Cell: table.TextCell("username"), Order: "username"},
			{Name: "department", Cell: table.TextCell("department"), Order: "department"},
			{Name: "jobTitle", Cell: table.TextCell("jobTitle"), Order: "jobTitle"},
			{Name: "ou", Class: "ou", Cell: table.PathCell("ouPath"), Order: "ouPath"},
			{Name: "state", Class: "fit last", Cell: table.AccountState},
		},
		Views: []table.View{
			{ID: "locked", Filter: "lockedOut eq true", Tone: say.Bad, Tile: true},
			{ID: "passwordExpired", Filter: "enabled eq true and passwordExpired eq true", Tone: say.Warn, Tile: true},
			{ID: "expiring", Filter: soon, Tone: say.Warn, Tile: true},
			{ID: "expired", Filter: "accountExpired eq true", Tile: true},
			{ID: "disabled", Filter: "enabled eq false", Tile: true},
			{ID: "never", Filter: "enabled eq true and neverLoggedOn eq true", Tile: true},
			{ID: "unused", Filter: "enabled eq true and lastLogonApprox lt " + ninety, Tile: true},
			{ID: "new", Filter: `created gt "-P7D"`},
		},
		Filters: []string{
			"department", "jobTitle", "company", "office", "city", "lastName", "username", "description", "memberOf",
		},
		Many: []table.Many{
			{ID: "join", Operation: "membership.add", Scope: identity.MemberWrite, Asks: "GroupName"},
			{ID: "leave", Operation: "membership.remove", Scope: identity.MemberWrite, Asks: "GroupName"},
			{ID: "move", Operation: "user.update", Scope: identity.UserWrite, Asks: "OUPath"},
			{ID: "unlock", Operation: "user.unlock", Scope: identity.UserWrite},
			{ID: "enable", Operation: "user.enable", Scope: identity.UserWrite},
			{ID: "disable", Operation: "user.disable", Scope: identity.UserWrite, Danger: true},
		},
	},
	{
		Path: "groups", Icon: "group", Scope: identity.GroupRead, Operation: "group.listAll",
		Key: "guid", Before: frame.ByGUID, Pages: true, Searches: true, Object: "GroupName",
		Columns: []table.Column{
			{Name: "name", Class: "nm", Cell: table.NameCell("groups", "guid", "name"), Order: "name"},
			{Name: "kind", Cell: wordCell("type", "scope"), Order: "type"},
			{Name: "description", Class: "long", Cell: table.TextCell("description"), Order: "description"},
			{Name: "mail", Class: "long", Cell: table.TextCell("email"), Order: "email"},
			{Name: "ou", Class: "ou", Cell: table.PathCell("ouPath"), Order: "ouPath"},
			{Name: "created", Class: "num", Cell: table.TimeCell("created"), Order: "created"},
		},
		Views: []table.View{
			{ID: "empty", Filter: "empty eq true", Tile: true},
			{ID: "security", Filter: `type eq "Security"`},
			{ID: "distribution", Filter: `type eq "Distribution"`},
			{ID: "new", Filter: `created gt "-P7D"`},
		},
		Filters: []string{"name", "description", "email"},
	},
	{
		Path: "computers", Icon: "computer", Scope: identity.ComputerRead, Operation: "computer.listAll",
		Key: "guid", Before: frame.ByGUID, Pages: true, Searches: true, Object: "ADComputerName",
		Columns: []table.Column{
			{Name: "name", Class: "nm", Cell: table.NameCell("computers", "guid", "computerName"), Order: "computerName"},
			{Name: "system", Cell: table.TextCell("operatingSystem"), Order: "operatingSystem"},
			{Name: "description", Class: "long", Cell: table.TextCell("description"), Order: "description"},
			{Name: "ou", Class: "ou", Cell: table.PathCell("path"), Order: "path"},
			{Name: "state", Class: "fit last", Cell: table.AccountState},
			{Name: "lastLogon", Class: "num", Cell: table.TimeCell("lastLogon"), Order: "lastLogon"},
		},
		Views: []table.View{
			{ID: "stale", Filter: "stale eq true", Tone: say.Warn, Tile: true},
			{ID: "disabled", Filter: "enabled eq false", Tile: true},
			{ID: "servers", Filter: `operatingSystem co "Server"`},
			{ID: "new", Filter: `created gt "-P7D"`},
		},
		Filters: []string{"computerName", "operatingSystem", "description", "dnsName"},
		Many: []table.Many{
			{ID: "move", Operation: "computer.move", Scope: identity.ComputerWrite, Asks: "OUPath"},
			{ID: "enable", Operation: "computer.enable", Scope: identity.ComputerWrite},
			{ID: "disable", Operation: "computer.disable", Scope: identity.ComputerWrite, Danger: true},
		},
	},
	{
		Path: "bin", Icon: "bin", Scope: identity.BinRead, Operation: "bin.list", Key: "guid", Before: frame.ByName,
		Object: "Guid",
		Many:   []table.Many{{ID: "restore", Operation: "bin.restore", Scope: identity.BinRestore}},
		Columns: []table.Column{
			{Name: "name", Class: "nm", Cell: table.NameCell("bin", "guid", "name"), Order: "name"},
			{Name: "kind", Cell: wordCell("type"), Order: "type"},
			{Name: "logonName", Cell: table.TextCell("account"), Order: "account"},
			{Name: "ou", Class: "ou", Cell: table.PathCell("lastOUPath"), Order: "lastOUPath"},
			{Name: "restorable", Class: "fit last", Cell: wordCell("restorable")},
			{Name: "deleted", Class: "num", Cell: table.TimeCell("deletedAbout"), Order: "deletedAbout"},
			{Name: "until", Class: "num", Cell: table.TimeCell("expiresAbout"), Order: "expiresAbout"},
		},
	},
	{
		Path: "zones", Icon: "zone", Scope: identity.DNSRead, Operation: "zone.list",
		Key: "zoneName", Before: frame.ByZone,
		Columns: []table.Column{
			{Name: "zone", Class: "nm", Cell: table.NameCell("zones", "zoneName"), Order: "zoneName"},
			{Name: "lookup", Cell: wordCell("lookup"), Order: "lookup"},
			{Name: "kind", Cell: wordCell("zoneType"), Order: "zoneType"},
			{Name: "dynamic", Cell: wordCell("dynamicUpdate")},
			{Name: "state", Class: "fit last", Cell: wordCell("paused", "readOnly", "signed")},
		},
	},
	{
		Path: "changes", Icon: "history", Scope: identity.ChangeRead, Operation: "change.list",
		Key: "id", Before: frame.Newest, Pages: true, Rows: 50, AsRead: true,
		Columns: []table.Column{
			{Name: "when", Class: "num", Cell: table.TimeCell("time")},
			{Name: "what", Class: "nm", Cell: func(r say.Record) table.Cell {
				return table.Cell{Text: say.DidText(r), Link: say.Address("changes", r.Text("id"))}
			}},
			{Name: "before", Cell: func(r say.Record) table.Cell { return table.Cell{Text: say.SideOf(r, "before")} }},
			{Name: "after", Cell: func(r say.Record) table.Cell { return table.Cell{Text: say.SideOf(r, "after")} }},
			{Name: "by", Cell: func(r say.Record) table.Cell { return table.Cell{Text: texts.Raw(say.CallerIn(r))} }},
			{Name: "outcome", Class: "fit last", Cell: wordCell("outcome")},
		},
		Views: []table.View{{ID: "mine"}, {ID: "today", Days: 1, Tile: true}, {ID: "week", Days: 7}},
	},
	work.Lists,
}

// wordCell returns a cell with the words for fields.
func wordCell(fields ...string) func(say.Record) table.Cell {
	return func(r say.Record) table.Cell { return table.Cell{Words: say.Said(r, fields...)} }
}

func listingAt(path string) *table.Listing {
	for i := range listings {
		if listings[i].Path == path {
			return &listings[i]
		}
	}
	return nil
}
