package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
	"adgateway/gateway/ops"
	"adgateway/ps"
	"adgateway/winsvc/events"
)

// eventLog is an event log in memory.
type eventLog struct {
	mu      sync.Mutex
	entries []entry
}

func (l *eventLog) write(e events.Event, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry{e, text})
}

func (l *eventLog) ids() (ids []uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		ids = append(ids, e.event.ID)
	}
	return ids
}

func TestEventOfACall(t *testing.T) {
	for _, c := range []struct {
		operation, outcome, code string
		want                     uint32 // 0 means none
	}{
		{"user.create", "done", "", 200},
		{"user.update", "done", "", 201},
		{"user.disable", "done", "", 201},
		{"change.undo", "done", "", 201},
		{"ou.move", "done", "", 202},
		{"user.rename", "done", "", 202},
		{"computer.deleteMany", "done", "", 203},
		{"user.resetPassword", "done", "", 204},
		{"membership.add", "done", "", 205},
		{"membership.remove", "done", "", 206},
		{"record.create.cname", "done", "", 207},
		{"reverseZone.delete", "done", "", 208},
		{"user.delete", "refused", "protected", 253},
		{"user.update", "none", "directory_denied", 251},
		{"user.update", "none", "", 0},
		{"user.update", "partial", "partial", 290},
		{"user.create", "unknown", "timeout", 290},
		{"user.get", "none", "not_found", 0},
		{"user.get", "refused", "unauthenticated", 300},
		{"user.delete", "refused", "rate_limited", 301},
		{"user.delete", "refused", "forbidden", 302},
		{"user.get", "refused", "limit", 302},
	} {
		op := &ops.Operation{}
		for _, row := range ops.Table() {
			if row.ID == c.operation {
				op = row
			}
		}
		if c.operation == "record.create.cname" {
			op = &ops.Operation{Lane: ps.DNS, Effect: ops.Create}
		}
		require.NotZero(t, op.Effect, c.operation)
		event, wanted := eventOf(op, &audit.Line{Outcome: c.outcome, Code: c.code})
		assert.Equal(t, c.want != 0, wanted, c.operation)
		if wanted {
			assert.Equal(t, c.want, event.ID, c.operation)
			_, known := events.ByName(event.Name)
			assert.True(t, known, event.Name)
		}
	}
}

func TestTextOfAnEvent(t *testing.T) {
	call := audit.Call{RequestID: "r1", Who: &audit.Who{Name: "portal", Kind: "token"}, From: "10.0.0.1",
		Operation: "user.update", Parameters: map[string]string{"UserName": "müller"}}
	line := &audit.Line{Seq: 7, Event: audit.EventOutcome, Operation: "user.update", Outcome: "done",
		Server: "dc1", Previous: "abc"}
	sentence, encoded, found := strings.Cut(callText(call, line), "\r\n\r\n")
	require.True(t, found)
	assert.Equal(t, "user.update by portal from 10.0.0.1: done. UserName=müller", sentence)
	var shown map[string]any
	require.NoError(t, json.Unmarshal([]byte(encoded), &shown))
	assert.Equal(t, map[string]any{"UserName": "müller"}, shown["parameters"])
	assert.NotContains(t, shown, "previous")
	assert.NotContains(t, shown, "cut")

	for range 3000 {
		line.Changes = append(line.Changes, ps.Change{GUID: "0000", DN: "CN=Müller,OU=Staff,DC=corp,DC=example"})
	}
	text := callText(call, line)
	assert.LessOrEqual(t, len(utf16.Encode([]rune(text))), events.MaxText)
	assert.Contains(t, text, `"cut":true`)
	call.Parameters["UserName"] = strings.Repeat("😀", 40000)
	assert.LessOrEqual(t, len(utf16.Encode([]rune(callText(call, line)))), events.MaxText)
}

// A flood of refused calls writes a bounded number of entries and then the number of omitted ones. All
// changes that were made are recorded.
func TestFloodOfEvents(t *testing.T) {
	log := &eventLog{}
	c := newCallEvents(log.write, "all")
	for range 500 {
		c.record(audit.Call{Operation: "user.delete"}, &audit.Line{Outcome: "refused", Code: "forbidden"})
		c.record(audit.Call{Operation: "user.update"}, &audit.Line{Outcome: "done"})
	}
	c.close()
	c.record(audit.Call{Operation: "user.update"}, &audit.Line{Outcome: "done"}) // too late, and harmless
	count := map[uint32]int{}
	for _, id := range log.ids() {
		count[id]++
	}
	assert.Equal(t, map[uint32]int{events.OutOfLimits.ID: eventsRefused, events.Changed.ID: 500,
		events.NotWritten.ID: 1}, count)
	assert.Contains(t, log.entries[len(log.entries)-1].text, "400 more calls")
}

// An event log that hangs delays no call.
func TestEventsNeverBlock(t *testing.T) {
	hangs, log := make(chan struct{}), &eventLog{}
	c := newCallEvents(func(e events.Event, text string) { <-hangs; log.write(e, text) }, "changes")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range eventQueue + 1000 {
			c.record(audit.Call{Operation: "user.update"}, &audit.Line{Outcome: "done"})
		}
	}()
	select {
	case <-done:
	case <-time.After(3 * time.Minute):
		require.Fail(t, "calls wait for the event log")
	}
	close(hangs)
	c.close()
	ids := log.ids()
	assert.Equal(t, events.NotWritten.ID, ids[len(ids)-1])
	assert.GreaterOrEqual(t, len(ids), eventQueue)
}

func TestWhichCallsHaveEvents(t *testing.T) {
	for which, want := range map[string][]uint32{"all": {201, 251, 302}, "changes": {201, 251}} {
		log := &eventLog{}
		c := newCallEvents(log.write, which)
		c.record(audit.Call{Operation: "user.update"}, &audit.Line{Outcome: "done"})
		c.record(audit.Call{Operation: "user.update"}, &audit.Line{Outcome: "none", Code: "not_found"})
		c.record(audit.Call{Operation: "user.get"}, &audit.Line{Outcome: "refused", Code: "limit"})
		c.record(audit.Call{Operation: "no.such"}, &audit.Line{Outcome: "done"})
		c.close()
		assert.Equal(t, want, log.ids(), which)
	}
	assert.Nil(t, newCallEvents((&eventLog{}).write, "off"))
	assert.Nil(t, newCallEvents(nil, "all"))
	newCallEvents(nil, "all").close()
}

// Packages that know nothing of the event log name its events in their log entries.
func TestNamedEventsExist(t *testing.T) {
	named := regexp.MustCompile(`"event": *"(\w+)"|\["event"\] = "(\w+)"|, "(credentials_\w+)",`)
	var found []string
	for _, folder := range []string{"../../../ps/pool", "../../../ps/servers", "../../../gateway/authn"} {
		files, err := filepath.Glob(folder + "/*.go")
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, match := range named.FindAllStringSubmatch(string(text), -1) {
				name := match[1] + match[2] + match[3]
				_, known := events.ByName(name)
				assert.True(t, known, "%s: %s", file, name)
				found = append(found, name)
			}
		}
	}
	assert.GreaterOrEqual(t, len(found), 4, "%q", found)
}
