package ui

import (
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// [fillUser] and [readChanges] add the verdicts on the logon and the last reset to a person's record as
// fields.
var userFacts = []say.FactSection{
	{Title: "account", Rows: []say.FactRow{
		{Label: "account", Show: say.Flagged("enabled", "lockedOut")},
		{Label: "lastLogon", Show: say.At("lastLogon")},
		// The directory does not store the time if the password must be changed at the next logon.
		{Label: "passwordSet", Show: say.At("passwordLastSet", "changePasswordNextLogon"), None: []say.Unless{
			{Word: say.Word{Text: texts.Of("word.notKnown")}},
		}},
		{Label: "lastResetHere", Show: func(r say.Record) say.Fact {
			if r["lastReset"] == nil {
				return say.Fact{}
			}
			return say.Fact{Time: r.Text("lastReset"), Text: texts.Of("fact.by", "who", r.Text("lastResetBy"))}
		}},
		{Label: "passwordExpires", Show: say.At("passwordExpires"), None: []say.Unless{
			{Field: "logonUnread", Word: say.Word{
				Text: texts.Of("word.notKnown"), Color: say.Warn,
			}}, {Field: "logon.must_change", Word: say.Word{Text: texts.Of("word.atOnce"), Color: say.Warn}},
			{Field: "logon.unknown", Word: say.Word{Text: texts.Of("word.notKnown"), Color: say.Warn}}, say.Never,
		}},
		{Label: "lastWrongPassword", Show: say.At("lastBadPassword")},
		{Label: "accountExpires", Show: say.At("accountExpires"), None: []say.Unless{say.Never}},
		{Label: "organizationalUnit", Show: say.Unit("ouPath")},
		{Label: "created", Show: say.At("created")},
	}},
	{Title: "contact", Rows: []say.FactRow{
		{Label: "mail", Show: say.MailTo("emailAddress")},
		{Label: "phone", Show: say.Phone("officePhone")},
		{Label: "mobile", Show: say.Phone("mobilePhone")},
		{Label: "office", Show: say.Plainly("office")},
		{Label: "address", Show: say.Plainly("streetAddress", "postalCode", "city", "country")},
	}},
	{Title: "organization", Rows: []say.FactRow{
		{Label: "title", Show: say.Plainly("jobTitle")},
		{Label: "department", Show: say.Plainly("department")},
		{Label: "company", Show: say.Plainly("company")},
		{Label: "manager", Show: say.Other("manager")},
		{Label: "description", Show: say.Plainly("description")},
		{Label: "home", Show: say.Plainly("homeFolderPath", "homeFolderDrive")},
	}},
}

var groupFacts = []say.FactSection{{Title: "about", Rows: []say.FactRow{
	{Label: "accountName", Show: say.Plainly("samName")},
	{Label: "kind", Show: say.Plainly("scope", "type")},
	{Label: "mail", Show: say.MailTo("email")},
	{Label: "managedBy", Show: say.Other("managedBy")},
	{Label: "organizationalUnit", Show: say.Unit("ouPath")},
	{Label: "created", Show: say.At("created")},
}}}

var computerFacts = []say.FactSection{{Title: "about", Rows: []say.FactRow{
	{Label: "account", Show: say.Flagged("enabled")},
	{Label: "system", Show: say.Plainly("operatingSystem", "operatingSystemVersion")},
	{Label: "lastLogonAbout", Show: say.At("lastLogon"), None: []say.Unless{say.Never}},
	{Label: "organizationalUnit", Show: say.Unit("path")},
	{Label: "created", Show: say.At("created")},
}}}

var unreadable = []say.Unless{{Word: say.Word{Text: texts.Of("word.notKnown"), Color: say.Warn}}}

// A policy that the person may not read has no values.
var policyFacts = []say.FactRow{
	{Label: "length", Show: func(r say.Record) say.Fact {
		length, known := r.Number("minLength")
		if !known {
			return say.Fact{}
		}
		if r["complexity"] == true {
			return say.Fact{Text: texts.Of("policy.length.mixed", "n", length)}
		}
		return say.Fact{Text: texts.Of("policy.length", "n", length)}
	}, None: unreadable},
	{Label: "notAgain", Show: func(r say.Record) say.Fact {
		count, known := r.Number("historyCount")
		if !known {
			return say.Fact{}
		}
		return say.Fact{Text: texts.Of("policy.history", "n", count)}
	}, None: unreadable},
	{Label: "locksOut", Show: func(r say.Record) say.Fact {
		threshold, known := r.Number("lockoutThreshold")
		window, _ := r.Number("lockoutWindow")
		switch {
		case !known:
			return say.Fact{}
		case threshold == 0:
			return say.Fact{Text: texts.Of("word.never")}
		}
		return say.Fact{Text: texts.Of("policy.lockout", "n", threshold, "minutes", window)}
	}, None: unreadable},
}
