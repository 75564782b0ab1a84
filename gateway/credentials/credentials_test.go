package credentials

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
)

// cut is a store that is sometimes unreachable. Reads are then answered from the local replica.
type cut struct {
	store.Store
	off atomic.Bool
}

var errCut = errors.New("cut off")

func (c *cut) Reach(context.Context) error {
	if c.off.Load() {
		return errCut
	}
	return nil
}

func (c *cut) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	if c.off.Load() {
		return 0, errCut
	}
	return c.Store.Apply(ctx, changes...)
}

func sealed(t testing.TB, inner store.Store) (*store.Sealed, *cut) {
	t.Helper()
	key, err := store.NewKey(bytes.Repeat([]byte{7}, store.KeyLength))
	require.NoError(t, err)
	line := &cut{Store: inner}
	db, err := store.Seal(line, key)
	require.NoError(t, err)
	return db, line
}

var client = netip.MustParseAddr("10.0.0.1")

// gateway is the authentication of one of several gateways.
type gateway struct {
	*authn.Store
	shared *Credentials
	line   *cut
	store  *store.Sealed
	events chan string // log messages about credentials
}

// start returns a gateway that follows the accounts of a store until the test ends.
func start(t testing.TB, inner store.Store, o Options) *gateway {
	t.Helper()
	g := &gateway{events: make(chan string, 100)}
	g.store, g.line = sealed(t, inner)
	if o.StaleMax == 0 {
		o.StaleMax = 15 * time.Minute
	}
	g.shared = New(o)
	require.NoError(t, g.shared.Attach(t.Context(), g.store))
	var err error
	g.Store, err = authn.OpenStore(authn.StoreOptions{
		File: authn.File{Path: filepath.Join(t.TempDir(), "credentials")}, Shared: g.shared,
		Cost: authn.Cost{Memory: 8, Time: 1, Threads: 1},
		Log: func(_ bool, message string, fields map[string]any) {
			if fields["names"] != nil {
				g.events <- fmt.Sprint(message, ": ", fields["names"])
			}
		},
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { g.Run(ctx) })
	t.Cleanup(func() { stop(); ended.Wait() })
	return g
}

func (g *gateway) try(token string) error {
	_, err := g.Authenticate(context.Background(),
		authn.Credential{AuthToken: []string{"Bearer " + token}, Client: client})
	return err
}

// await waits until the log contains a text.
func (g *gateway) await(t testing.TB, text string) {
	t.Helper()
	timeout := time.After(3 * time.Minute)
	for {
		select {
		case said := <-g.events:
			if strings.Contains(said, text) {
				return
			}
		case <-timeout:
			require.Fail(t, "nothing is said of "+text)
		}
	}
}

func newToken(t testing.TB, name string) (*authn.Account, string) {
	t.Helper()
	now := time.Now()
	a := authn.NewAccount(name, now, authn.Rights{Scopes: []string{"user:read"}})
	token := a.AddToken(now, now)
	require.NoError(t, a.Check())
	return a, token
}

func add(a ...*authn.Account) func(*authn.Document) error {
	return func(d *authn.Document) error { d.Tokens = append(d.Tokens, a...); return nil }
}

func remove(id string) func(*authn.Document) error {
	return func(d *authn.Document) error {
		var left []*authn.Account
		for _, a := range d.Tokens {
			if a.ID != id {
				left = append(left, a)
			}
		}
		d.Tokens = left
		return nil
	}
}

// TestARevocationReachesAllGateways: the change itself informs all gateways, so they need not poll. The test
// ends before any polling interval has passed.
func TestARevocationReachesAllGateways(t *testing.T) {
	inner := store.NewMemory(nil)
	var all []*gateway
	for range 3 {
		all = append(all, start(t, inner, Options{Reread: time.Hour, Probe: time.Hour}))
	}
	a, token := newToken(t, "portal")
	require.NoError(t, all[0].shared.Edit(t.Context(), add(a)))
	for _, g := range all {
		g.await(t, "credentials were made: token portal")
		require.NoError(t, g.try(token))
		assert.NotNil(t, g.Now(identity.ID{Kind: identity.KindToken, ID: a.ID}))
	}
	load, stop := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for _, g := range all { // under load
		callers.Go(func() {
			for load.Err() == nil {
				_ = g.try(token)
			}
		})
	}
	started := time.Now()
	require.NoError(t, Edit(t.Context(), all[1].store, remove(a.ID)))
	for _, g := range all {
		g.await(t, "credentials were removed: token portal")
		assert.Error(t, g.try(token))
		assert.Nil(t, g.Now(identity.ID{Kind: identity.KindToken, ID: a.ID}), "jobs stop, too")
	}
	t.Logf("refused by all after %s", time.Since(started))
	stop()
	callers.Wait()
}

// TestWithoutTheStore: the accounts remain valid for a time, and then all callers are refused until the store
// can be reached again.
func TestWithoutTheStore(t *testing.T) {
	inner := store.NewMemory(nil)
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	clock := func() time.Time { return time.Unix(0, now.Load()) }
	g := start(t, inner, Options{Now: clock, Probe: 5 * time.Millisecond, Reread: time.Hour})
	a, token := newToken(t, "portal")
	require.NoError(t, g.shared.Edit(t.Context(), add(a)))
	g.await(t, "made")
	require.NoError(t, g.try(token))

	g.line.off.Store(true)
	b, _ := newToken(t, "other")
	require.ErrorIs(t, g.shared.Edit(t.Context(), add(b)), errCut, "new credentials need the store")
	now.Add(int64(14 * time.Minute))
	require.NoError(t, g.try(token))
	now.Add(int64(2 * time.Minute))
	var refused *authn.Refusal
	require.ErrorAs(t, g.try(token), &refused)
	assert.Equal(t, schema.Unavailable, refused.Code)
	assert.Contains(t, refused.Reason, "auth.staleMax")
	shut, err := g.State()
	assert.True(t, shut)
	require.ErrorIs(t, err, ErrUnreached)

	g.line.off.Store(false)
	require.Eventually(t, func() bool { return g.try(token) == nil }, 3*time.Minute, time.Millisecond)
}

// TestARevocationThatHasArrivedCounts: a revocation that has arrived takes effect even while the other
// gateways cannot be asked, but does not reset the age of the accounts.
func TestARevocationThatHasArrivedCounts(t *testing.T) {
	inner := store.NewMemory(nil)
	g := start(t, inner, Options{Reread: time.Hour, Probe: time.Hour})
	a, token := newToken(t, "portal")
	require.NoError(t, g.shared.Edit(t.Context(), add(a)))
	g.await(t, "made")
	require.NoError(t, g.try(token))
	g.line.off.Store(true)
	before := *g.shared.contact.Load()
	other, _ := sealed(t, inner)
	require.NoError(t, Edit(t.Context(), other, remove(a.ID)))
	g.await(t, "credentials were removed: token portal")
	require.Error(t, g.try(token))
	assert.Equal(t, before, *g.shared.contact.Load())
}

// TestAStartWithoutTheStore: the copy keeps its age, and only its own gateway can read it.
func TestAStartWithoutTheStore(t *testing.T) {
	inner, file := store.NewMemory(nil), filepath.Join(t.TempDir(), "copy")
	db, line := sealed(t, inner)
	a, _ := newToken(t, "portal")
	require.NoError(t, Edit(t.Context(), db, add(a)))
	started := time.Now()
	first := New(Options{Copy: file, StaleMax: time.Minute})
	require.NoError(t, first.Attach(t.Context(), db))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "portal")
	assert.NotContains(t, string(text), a.Secrets[0].SHA256)

	line.off.Store(true)
	later := func(after time.Duration) *Credentials {
		c := New(Options{Copy: file, StaleMax: time.Minute, Now: func() time.Time { return started.Add(after) }})
		require.NoError(t, c.Attach(t.Context(), db))
		return c
	}
	document, _, err := later(30 * time.Second).Read()
	require.NoError(t, err)
	require.Len(t, document.Tokens, 1)
	assert.Equal(t, "portal", document.Tokens[0].Name)
	require.NoError(t, later(30*time.Second).State())
	require.ErrorIs(t, later(2*time.Minute).State(), ErrUnreached)

	require.NoError(t, os.WriteFile(file, append(text, 'x'), 0o600))
	require.ErrorIs(t, New(Options{Copy: file}).Attach(t.Context(), db), store.ErrUnreadable)
	require.NoError(t, os.Remove(file))
	c := New(Options{Copy: file, StaleMax: time.Minute})
	require.NoError(t, c.Attach(t.Context(), db))
	require.ErrorIs(t, c.State(), ErrUnreached, "nothing is known")
	require.ErrorIs(t, New(Options{}).Edit(t.Context(), add(a)), ErrUnreached, "it is not attached")
}

// TestChangesAtTheSameTime: names stay unique although several gateways change them, and no change
// is lost.
func TestChangesAtTheSameTime(t *testing.T) {
	inner := store.NewMemory(nil)
	var made, clashed atomic.Int64
	var editors sync.WaitGroup
	for i := range 4 {
		store, _ := sealed(t, inner)
		editors.Go(func() {
			for n := range 5 {
				own, _ := newToken(t, fmt.Sprintf("own-%d-%d", i, n))
				assert.NoError(t, Edit(t.Context(), store, add(own)))
				same, _ := newToken(t, fmt.Sprintf("Same-%d", n))
				if err := Edit(t.Context(), store, add(same)); err == nil {
					made.Add(1)
				} else if assert.ErrorContains(t, err, "there is another token of this name") {
					clashed.Add(1)
				}
			}
		})
	}
	editors.Wait()
	db, _ := sealed(t, inner)
	found, err := read(t.Context(), db)
	require.NoError(t, err)
	assert.Len(t, found.document.Tokens, 25)
	assert.EqualValues(t, 5, made.Load())
	assert.EqualValues(t, 15, clashed.Load())
	assert.EqualValues(t, 25, found.head.Edition)
}

func TestMove(t *testing.T) {
	db, _ := sealed(t, store.NewMemory(nil))
	from := &authn.Document{Version: 1}
	for i := range 2*mostEdit/2 + 10 { // more than fits into one change
		a, _ := newToken(t, fmt.Sprintf("t%d", i))
		from.Tokens = append(from.Tokens, a)
	}
	user := authn.NewAccount("anna", time.Now(), authn.Rights{Scopes: []string{"user:read"}})
	user.Password = authn.HashPassword("a long enough password", authn.Cost{Memory: 8, Time: 1, Threads: 1})
	from.Users = append(from.Users, user)
	moved, err := Move(t.Context(), db, from)
	require.NoError(t, err)
	assert.Equal(t, mostEdit+11, moved)
	moved, err = Move(t.Context(), db, from)
	require.NoError(t, err)
	assert.Zero(t, moved, "it can be repeated")
	there, err := read(t.Context(), db)
	require.NoError(t, err)
	assert.Len(t, there.document.Users, 1)

	other, _ := newToken(t, "T7")
	fresh, _ := newToken(t, "fresh")
	_, err = Move(t.Context(), db, &authn.Document{Version: 1, Tokens: []*authn.Account{fresh, other}})
	require.ErrorContains(t, err, "nothing was moved")
	require.ErrorContains(t, err, `token "T7": there is another token of this name`)
	again, err := read(t.Context(), db)
	require.NoError(t, err)
	assert.Equal(t, there.head, again.head)
}

// TestAnEditChangesNoFormats: accounts that are not edited keep their format, so an edit of a long
// list remains a single decision.
func TestAnEditChangesNoFormats(t *testing.T) {
	db, _ := sealed(t, store.NewMemory(nil))
	first, _ := newToken(t, "first")
	require.NoError(t, Edit(t.Context(), db, add(first)))
	db.SetNewest(store.Newest + 1)
	second, _ := newToken(t, "second")
	require.NoError(t, Edit(t.Context(), db, add(second)))
	formats := map[string]int{}
	require.NoError(t, db.Range(t.Context(), Kind, "", func(e store.Entry) bool {
		var found store.Formatted
		assert.NoError(t, json.Unmarshal(e.Value, &found))
		formats[e.Key] = found.V
		return true
	}))
	assert.Equal(t, map[string]int{first.ID: store.Newest, second.ID: store.Newest + 1}, formats)
}

func TestNewerFormatsAreNotGuessedAt(t *testing.T) {
	db, _ := sealed(t, store.NewMemory(nil))
	value, err := json.Marshal(map[string]any{"v": store.Newest + 1})
	require.NoError(t, err)
	_, err = db.Apply(t.Context(), store.Change{Kind: Kind, Key: "x", Value: value})
	require.NoError(t, err)
	require.ErrorIs(t, New(Options{}).Attach(t.Context(), db), store.ErrNewer)
	a, _ := newToken(t, "portal")
	require.ErrorIs(t, Edit(t.Context(), db, add(a)), store.ErrNewer)
}
