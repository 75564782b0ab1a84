package zones

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// journalLimit bounds the number of entries; the oldest are dropped first.
const journalLimit = 100_000

// Change is a journal entry.
type Change struct {
	Number int // starts at 1
	Call   int // equal for all changes of one call
	Time   time.Time
	Server string
	Op     string // "create zone", "remove zone", "add record", "remove record"
	Zone   string
	Before string // the removed record in zone file form, or empty
	After  string // the added one
}

type journal struct {
	last    int
	call    int
	entries []Change
}

// note records the only change, or the first one, of a call. Store.mu is held.
func (st *Store) note(s *Server, op string, z *zone, before, after *Record) {
	st.journal.call++
	st.noteMore(s, op, z, before, after)
}

// noteMore records a further change of the same call. Store.mu is held.
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

// Journal returns the writes with a number above after, oldest first. Loading is
// not recorded.
func (st *Store) Journal(after int) []Change {
	st.mu.RLock()
	defer st.mu.RUnlock()
	from := sort.Search(len(st.journal.entries), func(i int) bool { return st.journal.entries[i].Number > after })
	return append([]Change(nil), st.journal.entries[from:]...)
}

// Snapshot is the content of a store at one moment: the properties and records of
// each zone as lines of text. Serial numbers are left out, as they change with
// every write.
type Snapshot map[string][]string

// Snapshot returns the current content of the store.
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

// Compare returns the differences between two snapshots as sorted lines,
// "- zone: text" for what was removed and "+ zone: text" for what was added.
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
