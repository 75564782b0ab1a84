// Package zonestest observes the stores of package zones, for tests. [Take] returns the
// whole content of a store. A [Store] also keeps a journal and can switch servers off.
package zonestest

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"weak"

	"adgateway/ps/sandbox/zones"

	"github.com/miekg/dns"
)

// Store is a [zones.Store] with its configuration and a journal. It is safe for
// concurrent use.
type Store struct {
	*zones.Store
	Config zones.Config

	mu      sync.Mutex
	journal []zones.Change
	off     map[string]bool // by name of the server
}

// New returns a store. It replaces the hooks in c. If c names no servers, the default server cannot be
// switched off.
func New(c zones.Config) *Store {
	s := &Store{off: map[string]bool{}}
	for i := range c.Servers {
		name := c.Servers[i].Name
		c.Servers[i].Alive = func() bool { s.mu.Lock(); defer s.mu.Unlock(); return !s.off[name] }
	}
	c.OnChange = func(change zones.Change) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.journal = append(s.journal,
			change)
	}
	s.Config, s.Store = c, zones.New(c)
	return s
}

// Journal returns all writes so far.
func (s *Store) Journal() []zones.Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]zones.Change(nil), s.journal...)
}

// Switch turns a server on or off. name may be the first label.
func (s *Store) Switch(name string, on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, server := range s.Config.Servers {
		if label, _, _ := strings.Cut(server.Name, "."); server.Name == name || label == name {
			s.off[server.Name] = !on
			return nil
		}
	}
	return &zones.Error{Code: zones.CodeServerUnavailable, Op: zones.OpConnect, Server: name}
}

// Snapshot returns the content of the store.
func (s *Store) Snapshot() Snapshot {
	var names []string
	for _, server := range s.Config.Servers {
		names = append(names, server.Name)
	}
	return Take(s.Store, names...)
}

// Snapshot is the content of a store as text: for each zone its properties, followed by its
// records. The serial number of an SOA is omitted, so that only requested changes appear. If
// the records of a zone cannot be read, its serial number and number of records represent them.
type Snapshot map[string][]string

// Take returns the content of a store as seen by the given servers, or by the first server if none is given.
// It skips servers that are off.
func Take(st *zones.Store, servers ...string) Snapshot {
	if len(servers) == 0 {
		servers = []string{""}
	}
	snapshot := Snapshot{}
	for _, name := range servers {
		server, err := st.Server(name)
		if err != nil {
			continue
		}
		all, err := server.Zones()
		if err != nil {
			continue
		}
		for _, z := range all {
			key := strings.ToLower(z.Name)
			if z.Server != "" {
				key += " on " + strings.ToLower(z.Server)
			}
			if snapshot[key] == nil {
				snapshot[key] = lines(st, key, server, z)
			}
		}
	}
	return snapshot
}

// lines returns a zone as text. If the zone has not changed since the last call, it returns the same slice.
func lines(st *zones.Store, key string, server *zones.Server, z zones.Zone) []string {
	records, err := server.Records(z.Name, zones.Query{})
	if err == nil {
		z.Serial, z.Records = 0, 0
	}
	at := place{weak.Make(st), key}
	taken.Lock()
	last := taken.zones[at]
	taken.Unlock()
	if last.lines != nil && reflect.DeepEqual(last.zone, z) && slices.Equal(last.records, records) {
		return last.lines
	}
	all := []string{fmt.Sprintf("zone %+v", z)}
	for _, r := range records {
		all = append(all, textOf(r))
	}
	sort.Strings(all[1:])
	taken.Lock()
	defer taken.Unlock()
	if len(taken.zones) == mostTaken {
		clear(taken.zones)
	}
	taken.zones[at] = view{z, records, all}
	return all
}

// place is a zone of a store.
type place struct {
	store weak.Pointer[zones.Store]
	key   string
}

// view is the content of a zone that lines has read. It is never modified.
type view struct {
	zone    zones.Zone
	records []zones.Record
	lines   []string
}

// taken holds the last view of each zone, because consecutive snapshots usually differ in one zone only.
var taken = struct {
	sync.Mutex
	zones map[place]view
}{zones: map[place]view{}}

// mostTaken bounds taken.
const mostTaken = 1000

// written caches the texts of records, because most snapshots contain the same records. The RR of a record is
// never changed.
var written = struct {
	sync.Mutex
	texts map[zones.Record]string
}{texts: map[zones.Record]string{}}

// mostWritten limits the size of written.
const mostWritten = 100_000

// textOf returns a record as text, an SOA without its serial number.
func textOf(r zones.Record) string {
	if soa, ok := r.RR.(*dns.SOA); ok {
		r.RR = dns.Copy(soa)
		r.RR.(*dns.SOA).Serial = 0
		return r.Text()
	}
	written.Lock()
	defer written.Unlock()
	text, known := written.texts[r]
	if !known {
		if len(written.texts) == mostWritten {
			clear(written.texts)
		}
		text = r.Text()
		written.texts[r] = text
	}
	return text
}

// Compare returns the differences from before to after, one line each: "- zone: text" for removed
// records, "+ zone: text" for new ones.
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
		if b, a := before[name], after[name]; len(b) > 0 && len(b) == len(a) && &b[0] == &a[0] {
			continue // see lines
		}
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
