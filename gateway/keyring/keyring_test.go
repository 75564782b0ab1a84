package keyring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

// cluster is a group of gateways in a test.
type cluster struct {
	mu   sync.Mutex
	live map[string]uint32
}

func (c *cluster) all() (all []Gateway) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range []string{"gw1", "gw2", "gw3"} {
		if version := c.live[name]; version > 0 {
			all = append(all, Gateway{name, version})
		}
	}
	return all
}

// options returns the options of a gateway. The first gateway seals values again.
func (c *cluster) options(name string) RunOptions {
	return RunOptions{
		Gateway: name, Live: c.all, Kinds: []store.Kind{lasting}, Every: 5 * time.Millisecond,
		Reseals: func() bool { return c.all()[0].Name == name },
		Tell: func(version uint32) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.live[name] = version
		},
	}
}

func newCluster(names ...string) *cluster {
	c := &cluster{live: map[string]uint32{}}
	for _, name := range names {
		c.live[name] = 1
	}
	return c
}

func file(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "ring.key")
	require.NoError(t, CreateKeyFile(path))
	return path
}

func wrapper(t *testing.T, path string) Wrapper {
	w, err := KeyFile(path)
	require.NoError(t, err)
	return w
}

func open(t *testing.T, db store.Store, path string) *Ring {
	t.Helper()
	r, err := Open(t.Context(), db, wrapper(t, path), store.Newest)
	require.NoError(t, err)
	return r
}

const lasting store.Kind = "cred"

func set(t *testing.T, s *store.Sealed, key, value string) {
	t.Helper()
	found, err := s.Get(t.Context(), lasting, key)
	if !errors.Is(err, store.ErrAbsent) {
		require.NoError(t, err)
	}
	_, err = s.Apply(t.Context(),
		store.Change{Kind: lasting, Key: key, Expect: found.Revision, Value: []byte(value)})
	require.NoError(t, err)
}

func get(t *testing.T, s *store.Sealed, key string) string {
	t.Helper()
	found, err := s.Get(t.Context(), lasting, key)
	require.NoError(t, err)
	return string(found.Value)
}

// TestRotation: three gateways use a new version once all live ones have it. Lasting values are
// sealed again, names keep their sums, and nothing becomes unreadable.
func TestRotation(t *testing.T) {
	db, path := store.NewMemory(nil), file(t)
	require.NoError(t, Create(t.Context(), db, wrapper(t, path)))
	require.ErrorIs(t, Create(t.Context(), db, wrapper(t, path)), ErrThere)
	c := newCluster("gw1", "gw2", "gw3")
	var rings []*Ring
	for range 3 {
		rings = append(rings, open(t, db, path))
	}
	for i := range 50 {
		set(t, rings[i%3].Sealed(), fmt.Sprint(i), fmt.Sprint("value ", i))
	}
	sum := rings[0].Sealed().Sum([]byte("name"))

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	running, stop := context.WithCancel(ctx)
	var ended sync.WaitGroup
	run := func(i int) {
		ended.Go(func() {
			rings[i].Run(running, c.options(fmt.Sprint("gw", i+1)))
		})
	}
	run(0)
	run(1)
	number, err := rings[0].Rotate(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 2, number)
	again, err := rings[1].Rotate(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 2, again, "the one that is waited for")

	// The third gateway does not run. It lacks the version, so no gateway uses it.
	told := make(chan []string, 100)
	current := make(chan error, 1)
	live := func(context.Context) ([]Gateway, error) { return c.all(), nil }
	ended.Go(func() {
		current <- rings[0].Await(running, number, live, func(lacking []string) { told <- lacking })
	})
	for {
		select {
		case lacking := <-told:
			if len(lacking) != 1 {
				continue
			}
			assert.Equal(t, []string{"gw3"}, lacking)
		case <-ctx.Done():
			require.Fail(t, "nobody lacks it")
		}
		break
	}
	status, err := rings[0].Status(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 1, status.Current)
	assert.EqualValues(t, 2, status.Newest)

	run(2)
	require.NoError(t, <-current)
	require.Eventually(t, func() bool {
		status, err = rings[0].Status(ctx)
		return err == nil && status.Resealed == 2
	}, 3*time.Minute, time.Millisecond)
	stop()
	ended.Wait()
	require.NoError(t, db.Range(t.Context(), lasting, "", func(e store.Entry) bool {
		assert.Contains(t, string(e.Value[:20]), "key\x00\x00\x00\x02", e.Key)
		return true
	}))
	fresh := open(t, db, path)
	for i := range 50 {
		assert.Equal(t, fmt.Sprint("value ", i), get(t, fresh.Sealed(), fmt.Sprint(i)))
	}
	assert.Equal(t, sum, fresh.Sealed().Sum([]byte("name")))
	n, _ := fresh.Sealed().Seals()
	assert.EqualValues(t, 2, n)
}

// TestAGatewayThatDoesNotKnowAVersionLearnsIt: a gateway looks up an unknown version when it reads
// a value sealed with it.
func TestAGatewayThatDoesNotKnowAVersionLearnsIt(t *testing.T) {
	db, path := store.NewMemory(nil), file(t)
	require.NoError(t, Create(t.Context(), db, wrapper(t, path)))
	late, early := open(t, db, path), open(t, db, path)
	number, err := early.Rotate(t.Context())
	require.NoError(t, err)
	alone := &runner{Ring: early, o: newCluster("gw1").options("gw1")}
	require.NoError(t, alone.once(t.Context()))
	current, _ := early.Sealed().Seals()
	require.Equal(t, number, current)
	set(t, early.Sealed(), "a", "value")
	assert.Equal(t, "value", get(t, late.Sealed(), "a"))
}

func TestARingThatCannotBeUnwrapped(t *testing.T) {
	db, path := store.NewMemory(nil), file(t)
	_, err := Open(t.Context(), db, wrapper(t, path), store.Newest)
	require.ErrorIs(t, err, ErrNone)
	require.ErrorContains(t, err, "adgateway cluster init")
	require.NoError(t, Create(t.Context(), db, wrapper(t, path)))
	other := file(t)
	_, err = Open(t.Context(), db, wrapper(t, other), store.Newest)
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, "the key file "+other)
	require.ErrorContains(t, err, "copy it from another gateway")
	require.ErrorIs(t, CreateKeyFile(path), os.ErrExist)
	require.NoError(t, os.WriteFile(other, []byte("short\n"), 0o600))
	_, err = KeyFile(other)
	require.ErrorContains(t, err, other+" is not a key file of a cluster")
	_, err = KeyFile(other + "x")
	require.ErrorIs(t, err, os.ErrNotExist)

	found, err := db.Get(t.Context(), kind, key)
	require.NoError(t, err)
	_, err = db.Apply(t.Context(), store.Change{Kind: kind, Key: key, Expect: found.Revision, Value: []byte(`{"v":2}`)})
	require.NoError(t, err)
	_, err = Open(t.Context(), db, wrapper(t, path), store.Newest)
	require.ErrorIs(t, err, store.ErrNewer)
}

// TestNothingOfTheRingIsInClear: a reader of the store does not get the key.
func TestNothingOfTheRingIsInClear(t *testing.T) {
	db, path := store.NewMemory(nil), file(t)
	require.NoError(t, Create(t.Context(), db, wrapper(t, path)))
	r := open(t, db, path)
	_, err := r.Rotate(t.Context())
	require.NoError(t, err)
	found, err := db.Get(t.Context(), kind, key)
	require.NoError(t, err)
	for _, v := range r.content.Versions {
		assert.NotContains(t, string(found.Value), string(v.Secret))
		assert.NotContains(t, string(found.Value), fmt.Sprintf("%x", v.Secret))
	}
	assert.NotContains(t, string(found.Value), "secret")
}

func TestWarnings(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		age   time.Duration
		seals uint64
		want  string
	}{{MostAge - time.Hour, MostSeals - 1, ""}, {MostAge, 0, "is 90 days old"},
		{time.Hour, MostSeals, "has sealed 1073741824 values"}} {
		s := Status{Current: 3, Since: now.Add(-c.age), Seals: c.seals}
		s.warn(now)
		if c.want == "" {
			assert.Empty(t, s.Warning)
			continue
		}
		assert.Contains(t, s.Warning, c.want)
		assert.Contains(t, s.Warning, "adgateway cluster rotate-key")
	}
}

// TestSealsAreCounted: seals are counted over all gateways, and across restarts.
func TestSealsAreCounted(t *testing.T) {
	db, path := store.NewMemory(nil), file(t)
	require.NoError(t, Create(t.Context(), db, wrapper(t, path)))
	c := newCluster("gw1", "gw2")
	for _, name := range []string{"gw1", "gw2", "gw1"} {
		r := open(t, db, path)
		for range mostUncounted {
			r.Sealed().SealFor("test", []byte("x"))
		}
		run := &runner{Ring: r, o: c.options(name)}
		require.NoError(t, run.once(t.Context()))
		require.NoError(t, run.once(t.Context()))
	}
	assert.Empty(t, open(t, db, path).Warning())
	status, err := open(t, db, path).Status(t.Context())
	require.NoError(t, err)
	assert.GreaterOrEqual(t, status.Seals, uint64(3*mostUncounted))
	assert.Less(t, status.Seals, uint64(3*mostUncounted+10))
}

// TestAStoreOfOneGatewayGetsARing: the values of the store remain readable, and names keep their sums, even
// when the key changes. A key that does not belong to the store is refused.
func TestAStoreOfOneGatewayGetsARing(t *testing.T) {
	db, path := store.NewMemory(nil), file(t)
	own, other := bytes.Repeat([]byte{1}, store.KeyLength), bytes.Repeat([]byte{2}, store.KeyLength)
	key, err := store.NewKey(own)
	require.NoError(t, err)
	alone, err := store.Seal(db, key)
	require.NoError(t, err)
	set(t, alone, "before", "1")
	sum := alone.Sum([]byte("name"))

	require.ErrorIs(t, Adopt(t.Context(), db, wrapper(t, path), other, lasting), store.ErrOtherKey)
	require.NoError(t, Adopt(t.Context(), db, wrapper(t, path), own, lasting))
	require.ErrorIs(t, Adopt(t.Context(), db, wrapper(t, path), own, lasting), ErrThere)
	r := open(t, db, path)
	assert.Equal(t, sum, r.Sealed().Sum([]byte("name")))
	assert.Equal(t, "1", get(t, r.Sealed(), "before"))
	set(t, r.Sealed(), "after", "2")

	_, err = r.Rotate(t.Context())
	require.NoError(t, err)
	run := &runner{Ring: r, o: newCluster("gw1").options("gw1")}
	for range 1 + settled {
		require.NoError(t, run.once(t.Context()))
	}
	status, err := r.Status(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 2, status.Current)
	assert.EqualValues(t, 2, status.Resealed)
	fresh := open(t, db, path)
	assert.Equal(t, sum, fresh.Sealed().Sum([]byte("name")))
	assert.Equal(t, "1", get(t, fresh.Sealed(), "before"))
	assert.Equal(t, "2", get(t, fresh.Sealed(), "after"))
	assert.EqualValues(t, 2, fresh.Version())
}

// TestOneWriter: the leading gateway makes a version current once the others, which only read, have it. It
// counts the values that it has sealed only once, no matter how many terms it has.
func TestOneWriter(t *testing.T) {
	db, path := store.NewMemory(nil), file(t)
	require.NoError(t, Create(t.Context(), db, wrapper(t, path)))
	leading, following := open(t, db, path), open(t, db, path)
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { following.Follow(ctx, nil) })
	for range mostUncounted {
		leading.Sealed().SealFor("test", []byte("x"))
	}
	term := func() *runner {
		return &runner{Ring: leading, o: RunOptions{
			Gateway: "gw1", Live: func() []Gateway { return []Gateway{{"gw2", following.Version()}} },
			Tell: func(uint32) {}, Reseals: func() bool { return true },
		}}
	}
	for range 3 {
		require.NoError(t, term().once(t.Context()))
	}
	status, err := leading.Status(t.Context())
	require.NoError(t, err)
	assert.Less(t, status.Seals, uint64(mostUncounted+10))
	assert.GreaterOrEqual(t, status.Seals, uint64(mostUncounted))

	number, err := leading.Rotate(t.Context())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return following.Version() == number }, 3*time.Minute, time.Millisecond)
	require.NoError(t, term().once(t.Context()))
	require.NoError(t, following.Await(ctx, number, nil, nil))
	stop()
	ended.Wait()
}
