package ui

import (
	"fmt"
	"slices"

	"adgateway/gateway/ui/texts"
)

// What pages say of a value, and in which color, stands in the table of this file. Templates
// show what it gives and decide nothing: a condition in a template would be a second
// reading of the record, which may differ from the first.

// color is a class of the style sheet.
type color string

const (
	plain color = ""
	good  color = "ok"
	warn  color = "warn"
	bad   color = "bad"
)

// word is what a page says of a value.
type word struct {
	Text  texts.Text
	Color color
}

// colors has the color of each value of a field of which something is said. The table of texts has
// its words, see [wordOf]. Fields of other records than those of objects have the record in their name.
var colors = map[string]map[any]color{
	"enabled":                 {true: good, false: bad},
	"locked":                  {true: bad}, // of a hit
	"lockedOut":               {true: bad}, // of a user
	"changePasswordNextLogon": {true: warn},
	"primary":                 {true: plain},

	"state.enabled":                 {false: bad},
	"state.lockedOut":               {true: bad},
	"state.locked":                  {true: bad},
	"state.accountExpired":          {true: bad},
	"state.changePasswordNextLogon": {true: warn},
	"state":                         {"active": good},

	"type": {
		"Security": plain, "Distribution": plain, "user": plain, "group": plain, "computer": plain, "ou": plain,
	},
	"scope":  {"Domain_Local": plain, "Global": plain, "Universal": plain},
	"lookup": {"Forward": plain, "Reverse": plain},
	"zoneType": {
		"Primary": plain, "Secondary": plain, "Stub": plain, "Forwarder": plain,
	},
	"dynamicUpdate": {"None": plain, "Secure": plain, "NonsecureAndSecure": warn},
	"paused":        {true: bad},
	"readOnly":      {true: plain},
	"signed":        {true: good},
	"restorable":    {true: good, false: bad},
	"outcome":       {"done": good, "partial": warn, "unknown": warn},
	"protected":     {true: plain, false: plain},

	"plan.undo":          {"full": plain, "partial": plain, "restore": plain, "none": plain},
	"check.state":        {"passed": good, "failed": bad, "not_checked": plain},
	"readiness.ok":       {true: good, false: bad},
	"readiness.verdict":  {"down": bad, "degraded": warn, "sound": good},
	"readiness.degraded": {true: warn},
	"job.state": {
		"ready": warn, "held": warn, "running": "run", "paused": warn, "stopping": warn,
		"done": good, "failed": bad, "cancelled": bad, "rejected": bad,
	},
	"job.why": {
		"notBefore": plain, "caller": plain, "budget": plain, "credential": plain, "engine": plain, "lane": plain,
		"errors": plain, "unknown": plain,
	},
}

// wordOf returns the word for the value of a field. A text that the table does not have,
// which a newer API may use, stands for itself.
func wordOf(field string, value any) word {
	switch value.(type) {
	case nil, bool, string:
	default:
		return word{}
	}
	if c, known := colors[field][value]; known {
		return word{texts.Of(fmt.Sprintf("word.%s.%v", field, value)), c}
	}
	text, _ := value.(string)
	return word{Text: texts.Raw(text)}
}

// record is a record of the API.
type record map[string]any

// Text returns a field as text; empty if it is null or absent.
func (r record) Text(name string) string {
	switch v := r[name].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// first returns the first of the fields that is a text.
func (r record) first(names ...string) string {
	for _, name := range names {
		if text := r.Text(name); text != "" {
			return text
		}
	}
	return ""
}

// number returns a field that is a number, and whether it is one.
func (r record) number(name string) (int, bool) {
	n, ok := r[name].(float64)
	return int(n), ok
}

// said returns the words for fields of a record, without those of which nothing is said.
func said(r record, fields ...string) []word {
	var all []word
	for _, field := range fields {
		if w := wordOf(field, r[field]); !w.Text.Empty() {
			all = append(all, w)
		}
	}
	return all
}

// sentence is a row of the table of verdicts: what a page says of a logon if the API gives
// the verdict, and the action that helps.
type sentence struct {
	code   string
	word   word
	remedy string
}

// logons are the rows in the order in which they count.
var logons = []sentence{
	{"disabled", word{texts.Of("logon.cannot"), bad}, ""},
	{"expired", word{texts.Of("logon.cannot"), bad}, ""},
	{"locked", word{texts.Of("logon.cannot"), bad}, ""},
	{"hours", word{texts.Of("logon.hours"), bad}, ""},
	{"password_expired", word{texts.Of("logon.change"), warn}, "reset"},
	{"must_change", word{texts.Of("logon.change"), warn}, "reset"},
	{"smartcard_required", word{texts.Of("logon.smartcard"), warn}, ""},
	{"workstations", word{texts.Of("logon.workstations"), warn}, ""},
	{"unknown", word{texts.Of("logon.unknown"), warn}, ""},
	{"ok", word{texts.Of("logon.ok"), good}, ""},
}

// What is said where no row fits: of an account that cannot log on for a reason that is not
// in the table, and of one that can with such a verdict.
var (
	cannotLogOn = sentence{word: word{texts.Of("logon.cannot"), bad}}
	maybeLogsOn = sentence{word: word{texts.Of("logon.maybe"), warn}}
)

// logonState is what the API says about a logon.
type logonState struct {
	CanLogOn bool
	Verdicts []verdict
}

type verdict struct{ Code, Since, Until, Text string }

// says returns the row that counts for a logon. The API decides whether the account can log
// on; a row only names the restriction.
func (s logonState) says() sentence {
	found := maybeLogsOn
	for _, row := range logons {
		if slices.ContainsFunc(s.Verdicts, func(v verdict) bool { return v.Code == row.code }) {
			found = row
			break
		}
	}
	if len(s.Verdicts) == 0 && s.CanLogOn {
		found = logons[len(logons)-1]
	}
	if !s.CanLogOn && found.word.Color != bad {
		return cannotLogOn
	}
	return found
}

// checkWord returns the word for a check of the gateway's readiness.
func checkWord(ok, degraded bool) word {
	if ok && degraded {
		return wordOf("readiness.degraded", degraded)
	}
	return wordOf("readiness.ok", ok)
}
