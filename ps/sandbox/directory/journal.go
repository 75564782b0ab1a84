package directory

import (
	"context"
	"sort"
	"sync"
	"time"
)

// JournalEntry records one write.
type JournalEntry struct {
	Seq     int64
	Time    time.Time
	DC      string
	Writer  string // see WithWriter; "" for the resolution of conflicts
	Op      string // add, modify, rename, move, delete, restore, password, protect, logon
	Objects []JournalObject
}

// JournalObject contains the changes that a write made to one object.
type JournalObject struct {
	GUID    GUID
	DN      string // before the write; "" if it created the object
	NewDN   string // after the write; "" if it deleted the object
	Changes []AttributeChange
}

// AttributeChange is a change of one attribute, with values as text. For a linked attribute
// it contains only the removed and added values. A password is recorded as unicodePwd
// without values, an access list as nTSecurityDescriptor with its ACEs.
type AttributeChange struct {
	Name          string
	Before, After []string
}

type journal struct {
	mu      sync.Mutex
	seq     int64
	entries []JournalEntry
	limit   int
	onWrite func(JournalEntry)
}

type writerKey struct{}

// WithWriter returns a context whose writes the journal records under the name of a writer.
func WithWriter(ctx context.Context, writer string) context.Context {
	return context.WithValue(ctx, writerKey{}, writer)
}

// Writer returns the name set by WithWriter, or "".
func Writer(ctx context.Context) string {
	writer, _ := ctx.Value(writerKey{}).(string)
	return writer
}

// Journal returns the writes after a sequence number, oldest first; see
// Options.JournalLimit. Loading and generating are not recorded. The entries are
// shared and must not be changed.
func (d *Domain) Journal(after int64) []JournalEntry {
	j := &d.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	i := sort.Search(len(j.entries), func(i int) bool { return j.entries[i].Seq > after })
	return append([]JournalEntry(nil), j.entries[i:]...)
}

func (j *journal) record(t *tx) {
	e := JournalEntry{Time: t.now, DC: t.dc.name, Writer: t.writer, Op: t.op}
	seen := map[*node]int{}
	for i := range t.steps {
		s := &t.steps[i]
		k, ok := seen[s.n]
		if !ok {
			k = len(e.Objects)
			seen[s.n] = k
			e.Objects = append(e.Objects, JournalObject{GUID: s.n.guid, DN: s.n.dn(), NewDN: s.n.dn()})
		}
		e.Objects[k].note(s)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seq++
	e.Seq = j.seq
	if len(j.entries) >= 2*j.limit {
		j.entries = append([]JournalEntry(nil), j.entries[len(j.entries)-j.limit:]...)
	}
	j.entries = append(j.entries, e)
	if j.onWrite != nil {
		j.onWrite(e)
	}
}

func (o *JournalObject) note(s *step) {
	if s.hidden {
		return
	}
	switch s.kind {
	case stepPlace:
		if s.before.parent == nil || o.DN != "" {
			o.DN = s.fromDN
		}
	case stepAttr:
		o.Changes = append(o.Changes,
			AttributeChange{s.def.Name, texts(s.def, s.before.vals), texts(s.def, s.after.vals)})
	case stepLink:
		c := o.change(s.def.Name)
		if s.after.on {
			c.After = append(c.After, s.link.dn())
		} else {
			c.Before = append(c.Before, s.link.dn())
		}
	case stepBury:
		if o.NewDN = ""; !s.after.on {
			o.DN, o.NewDN = "", s.n.dn()
		}
	case stepACL:
		o.Changes = append(o.Changes,
			AttributeChange{"nTSecurityDescriptor", aceTexts(s.before.acl), aceTexts(s.after.acl)})
	case stepSecret:
		o.change("unicodePwd")
	}
}

// change returns the entry of an attribute, adding one if necessary.
func (o *JournalObject) change(name string) *AttributeChange {
	for i := range o.Changes {
		if o.Changes[i].Name == name {
			return &o.Changes[i]
		}
	}
	o.Changes = append(o.Changes, AttributeChange{Name: name})
	return &o.Changes[len(o.Changes)-1]
}

func (v linkVal) dn() string {
	if v.n != nil {
		return v.n.dn()
	}
	return v.text
}

func texts(def *Attribute, raw []string) []string {
	if len(raw) == 0 {
		return nil
	}
	out := make([]string, len(raw))
	for i, v := range raw {
		out[i] = def.text(v)
	}
	return out
}

func aceTexts(acl []ACE) []string {
	out := make([]string, len(acl))
	for i, a := range acl {
		out[i] = a.String()
	}
	return out
}
