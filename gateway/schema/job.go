package schema

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"adgateway/gateway/schema/jobstate"
)

// JobID is the id of a job, in the format of [adgateway/gateway/jobs].
var JobID Kind = patternKind{
	base: base{"string"}, pattern: regexp.MustCompile(`^jb_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`), limit: 39,
	must:    "must be the id of a job, as its submission shows it",
	example: "jb_019ab3f0-0000-7000-8000-000000000000",
}

// ResultKey is an X25519 public key in base64. Generated secrets are sealed with it.
var ResultKey Kind = resultKeyKind{base{"string"}}

type resultKeyKind struct{ base }

const resultKeyLength = 32

func (resultKeyKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, 64, false)
	if problem != nil {
		return nil, problem
	}
	if key, err := base64.StdEncoding.DecodeString(s); err != nil || len(key) != resultKeyLength {
		return nil, invalid("must be a public key of X25519: 32 bytes in base64")
	}
	return textValue(s), nil
}

func (resultKeyKind) Doc() Doc {
	return Doc{Type: "string", MaxLength: 44, Text: "A public key of X25519, 32 bytes in base64.",
		Example: "ZGVtbyBrZXkgb2YgdGhpcnR5LXR3byBieXRlcyAuLi4="}
}

// Columns contains the parameters of a list's columns, separated by commas. An empty name stands for a column
// that is not a parameter. [ColumnList] splits the text.
var Columns Kind = columnsKind{base{"string"}}

type columnsKind struct{ base }

const (
	mostColumns   = 200
	longestColumn = 100 // characters of a name
)

func (columnsKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, mostColumns*(longestColumn+1), false)
	if problem != nil {
		return nil, problem
	}
	names := ColumnList(s)
	if len(names) > mostColumns {
		return nil, invalid("names more than %d columns", mostColumns)
	}
	for i, name := range names {
		switch {
		case utf8.RuneCountInString(name) > longestColumn:
			return nil, invalid("has a name of more than %d characters", longestColumn)
		case name != "" && slices.ContainsFunc(names[:i], func(other string) bool {
			return strings.EqualFold(other, name)
		}):
			return nil, invalid("names column %d like an earlier one", i+1)
		}
	}
	return textValue(strings.Join(names, ",")), nil
}

func (columnsKind) Doc() Doc {
	return Doc{Type: "string", MaxLength: mostColumns * (longestColumn + 1), Example: "Username,,City",
		Text: "The parameters of the columns of a list, separated by commas; nothing between two commas stands " +
			"for a column that is no parameter."}
}

// ColumnList returns the names in a value of [Columns].
func ColumnList(text string) []string {
	names := strings.Split(text, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// Job is the record of a job: a list of calls and its progress.
var Job = &Shape{Name: "Job", Fields: []Field{
	{Name: "id"},
	{Name: "kind", Enum: []string{"list"}},
	{Name: "name", Null: true},
	{Name: "operation", Null: true, Doc: "of the items that name none"},
	{Name: "mode", Enum: jobstate.Modes, Doc: "what is done with the items, or was done last"},
	{Name: "caller", Doc: "name of the credential or the person"},
	{Name: "callerKind", Doc: "token, user, certificate or person"},
	{Name: "callerId", Null: true, Doc: "id of the account, or SID of the person; null: it has none"},
	{Name: "state", Enum: jobstate.Jobs, Doc: "a job that is held goes on by itself; one that is ready or paused waits for a call; a paused one begins nothing more, and running counts what has not ended yet; done: every item has ended, whatever became of it"},
	{Name: "why", Null: true, Enum: jobstate.Reasons, Doc: "it is held, or was stopped"},
	{Name: "created", Type: TimeField},
	{Name: "started", Type: TimeField, Null: true},
	{Name: "ended", Type: TimeField, Null: true},
	{Name: "expires", Type: TimeField, Doc: "when it is no longer kept"},
	{Name: "total", Type: NumberField, Doc: "items"},
	{Name: "waiting", Type: NumberField},
	{Name: "running", Type: NumberField},
	{Name: "done", Type: NumberField},
	{Name: "noop", Type: NumberField, Doc: "there was nothing to change"},
	{Name: "failed", Type: NumberField},
	{Name: "unknown", Type: NumberField, Doc: "their outcome is unknown"},
	{Name: "skipped", Type: NumberField, Doc: "they have mistakes, or cannot be undone"},
	{Name: "notRun", Type: NumberField, Doc: "the job ended first, or what they come after was not done"},
	{Name: "percent", Type: NumberField, Doc: "of the items that have ended"},
	{Name: "rate", Type: DecimalField, Null: true, Doc: "items a second, a mean over the last minute; null unless it runs"},
	{Name: "remaining", Type: NumberField, Null: true, Doc: "seconds; null if that is not known"},
	{Name: "separator", Null: true, Doc: "of the list and of its result"},
	{Name: "retries", Null: true, Doc: "the job whose items it tries again"},
	{Name: "undoes", Null: true, Doc: "the job that it takes back"},
	{Name: "problems", Type: ObjectListField, Doc: "what is wrong with the list: the first 1,000", Of: []Field{
		{Name: "line", Type: NumberField, Doc: "of the file, in which the header is line 1"},
		{Name: "column", Type: NumberField, Optional: true},
		{Name: "id", Optional: true, Doc: "of the item"},
		{Name: "field", Optional: true},
		{Name: "message"},
	}},
	{Name: "moreProblems", Type: NumberField, Doc: "that are not listed, at least: unless items with mistakes are left out, a list is not read on after its 1,000th problem"},
}}

// JobItem is the record of a job's item and its outcome.
var JobItem = &Shape{Name: "JobItem", Fields: []Field{
	{Name: "line", Type: NumberField, Doc: "of the list"},
	{Name: "id", Null: true},
	{Name: "operation"},
	{Name: "state", Enum: jobstate.Items},
	{Name: "code", Null: true, Doc: "the error code of its call"},
	{Name: "message", Null: true},
	{Name: "changeId", Null: true},
	{Name: "guid", Null: true, Type: GUIDField, Doc: "of the object"},
	{Name: "plan", Null: true, Doc: "that its dry run has made"},
	{Name: "attempts", Type: NumberField},
	{Name: "account", Null: true, Doc: "sAMAccountName of what a rule has put into the job; null: it was submitted as a list"},
	{Name: "reason", Null: true, Enum: staleReasons, Doc: "why the rule found it: the last logon is long ago, or there was none since the creation"},
	{Name: "since", Null: true, Type: TimeField, Doc: "of the last logon, else of the creation"},
}}
