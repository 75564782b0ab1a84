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
