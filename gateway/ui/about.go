package ui

import "adgateway/gateway/ui/texts"

// A person's record has the verdicts on the logon and the last reset as fields, see
// [fillUser] and [readChanges].
var userFacts = []factSection{
	{"account", []factRow{
		{"account", flagged("enabled", "lockedOut"), nil},
		{"lastLogon", at("lastLogon"), nil},
		// The directory forgets the time when the password is to be changed.
		{"passwordSet", at("passwordLastSet", "changePasswordNextLogon"), []unless{
			{word: word{Text: texts.Of("word.notKnown")}},
		}},
		{"lastResetHere", func(r record) fact {
			if r["lastReset"] == nil {
				return fact{}
			}
			return fact{Time: r.Text("lastReset"), Text: texts.Of("fact.by", "who", r.Text("lastResetBy"))}
		}, nil},
		{"passwordExpires", at("passwordExpires"), []unless{
			{"logonUnread", word{
				texts.Of("word.notKnown"), warn,
			}}, {"logon.must_change", word{texts.Of("word.atOnce"), warn}},
			{"logon.unknown", word{texts.Of("word.notKnown"), warn}}, never,
		}},
		{"lastWrongPassword", at("lastBadPassword"), nil},
		{"accountExpires", at("accountExpires"), []unless{never}},
		{"organizationalUnit", unit("ouPath"), nil},
		{"created", at("created"), nil},
	}},
	{"contact", []factRow{
		{"mail", mailTo("emailAddress"), nil},
		{"phone", phone("officePhone"), nil},
		{"mobile", phone("mobilePhone"), nil},
		{"office", plainly("office"), nil},
		{"address", plainly("streetAddress", "postalCode", "city", "country"), nil},
	}},
	{"organization", []factRow{
		{"title", plainly("jobTitle"), nil},
		{"department", plainly("department"), nil},
		{"company", plainly("company"), nil},
		{"manager", other("manager"), nil},
		{"description", plainly("description"), nil},
		{"home", plainly("homeFolderPath", "homeFolderDrive"), nil},
	}},
}

var groupFacts = []factSection{{"about", []factRow{
	{"accountName", plainly("samName"), nil},
	{"kind", plainly("scope", "type"), nil},
	{"mail", mailTo("email"), nil},
	{"managedBy", other("managedBy"), nil},
	{"organizationalUnit", unit("ouPath"), nil},
	{"created", at("created"), nil},
}}}

var computerFacts = []factSection{{"about", []factRow{
	{"account", flagged("enabled"), nil},
	{"system", plainly("operatingSystem", "operatingSystemVersion"), nil},
	{"lastLogonAbout", at("lastLogon"), []unless{never}},
	{"organizationalUnit", unit("path"), nil},
	{"created", at("created"), nil},
}}}

var unreadable = []unless{{word: word{texts.Of("word.notKnown"), warn}}}

// A policy that may not be read has no figures.
var policyFacts = []factRow{
	{"length", func(r record) fact {
		length, known := r.number("minLength")
		if !known {
			return fact{}
		}
		if r["complexity"] == true {
			return fact{Text: texts.Of("policy.length.mixed", "n", length)}
		}
		return fact{Text: texts.Of("policy.length", "n", length)}
	}, unreadable},
	{"notAgain", func(r record) fact {
		count, known := r.number("historyCount")
		if !known {
			return fact{}
		}
		return fact{Text: texts.Of("policy.history", "n", count)}
	}, unreadable},
	{"locksOut", func(r record) fact {
		threshold, known := r.number("lockoutThreshold")
		window, _ := r.number("lockoutWindow")
		switch {
		case !known:
			return fact{}
		case threshold == 0:
			return fact{Text: texts.Of("word.never")}
		}
		return fact{Text: texts.Of("policy.lockout", "n", threshold, "minutes", window)}
	}, unreadable},
}
