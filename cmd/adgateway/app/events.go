package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"adgateway/gateway/audit"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/winsvc/events"
)

// The values of audit.eventLog.
const (
	eventsOff     = "off"
	eventsChanges = "changes"
)

// callEvents copies the audit log to the system's event log: one entry for each
// change that was made, refused or failed, and on demand one for each refused
// caller. It never delays a call, and its failure has no effect on calls.
type callEvents struct {
	write      events.Write
	all        bool // refused callers get entries, too
	operations map[string]*ops.Operation
	queue      chan entry
	ended      sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	lost    int       // calls without an entry since the last summary
	refused int       // in the current minute
	minute  time.Time // when that minute began
}

// entry is an event with its text.
type entry struct {
	event events.Event
	text  string
}

// Limits of the event log.
const (
	eventQueue    = 10_000
	eventsRefused = 100 // per minute, of calls that were refused or failed
	eventMinute   = time.Minute
)

// newCallEvents returns nil if no calls are to be written.
func newCallEvents(write events.Write, which string) *callEvents {
	if write == nil || which == eventsOff {
		return nil
	}
	c := &callEvents{write: write, all: which != eventsChanges, operations: map[string]*ops.Operation{},
		queue: make(chan entry, eventQueue)}
	for _, op := range ops.Table() {
		c.operations[op.ID] = op
	}
	c.ended.Go(c.run)
	return c
}

// run writes the queued entries and the number of omitted ones until the queue is closed.
func (c *callEvents) run() {
	tick := time.NewTicker(eventMinute)
	defer tick.Stop()
	for {
		select {
		case e, more := <-c.queue:
			if !more {
				c.sum()
				return
			}
			c.write(e.event, e.text)
		case <-tick.C:
			c.sum()
		}
	}
}

// sum writes how many calls are missing from the event log.
func (c *callEvents) sum() {
	c.mu.Lock()
	lost := c.lost
	c.lost = 0
	c.mu.Unlock()
	if lost > 0 {
		c.write(events.NotWritten, fmt.Sprintf("And %d more calls, which the audit log has.", lost))
	}
}

// close writes the rest of the queue. Calls that are recorded later get no entry.
func (c *callEvents) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.closed = true
	close(c.queue)
	c.mu.Unlock()
	c.ended.Wait()
}

// record is called for each line of the audit log, see [audit.Options.Recorded].
func (c *callEvents) record(call audit.Call, line *audit.Line) {
	op := c.operations[call.Operation]
	if op == nil {
		return
	}
	event, wanted := eventOf(op, line)
	if !wanted || event.ID >= events.SignInRefused.ID && !c.all {
		return
	}
	text := callText(call, line)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || event.Level == events.Warning && !c.admit(time.Now()) {
		return
	}
	select {
	case c.queue <- entry{event, text}:
	default:
		c.lost++
	}
}

// admit reports whether another refused or failed call gets an entry. The mutex is held.
func (c *callEvents) admit(now time.Time) bool {
	if now.Sub(c.minute) >= eventMinute {
		c.minute, c.refused = now, 0
	}
	if c.refused++; c.refused > eventsRefused {
		c.lost++
		return false
	}
	return true
}

// eventOf returns the event of an audit line. It returns false for calls without
// one: reads, except those that reveal secrets, and changes that had nothing to do.
func eventOf(op *ops.Operation, line *audit.Line) (events.Event, bool) {
	switch schema.Code(line.Code) {
	case schema.Unauthenticated:
		return events.SignInRefused, true
	case schema.RateLimited:
		return events.Locked, true
	case schema.Forbidden, schema.Limit:
		return events.OutOfLimits, true
	}
	if !op.Effect.Writes() {
		return events.Revealed, op.Reveals && line.Code == "" && line.Outcome != ""
	}
	switch ps.Outcome(line.Outcome) {
	case ps.OutcomePartial, ps.OutcomeUnknown:
		return events.Incomplete, true
	case ps.OutcomeDone:
		return changeEvent(op), true
	}
	return changeEvent(op).AsFailed(), line.Code != ""
}

// changeEvent returns the event of an operation that made its change.
func changeEvent(op *ops.Operation) events.Event {
	switch removes := op.Effect == ops.Delete; {
	case op.Lane == ps.DNS && removes:
		return events.RecordRemoved
	case op.Lane == ps.DNS:
		return events.RecordMade
	case op.Reply.Shape == schema.Membership && removes:
		return events.MembershipRemoved
	case op.Reply.Shape == schema.Membership:
		return events.MembershipAdded
	case removes:
		return events.Removed
	case op.Effect == ops.Create:
		return events.Created
	case op.Effect == ops.Move || op.Effect == ops.Rename:
		return events.Moved
	case slices.ContainsFunc(op.Params, func(p ops.Param) bool { return p.Generated != "" }):
		return events.PasswordSet
	}
	return events.Changed
}

// callText returns the text of an entry: a sentence, an empty line, and the line of the audit log as JSON.
func callText(call audit.Call, line *audit.Line) string {
	shown := struct {
		*audit.Line
		Previous *string `json:"previous,omitempty"` // of the chain; left out of the copy
		Cut      bool    `json:"cut,omitempty"`
	}{Line: &audit.Line{}}
	*shown.Line = *line
	shown.Parameters = call.Parameters
	text := callSentence(call, line) + "\r\n\r\n"
	encoded, err := json.Marshal(shown)
	if err != nil || len(utf16.Encode([]rune(text)))+
		len(utf16.Encode([]rune(string(encoded)))) > events.MaxText {
		shown.Changes, shown.Steps, shown.Remains, shown.Failed, shown.Cut = nil, nil, nil, nil, true
		encoded, err = json.Marshal(shown)
	}
	if err != nil {
		return text // the audit log has it
	}
	if units := utf16.Encode([]rune(text + string(encoded))); len(units) > events.MaxText {
		return string(utf16.Decode(units[:events.MaxText]))
	}
	return text + string(encoded)
}

// callSentence returns a sentence with the caller, the operation and its outcome.
func callSentence(call audit.Call, line *audit.Line) string {
	who := "somebody unknown"
	if call.Who != nil && call.Who.Name != "" {
		who = call.Who.Name
	}
	var given []string
	for _, name := range slices.Sorted(maps.Keys(call.Parameters)) {
		given = append(given, name+"="+call.Parameters[name])
	}
	outcome := line.Outcome
	if line.Code != "" {
		outcome += " (" + line.Code + ")"
	}
	return strings.TrimSpace(fmt.Sprintf("%s by %s from %s: %s. %s", call.Operation, who, call.From, outcome,
		strings.Join(given, ", ")))
}
