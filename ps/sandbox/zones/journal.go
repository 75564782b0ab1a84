package zones

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// journalLimit bounds the journal's memory; the oldest entries go first.
const journalLimit = 100_000

// Change is one write, in the order they took effect.
type Change struct {
	Number int // counts from 1
	Call   int // the same for what one call has changed
	Time   time.Time
	Server string
	Op     string // "create zone", "remove zone", "add record", "remove record", "replace record"
	Zone   string
	Before string // the record in zone file form, or empty
	After  string
}

type journal struct {
	last    int
	call    int
	entries []Change
}

// note writes the journal for a call of its own. Store.mu is held.
func (st *Store) note(s *Server, op string, z *zone, before, after *Record) {
	st.journal.call++
	st.noteMore(s, op, z, before, after)
}

// noteMore is note for one more change of the same call.
func (st *Store) noteMore(s *Server, op string, z *zone, before, after *Record) {
	j := &st.journal
	j.last++
	c := Change{Number: j.last, Call: j.call, Time: st.now().UTC(), Server: s.server.Name, Op: op, Zone: z.Name}
	if before != nil {
		c.Before = before.Text()
	}
	if after != nil {
		c.After = after.Text()
	}
	if len(j.entries) >= journalLimit {
		j.entries = append(j.entries[:0:0], j.entries[journalLimit/2:]...)
	}
	j.entries = append(j.entries, c)
}

// Journal tells the writes since New or Load with a number above after.
func (st *Store) Journal(after int) []Change {
	st.mu.RLock()
	defer st.mu.RUnlock()
	from := sort.Search(len(st.journal.entries), func(i int) bool { return st.journal.entries[i].Number > after })
	return append([]Change(nil), st.journal.entries[from:]...)
}

// Snapshot is the whole content of a store at one moment, as text: for each
// zone its properties and its records. The serial number of an SOA is left out,
// so that only what was asked for shows.
type Snapshot map[string][]string

// Snapshot takes one.
func (st *Store) Snapshot() Snapshot {
	st.mu.RLock()
	defer st.mu.RUnlock()
	snap := Snapshot{}
	for key, z := range st.zones {
		v := z.copy()
		v.Serial, v.Records = 0, 0
		lines := []string{fmt.Sprintf("zone %+v", v)}
		for _, n := range z.order {
			for _, r := range n.records {
				lines = append(lines, r.textWithoutSerial())
			}
		}
		sort.Strings(lines[1:])
		name := key.name
		if key.server != "" {
			name += " on " + key.server
		}
		snap[name] = lines
	}
	return snap
}

// Compare tells what differs from before to after, one line each: "- zone:
// text" for what is gone, "+ zone: text" for what is new. Nothing: equal.
func Compare(before, after Snapshot) []string {
	var diff []string
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	for name := range names {
		count := map[string]int{}
		for _, line := range after[name] {
			count[line]++
		}
		for _, line := range before[name] {
			if count[line]--; count[line] < 0 {
				diff = append(diff, "- "+name+": "+line)
			}
		}
		for line, n := range count {
			for ; n > 0; n-- {
				diff = append(diff, "+ "+name+": "+line)
			}
		}
	}
	sort.Slice(diff, func(i, j int) bool {
		if a, b := diff[i][2:], diff[j][2:]; a != b {
			return a < b
		}
		return strings.Compare(diff[i], diff[j]) > 0
	})
	return diff
}
