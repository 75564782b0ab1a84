package directory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requireSound checks that the tree, the links and all indexes of a replica are
// consistent.
func requireSound(t testing.TB, r *replica) {
	t.Helper()
	r.mu.RLock()
	defer r.mu.RUnlock()
	live, all := 0, 0
	sids := 0
	r.root.walk(func(n *node) {
		all++
		require.Same(t, n, r.byGUID[n.guid], "by GUID: %s", n.dn())
		require.Len(t, n.names, len(n.kids.list), "children of %s", n.dn())
		for _, k := range n.kids.list {
			require.Same(t, n, k.parent)
			require.Same(t, k, n.names[k.key])
		}
		requireSoundLinks(t, n)
		require.True(t, slices.IsSortedFunc(n.attrs, func(a, b stored) int { return a.def.order - b.def.order }),
			"order of attributes: %s", n.dn())
		for i := range n.attrs {
			require.NotEmpty(t, n.attrs[i].val, "an empty value of %s", n.attrs[i].def.Name)
			require.False(t, n.attrs[i].def.SingleValued && i > 0 && n.attrs[i-1].def == n.attrs[i].def,
				"two values of %s", n.attrs[i].def.Name)
		}
		if n.deleted {
			return
		}
		live++
		if !n.sid.IsZero() {
			sids++
			require.Same(t, n, r.bySID[n.sid])
		}
		require.GreaterOrEqual(t, r.byClass[n.class].index(n), 0)
		require.True(t, posted(r, r.sch.name, n.rdn, n), "index of names: %s", n.dn())
		for _, s := range n.attrs {
			if _, ok := r.index[s.def]; ok {
				require.True(t, posted(r, s.def, s.val, n), "index of %s: %s", s.def.Name, n.dn())
			}
		}
	})
	require.Len(t, r.byGUID, all)
	require.Len(t, r.bySID, sids)
	classes := 0
	for _, set := range r.byClass {
		classes += len(set.list)
	}
	require.Equal(t, live, classes)
	for def, idx := range r.index {
		for key, p := range idx {
			for _, n := range p.nodes() {
				require.False(t, n.deleted, "a tombstone in the index of %s", def.Name)
				if def == r.sch.name {
					require.Equal(t, key, fold(n.rdn))
				} else {
					require.True(t, slices.ContainsFunc(n.get(def),
						func(s stored) bool { return def.matchKey(s.val) == key }), "a stale entry of %s in the index of %s",
						n.dn(), def.Name)
				}
			}
		}
	}
}

func posted(r *replica, def *Attribute, val string, n *node) bool {
	p := r.index[def][def.matchKey(val)]
	return p != nil && (p.one == n || p.more != nil && p.more.index(n) >= 0)
}

func requireSoundLinks(t testing.TB, n *node) {
	t.Helper()
	for _, s := range n.links {
		require.NotEmpty(t, s.list)
		for i, l := range s.list {
			require.Equal(t, i, s.find(l), "%s of %s", s.def.Name, n.dn())
			if l.n == nil || s.def.other == nil {
				continue
			}
			back := l.n.linkSet(s.def.other)
			require.NotNil(t, back, "%s of %s has no other side", s.def.Name, n.dn())
			require.GreaterOrEqual(t, back.find(linkVal{n: n}), 0)
			require.False(t, l.n.deleted, "%s of %s refers to a tombstone", s.def.Name, n.dn())
		}
	}
}

// testClock is a clock that tests advance.
type testClock struct{ now time.Time }

func (c *testClock) time() time.Time         { return c.now }
func (c *testClock) advance(d time.Duration) { c.now = c.now.Add(d) }

func newClock() *testClock {
	return &testClock{time.Date(2026, 10, 5, 9, 0, 0, 0, time.UTC)}
}

var bg = context.Background()

// lab opens the built-in domain with a stopped clock.
func lab(t testing.TB, opts ...func(*Options)) (*DC, *testClock) {
	t.Helper()
	clock := newClock()
	o := Options{Seed: 1, Clock: clock.time}
	for _, f := range opts {
		f(&o)
	}
	d, err := BuiltIn(o)
	require.NoError(t, err)
	dc, err := d.DC("dc1")
	require.NoError(t, err)
	return dc, clock
}

func requireCode(t testing.TB, code int, kind Kind, err error) *Error {
	t.Helper()
	require.Error(t, err)
	var e *Error
	require.True(t, errors.As(err, &e), "%T %v", err, err)
	require.Equal(t, code, e.Code, "%v", err)
	require.Equal(t, kind, e.Kind, "%v", err)
	return e
}

// unchanged runs f and requires that it changes nothing.
func unchanged(t testing.TB, dc *DC, f func()) {
	t.Helper()
	before, err := dc.Snapshot()
	require.NoError(t, err)
	seq := len(dc.domain.Journal(0))
	f()
	after, err := dc.Snapshot()
	require.NoError(t, err)
	require.Empty(t, before.Compare(after))
	require.Len(t, dc.domain.Journal(0), seq, "the journal has a write")
}

// TestRandomWrites: thousands of random operations, valid and invalid ones, keep the
// invariants, and a failed operation changes nothing.
func TestRandomWrites(t *testing.T) {
	for _, lag := range []time.Duration{0, time.Minute} {
		t.Run(lag.String(), func(t *testing.T) {
			dc, clock := lab(t, func(o *Options) { o.ReplicationLag = lag })
			r := rand.New(rand.NewPCG(3, uint64(lag)))
			w := &writer{r: r, dcs: dc.domain.DCs()}
			w.refresh(t)
			codes := map[int]int{}
			for i := 0; i < 2500; i++ {
				seq := writes(dc.domain)
				err := w.step()
				code, ok := CodeOf(err)
				require.True(t, ok || err == nil, "%v", err)
				if err == nil {
					code = -1
				} else {
					require.Equal(t, seq, writes(dc.domain), "a failed write is in the journal: %v", err)
				}
				codes[code]++
				clock.advance(time.Duration(r.IntN(5000)) * time.Millisecond)
				if i%200 == 199 {
					for _, rep := range dc.domain.all {
						requireSound(t, rep)
					}
					w.refresh(t)
				}
			}
			assert.Greater(t, codes[-1], 600, "successes; all: %v", codes)
			assert.Greater(t, len(codes), 12, "kinds of failure: %v", codes)
			requireConverged(t, dc.domain)
		})
	}
}

// writes counts the entries of the journal, except those of replication.
func writes(d *Domain) int {
	n := 0
	for _, e := range d.Journal(0) {
		if e.Op != "replicate" {
			n++
		}
	}
	return n
}

// requireConverged replicates and requires that all DCs agree.
func requireConverged(t testing.TB, d *Domain) {
	t.Helper()
	d.Replicate()
	for _, rep := range d.all {
		requireSound(t, rep)
	}
	first, err := d.dcs[0].Snapshot()
	require.NoError(t, err)
	for _, c := range d.dcs[1:] {
		s, err := c.Snapshot()
		require.NoError(t, err)
		require.Empty(t, first.Compare(s))
	}
}

type writer struct {
	r       *rand.Rand
	dcs     []*DC
	objects []*Object
	n       int
}

func (w *writer) refresh(t testing.TB) {
	var err error
	w.objects, err = w.dcs[0].Search(bg, SearchRequest{Attributes: []string{"sAMAccountName"}})
	require.NoError(t, err)
}

func (w *writer) any() *Object { return w.objects[w.r.IntN(len(w.objects))] }

func (w *writer) anyOf(class string) *Object {
	for i := 0; i < 200; i++ {
		if o := w.any(); o.Is(class) {
			return o
		}
	}
	return w.any()
}

func (w *writer) name() string {
	w.n++
	return fmt.Sprintf("rnd %d", w.r.IntN(300))
}

func (w *writer) step() error {
	dc := w.dcs[0]
	if len(w.dcs[0].domain.all) > 1 {
		dc = w.dcs[w.r.IntN(len(w.dcs))]
	}
	change := func(ref string, op ChangeOp, name string, vals ...any) error {
		return dc.Modify(bg, ref, []Change{{op, name, vals}}, ModifyOptions{Permissive: w.r.IntN(2) == 0})
	}
	switch w.r.IntN(16) {
	case 0, 1:
		class := []string{"user", "group", "computer", "organizationalUnit", "contact",
			"inetOrgPerson"}[w.r.IntN(6)]
		typ, name := "CN", w.name()
		if class == "organizationalUnit" {
			typ = "OU"
		}
		parent := w.anyOf("organizationalUnit").DN
		attrs := []Values{Attr("objectClass", class), Attr("description", "made")}
		if class == "user" {
			attrs = append(attrs, Attr("sAMAccountName", name), Attr("userPrincipalName", name+"@corp.example"))
		}
		_, err := dc.Add(bg, typ+"="+name+","+parent, attrs...)
		return err
	case 2:
		return dc.Delete(bg, w.any().GUID.Ref())
	case 3:
		return dc.Rename(bg, w.any().GUID.Ref(), w.name())
	case 4:
		return dc.Move(bg, w.any().GUID.Ref(), w.anyOf("organizationalUnit").GUID.Ref())
	case 5:
		return change(w.anyOf("group").GUID.Ref(), OpAdd, "member", w.any().DN, w.anyOf("user").DN)
	case 6:
		return change(w.anyOf("group").GUID.Ref(), OpDelete, "member", w.any().DN)
	case 7:
		return change(w.anyOf("user").GUID.Ref(), OpReplace, "manager", w.anyOf("user").GUID.Ref())
	case 8:
		return change(w.any().GUID.Ref(), OpReplace, "description", w.name())
	case 9:
		return change(w.anyOf("user").GUID.Ref(), OpReplace, "sAMAccountName", w.name())
	case 10:
		return change(w.anyOf("group").GUID.Ref(), OpReplace, "groupType",
			[]any{-2147483646, -2147483644, -2147483640, 2, 4, 8}[w.r.IntN(6)])
	case 11:
		return dc.SetProtected(bg, w.anyOf("organizationalUnit").GUID.Ref(), w.r.IntN(2) == 0)
	case 12:
		return dc.ResetPassword(bg, w.any().GUID.Ref(), "Passw0rd-"+w.name())
	case 13:
		return change(w.anyOf("user").GUID.Ref(), OpReplace, "primaryGroupID", 1200+w.r.IntN(400))
	case 14:
		if w.r.IntN(10) == 0 {
			return dc.DeleteTree(bg, w.anyOf("organizationalUnit").GUID.Ref())
		}
		return change(w.anyOf("user").GUID.Ref(), OpReplace, "userAccountControl", 512+2*w.r.IntN(2))
	default:
		return dc.Modify(bg, w.anyOf("user").GUID.Ref(), []Change{
			{OpReplace, "title", []any{w.name()}},
			{OpAdd, "otherTelephone", []any{"1", "2", w.name()}},
			{OpClear, "department", nil},
			{OpReplace, "managedBy", []any{w.any().DN}},
			{OpReplace, "userPrincipalName", []any{w.name() + "@corp.example"}},
		}, ModifyOptions{Permissive: true})
	}
}
