package schema

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"adgateway/gateway/schema/jobstate"
)

// JobID is the id of a job, in the format of [adgateway/gateway/jobs].
var JobID = idKind("jb_", "must be the ID of a job, as in the answer to its submission",
	"jb_019ab3f0-0000-7000-8000-000000000000")

// ResultKey is an X25519 public key in base64. Generated secrets are sealed with it.
var ResultKey Kind = &checkedKind{
	base: base{"string"}, limit: 64,
	check: func(s string) (string, *FieldError) {
		if key, err := base64.StdEncoding.DecodeString(s); err != nil || len(key) != resultKeyLength {
			return "", invalid("must be a public key of X25519: 32 bytes in base64")
		}
		return s, nil
	},
	doc: Doc{Type: "string", MaxLength: 44, Text: "X25519 public key: 32 bytes in base64.",
		Example: "ZGVtbyBrZXkgb2YgdGhpcnR5LXR3byBieXRlcyAuLi4="},
}

const resultKeyLength = 32

// Columns contains the parameters of a list's columns, separated by commas. An empty name stands for a column
// that is not a parameter. [ColumnList] splits the text.
var Columns Kind = &checkedKind{
	base: base{"string"}, limit: mostColumns * (longestColumn + 1), check: checkColumns,
	doc: Doc{Type: "string", MaxLength: mostColumns * (longestColumn + 1), Example: "Username,,City",
		Text: "Parameter names, one for each column of the list, separated by commas; leave out the name of a " +
			"column that is not a parameter."},
}

const (
	mostColumns   = 200
	longestColumn = 100 // characters of a name
)

func checkColumns(s string) (string, *FieldError) {
	names := ColumnList(s)
	if len(names) > mostColumns {
		return "", invalid("names more than %d columns", mostColumns)
	}
	for i, name := range names {
		switch {
		case utf8.RuneCountInString(name) > longestColumn:
			return "", invalid("has a name of more than %d characters", longestColumn)
		case name != "" && slices.ContainsFunc(names[:i], func(other string) bool {
			return strings.EqualFold(other, name)
		}):
			return "", invalid("gives column %d the name of an earlier column", i+1)
		}
	}
	return strings.Join(names, ","), nil
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
	{Name: "operation", Null: true, Doc: "Operation of items that do not name one; null if each item names its own."},
	{Name: "mode", Enum: jobstate.Modes, Doc: "Mode in which the items run or last ran."},
	{Name: "caller", Doc: "Name of the credential or person that submitted the job."},
	{Name: "callerKind", Doc: "Type of the caller: token, user, certificate, or person."},
	{Name: "callerId", Null: true, Doc: "ID of the account, or SID of the person; null if the caller has none."},
	{Name: "state", Enum: jobstate.Jobs, Doc: "State of the job. A held job continues automatically; a ready or paused job waits for a call. A paused job begins no further items, and running counts the items that have not ended yet. A job is done when all items have ended, with any outcome."},
	{Name: "why", Null: true, Enum: jobstate.Reasons, Doc: "Reason why the job is held or was stopped; null otherwise."},
	{Name: "created", Type: TimeField},
	{Name: "started", Type: TimeField, Null: true},
	{Name: "ended", Type: TimeField, Null: true},
	{Name: "expires", Type: TimeField, Doc: "Time after which the job is no longer kept."},
	{Name: "total", Type: NumberField, Doc: "Number of items in the job."},
	{Name: "waiting", Type: NumberField, Doc: "Number of items that have not begun."},
	{Name: "running", Type: NumberField, Doc: "Number of items that have begun and not ended."},
	{Name: "done", Type: NumberField, Doc: "Number of items that were done."},
	{Name: "noop", Type: NumberField, Doc: "Number of items that had nothing to change."},
	{Name: "failed", Type: NumberField, Doc: "Number of items that failed."},
	{Name: "unknown", Type: NumberField, Doc: "Number of items with an unknown outcome."},
	{Name: "skipped", Type: NumberField, Doc: "Number of items that were skipped because they are invalid or cannot be undone."},
	{Name: "notRun", Type: NumberField, Doc: "Number of items that did not run because the job ended first or an item that they depend on was not done."},
	{Name: "percent", Type: NumberField, Doc: "Percentage of items that have ended."},
	{Name: "rate", Type: DecimalField, Null: true, Doc: "Items per second, averaged over the last minute; null if the job is not running."},
	{Name: "remaining", Type: NumberField, Null: true, Doc: "Estimated remaining time, in seconds; null if it is unknown."},
	{Name: "separator", Null: true, Doc: "Separator of the columns in the list and in its result; null if the list is not CSV."},
	{Name: "retries", Null: true, Doc: "ID of the job whose items this job retries; null if it retries none."},
	{Name: "undoes", Null: true, Doc: "ID of the job that this job undoes; null if it undoes none."},
	{Name: "problems", Type: ObjectListField, Doc: "Problems of the list, at most the first 1,000.", Of: []Field{
		{Name: "line", Type: NumberField, Doc: "Line of the file; the header is line 1."},
		{Name: "column", Type: NumberField, Optional: true},
		{Name: "id", Optional: true, Doc: "ID of the item."},
		{Name: "field", Optional: true},
		{Name: "message"},
	}},
	{Name: "moreProblems", Type: NumberField, Doc: "Minimum number of problems that are not listed. Reading stops at the 1,000th problem unless invalid items are skipped."},
}}

// JobItem is the record of a job's item and its outcome.
var JobItem = &Shape{Name: "JobItem", Fields: []Field{
	{Name: "line", Type: NumberField, Doc: "Line of the list."},
	{Name: "id", Null: true},
	{Name: "operation"},
	{Name: "state", Enum: jobstate.Items},
	{Name: "code", Null: true, Doc: "Error code of the call; null if it did not fail."},
	{Name: "message", Null: true},
	{Name: "changeId", Null: true},
	{Name: "guid", Null: true, Type: GUIDField, Doc: "objectGUID of the changed object."},
	{Name: "plan", Null: true, Doc: "ID of the plan that the dry run created; null if there is none."},
	{Name: "attempts", Type: NumberField, Doc: "Number of times that the item was run."},
	{Name: "account", Null: true, Doc: "sAMAccountName of the account that a rule added to the job; null if the item comes from a list."},
	{Name: "reason", Null: true, Enum: staleReasons, Doc: "Reason why the rule found the account: unused if its last logon was too long ago, neverUsed if it has never logged on. Null if the item comes from a list."},
	{Name: "since", Null: true, Type: TimeField, Doc: "Time of the last logon, or of the creation if there was no logon; null if the item comes from a list."},
}}
