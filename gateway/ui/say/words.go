// Package say turns values of the API into the content of pages: words and colors, facts,
// names of objects, descriptions of changes, and the addresses of pages.
package say

import (
	"fmt"
	"slices"

	"adgateway/gateway/schema"
	"adgateway/gateway/ui/texts"
)

// The rows word.* of the texts decide which word and color a page shows for a value. Templates only show the
// result. A condition in a template would interpret the record a second time, and might contradict the rows.

// Color is a class of the style sheet.
type Color string

const (
	Good Color = "ok"
	Warn Color = "warn"
	Bad  Color = "bad"
)

// Word is the text and color that a page shows for a value.
type Word struct {
	Text  texts.Text
	Color Color
}

// WordOf returns the word for a field's value. A string without a word, which a newer API
// may use, is shown unchanged.
func WordOf(field string, value any) Word {
	switch value.(type) {
	case nil, bool, string:
	default:
		return Word{}
	}
	if key := fmt.Sprintf("word.%s.%v", field, value); texts.Has(key) {
		return Word{texts.Of(key), Color(texts.Color(key))}
	}
	text, _ := value.(string)
	return Word{Text: texts.Raw(text)}
}

// UndoWord returns the word for the extent to which a change of an operation can be undone. If an operation's
// changes are never undone, but another action reverses them, the word names that action.
func UndoWord(operation string, extent any) Word {
	if key := "undo.instead." + operation; extent == string(schema.UndoNone) && texts.Has(key) {
		return Word{Text: texts.Of(key)}
	}
	return WordOf("plan.undo", extent)
}

// Record is a record of the API.
type Record map[string]any

// Text returns a field as text, or "" if it is null or absent.
func (r Record) Text(name string) string {
	switch v := r[name].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// First returns the first of the fields whose value is a text.
func (r Record) First(names ...string) string {
	for _, name := range names {
		if text := r.Text(name); text != "" {
			return text
		}
	}
	return ""
}

// Number returns the value of a field that is a number. It returns false if the field is not a number.
func (r Record) Number(name string) (int, bool) {
	n, ok := r[name].(float64)
	return int(n), ok
}

// Said returns the words for fields of a record, omitting fields without a word.
func Said(r Record, fields ...string) []Word {
	var all []Word
	for _, field := range fields {
		if w := WordOf(field, r[field]); !w.Text.Empty() {
			all = append(all, w)
		}
	}
	return all
}

// sentence is a row in the table of verdicts: the text that a page shows if the API returns
// a verdict about a logon, and the action that helps.
type sentence struct {
	Code   string
	Word   Word
	Remedy string
}

// Logons are the rows in order of precedence.
var Logons = []sentence{
	{"disabled", Word{texts.Of("logon.cannot"), Bad}, ""},
	{"expired", Word{texts.Of("logon.cannot"), Bad}, ""},
	{"locked", Word{texts.Of("logon.cannot"), Bad}, ""},
	{"hours", Word{texts.Of("logon.hours"), Bad}, ""},
	{"password_expired", Word{texts.Of("logon.change"), Warn}, "reset"},
	{"must_change", Word{texts.Of("logon.change"), Warn}, "reset"},
	{"smartcard_required", Word{texts.Of("logon.smartcard"), Warn}, ""},
	{"workstations", Word{texts.Of("logon.workstations"), Warn}, ""},
	{"unknown", Word{texts.Of("logon.unknown"), Warn}, ""},
	{"ok", Word{texts.Of("logon.ok"), Good}, ""},
}

// The texts for logons that match no row. One is for an account that cannot log on for a reason which is not
// in the table, and the other for an account that can log on despite such a verdict.
var (
	cannotLogOn = sentence{Word: Word{texts.Of("logon.cannot"), Bad}}
	maybeLogsOn = sentence{Word: Word{texts.Of("logon.maybe"), Warn}}
)

// LogonState is the API's answer about a logon.
type LogonState struct {
	CanLogOn bool
	Verdicts []verdict
}

type verdict struct{ Code, Since, Until, Text string }

// Says returns the row that applies to a logon. The API decides whether the account can log on, and a row
// only names the restriction.
func (s LogonState) Says() sentence {
	found := maybeLogsOn
	for _, row := range Logons {
		if slices.ContainsFunc(s.Verdicts, func(v verdict) bool { return v.Code == row.Code }) {
			found = row
			break
		}
	}
	if len(s.Verdicts) == 0 && s.CanLogOn {
		found = Logons[len(Logons)-1]
	}
	if !s.CanLogOn && found.Word.Color != Bad {
		return cannotLogOn
	}
	return found
}

// CheckWord returns the word for a check of the gateway's readiness.
func CheckWord(ok, degraded bool) Word {
	if ok && degraded {
		return WordOf("readiness.degraded", degraded)
	}
	return WordOf("readiness.ok", ok)
}

// Or returns the first text that is not empty.
func Or(all ...texts.Text) texts.Text {
	for _, one := range all {
		if !one.Empty() {
			return one
		}
	}
	return nil
}
