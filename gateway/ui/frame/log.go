package frame

import (
	"time"

	"adgateway/gateway/identity"
)

// LogFilter selects lines of the audit log. Empty texts match everything.
type LogFilter struct {
	Since  time.Time
	Until  time.Time
	Who    string       // part of the caller's name, or what [identity.ParseReference] takes
	Only   *identity.ID // nil: of everybody
	Target string       // part of a DN, a GUID or a parameter, or the id of a request
	Names  []string     // by which the object that Target means is named, too
	Skip   int          // lines, the newest ones
	Most   int          // lines behind these

	Reader  identity.ID           // the person who reads them
	Readers []*identity.Principal // what the person may read: a line must be visible to one of them
}

// LogLine is a call in the audit log.
type LogLine struct {
	Time, From, Operation, Outcome, Code, RequestID string

	Who, Kind      string // who called, and which kind of caller that is
	Targets, Given []string
}
