package signin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

// oneToken accepts a token until it is revoked.
type oneToken struct{ revoked bool }

const goodToken = "adgw_secret-of-the-portal"

func (o *oneToken) Authenticate(_ context.Context, c authn.Credential) (*identity.Principal, error) {
	if o.revoked || !slices.Equal(c.AuthToken, []string{"Bearer " + goodToken}) {
		return nil, &authn.Refusal{Code: schema.Unauthenticated}
	}
	return &identity.Principal{Name: "portal", Kind: "token"}, nil
}

// counting counts the writes, and fails while a test makes it.
type counting struct {
	store.Store
	mu      sync.Mutex
	applied int
	fails   error
}

func (c *counting) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.applied++
	if c.fails != nil {
		return 0, c.fails
	}
	return c.Store.Apply(ctx, changes...)
}

// restarts is a series of gates over the same store.
type restarts struct {
	t      *testing.T
	plain  *counting
	now    *time.Time
	d      *directory
	tokens *oneToken
	faults []error
}

func newRestarts(t *testing.T) *restarts {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return &restarts{t: t, now: &now, d: &directory{}, tokens: &oneToken{},
		plain: &counting{Store: store.NewMemory(func() time.Time { return now })}}
}

func (r *restarts) gate() *Gate {
	r.t.Helper()
	*r.now = r.now.Add(time.Nanosecond) // a restart takes some time
	g, _, _, _ := gate(func(o *Options) {
		o.Directory, o.Tokens, o.Now, o.Store = r.d, r.tokens, func() time.Time { return *r.now }, storetest.Seal(
			r.t, r.plain)
		o.Problem = func(err error) { r.faults = append(r.faults, err) }
	})
	return g
}

func (r *restarts) find(g *Gate, id string) *Session { r.t.Helper(); return find(r.t, g, id) }

func TestSessionsGoOnAfterARestart(t *testing.T) {
	r := newRestarts(t)
	g := r.gate()
	person := in(t, g, "anna")
	token, err := g.Token(t.Context(), goodToken, client)
	require.NoError(t, err)
	form := g.FormToken(person)
	gone := in(t, g, "bert")
	require.NoError(t, g.End(t.Context(), gone))

	*r.now = r.now.Add(time.Minute)
	g = r.gate()
	assert.Nil(t, r.find(g, gone), "who signed out stays signed out")
	assert.True(t, g.FormValid(person, form), "a form that is open can be sent")
	s := r.find(g, person)
	require.NotNil(t, s)
	assert.Equal(t, "anna", s.Name)
	assert.Equal(t, identity.KindPerson, s.Kind)
	roles, err := s.Principals(t.Context(), client)
	require.NoError(t, err)
	require.Len(t, roles, 1)
	assert.Equal(t, "S-anna", roles[0].ID)
	assert.True(t, roles[0].Has(identity.UserPassword))
	s = r.find(g, token)
	require.NotNil(t, s)
	roles, err = s.Principals(t.Context(), client)
	require.NoError(t, err)
	assert.Equal(t, "portal", roles[0].Name)
	r.tokens.revoked = true
	_, err = s.Principals(t.Context(), client)
	require.Error(t, err, "it was revoked")
	assert.Nil(t, r.find(g, "x"+token))
	assert.Empty(t, r.faults)
}

func TestRestoredSessionsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		after, again time.Duration // time before the restart, and after it
		known        bool
	}{
		"in time":          {14 * time.Minute, 0, true},
		"idle meanwhile":   {15 * time.Minute, 0, false},
		"idle afterwards":  {14 * time.Minute, time.Minute, false},
		"longer than that": {9 * time.Hour, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRestarts(t)
			id := in(t, r.gate(), "anna")
			*r.now = r.now.Add(c.after)
			g := r.gate()
			*r.now = r.now.Add(c.again)
			assert.Equal(t, c.known, r.find(g, id) != nil)
		})
	}
	t.Run("after eight hours, also with restarts", func(t *testing.T) {
		r := newRestarts(t)
		id := in(t, r.gate(), "anna")
		for range 8*6 - 1 {
			*r.now = r.now.Add(10 * time.Minute)
			require.NotNil(t, r.find(r.gate(), id))
		}
		*r.now = r.now.Add(10 * time.Minute)
		assert.Nil(t, r.find(r.gate(), id))
	})
}

func TestRestoredPeopleAreAskedForAtOnce(t *testing.T) {
	r := newRestarts(t)
	id := in(t, r.gate(), "anna")
	r.d.err = errors.New("the directory is away")
	s := r.find(r.gate(), id)
	require.NotNil(t, s)
	roles, err := s.Principals(t.Context(), client)
	require.NoError(t, err)
	assert.True(t, roles[0].Has(identity.UserRead))
	assert.False(t, roles[0].Has(identity.UserPassword), "they read until it answers")
	r.d.err = ErrRefused
	assert.Nil(t, r.find(r.gate(), id), "the account may no longer log on")
	r.d.err = nil
	assert.Nil(t, r.find(r.gate(), id), "and does not come back")
}

func TestTheLastUseIsKeptEachMinute(t *testing.T) {
	r := newRestarts(t)
	g := r.gate()
	id := in(t, g, "anna")
	signedIn := r.plain.applied
	for range 59 {
		*r.now = r.now.Add(time.Second)
		require.NotNil(t, r.find(g, id))
	}
	assert.Equal(t, signedIn, r.plain.applied)
	*r.now = r.now.Add(time.Second)
	require.NotNil(t, r.find(g, id))
	require.NotNil(t, r.find(g, id))
	assert.Equal(t, signedIn+1, r.plain.applied)
}

func TestRestoredSessionsCountForTheLimit(t *testing.T) {
	r := newRestarts(t)
	var ids []string
	for range sessionsEach + 2 {
		*r.now = r.now.Add(time.Second)
		ids = append(ids, in(t, r.gate(), "anna"))
	}
	g := r.gate()
	for i, id := range ids {
		assert.Equal(t, i >= 2, r.find(g, id) != nil, "%d", i)
	}
	kept := 0
	require.NoError(t, r.plain.Range(t.Context(), kind, "", func(store.Entry) bool { kept++; return true }))
	assert.Equal(t, sessionsEach, kept)
}

// TestTheStoreOfSessionsHoldsNoSecret: the store contains neither the cookie nor the token, even
// for a reader with its key.
func TestTheStoreOfSessionsHoldsNoSecret(t *testing.T) {
	r := newRestarts(t)
	g := r.gate()
	token, err := g.Token(t.Context(), goodToken, client)
	require.NoError(t, err)
	person := in(t, g, "anna")
	n := 0
	require.NoError(t, g.o.Store.Range(t.Context(), kind, "", func(e store.Entry) bool {
		n++
		for _, secret := range []string{token, person, goodToken, "right"} {
			assert.NotContains(t, e.Key+string(e.Value), secret)
		}
		return true
	}))
	assert.Equal(t, 2, n)
	require.NoError(t, r.plain.Range(t.Context(), kind, "", func(e store.Entry) bool {
		assert.False(t, strings.Contains(string(e.Value), "anna"), "it is sealed")
		return true
	}))
}

func TestSessionsThatCannotBeKept(t *testing.T) {
	r := newRestarts(t)
	g := r.gate()
	r.plain.fails = errors.New("the disk is full")
	id := in(t, g, "anna")
	require.NotNil(t, r.find(g, id), "it ends with the gateway")
	require.NotEmpty(t, r.faults)
	for _, fault := range r.faults {
		assert.ErrorContains(t, fault, "the disk is full")
	}
	for range standardTries + 1 {
		_, err := g.Password(t.Context(), "bert", []byte("wrong"), client, "")
		require.Error(t, err)
	}
	assert.Len(t, r.d.asked, 1+standardTries, "tries count, too")
	assert.Nil(t, r.find(r.gate(), id))
	r.plain.fails, r.faults = nil, nil
	_, err := r.plain.Apply(t.Context(),
		store.Change{Kind: kind, Key: sumOf("moved").String(), Value: []byte("moved here")})
	require.NoError(t, err)
	assert.Nil(t, r.find(r.gate(), "moved"))
	require.Len(t, r.faults, 1)
	require.ErrorIs(t, r.faults[0], store.ErrUnreadable)
}

// TestASessionThatIsUsedWhileItEnds: a session that is used while it ends does not exist after a
// restart, whether its use is saved before its end or comes too late.
func TestASessionThatIsUsedWhileItEnds(t *testing.T) {
	r := newRestarts(t)
	g := r.gate()
	id := in(t, g, "anna")
	s := r.find(g, id)
	require.NoError(t, g.End(t.Context(), id))
	require.ErrorIs(t, g.save(t.Context(), s), store.ErrConflict)
	assert.Nil(t, r.find(r.gate(), id))
	for range 20 {
		id := in(t, g, "anna")
		*r.now = r.now.Add(time.Minute)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() { _, _ = g.Find(context.Background(), id) })
		}
		group.Go(func() { assert.NoError(t, g.End(context.Background(), id)) })
		group.Wait()
		require.Nil(t, r.find(r.gate(), id))
	}
	assert.Empty(t, r.faults)
}
