package schema

import (
	"regexp"
	"strings"
	"time"

	"adgateway/ps"
)

// ChangeID is the id of a change in the history, in the format of [adgateway/gateway/changes].
var ChangeID = idKind("ch_", "must be the ID of a change, as in X-Change-Id",
	"ch_019ab3f0-0000-7000-8000-000000000000")

// ChangeCursor is the position where the list of changes continues. It is the member next of the previous
// answer.
var ChangeCursor Kind = patternKind{
	base: base{"string"}, pattern: regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`), limit: 256,
	must: "must be the value of next in the previous answer",
}

// FeedStart is the position where a stream of changes begins. It is a cursor of the stream or a time.
var FeedStart Kind = feedStartKind{base{"string"}}

type feedStartKind struct{ base }

func (feedStartKind) Decode(raw any) (*Decoded, *FieldError) {
	if at, problem := Moment.Decode(raw); problem == nil {
		return at, nil
	}
	cursor, problem := ChangeCursor.Decode(raw)
	if problem != nil {
		return nil, invalid("must be the ID of an event, the value of next in an answer, or a time such as " +
			"2026-11-22T12:40:00Z")
	}
	return cursor, nil
}

func (feedStartKind) Doc() Doc {
	return Doc{Type: "string", MaxLength: 256,
		Example: "2026-11-22T12:40:00Z",
		Text:    "ID of an event, value of next in an answer, or date and time (RFC 3339)."}
}

const wordLimit = 256

// Word is a name that is compared as a whole, such as the name of an operation, a credential or a
// deleted object.
var Word Kind = &checkedKind{
	base: base{"string"}, limit: wordLimit,
	doc: Doc{Type: "string", MaxLength: wordLimit, Text: "Complete name."},
}

// Label is a name that a person gives to something, and that others read on pages, in answers and in
// the audit.
var Label Kind = &checkedKind{
	base: base{"string"}, limit: wordLimit,
	check: func(s string) (string, *FieldError) { return s, seen(s) },
	doc:   Doc{Type: "string", MaxLength: wordLimit, Text: "Name without invisible characters."},
}

// Names is a list of names, separated by commas.
var Names Kind = namesKind{base{"string[]"}}

const namesLimit = 8192

type namesKind struct{ base }

var namesPattern = regexp.MustCompile(`^[^,]+(?:,[^,]+)*$`)

func (namesKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := listText(raw, namesLimit)
	if problem != nil {
		return nil, problem
	}
	if !namesPattern.MatchString(s) {
		return nil, invalid("must be a list of names, separated by commas")
	}
	return &Decoded{Values: []ps.Value{ps.List(strings.Split(s, listSeparator))}, Text: s}, nil
}

func (namesKind) Doc() Doc {
	return Doc{Type: "string", MaxLength: namesLimit, Pattern: namesPattern.String(),
		Text: "Names, separated by commas."}
}

// Moment is a point in time.
var Moment Kind = &checkedKind{
	base: base{"string"}, limit: 64,
	check: func(s string) (string, *FieldError) {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return "", invalid("must be a time such as 2026-11-22T12:40:00Z")
		}
		return t.UTC().Format(time.RFC3339Nano), nil
	},
	doc: Doc{Type: "string", Format: "date-time", Example: "2026-11-22T12:40:00Z",
		Text: "Date and time (RFC 3339)."},
}

// Comparisons of a changed value with the current one.
const (
	Unchanged   = "unchanged"
	DriftedAway = "drifted"
	Gone        = "gone"
	NotReadable = "not_readable"
)

// Undoable is the extent to which a change can be undone.
type Undoable string

// The extents of undoing. Restore uses the Recycle Bin.
const (
	UndoFull    Undoable = "full"
	UndoPartial Undoable = "partial"
	UndoNone    Undoable = "none"
	UndoRestore Undoable = "restore"
)

// Undoables are all extents.
var Undoables = []string{string(UndoFull), string(UndoPartial), string(UndoNone), string(UndoRestore)}

// Change is the record of a change in the history.
var Change = &Shape{Name: "Change", Fields: []Field{
	{Name: "id"},
	{Name: "requestId"},
	{Name: "time", Type: TimeField},
	{Name: "caller", Doc: "Name of the credential or person that made the change."},
	{Name: "callerKind", Null: true, Doc: "Type of the caller: token, user, certificate, person, or gateway; null if it is unknown."},
	{Name: "callerId", Null: true, Doc: "ID of the account, or SID of the person; null if the caller has none."},
	{Name: "operation"},
	{Name: "effect", Enum: []string{"created", "changed", "removed"}},
	{Name: "outcome", Enum: []string{"done", "partial", "unknown"}, Doc: "Outcome of the change; also unknown while the change is running."},
	{Name: "server"},
	{Name: "objects", Type: ObjectListField, Doc: "Changed objects, in order.", Of: []Field{
		{Name: "guid", Type: GUIDField, Null: true},
		{Name: "distinguishedName", Doc: "Distinguished name; for a DNS record, its fully qualified name."},
		{Name: "changes", Type: ObjectListField, Of: []Field{
			{Name: "field"},
			{Name: "attribute", Doc: "Name of the attribute in the directory."},
			{Name: "before", Type: ValueField, Doc: "Value before the change; null if there was none or if it is a secret."},
			{Name: "after", Type: ValueField, Doc: "Value after the change."},
			{Name: "kind", Enum: changeKindNames()},
			{Name: "undo", Enum: []string{string(UndoFull), string(UndoNone), string(UndoRestore)}, Doc: "Whether the value can be undone; restore means by the Recycle Bin."},
			{Name: "now", Type: ValueField, Optional: true, Doc: "Current value; only with Compare."},
			{Name: "state", Enum: []string{Unchanged, DriftedAway, Gone, NotReadable}, Optional: true, Doc: "Comparison of the current value with the value that the change wrote; only with Compare."},
		}},
		{Name: "image", Type: ValueField, Optional: true, Doc: "Complete copy of the removed object; only in the answer for a single change."},
	}},
	{Name: "undo", Enum: Undoables, Doc: "Extent to which the change, or the rest of it after a partial undo, can be undone."},
	{Name: "undoes", Null: true, Doc: "ID of the change that this change undid; null if it is not an undo."},
	{Name: "undoneBy", Type: TextListField, Doc: "IDs of the changes that undid this change."},
	{Name: "plan", Null: true, Doc: "ID of the plan that was applied; null if the change was made without a plan."},
	{Name: "reason", Null: true, Doc: "Reason that the caller gave; null if there is none."},
	{Name: "batch", Null: true, Doc: "ID of the first change of the same request; null if the request made only this change."},
	{Name: "degraded", Type: BoolField, Doc: "Whether an earlier version of the gateway made the change without access to the shared store."},
}}

func changeKindNames() []string {
	var names []string
	for _, kind := range ChangeKinds() {
		names = append(names, string(kind))
	}
	return names
}
