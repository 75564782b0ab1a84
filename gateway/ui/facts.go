package ui

import (
	"fmt"
	"strings"
)

// fact is a line of what a page says about an object: words, a text, a link or a time.
type fact struct {
	Label string
	Words []word
	Text  string
	Link  string // to what the text names
	Time  string
}

// nothing reports whether the line has no value.
func (f fact) nothing() bool { return len(f.Words) == 0 && f.Text == "" && f.Time == "" }

// factRow is a row of the table of facts about a kind of object.
type factRow struct {
	label string
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
		f.Label = row.label
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

func flagged(fields ...string) func(record) fact {
	return func(r record) fact { return fact{Words: said(r, fields...)} }
}

func texts(fields ...string) func(record) fact {
	return func(r record) fact {
		var all []string
		for _, field := range fields {
			if text := r.Text(field); text != "" {
				all = append(all, text)
			}
		}
		return fact{Text: strings.Join(all, " ")}
	}
}

// at shows a time, and words about it.
func at(field string, fields ...string) func(record) fact {
	return func(r record) fact { return fact{Time: r.Text(field), Words: said(r, fields...)} }
}

func mailTo(field string) func(record) fact {
	return func(r record) fact {
		f := fact{Text: r.Text(field)}
		if f.Text != "" {
			f.Link = "mailto:" + f.Text
		}
		return f
	}
}

func unit(field string) func(record) fact {
	return func(r record) fact { return fact{Text: rdn(r.Text(field))} }
}

// other shows an object that is named by its distinguished name.
func other(field string) func(record) fact {
	return func(r record) fact {
		dn := r.Text(field)
		if dn == "" {
			return fact{}
		}
		return fact{Text: rdn(dn), Link: address("objects", dn)}
	}
}

var never = unless{word: word{Text: "never"}}

// A person's record has the verdicts on the logon and the last reset as fields, see
// [visit.fillUser] and [visit.readChanges].
var userFacts = []factRow{
	{"Account", flagged("enabled", "lockedOut"), nil},
	{"Mail", mailTo("emailAddress"), nil},
	{"Phone", texts("officePhone"), nil},
	{"Mobile", texts("mobilePhone"), nil},
	{"Office", texts("office"), nil},
	{"Company", texts("company"), nil},
	{"Manager", other("manager"), nil},
	{"Description", texts("description"), nil},
	{"Organizational unit", unit("ouPath"), nil},
	// The directory forgets the time when the password is to be changed.
	{"Password set", at("passwordLastSet", "changePasswordNextLogon"), []unless{
		{word: word{Text: "not known"}},
	}},
	{"Last reset here", func(r record) fact {
		if r["lastReset"] == nil {
			return fact{}
		}
		return fact{Time: r.Text("lastReset"), Text: "by " + r.Text("lastResetBy")}
	}, nil},
	{"Password expires", at("passwordExpires"), []unless{
		{"logonUnread", word{"not known", warn}}, {"logon.must_change", word{"at once", warn}},
		{"logon.unknown", word{"not known", warn}}, never,
	}},
	{"Last wrong password", at("lastBadPassword"), nil},
	{"Account expires", at("accountExpires"), []unless{never}},
	{"Created", at("created"), nil},
}

var groupFacts = []factRow{
	{"Account name", texts("samName"), nil},
	{"Kind", texts("scope", "type"), nil},
	{"Mail", mailTo("email"), nil},
	{"Managed by", other("managedBy"), nil},
	{"Organizational unit", unit("ouPath"), nil},
	{"Created", at("created"), nil},
}

var computerFacts = []factRow{
	{"Account", flagged("enabled"), nil},
	{"System", texts("operatingSystem", "operatingSystemVersion"), nil},
	{"Last logon, about", at("lastLogon"), []unless{never}},
	{"Organizational unit", unit("path"), nil},
	{"Created", at("created"), nil},
}

var unreadable = []unless{{word: word{"not known", warn}}}

// A policy that may not be read has no figures.
var policyFacts = []factRow{
	{"Length", func(r record) fact {
		length, known := r.number("minLength")
		if !known {
			return fact{}
		}
		text := fmt.Sprintf("at least %d", length)
		if r["complexity"] == true {
			text += ", letters, digits and signs mixed"
		}
		return fact{Text: text}
	}, unreadable},
	{"Not again", func(r record) fact {
		count, known := r.number("historyCount")
		if !known {
			return fact{}
		}
		return fact{Text: fmt.Sprintf("the last %d", count)}
	}, unreadable},
	{"Locks out", func(r record) fact {
		threshold, known := r.number("lockoutThreshold")
		window, _ := r.number("lockoutWindow")
		switch {
		case !known:
			return fact{}
		case threshold == 0:
			return fact{Text: "never"}
		}
		return fact{Text: fmt.Sprintf("after %d wrong ones within %d minutes", threshold, window)}
	}, unreadable},
}
