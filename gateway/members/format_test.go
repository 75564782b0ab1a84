package members_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/keep"
	"adgateway/gateway/members"
)

const week = 7 * 24 * time.Hour

// versions are gateways of several versions of the program.
type versions struct {
	*cluster
	running map[string]*members.Self
	stores  map[string]*keep.Sealed
}

// start starts a gateway that reads formats up to newest, or starts it again as one.
func (v *versions) start(name string, newest int) error {
	store := v.storeOf(newest)
	self, err := members.Join(v.t.Context(), store, v.options(name, 0))
	if err == nil {
		v.running[name], v.stores[name] = self, store
	}
	return err
}

// pass lets a time pass in which the gateways that run do what is due, at its end.
func (v *versions) pass(d time.Duration) {
	v.clock.Advance(d)
	for range 2 { // each has seen the others
		v.clock.Advance(members.Beat)
		for _, self := range v.running {
			self.Tick(v.t.Context())
		}
	}
}

// heartbeat returns the format in which that of a gateway is written.
func (v *versions) heartbeat(name string) int {
	e, err := v.store.Get(v.t.Context(), "member", name)
	require.NoError(v.t, err)
	var found keep.Formatted
	require.NoError(v.t, json.Unmarshal(e.Value, &found))
	return found.V
}

// TestAllReadWhatIsWritten: the format that each gateway writes is the newest that it and all
// others read, also those that were silent for less than a week.
func TestAllReadWhatIsWritten(t *testing.T) {
	type step struct {
		start  string
		newest int
		kill   string        // it just ends
		pass   time.Duration // afterwards
		writes int
		holds  string // gateway that the others name for it; empty: nobody
	}
	for name, steps := range map[string][]step{
		"alone":                    {{start: "a", newest: 2, writes: 2}},
		"equal":                    {{start: "a", newest: 2, writes: 2}, {start: "b", newest: 2, writes: 2}},
		"a newer one comes":        {{start: "a", newest: 1, writes: 1}, {start: "b", newest: 2, writes: 1, holds: "a"}},
		"three versions, in order": {{start: "a", newest: 1, writes: 1}, {start: "b", newest: 2, writes: 1, holds: "a"}, {start: "c", newest: 3, writes: 1, holds: "a"}, {start: "a", newest: 3, writes: 2, holds: "b"}, {start: "b", newest: 3, writes: 3}},
		"updated one by one": {
			{start: "a", newest: 1, writes: 1}, {start: "b", newest: 1, writes: 1}, {start: "c", newest: 1, writes: 1},
			{start: "a", newest: 2, writes: 1, holds: "b"}, {start: "b", newest: 2, writes: 1, holds: "c"}, {start: "c", newest: 2, writes: 2},
		},
		"and back before the last": {
			{start: "a", newest: 1, writes: 1}, {start: "b", newest: 1, writes: 1},
			{start: "a", newest: 2, writes: 1, holds: "b"}, {start: "a", newest: 1, writes: 1}, {start: "a", newest: 2, writes: 1, holds: "b"}, {start: "b", newest: 2, writes: 2},
		},
		"silent for less than a week": {
			{start: "a", newest: 1, writes: 1}, {start: "b", newest: 2, writes: 1, holds: "a"},
			{kill: "a", pass: time.Minute, writes: 1, holds: "a"}, {pass: week - 2*time.Minute, writes: 1, holds: "a"}, {start: "a", newest: 1, writes: 1, holds: "a"}, {pass: time.Hour, writes: 1, holds: "a"},
		},
		"silent for longer": {
			{start: "a", newest: 1, writes: 1}, {start: "b", newest: 2, writes: 1, holds: "a"},
			{kill: "a", pass: week - time.Minute, writes: 1, holds: "a"}, {pass: time.Minute, writes: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := &versions{newCluster(t), map[string]*members.Self{}, map[string]*keep.Sealed{}}
			for i, s := range steps {
				if s.start != "" {
					require.NoError(t, v.start(s.start, s.newest), "step %d", i)
				}
				if s.kill != "" {
					delete(v.running, s.kill)
				}
				v.pass(s.pass)
				for name, self := range v.running {
					store := v.stores[name]
					assert.Equal(t, s.writes, store.Format(), "step %d, %s", i, name)
					assert.Equal(t, s.writes, v.heartbeat(name), "step %d, %s", i, name)
					reason := self.Checks()[2].Reason
					if s.holds == "" || name == s.holds || store.Newest() == s.writes {
						assert.NotContains(t, reason, "so that values are written", "step %d, %s", i, name)
					} else {
						assert.Contains(t, reason, "'"+s.holds+"' (1.2.3) reads formats up to", "step %d, %s", i, name)
						assert.True(t, self.Checks()[2].OK, "changes can be made")
					}
				}
			}
		})
	}
}

// TestWhoCannotReadWhatIsWrittenDoesNotJoin: not even under a name that is its own.
func TestWhoCannotReadWhatIsWrittenDoesNotJoin(t *testing.T) {
	v := &versions{newCluster(t), map[string]*members.Self{}, map[string]*keep.Sealed{}}
	require.NoError(t, v.start("a", 1))
	require.NoError(t, v.start("b", 1))
	v.pass(time.Minute)
	require.NoError(t, v.start("a", 2))
	require.NoError(t, v.start("b", 2))
	v.pass(time.Minute)
	before := v.heartbeat("b")
	for _, name := range []string{"b", "c"} {
		err := v.start(name, 1)
		require.ErrorIs(t, err, keep.ErrNewer, name)
		assert.Contains(t, err.Error(), "update this one")
	}
	assert.Equal(t, before, v.heartbeat("b"), "it was not claimed")
	v.pass(time.Minute)
	assert.Equal(t, 2, v.stores["a"].Format(), "it holds nothing back")
}

// TestAGatewayThatHasNotJoined writes what every version reads, as it does not know the others.
func TestAGatewayThatHasNotJoined(t *testing.T) {
	c := newCluster(t)
	store := c.storeOf(2)
	options := c.options("b", 0)
	options.Check = func(context.Context) error { return nil }
	b, err := members.New(store, options, keep.ErrUnreachable)
	require.NoError(t, err)
	assert.Equal(t, keep.Oldest, store.Format())
	b.Tick(t.Context())
	require.NoError(t, b.Refuses())
	assert.Equal(t, 2, store.Format())
}

// TestAStoreOfNoMember: commands write what the gateways read.
func TestAStoreOfNoMember(t *testing.T) {
	c := newCluster(t)
	store := c.storeOf(2)
	require.NoError(t, members.Agree(t.Context(), store))
	assert.Equal(t, 2, store.Format(), "there is nobody")
	c.join("a", 0)
	require.NoError(t, members.Agree(t.Context(), store))
	assert.Equal(t, keep.Newest, store.Format())
	c.clock.Advance(week + time.Second)
	require.NoError(t, members.Agree(t.Context(), store))
	assert.Equal(t, 2, store.Format())
}
