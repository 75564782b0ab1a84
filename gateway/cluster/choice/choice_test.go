package choice

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
)

const dc1, dc2, dc3 = "dc1.corp.example", "dc2.corp.example", "dc3.corp.example"

// copyOf is a gateway's copy, which only accepts changes while the gateway leads.
type copyOf struct {
	store.Store
	leads atomic.Bool
	fails atomic.Bool
	sneak func() // called before a change
}

func (c *copyOf) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	switch {
	case !c.leads.Load():
		return 0, fmt.Errorf("%w: %w", store.ErrFollows, store.ErrNotSent)
	case c.fails.Load():
		return 0, store.ErrUnreachable
	}
	if c.sneak != nil {
		sneak := c.sneak
		c.sneak = nil
		sneak()
	}
	return c.Store.Apply(ctx, changes...)
}

// gateway is one of several gateways that share a store in memory.
type gateway struct {
	*Choices
	copy   *copyOf
	logged []string
}

func gateways(t *testing.T, n int) (all []*gateway, sealed *store.Sealed) {
	t.Helper()
	memory := store.NewMemory(nil)
	for range n {
		g := &gateway{copy: &copyOf{Store: memory}}
		g.Choices = New(Options{Store: storetest.Seal(t, g.copy), Log: func(message string, _ map[string]any) {
			g.logged = append(g.logged, message)
		}})
		all = append(all, g)
	}
	return all, storetest.Seal(t, memory)
}

func (g *gateway) chosen(t *testing.T) (server string, epoch uint64) {
	t.Helper()
	return g.Pinned(t.Context(), ps.Directory)
}

// lead lets a gateway lead for some time.
func (g *gateway) lead(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	g.copy.leads.Store(true)
	defer g.copy.leads.Store(false)
	g.Run(ctx)
	synctest.Wait()
}

// TestTheLeaderPins: the leader pins a server, and the others follow.
func TestTheLeaderPins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, _ := gateways(t, 2)
		require.NoError(t, all[1].Pin(t.Context(), ps.Directory, dc2))
		server, epoch := all[1].chosen(t)
		assert.Empty(t, server, "it does not lead")
		assert.Zero(t, epoch)
		all[0].copy.leads.Store(true)
		require.NoError(t, all[0].Pin(t.Context(), ps.Directory, dc1))
		all[1].copy.leads.Store(true)
		require.NoError(t, all[1].Pin(t.Context(), ps.Directory, dc2), "there is one")
		for _, g := range all {
			server, epoch = g.chosen(t)
			assert.Equal(t, dc1, server)
			assert.EqualValues(t, 1, epoch)
		}
		other, _ := all[0].Pinned(t.Context(), ps.DNS)
		assert.Empty(t, other)
	})
}

// TestTheLeaderMovesThePin: the leader moves the pin when it has not reached the server for 10 s
// and can use another one.
func TestTheLeaderMovesThePin(t *testing.T) {
	for name, c := range map[string]struct {
		reached bool
		other   string
		lead    time.Duration
		want    string
		epoch   uint64
	}{
		"it reaches it":                 {true, dc2, time.Minute, dc1, 1},
		"not yet":                       {false, dc2, 9 * time.Second, dc1, 1},
		"it does not":                   {false, dc2, 12 * time.Second, dc2, 2},
		"there is no other":             {false, "", time.Minute, dc1, 1},
		"the other is the same":         {false, "DC1.corp.example", time.Minute, dc1, 1},
		"it does not, and no loop then": {false, dc2, time.Hour, dc2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all, sealed := gateways(t, 2)
				all[0].copy.leads.Store(true)
				require.NoError(t, all[0].Pin(t.Context(), ps.Directory, dc1))
				_, _ = all[0].chosen(t)
				_, _ = all[1].chosen(t)
				all[0].Reached(ps.Directory, dc1, c.reached, c.other)
				all[1].Reached(ps.Directory, dc1, !c.reached, dc3) // which does not count
				all[0].lead(t, c.lead)
				for _, g := range all {
					server, epoch := g.chosen(t)
					assert.Equal(t, c.want, server)
					assert.Equal(t, c.epoch, epoch)
				}
				found, err := read(t.Context(), sealed, ps.Directory)
				require.NoError(t, err)
				assert.Equal(t, c.epoch > 1, found.Reason != "")
				assert.Len(t, all[0].logged, int(c.epoch-1))
			})
		})
	}
}

// TestAServerThatIsReachedAgainStays: a server that is reached again stays chosen, no matter how often it is
// briefly unreachable.
func TestAServerThatIsReachedAgainStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, _ := gateways(t, 1)
		g := all[0]
		g.copy.leads.Store(true)
		require.NoError(t, g.Pin(t.Context(), ps.Directory, dc1))
		_, _ = g.chosen(t)
		for range 20 {
			g.Reached(ps.Directory, dc1, false, dc2)
			g.lead(t, 8*time.Second)
			g.Reached(ps.Directory, dc1, true, "")
		}
		server, _ := g.chosen(t)
		assert.Equal(t, dc1, server)
	})
}

// TestALeaderThatCannotWrite: the leader reports once that it cannot write, and keeps trying.
func TestALeaderThatCannotWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, _ := gateways(t, 1)
		g := all[0]
		g.copy.leads.Store(true)
		require.NoError(t, g.Pin(t.Context(), ps.Directory, dc1))
		_, _ = g.chosen(t)
		g.Reached(ps.Directory, dc1, false, dc2)
		g.copy.fails.Store(true)
		g.lead(t, time.Minute)
		assert.Equal(t, []string{"another server cannot be chosen"}, g.logged)
		g.copy.fails.Store(false)
		g.lead(t, 2*time.Second)
		server, epoch := g.chosen(t)
		assert.Equal(t, dc2, server)
		assert.EqualValues(t, 2, epoch)
	})
}

// TestLanes: the lanes are those on which a gateway could use any server, whether or not it leads.
func TestLanes(t *testing.T) {
	all, _ := gateways(t, 2)
	all[0].copy.leads.Store(true)
	g := all[1]
	assert.Empty(t, g.Lanes(), "it has not looked")
	for _, on := range []ps.Lane{ps.Directory, ps.DNS} {
		require.NoError(t, all[0].Pin(t.Context(), on, dc1))
		_, _ = g.Pinned(t.Context(), on)
	}
	g.Reached(ps.Directory, dc2, true, "")
	assert.Empty(t, g.Lanes(), "that is not the chosen one")
	g.Reached(ps.Directory, dc1, true, "")
	g.Reached(ps.DNS, dc1, false, dc2)
	assert.Equal(t, []string{"directory", "dns"}, g.Lanes())
	require.NoError(t, Move(t.Context(), all[0].o.Store, ps.DNS, dc2))
	_, _ = g.Pinned(t.Context(), ps.DNS)
	assert.Equal(t, []string{"directory", "dns"}, g.Lanes(), "until it has looked at the new one")
	g.Reached(ps.DNS, dc2, false, "")
	assert.Equal(t, []string{"directory"}, g.Lanes())
	assert.False(t, g.Doubted(ps.DNS))
}

// TestAnAdministratorMovesThePin: an administrator moves the pin, unless another server is chosen
// at the same time.
func TestAnAdministratorMovesThePin(t *testing.T) {
	all, sealed := gateways(t, 1)
	g := all[0]
	g.copy.leads.Store(true)
	db := g.o.Store
	require.NoError(t, Move(t.Context(), db, ps.Directory, dc1), "the first one")
	require.NoError(t, Move(t.Context(), db, ps.Directory, dc2))
	require.NoError(t, Move(t.Context(), db, ps.Directory, "DC2.corp.example"))
	server, epoch := g.chosen(t)
	assert.Equal(t, dc2, server)
	assert.EqualValues(t, 2, epoch)

	g.copy.sneak = func() { assert.NoError(t, Move(t.Context(), sealed, ps.Directory, dc3)) }
	require.ErrorIs(t, Move(t.Context(), db, ps.Directory, dc1), ErrMoved)
	g.copy.sneak = func() { // the value is sealed again
		found, err := sealed.Get(t.Context(), kind, string(ps.Directory))
		require.NoError(t, err)
		again := store.Change{Kind: kind, Key: found.Key, Expect: found.Revision, Value: found.Value}
		_, err = sealed.Apply(t.Context(), again)
		require.NoError(t, err)
	}
	require.NoError(t, Move(t.Context(), db, ps.Directory, dc1))
	server, epoch = g.chosen(t)
	assert.Equal(t, dc1, server)
	assert.EqualValues(t, 4, epoch)
}
