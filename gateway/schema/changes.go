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

func changeKindNames() []string {
	var names []string
	for _, kind := range ChangeKinds() {
		names = append(names, string(kind))
	}
	return names
}
