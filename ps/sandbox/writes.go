package sandbox

import (
	"slices"
	"sort"
	"sync"
	"time"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/zones"
)

// Write is a change of one attribute in the directory, or of one record in the DNS service.
// For a rename, move, removal or creation without attributes, Before and After are
// distinguished names, and Attribute is empty.
type Write struct {
	Position  int64     `json:"position"` // starts at 1, without gaps
	Time      time.Time `json:"time"`
	Writer    string    `json:"writer,omitempty"` // gateway#connection; empty means the directory itself
	Server    string    `json:"server"`
	Op        string    `json:"op"`     // as in directory.JournalEntry and zones.Change
	Object    string    `json:"object"` // distinguished name, or the zone
	GUID      string    `json:"guid,omitempty"`
	Attribute string    `json:"attribute,omitempty"`
	Before    []string  `json:"before,omitempty"`
	After     []string  `json:"after,omitempty"` // nothing for a password
}

// WriteLog records all writes to a world, in order, except those of loading it. The zero
// value is empty. It is safe for concurrent use.
type WriteLog struct {
	mu     sync.Mutex
	writes []Write
	last   int64
}

// maxWrites is the maximum number of writes in a log. The oldest are dropped first.
const maxWrites = 1_000_000

// After returns up to limit writes after a position; 0 is the beginning. If writes were
// dropped, the position of the first one is more than one later than the given position.
func (l *WriteLog) After(position int64, limit int) []Write {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := sort.Search(len(l.writes), func(i int) bool { return l.writes[i].Position > position })
	return slices.Clone(l.writes[i:min(len(l.writes), i+limit)])
}

// Clear removes all writes. Positions start at 1 again.
func (l *WriteLog) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes, l.last = nil, 0
}

func (l *WriteLog) add(w Write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	w.Position = l.last
	if len(l.writes) >= maxWrites {
		l.writes = slices.Clone(l.writes[maxWrites/2:])
	}
	l.writes = append(l.writes, w)
}

// directory returns the journal callback for the directory, or nil for a nil log.
func (l *WriteLog) directory() func(directory.JournalEntry) {
	if l == nil {
		return nil
	}
	return func(e directory.JournalEntry) {
		for _, o := range e.Objects {
			w := Write{Time: e.Time, Writer: e.Writer, Server: e.DC, Op: e.Op, Object: o.NewDN, GUID: o.GUID.String()}
			if o.NewDN == "" {
				w.Object = o.DN
			}
			if o.DN != o.NewDN {
				named := w
				named.Before, named.After = some(o.DN), some(o.NewDN)
				l.add(named)
			}
			for _, c := range o.Changes {
				w.Attribute, w.Before, w.After = c.Name, c.Before, c.After
				l.add(w)
			}
		}
	}
}

func some(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

func (l *WriteLog) dns(c zones.Change) {
	l.add(Write{Time: c.Time, Writer: c.Writer, Server: c.Server, Op: c.Op, Object: c.Zone,
		Before: some(c.Before), After: some(c.After)})
}
