package ui

import (
	"strings"

	"adgateway/gateway/ui/texts"
)

// fact is a line of what a page says about an object: words, a text, a link or a time.
type fact struct {
	Label texts.Text
	Words []word
	Text  texts.Text
	Link  string // to what the text names
	Time  string
}

// nothing reports whether the line has no value.
func (f fact) nothing() bool { return len(f.Words) == 0 && f.Text.Empty() && f.Time == "" }

// factRow is a row of the table of facts about a kind of object.
type factRow struct {
	label string // the key of its text, behind "fact."
	show  func(r record) fact
	none  []unless // what stands in place of a fact without a value; none of it: no line
}

// unless is what is said of a value that is null, if a field is true; field empty: always.
type unless struct {
	field string
	word  word
}

// factsOf returns the lines for a record.
func factsOf(r record, rows []factRow) []fact {
	var all []fact
	for _, row := range rows {
		f := row.show(r)
		f.Label = texts.Of("fact." + row.label)
		if f.nothing() {
			for _, instead := range row.none {
				if instead.field == "" || r[instead.field] == true {
					f.Words = []word{instead.word}
					break
				}
			}
		}
		if !f.nothing() {
			all = append(all, f)
		}
	}
	return all
}

// factSection is a card of facts. Its text has the key "object." and its title.
type factSection struct {
	title string
	rows  []factRow
}

func flagged(fields ...string) func(record) fact {
	return func(r record) fact { return fact{Words: said(r, fields...)} }
}

func plainly(fields ...string) func(record) fact {
	return func(r record) fact {
		var all []string
		for _, field := range fields {
			if text := r.Text(field); text != "" {
				all = append(all, text)
			}
		}
		return fact{Text: texts.Raw(strings.Join(all, " "))}
	}
}

// at shows a time, and words about it.
func at(field string, fields ...string) func(record) fact {
	return func(r record) fact { return fact{Time: r.Text(field), Words: said(r, fields...)} }
}

func mailTo(field string) func(record) fact {
	return func(r record) fact {
		f := fact{Text: texts.Raw(r.Text(field))}
		if !f.Text.Empty() {
			f.Link = "mailto:" + r.Text(field)
		}
		return f
	}
}

// phone shows a number that can be called.
func phone(field string) func(record) fact {
	return func(r record) fact {
		f := fact{Text: texts.Raw(r.Text(field))}
		if !f.Text.Empty() {
			f.Link = "tel:" + strings.Map(func(c rune) rune {
				if c == '+' || c >= '0' && c <= '9' {
					return c
				}
				return -1
			}, r.Text(field))
		}
		return f
	}
}

// unit shows an organizational unit as a path, which leads to its page.
func unit(field string) func(record) fact {
	return func(r record) fact {
		dn := r.Text(field)
		if dn == "" {
			return fact{}
		}
		return fact{Text: texts.Raw(pathText(dn)), Link: address("ous", dn)}
	}
}

// other shows an object that is named by its distinguished name.
func other(field string) func(record) fact {
	return func(r record) fact {
		dn := r.Text(field)
		if dn == "" {
			return fact{}
		}
		return fact{Text: texts.Raw(rdn(dn)), Link: address("objects", dn)}
	}
}

var never = unless{word: word{Text: texts.Of("word.never")}}

// A person's record has the verdicts on the logon and the last reset as fields, see
// [visit.fillUser] and [visit.readChanges].
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
