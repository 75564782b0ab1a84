package servers_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/ps"
	"adgateway/ps/servers"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// choice is a [servers.Shared] of gateways in a test.
type choice struct {
	mu     sync.Mutex
	pinned map[ps.Lane]string
	epoch  uint64
	away   bool

	doubted bool
	told    map[ps.Lane]reached
}

type reached struct {
	server, other string
	reached       bool
}

func newChoice() *choice {
	return &choice{pinned: map[ps.Lane]string{}, told: map[ps.Lane]reached{}}
}

func (c *choice) Pinned(_ context.Context, on ps.Lane) (string, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pinned[on], c.epoch
}

func (c *choice) Pin(_ context.Context, on ps.Lane, server string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return errors.New("the store is away")
	}
	if c.pinned[on] == "" {
		c.pinned[on] = server
		c.epoch++
	}
	return nil
}

func (c *choice) Reached(on ps.Lane, server string, yes bool, other string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told[on] = reached{server, other, yes}
}

func (c *choice) Doubted(ps.Lane) bool { c.mu.Lock(); defer c.mu.Unlock(); return c.doubted }

func (c *choice) says(on ps.Lane) reached { c.mu.Lock(); defer c.mu.Unlock(); return c.told[on] }

// move makes the gateways use another server.
func (c *choice) move(server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pinned[ps.Directory] = server
	c.epoch++
}

func (c *choice) set(away bool) { c.mu.Lock(); defer c.mu.Unlock(); c.away = away }

func shared(c *choice) func(*servers.Config) {
	return func(cfg *servers.Config) { cfg.Shared = c }
}

// TestSharedServer: the first gateway pins a server, and the others follow it regardless of
// their preferences.
func TestSharedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChoice()
		w := newWorld(t, dc1, dc2)
		first := w.open(shared(c))
		defer closed(t, first)
		synctest.Wait()
		second := w.open(func(cfg *servers.Config) { cfg.Shared, cfg.Directory = c, []string{dc2} })
		defer closed(t, second)
		synctest.Wait()
		for _, s := range []*servers.Servers{first, second} {
			result, err := s.Run(t.Context(), newUser())
			require.NoError(t, err)
			assert.Equal(t, dc1, result.Server)
		}
		directory, _ := second.Status()
		assert.Equal(t, []string{"the gateways of the cluster use the domain controller dc1.corp.example, which " +
			"the settings of this one do not name"}, directory.Warnings)

		c.move(dc2)
		_, epoch := c.Pinned(t.Context(), ps.Directory)
		w.answer = func(_ string, req ps.Request) error { return req.Announced(ps.Intent{}) }
		for _, s := range []*servers.Servers{first, second} {
			request := user()
			var announced ps.Intent
			request.Announced = func(i ps.Intent) error { announced = i; return nil }
			result, err := s.Run(t.Context(), request)
			require.NoError(t, err)
			assert.Equal(t, dc2, result.Server, "each run asks which one is pinned")
			assert.Equal(t, ps.Intent{Server: dc2, PinEpoch: epoch}, announced,
				"and says under which choice it announces")
			directory, _ := s.Status()
			assert.Equal(t, 1, directory.Failovers)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		directory, _ = first.Status()
		assert.Equal(t, dc2, directory.Pinned, "none returns by itself to the one that it prefers")
		assert.Equal(t, reached{server: dc2, reached: true}, c.says(ps.Directory))
	})
}

// TestSharedServerFails: a gateway that cannot use the server reports that to the others and
// refuses calls. It stays with the server until all move together or the server works again.
func TestSharedServerFails(t *testing.T) {
	for name, d := range map[string]struct {
		fails func(w *world)
		calls int // number of calls until the failure is known
	}{
		"no connections":              {fails: func(w *world) { w.set(dc1, false) }, calls: 1},
		"it rejects the account":      {fails: func(w *world) { w.answer = failing(dc1, credentials("find user")) }, calls: 1},
		"its service does not answer": {fails: func(w *world) { w.answer = failing(dc1, down()) }, calls: 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChoice()
				w := newWorld(t, dc1, dc2)
				s := w.open(shared(c))
				defer closed(t, s)
				synctest.Wait()
				answers := w.answer
				_, err := s.Run(t.Context(), newUser())
				require.NoError(t, err)
				d.fails(w)
				for range d.calls {
					_, err = s.Run(t.Context(), newUser())
					require.Error(t, err)
				}
				assert.Equal(t, reached{server: dc1, other: dc2}, c.says(ps.Directory))
				runs := len(w.runs())
				_, err = s.Run(t.Context(), newUser())
				e := ps.AsError(err)
				require.Equal(t, ps.KindUnavailable, e.Kind)
				assert.Equal(t, ps.OutcomeNone, e.Outcome)
				assert.Contains(t, e.Message, dc1)
				assert.Len(t, w.runs(), runs, "nothing is tried that would fail")
				directory, _ := s.Status()
				assert.Equal(t, dc1, directory.Pinned)
				assert.NotEmpty(t, directory.Unusable)

				w.set(dc1, true)
				w.answer = answers
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				result, err := s.Run(t.Context(), newUser())
				require.NoError(t, err)
				assert.Equal(t, dc1, result.Server)
				assert.Equal(t, reached{server: dc1, reached: true}, c.says(ps.Directory))

				d.fails(w)
				for range d.calls {
					_, err = s.Run(t.Context(), user())
					require.Error(t, err)
				}
				c.move(dc2)
				result, err = s.Run(t.Context(), user())
				require.NoError(t, err)
				assert.Equal(t, dc2, result.Server, "the others have moved it")
				directory, _ = s.Status()
				assert.Empty(t, directory.Unusable)
			})
		})
	}
}

// failing returns a function that answers scripts, but fails with failure on one host.
func failing(host string, failure *ps.Error) func(string, ps.Request) error {
	return func(at string, _ ps.Request) error {
		if at == host {
			return failure
		}
		return nil
	}
}

// TestIdleSharedServerIsProbed: a gateway that receives no calls notices when the server cannot be used.
func TestIdleSharedServerIsProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChoice()
		w := newWorld(t, dc1, dc2)
		s := w.open(shared(c))
		defer closed(t, s)
		synctest.Wait()
		w.set(dc1, false)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.Equal(t, reached{server: dc1, other: dc2}, c.says(ps.Directory))
		assert.Equal(t, reached{server: dc1, other: dc2}, c.says(ps.DNS))
		w.set(dc1, true)
		time.Sleep(10 * time.Second)
		w.set(dc1, false)
		c.mu.Lock()
		c.doubted = true
		c.mu.Unlock()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, reached{server: dc1, other: dc2}, c.says(ps.Directory),
			"it looks at once when another gateway cannot use it")
		w.set(dc1, true)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		assert.Equal(t, reached{server: dc1, reached: true}, c.says(ps.Directory))
	})
}

// TestNoSharedChoiceYet: while the gateways cannot agree, each one reads from a server that it can reach.
// Later they agree on a server that one of them has chosen.
func TestNoSharedChoiceYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChoice()
		c.set(true)
		w := newWorld(t, dc2)
		s := w.open(shared(c))
		defer closed(t, s)
		synctest.Wait()
		result, err := s.Run(t.Context(), user())
		require.NoError(t, err)
		assert.Equal(t, dc2, result.Server)
		c.set(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		assert.Equal(t, map[ps.Lane]string{ps.Directory: dc2, ps.DNS: dc2}, maps.Clone(c.pinned))
	})
}
