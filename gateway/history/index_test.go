package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/thorough"
)

// rangeFault is a store whose ranges can be made to fail.
type rangeFault struct {
	store.Store
	fault error
	read  int // number of values read
	gets  int // number of changes read with Get
}

func (s *rangeFault) Get(ctx context.Context, kind store.Kind, key string) (store.Entry, error) {
	if kind == "change" {
		s.gets++
	}
	return s.Store.Get(ctx, kind, key)
}

func (s *rangeFault) RangeBack(
	ctx context.Context, kind store.Kind, before string, visit func(store.Entry) bool,
) error {
	if s.fault != nil {
		return s.fault
	}
	return s.Store.RangeBack(ctx, kind, before, func(e store.Entry) bool {
		s.read++
		return visit(e)
	})
}

// written returns a random change at a time: of one of 200 objects, by one of seven callers.
func written(draw *rand.Rand, at time.Time) *changes.Record {
	n := draw.IntN(200)
	r := &changes.Record{
		ID: idAt(draw, at), Time: at, Operation: "user.update",
		Author: changes.AuthorOf(identity.Who{
			Name: fmt.Sprintf("Caller%d", n%7), Kind: identity.KindToken, ID: fmt.Sprintf("id%d", n%7),
		}),
		Intent: ps.Intent{Effect: ps.EffectChanged, Objects: []ps.Intended{{
			GUID: fmt.Sprintf("guid-%d", n), DN: fmt.Sprintf(`CN=Kern %d,OU=Straße\, Nord,DC=corp`, n),
			Account: fmt.Sprintf("kern%d", n),
		}}},
	}
	switch n % 4 {
	case 1: // it renames the object
		r.Intent.Objects[0].Changes = []ps.IntendedChange{
			{Name: "sAMAccountName", Before: fmt.Sprintf("kern%d", n), After: fmt.Sprintf("new%d", n)},
		}
	case 2:
		r.Operation = "computer.update"
		r.Intent.Objects[0].Account = fmt.Sprintf("PC%d$", n)
	case 3:
		r.Operation, r.Zone = "cname.delete", "corp.example"
		r.Intent.Objects[0] = ps.Intended{DN: fmt.Sprintf("www%d.corp.example", n), Parent: "corp.example"}
	}
	return r
}

// idAt returns an id with the given time, which need not be the current time.
func idAt(draw *rand.Rand, at time.Time) string {
	id := changes.NewID()
	prefix, rest := id[:len(id)-36], []byte(fmt.Sprintf("%012x7%03x8%03x%012x", at.UnixMilli(), draw.IntN(1<<12),
		draw.IntN(1<<12), draw.Int64N(1<<48)))
	return prefix + string(rest[:8]) + "-" + string(rest[8:12]) + "-" + string(rest[12:16]) + "-" +
		string(rest[16:20]) + "-" + string(rest[20:])
}

// searched returns the changes that pass the filters, newest first.
func searched(t *testing.T, s *Service, until time.Time, before string, given ops.Given) (ids []string) {
	t.Helper()
	bound, problems := ops.Find(ops.Table(), "change.list").Bind(given)
	require.Empty(t, problems)
	require.NoError(t, s.newest(t.Context(), until, before, s.wanted(bound), func(c *changes.Record) bool {
		if p, known := s.pastOf(c); known && s.passes(t.Context(), bound, p) {
			ids = append(ids, c.ID)
		}
		return true
	}))
	return ids
}

// TestASearchWithTheIndexFindsWhatAReadingOfAllFinds: searches with and without the index find the same
// changes. They search for every name, in several spellings, with bounds, and after more changes were saved.
// A thorough run searches more often.
func TestASearchWithTheIndexFindsWhatAReadingOfAllFinds(t *testing.T) {
	draw := rand.New(rand.NewPCG(20261129, 1))
	kept := &rangeFault{Store: store.NewMemory(nil)}
	h := changes.New(storetest.Seal(t, kept), 24*time.Hour, 1<<30)
	s := New(Options{History: h, Operations: ops.Table()})
	plain := &Service{Options: s.Options, index: newIndex()}
	began := time.Now().Add(-time.Hour)
	var all []*changes.Record
	add := func(n int, from time.Time) {
		for i := range n {
			r := written(draw, from.Add(time.Duration(i)*time.Second/4))
			require.NoError(t, h.Complete(t.Context(), r, ps.OutcomeDone))
			all = append(all, r)
		}
	}
	add(900, began)
	x := indexing{Service: s}
	require.NoError(t, x.load(t.Context()))
	require.NoError(t, x.extend(t.Context()))
	require.Len(t, s.index.blocks, 7)
	add(30, began.Add(-time.Hour))                                    // older changes are adopted
	add(30, began.Add(time.Minute))                                   // in between
	add(200, began.Add(30*time.Minute))                               // newer changes
	for _, r := range []*changes.Record{all[3], all[500], all[899]} { // renamed by a later update
		require.NoError(t, h.Update(t.Context(), r.ID,
			func(r *changes.Record) { r.Intent.Objects[0].Names = []string{"learned"} }))
	}
	require.NoError(t, x.extend(t.Context()))
	require.Len(t, s.index.blocks, 11, "three were split")

	check := func(until time.Time, before string, given ops.Given) int {
		found := searched(t, s, until, before, given)
		assert.Equal(t, searched(t, plain, until, before, given), found, "%v %v %s", given, until, before)
		return len(found)
	}
	hits, numbers, step := 0, 0, 51
	if thorough.All() {
		step = 17
	}
	for n := 0; n < 200; n += step {
		numbers++
		kern := fmt.Sprintf("%d", n)
		for _, name := range []string{
			"kern" + kern, "\u212aERN" + kern, "{GUID-" + kern + "}", "new" + kern, "pc" + kern, "PC" + kern + "$",
			"WWW" + kern + ".corp.example.", "www" + kern, `cn=kern ` + kern + `, ou=STRASSE\, nord,dc=CORP`,
			`cn=KERN ` + kern + `, ou=Straße\2C Nord, dc=Corp`,
		} {
			hits += check(time.Time{}, "", ops.Given{"Object": name})
		}
		at := all[draw.IntN(len(all))]
		hits += check(at.Time, "", ops.Given{"Object": "kern" + kern})
		hits += check(time.Time{}, at.ID,
			ops.Given{"Object": "guid-" + kern, "Caller": fmt.Sprintf("caller%d", n%7)})
	}
	for _, caller := range []string{"caller3", "token:CALLER3", "id3", "token::id3", "user:caller3", "nobody"} {
		check(time.Time{}, "", ops.Given{"Caller": caller})
	}
	assert.Equal(t, 3, check(time.Time{}, "", ops.Given{"Object": "Learned"}))
	assert.Zero(t, check(time.Time{}, "", ops.Given{"Object": "nothing"}))
	assert.Greater(t, hits, 12*numbers)

	kept.read = 0
	searched(t, s, time.Time{}, "", ops.Given{"Object": "nothing"})
	assert.Less(t, kept.read, 2*changesOfBlock, "what no block covers")
}

// TestTheIndexIsBuiltBesideChanges: changes that are saved while the history is read are found,
// too.
func TestTheIndexIsBuiltBesideChanges(t *testing.T) {
	draw := rand.New(rand.NewPCG(20261129, 2))
	h := changes.New(storetest.Seal(t, store.NewMemory(nil)), 24*time.Hour, 1<<30)
	s := New(Options{History: h, Operations: ops.Table()})
	var first *changes.Record
	for range 300 {
		r := written(draw, time.Now())
		require.NoError(t, h.Complete(t.Context(), r, ps.OutcomeDone))
		if first == nil {
			first = r
		}
	}
	last := s.index.begin()
	require.Zero(t, last)
	var read []terms
	require.NoError(t, h.Newest(t.Context(), time.Time{}, "", nil, func(c *changes.Record) bool {
		read = append(read, s.termsOf(c))
		return true
	}))
	require.NoError(t, h.Update(t.Context(), first.ID,
		func(r *changes.Record) { r.Intent.Objects[0].Names = []string{"late"} }))
	slices.Reverse(read)
	s.index.end(read, 0)
	require.Len(t, s.index.blocks, 2)
	assert.Equal(t, []string{first.ID}, searched(t, s, time.Time{}, "", ops.Given{"Object": "late"}))
}

// TestTheIndexFollowsTheHistory: the index grows with the history, is cleared when indexing ends, and
// continues after an error.
func TestTheIndexFollowsTheHistory(t *testing.T) {
	draw := rand.New(rand.NewPCG(20261129, 3))
	kept := &rangeFault{Store: store.NewMemory(nil), fault: errors.New("refused")}
	h := changes.New(storetest.Seal(t, kept), 24*time.Hour, 1<<30)
	s := New(Options{History: h, Operations: ops.Table()})
	ctx, stop := context.WithCancel(t.Context())
	failed, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		s.RunIndexing(ctx, func(err error) { failed <- err })
	}()
	require.ErrorIs(t, <-failed, kept.fault)
	kept.fault = nil // it is not read before the next saves
	for range 2 * changesOfBlock {
		require.NoError(t, h.Complete(t.Context(), written(draw, time.Now()), ps.OutcomeDone))
	}
	require.Eventually(t, func() bool {
		return covered(s.index) > 0
	}, time.Minute, time.Millisecond)
	stop()
	<-ended
	assert.Zero(t, covered(s.index))
}

func covered(x *index) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.blocks)
}

// TestBlocksOfRemovedChangesAreDropped: the index does not outgrow the history.
func TestBlocksOfRemovedChangesAreDropped(t *testing.T) {
	x := newIndex()
	var read []terms
	for i := range 5*changesOfBlock + 1 {
		read = append(read, terms{at: place(i + 1), sums: []uint32{sumOf("", fmt.Sprint(i))}})
	}
	x.begin()
	x.end(read, 0)
	require.Len(t, x.blocks, 5)
	assert.Len(t, x.take(), 5)
	x.begin()
	dropped := []place{x.blocks[0].last(), x.blocks[1].last()}
	x.end(nil, x.blocks[2].last())
	assert.Len(t, x.blocks, 3)
	assert.Equal(t, map[place]*block{dropped[0]: nil, dropped[1]: nil}, x.take())
}

// TestFoldAgreesWithEqualFold: sums and [strings.EqualFold] agree about letters with more than two
// cases.
func TestFoldAgreesWithEqualFold(t *testing.T) {
	letters := []string{"k", "K", "\u212a", "s", "S", "ſ", "ß", "ẞ", "σ", "ς", "Σ", "İ", "i", "I", "ı", "é", "É",
		"\xff", "\xfe", "ǆ", "ǅ"}
	for _, a := range letters {
		for _, b := range letters {
			assert.Equal(t, strings.EqualFold(a, b), sumOf("", a) == sumOf("", b), "%q %q", a, b)
		}
	}
}

// TestSumsAreTheSameInEveryProcess: the store keeps sums, so they must not change between versions.
func TestSumsAreTheSameInEveryProcess(t *testing.T) {
	assert.EqualValues(t, 0x9166, sumOf(objectTerm, "Kern"))
	assert.EqualValues(t, 0x3c0752, sumOf(pathTerm, "cn=Straße\xff"))
}
