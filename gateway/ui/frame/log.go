package frame

import (
	"time"

	"adgateway/gateway/identity"
)

// LogFilter selects lines of the audit log. Empty texts match everything.
type LogFilter struct {
	Since  time.Time
	Until  time.Time
	Who    string       // part of the caller's name, or a reference for [identity.ParseReference]
	Only   *identity.ID // nil means all callers
	Target string       // part of a DN, a GUID or a parameter, or the id of a request
	Names  []string     // other names of the object that Target identifies
	Skip   int          // number of the newest lines to skip
	Most   int          // maximum number of lines to return

	Reader  identity.ID           // the person who reads the lines
	Readers []*identity.Principal // roles of the reader, at least one of which must be allowed to see a line
}

// LogLine is a call in the audit log.
type LogLine struct {
	Time, From, Operation, Outcome, Code, RequestID string

	Who, Kind      string // name and kind of the caller
	Targets, Given []string
}
