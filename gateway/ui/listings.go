package ui

import (
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

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
