package signin

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

// mirror is one gateway's view of a store that several gateways share.
type mirror struct {
	store.Store
	behind atomic.Bool                 // the view lacks the newest values until the others are asked
	old    atomic.Pointer[store.Entry] // an outdated value that is read until then; nil if none
	lost   atomic.Bool
	asked  atomic.Int64
}

var errAway = errors.New("none of its nodes has answered")

func (m *mirror) Reach(context.Context) error {
	m.asked.Add(1)
	if m.lost.Load() {
		return store.ErrUnreachable
	}
	m.behind.Store(false)
	m.old.Store(nil)
	return nil
}

func (m *mirror) Range(
	ctx context.Context, kind store.Kind, prefix string, visit func(store.Entry) bool,
) error {
	if m.behind.Load() {
		return nil
	}
	old := m.old.Load()
	return m.Store.Range(ctx, kind, prefix, func(e store.Entry) bool {
		if old != nil && old.Key == e.Key {
			e = *old
		}
		return visit(e)
	})
}

func (m *mirror) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	if m.lost.Load() {
		return 0, errors.Join(store.ErrUnreachable, errAway)
	}
	return m.Store.Apply(ctx, changes...)
}

func (m *mirror) State() store.State {
	state := m.Store.State()
	if m.lost.Load() {
		state.Failed = errors.Join(store.ErrUnreachable, errAway)
	}
	return state
}

// three holds three gates that share a store.
type three struct {
	t       *testing.T
	gates   []*Gate
	mirrors []*mirror
	d       *directory
	now     atomic.Pointer[time.Time]
}

func newThree(t *testing.T) *three {
	n := &three{t: t, d: &directory{}}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	n.now.Store(&start)
	clock := func() time.Time { return *n.now.Load() }
	db, tokens := store.NewMemory(clock), &oneToken{}
	for range 3 {
		m := &mirror{Store: db}
		g, _, _, _ := gate(func(o *Options) {
			o.Directory, o.Tokens, o.Now, o.Store, o.Record = n.d, tokens, clock, storetest.Seal(t, m), nil
		})
		n.gates, n.mirrors = append(n.gates, g), append(n.mirrors, m)
	}
	n.pass(time.Second)
	return n
}

func (n *three) pass(d time.Duration) {
	later := n.now.Load().Add(d)
	n.now.Store(&later)
}

// known reports which of the gates know a session.
func (n *three) known(id string) (known [3]bool) {
	n.t.Helper()
	for i, g := range n.gates {
		known[i] = find(n.t, g, id) != nil
	}
	return known
}

var everywhere, nowhere = [3]bool{true, true, true}, [3]bool{}

func TestGatesShareSessions(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, n *three) (id string, known [3]bool){
		"a person": func(t *testing.T, n *three) (string, [3]bool) { return in(t, n.gates[0], "anna"), everywhere },
		"a token": func(t *testing.T, n *three) (string, [3]bool) {
			id, err := n.gates[0].Token(t.Context(), goodToken, client)
			require.NoError(t, err)
			roles, err := find(t, n.gates[1], id).Principals(t.Context(), client)
			require.NoError(t, err)
			assert.Equal(t, "portal", roles[0].Name)
			return id, everywhere
		},
		"by a link": func(t *testing.T, n *three) (string, [3]bool) {
			id, err := n.gates[0].UseLink(t.Context(), n.gates[0].Link(&Person{SID: "S-anna", Name: "anna"}), client)
			require.NoError(t, err)
			return id, everywhere
		},
		"of which others have not heard yet": func(t *testing.T, n *three) (string, [3]bool) {
			id := in(t, n.gates[0], "anna")
			n.mirrors[1].behind.Store(true)
			return id, everywhere
		},
		"signed out at another": func(t *testing.T, n *three) (string, [3]bool) {
			id := in(t, n.gates[0], "anna")
			require.Equal(t, everywhere, n.known(id))
			require.NoError(t, n.gates[2].End(t.Context(), id))
			return id, nowhere
		},
		"the sixth of a person": func(t *testing.T, n *three) (string, [3]bool) {
			oldest := in(t, n.gates[0], "anna")
			for i := range sessionsEach {
				require.Equal(t, everywhere, n.known(oldest))
				n.pass(time.Second)
				require.Equal(t, everywhere, n.known(in(t, n.gates[i%3], "anna")))
			}
			return oldest, nowhere
		},
		"of an account that was disabled, as one of them finds": func(t *testing.T, n *three) (string, [3]bool) {
			id := in(t, n.gates[0], "anna")
			n.d.err = ErrRefused
			n.pass(5 * time.Minute)
			assert.Nil(t, find(t, n.gates[1], id))
			n.d.err = nil
			return id, nowhere
		},
		"used at one, idle at the others": func(t *testing.T, n *three) (string, [3]bool) {
			id := in(t, n.gates[0], "anna")
			for range 3 {
				n.pass(14 * time.Minute)
				require.NotNil(t, find(t, n.gates[1], id))
			}
			return id, everywhere
		},
		"idle at all": func(t *testing.T, n *three) (string, [3]bool) {
			id := in(t, n.gates[0], "anna")
			n.pass(15 * time.Minute)
			return id, nowhere
		},
		"never made": func(*testing.T, *three) (string, [3]bool) { return NewID(), nowhere },
	} {
		t.Run(name, func(t *testing.T) {
			n := newThree(t)
			id, known := do(t, n)
			assert.Equal(t, known, n.known(id))
			assert.True(t, n.gates[1].FormValid(id, n.gates[0].FormToken(id)),
				"a form that one gateway shows can be sent to another")
		})
	}
}

func TestAPersonIsAskedForOnceForAllGates(t *testing.T) {
	n := newThree(t)
	id := in(t, n.gates[0], "anna")
	n.pass(5 * time.Minute)
	require.Equal(t, everywhere, n.known(id))
	n.d.err = errors.New("the directory is away")
	roles, err := find(t, n.gates[2], id).Principals(t.Context(), client)
	require.NoError(t, err)
	assert.True(t, roles[0].Has(identity.UserPassword), "another gateway has just asked")
}

func TestSessionsStartedTogetherKeepTheLimit(t *testing.T) {
	n := newThree(t)
	ids := make([]string, 4*sessionsEach)
	var group sync.WaitGroup
	for i := range ids {
		group.Go(func() {
			var err error
			ids[i], err = n.gates[i%3].Password(context.Background(), "anna", []byte("right"),
				netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), "")
			if !errors.Is(err, ErrTooMany) { // at most as many attempts at once as wrong passwords are passed on
				assert.NoError(t, err)
			}
		})
	}
	group.Wait()
	live := 0
	for _, id := range ids {
		if known := n.known(id); id != "" && known != nowhere {
			assert.Equal(t, everywhere, known)
			live++
		}
	}
	assert.Positive(t, live)
	assert.LessOrEqual(t, live, sessionsEach)
}

// TestTriesCountForAllGates: the domain sees no more wrong passwords for an account than it would from a
// single gateway, even if they arrive at all gateways at once.
func TestTriesCountForAllGates(t *testing.T) {
	n := newThree(t)
	wrong := func(i int) error {
		_, err := n.gates[i%3].Password(context.Background(), "anna", []byte("wrong"),
			netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}), "")
		return err
	}
	require.ErrorIs(t, wrong(0), ErrRefused)
	require.ErrorIs(t, wrong(1), ErrRefused)
	in(t, n.gates[2], "anna")
	n.d.asked = nil
	var group sync.WaitGroup
	for i := range 30 {
		group.Go(func() { assert.Error(t, wrong(i)) })
	}
	group.Wait()
	assert.Len(t, n.d.asked, standardTries, "the right one made the others be forgotten")
	for i := range 3 {
		require.ErrorIs(t, wrong(i), ErrTooMany)
	}
	n.pass(StandardWindow)
	require.ErrorIs(t, wrong(0), ErrRefused)
}

func TestWhileTheStoreIsLost(t *testing.T) {
	n := newThree(t)
	g, m := n.gates[0], n.mirrors[0]
	id, out := in(t, g, "anna"), in(t, g, "anna")
	n.pass(time.Minute)
	m.lost.Store(true)
	asked := len(n.d.asked)

	require.NotNil(t, find(t, g, id), "who is known reads on")
	_, err := g.Password(t.Context(), "bert", []byte("right"), client, "")
	require.ErrorIs(t, err, ErrStore)
	require.ErrorIs(t, err, errAway)
	_, err = g.Token(t.Context(), goodToken, client)
	require.ErrorIs(t, err, ErrStore)
	code := g.Link(&Person{SID: "S-anna", Name: "anna"})
	_, err = g.UseLink(t.Context(), code, client)
	require.ErrorIs(t, err, ErrStore)
	assert.Len(t, n.d.asked, asked, "no password was passed on that could not be counted")
	require.ErrorIs(t, find(t, g, id).Keep(t.Context(), "step", 0, "x"), ErrStore)

	require.ErrorIs(t, g.End(t.Context(), out), ErrStore)
	assert.Nil(t, find(t, g, out), "it has ended here")
	assert.NotNil(t, find(t, n.gates[1], out), "and the others do not know yet")

	n.pass(4 * time.Minute)
	_, err = g.Find(t.Context(), id)
	require.ErrorIs(t, err, ErrStore, "another gateway may have ended it")
	m.lost.Store(false)
	require.NotNil(t, find(t, g, id), "it goes on")
	_, err = g.UseLink(t.Context(), code, client)
	require.NoError(t, err, "the link was not used up")
	g.Tidy(t.Context())
	assert.Equal(t, nowhere, n.known(out), "it has ended everywhere")
}

func TestGatesShareSteps(t *testing.T) {
	n := newThree(t)
	id, other := in(t, n.gates[0], "anna"), in(t, n.gates[0], "bert")
	s := find(t, n.gates[0], id)
	require.NoError(t, s.Keep(t.Context(), "first", 0, "preview"))
	require.ErrorIs(t, s.Keep(t.Context(), "first", 0, "again"), store.ErrConflict)
	n.mirrors[1].behind.Store(true)
	var step string
	require.Equal(t, everywhere, n.known(id))
	n.mirrors[1].behind.Store(true)
	at, err := (&Session{gate: n.gates[1], key: s.key, in: n.gates[1].o.Store}).Kept(t.Context(), "first", &step)
	require.NoError(t, err)
	assert.Equal(t, "preview", step)
	var before store.Entry
	require.NoError(t, n.mirrors[0].Store.Range(t.Context(), stepKind, s.stepKey("first"),
		func(e store.Entry) bool { before = e; return false }))
	require.NoError(t, find(t, n.gates[1], id).Keep(t.Context(), "first", at, "done"))
	require.ErrorIs(t, s.Keep(t.Context(), "first", at, "done twice"), store.ErrConflict)
	_, err = s.Kept(t.Context(), "first", &step)
	require.NoError(t, err)
	assert.Equal(t, "done", step)
	third := find(t, n.gates[2], id)
	n.mirrors[2].old.Store(&before)
	_, err = third.Kept(t.Context(), "first", &step)
	require.NoError(t, err)
	assert.Equal(t, "preview", step, "it has not heard yet")
	third.CatchUp(t.Context())
	_, err = third.Kept(t.Context(), "first", &step)
	require.NoError(t, err)
	assert.Equal(t, "done", step)
	at, err = find(t, n.gates[2], other).Kept(t.Context(), "first", &step)
	require.NoError(t, err)
	assert.Zero(t, at, "it is another session")

	for range stepsMost {
		require.NoError(t, s.Keep(t.Context(), NewID(), 0, "more"))
	}
	at, err = s.Kept(t.Context(), "first", &step)
	require.NoError(t, err)
	assert.Zero(t, at, "the oldest is forgotten")
}

// TestUnknownCookiesHardlyAsk: a client that sends many unknown cookies does not make the gateway
// ask the other gateways about each of them.
func TestUnknownCookiesHardlyAsk(t *testing.T) {
	n := newThree(t)
	began := time.Now()
	var group sync.WaitGroup
	for range 500 {
		group.Go(func() {
			s, err := n.gates[0].Find(context.Background(), NewID())
			assert.NoError(t, err)
			assert.Nil(t, s)
		})
	}
	group.Wait()
	asked := n.mirrors[0].asked.Load()
	assert.Positive(t, asked)
	assert.LessOrEqual(t, asked, 2+int64(time.Since(began)/askEvery))
}
