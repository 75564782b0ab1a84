package say

import (
	"html/template"
	"strings"

	"adgateway/gateway/ui/texts"
)

// Fact is a line about an object on a page: words, a text, a link or a time.
type Fact struct {
	Label texts.Text
	Words []Word
	Text  texts.Text
	Link  string // address of the object that the text names
	Time  string
}

// Nothing reports whether the fact has no value.
func (f Fact) Nothing() bool { return len(f.Words) == 0 && f.Text.Empty() && f.Time == "" }

// FactRow is a row in the table of facts about a kind of object.
type FactRow struct {
	Label string // the key of its text, without "fact."
	Show  func(r Record) Fact
	None  []Unless // alternatives for a fact without a value; if none applies, the line is omitted
}

// Unless is the text for a missing value. It applies if a field is true, or always if Field is empty.
type Unless struct {
	Field string
	Word  Word
}

// FactsOf returns the facts about a record.
func FactsOf(r Record, rows []FactRow) []Fact {
	var all []Fact
	for _, row := range rows {
		f := row.Show(r)
		f.Label = texts.Of("fact." + row.Label)
		if f.Nothing() {
			for _, instead := range row.None {
				if instead.Field == "" || r[instead.Field] == true {
					f.Words = []Word{instead.Word}
					break
				}
			}
		}
		if !f.Nothing() {
			all = append(all, f)
		}
	}
	return all
}

// FactSection is a card of facts. The key of its title is "object." followed by Title.
type FactSection struct {
	Title string
	Rows  []FactRow
}

func Flagged(fields ...string) func(Record) Fact {
	return func(r Record) Fact { return Fact{Words: Said(r, fields...)} }
}

func Plainly(fields ...string) func(Record) Fact {
	return func(r Record) Fact {
		var all []string
		for _, field := range fields {
			if text := r.Text(field); text != "" {
				all = append(all, text)
			}
		}
		return Fact{Text: texts.Raw(strings.Join(all, " "))}
	}
}

// At shows a time followed by the words for fields.
func At(field string, fields ...string) func(Record) Fact {
	return func(r Record) Fact { return Fact{Time: r.Text(field), Words: Said(r, fields...)} }
}

func MailTo(field string) func(Record) Fact {
	return func(r Record) Fact {
		f := Fact{Text: texts.Raw(r.Text(field))}
		if !f.Text.Empty() {
			f.Link = "mailto:" + r.Text(field)
		}
		return f
	}
}

// dialed is the prefix of links to phone numbers. Only digits and + follow it.
const dialed = "tel:"

// Href returns the link in the form that a template needs, because templates refuse links to phone numbers
// that are plain strings.
func (f Fact) Href() any {
	if strings.HasPrefix(f.Link, dialed) {
		return template.URL(f.Link)
	}
	return f.Link
}

// Phone shows a number that can be called.
func Phone(field string) func(Record) Fact {
	return func(r Record) Fact {
		f := Fact{Text: texts.Raw(r.Text(field))}
		number := strings.Map(func(c rune) rune {
			if c == '+' || c >= '0' && c <= '9' {
				return c
			}
			return -1
		}, r.Text(field))
		if strings.Trim(number, "+") != "" {
			f.Link = dialed + number
		}
		return f
	}
}

// Unit shows an organizational unit as a path that links to its page.
func Unit(field string) func(Record) Fact {
	return func(r Record) Fact {
		dn := r.Text(field)
		if dn == "" {
			return Fact{}
		}
		return Fact{Text: texts.Raw(PathText(dn)), Link: Address("ous", dn)}
	}
}

// Other shows an object given by its distinguished name.
func Other(field string) func(Record) Fact {
	return func(r Record) Fact {
		dn := r.Text(field)
		if dn == "" {
			return Fact{}
		}
		return Fact{Text: texts.Raw(Rdn(dn)), Link: Address("objects", dn)}
	}
}

var Never = Unless{Word: Word{Text: texts.Of("word.never")}}
