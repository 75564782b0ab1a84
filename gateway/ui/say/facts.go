package say

import (
	"html/template"
	"strings"

	"adgateway/gateway/ui/texts"
)

// Fact is a line of what a page says about an object: words, a text, a link or a time.
type Fact struct {
	Label texts.Text
	Words []Word
	Text  texts.Text
	Link  string // to what the text names
	Time  string
}

// Nothing reports whether the line has no value.
func (f Fact) Nothing() bool { return len(f.Words) == 0 && f.Text.Empty() && f.Time == "" }

// FactRow is a row of the table of facts about a kind of object.
type FactRow struct {
	Label string // the key of its text, behind "fact."
	Show  func(r Record) Fact
	None  []Unless // what stands in place of a fact without a value; none of it: no line
}

// Unless is what is said of a value that is null, if a field is true; field empty: always.
type Unless struct {
	Field string
	Word  Word
}

// FactsOf returns the lines for a record.
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

// FactSection is a card of facts. Its text has the key "object." and its title.
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

// At shows a time, and words about it.
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

// dialled begins the links to phone numbers. Behind it are only digits and +.
const dialled = "tel:"

// Href returns the link for a page. Pages refuse links to phone numbers that are mere texts.
func (f Fact) Href() any {
	if strings.HasPrefix(f.Link, dialled) {
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
			f.Link = dialled + number
		}
		return f
	}
}

// Unit shows an organizational unit as a path, which leads to its page.
func Unit(field string) func(Record) Fact {
	return func(r Record) Fact {
		dn := r.Text(field)
		if dn == "" {
			return Fact{}
		}
		return Fact{Text: texts.Raw(PathText(dn)), Link: Address("ous", dn)}
	}
}

// Other shows an object that is named by its distinguished name.
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
