package directory

import (
	"sort"
	"strings"
	"sync"
	"time"
)

// JournalEntry is one write.
type JournalEntry struct {
	Seq     int64
	Time    time.Time
	DC      string
	Op      string // add, modify, rename, move, delete, password, protect, logon
	Objects []JournalObject
}

// JournalObject is what a write did to one object.
type JournalObject struct {
	GUID    GUID
	DN      string // before the write; "" when the write made the object
	NewDN   string // after the write; "" when the write deleted it
	Changes []AttributeChange
}

// AttributeChange is what a write did to one attribute, values as text. Of a
// linked attribute only the values that went and came are listed. Passwords
// appear as the name unicodePwd without values, security as
// nTSecurityDescriptor with its ACEs as text.
type AttributeChange struct {
	Name          string
	Before, After []string
}

type journal struct {
	mu      sync.Mutex
	seq     int64
	entries []JournalEntry
	limit   int
}

// Journal gives the writes after a sequence number, oldest first; 0 gives all
// that are kept (Options.JournalLimit). Loading and generating are no writes.
// The entries are shared: do not change them.
func (d *Domain) Journal(after int64) []JournalEntry {
	j := &d.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	i := sort.Search(len(j.entries), func(i int) bool { return j.entries[i].Seq > after })
	return append([]JournalEntry(nil), j.entries[i:]...)
}

func (j *journal) record(t *tx) {
	e := JournalEntry{Time: t.now, DC: t.dc.name, Op: t.op}
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
}

func (o *JournalObject) note(s *step) {
	switch s.kind {
	case stepInsert:
		o.DN = ""
	case stepAttr:
		o.Changes = append(o.Changes, AttributeChange{s.def.Name, texts(s.def, s.before), texts(s.def, s.after)})
	case stepLink:
		o.change(s.def.Name).After = append(o.change(s.def.Name).After, s.link.dn())
	case stepUnlink:
		o.change(s.def.Name).Before = append(o.change(s.def.Name).Before, s.link.dn())
	case stepPlace:
		o.DN = s.fromDN
	case stepBury:
		o.NewDN = ""
	case stepACL:
		o.Changes = append(o.Changes, AttributeChange{"nTSecurityDescriptor", aceTexts(s.fromACL), aceTexts(s.toACL)})
	case stepSecret:
		o.change("unicodePwd")
	}
}

// change finds or makes the entry of an attribute.
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

// Snapshot is the state of a whole store at one moment.
type Snapshot struct {
	objects map[GUID]snapObject
}

type snapObject struct {
	dn    string
	attrs map[string][]snapValue
}

// snapValue is a value as text; target is the object it refers to, which may
// have got another name meanwhile.
type snapValue struct {
	text   string
	target GUID
}

// Difference is one object that two snapshots disagree on.
type Difference struct {
	GUID      GUID
	DN, NewDN string // "" where the object does not exist
	Changes   []AttributeChange
}

// Snapshot copies what every live object looks like on this DC, passwords and
// attributes that are not replicated excepted.
func (c *DC) Snapshot() (*Snapshot, error) {
	v, release, err := c.view("snapshot")
	if err != nil {
		return nil, err
	}
	defer release()
	s := &Snapshot{objects: make(map[GUID]snapObject, len(v.rep.byGUID))}
	for g, n := range v.rep.byGUID {
		if n.deleted {
			continue
		}
		s.objects[g] = v.snap(n)
	}
	return s, nil
}

// snap copies one object. Back links are left out: they follow from the
// forward links of other objects. So is what each DC keeps for itself.
func (v *view) snap(n *node) snapObject {
	o := snapObject{dn: n.dn(), attrs: map[string][]snapValue{}}
	for _, a := range v.stored(n) {
		if a.def.NotReplicated || a.def.Syntax == SyntaxDN && a.def.get == nil {
			continue
		}
		for _, t := range texts(a.def, a.vals) {
			o.attrs[a.def.Name] = append(o.attrs[a.def.Name], snapValue{text: t})
		}
	}
	for _, s := range n.links {
		if s.def.IsBackLink() {
			continue
		}
		for _, l := range s.list {
			val := snapValue{text: l.dn()}
			if l.n != nil {
				val.target = l.n.guid
			}
			o.attrs[s.def.Name] = append(o.attrs[s.def.Name], val)
		}
	}
	for _, t := range aceTexts(n.acl) {
		o.attrs["nTSecurityDescriptor"] = append(o.attrs["nTSecurityDescriptor"], snapValue{text: t})
	}
	return o
}

// Len is the number of objects.
func (s *Snapshot) Len() int { return len(s.objects) }

var restless = map[string]bool{"uSNChanged": true, "uSNCreated": true, "whenChanged": true, "distinguishedName": true}

// Compare lists what became different from s to later, ordered by DN.
// Attributes that move with every write (uSNChanged, whenChanged) are left
// out, and so are back links; values of an attribute compare as sets, and
// references by the object they refer to, whatever its name is by now.
func (s *Snapshot) Compare(later *Snapshot) []Difference {
	var out []Difference
	for g, a := range s.objects {
		b, ok := later.objects[g]
		if !ok {
			out = append(out, Difference{GUID: g, DN: a.dn, Changes: changes(a.attrs, nil)})
			continue
		}
		if c := changes(a.attrs, b.attrs); len(c) > 0 || a.dn != b.dn {
			out = append(out, Difference{GUID: g, DN: a.dn, NewDN: b.dn, Changes: c})
		}
	}
	for g, b := range later.objects {
		if _, ok := s.objects[g]; !ok {
			out = append(out, Difference{GUID: g, NewDN: b.dn, Changes: changes(nil, b.attrs)})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].DN+"\x00"+out[i].NewDN < out[j].DN+"\x00"+out[j].NewDN })
	return out
}

func changes(a, b map[string][]snapValue) []AttributeChange {
	var out []AttributeChange
	for name, before := range a {
		if after := b[name]; !restless[name] && !sameSet(before, after) {
			out = append(out, AttributeChange{name, plain(before), plain(after)})
		}
	}
	for name, after := range b {
		if _, ok := a[name]; !ok && !restless[name] {
			out = append(out, AttributeChange{Name: name, After: plain(after)})
		}
	}
	sort.Slice(out, func(i, j int) bool { return strings.ToLower(out[i].Name) < strings.ToLower(out[j].Name) })
	return out
}

func plain(vals []snapValue) []string {
	var out []string
	for _, v := range vals {
		out = append(out, v.text)
	}
	return out
}

func sameSet(a, b []snapValue) bool {
	if len(a) != len(b) {
		return false
	}
	count := map[snapValue]int{}
	for _, v := range a {
		count[v.same()]++
	}
	for _, v := range b {
		count[v.same()]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// same is what two equal values have in common.
func (v snapValue) same() snapValue {
	if !v.target.IsZero() {
		v.text = ""
	}
	return v
}
