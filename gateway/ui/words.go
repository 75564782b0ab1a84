package ui

import (
	"fmt"
	"slices"
)

// What pages say of a value, and in which color, stands in the table of this file. Templates
// show what it gives and decide nothing: a condition in a template would be a second
// reading of the record, which may differ from the first.

// color is a class of the style sheet.
type color string

const (
	plain color = ""
	good  color = "good"
	warn  color = "warn"
	bad   color = "bad"
)

// word is what a page says of a value.
type word struct {
	Text  string
	Color color
}

// words has the word for each value of a field. The key nil stands for a field that is null
// or absent. Fields of other records than those of objects have the record in their name.
var words = map[string]map[any]word{
	"enabled":                 {true: {"Enabled", good}, false: {"Disabled", bad}, nil: {}},
	"locked":                  {true: {"Locked out", bad}, false: {}, nil: {}}, // of a hit
	"lockedOut":               {true: {"Locked out", bad}, false: {}, nil: {}}, // of a user
	"changePasswordNextLogon": {true: {"Must be changed at the next logon", warn}, false: {}, nil: {}},
	"primary":                 {true: {"primary group", plain}, false: {}, nil: {}},

	"plan.undo": {
		"full": {"It can be undone.", plain}, "partial": {"It can be undone in part.", plain},
		"restore": {"It can be restored from the Recycle Bin.", plain}, "none": {"It cannot be undone.", plain},
	},
	"check.state": {
		"passed": {"Passed", good}, "failed": {"Failed", bad}, "not_checked": {"Not checked", plain},
	},
	"readiness.ok": {true: {"OK", good}, false: {"Failed", bad}},
	"readiness.verdict": {
		"down":     {"Not ready: requests are not served.", bad},
		"degraded": {"Working, but something needs attention.", warn},
		"sound":    {"Everything works.", good},
	},
	"readiness.degraded": {true: {"Attention", warn}},
	"job.state": {
		"ready": {"ready", warn}, "held": {"held", warn}, "running": {"running", plain},
		"paused": {"paused", warn}, "stopping": {"stopping", warn},
		"done": {"done", good}, "failed": {"failed", bad},
		"cancelled": {"cancelled", bad}, "rejected": {"rejected", bad},
	},
	"job.why": {
		"notBefore":  {"It begins at its time.", plain},
		"caller":     {"Other jobs run first.", plain},
		"budget":     {"An hourly limit of its submitter is reached. It goes on by itself.", plain},
		"credential": {"Its submitter may not do this any more: the account is disabled, or has no role with this right.", plain},
		"engine":     {"The store of the cluster cannot be written at the moment. It goes on by itself.", plain},
		"lane":       {"The directory cannot be asked at the moment. It goes on by itself.", plain},
		"errors":     {"Too many items failed.", plain},
		"unknown":    {"It is not known whether an item was done.", plain},
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
	if said, known := words[field][value]; known {
		return said
	}
	text, _ := value.(string)
	return word{Text: text}
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
		if w := wordOf(field, r[field]); w.Text != "" {
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

const changedFirst = "Can log on only after changing the password – not over VPN, mail or Wi-Fi"

// logons are the rows in the order in which they count.
var logons = []sentence{
	{"disabled", word{"Cannot log on", bad}, ""},
	{"expired", word{"Cannot log on", bad}, ""},
	{"locked", word{"Cannot log on", bad}, ""},
	{"hours", word{"Cannot log on at this hour", bad}, ""},
	{"password_expired", word{changedFirst, warn}, "reset"},
	{"must_change", word{changedFirst, warn}, "reset"},
	{"smartcard_required", word{"Can log on only with a smart card", warn}, ""},
	{"workstations", word{"Can log on only at some computers", warn}, ""},
	{"unknown", word{"Can log on, as far as that can be read", warn}, ""},
	{"ok", word{"Can log on", good}, ""},
}

// What is said where no row fits: of an account that cannot log on for a reason that is not
// in the table, and of one that can with such a verdict.
var (
	cannotLogOn = sentence{word: word{"Cannot log on", bad}}
	maybeLogsOn = sentence{word: word{"Can log on, with a restriction", warn}}
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
