package members_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/keep"
	"adgateway/gateway/keep/keeptest"
	"adgateway/gateway/members"
)

// cluster is a store and one time, which each gateway may see differently.
type cluster struct {
	t     *testing.T
	clock *keeptest.Clock
	plain keep.Store
	store *keep.Sealed
	disk  string
}

func newCluster(t *testing.T) *cluster {
	clock := keeptest.NewClock()
	plain := keep.NewMemory(clock.Now)
	return &cluster{t, clock, plain, keeptest.Seal(t, plain), t.TempDir()}
}

// options are those of a gateway whose clock is ahead.
func (c *cluster) options(name string, ahead time.Duration) members.Options {
	return members.Options{Name: name, File: filepath.Join(c.disk, name), Version: "1.2.3", Now: func() time.Time { return c.clock.Now().Add(ahead) }}
}

// storeOf returns the store as a gateway has it that reads formats up to newest.
func (c *cluster) storeOf(newest int) *keep.Sealed {
	store := keeptest.Seal(c.t, c.plain)
	store.SetNewest(newest)
	return store
}

func (c *cluster) join(name string, ahead time.Duration) *members.Self {
	c.t.Helper()
	s, err := members.Join(c.t.Context(), c.store, c.options(name, ahead))
	require.NoError(c.t, err)
	return s
}

// pass lets a time pass, in steps in which these gateways do what is due.
func (c *cluster) pass(d time.Duration, alive ...*members.Self) {
	for range int(d / time.Second) {
		c.clock.Advance(time.Second)
		for _, s := range alive {
			s.Tick(c.t.Context())
		}
	}
}

func names(s *members.Self) (all []string) {
	for _, m := range s.Live() {
		all = append(all, m.Name)
	}
	return all
}

func TestMembersSeeEachOther(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", 0), c.join("b", 0)
	c.pass(2*time.Second, a, b)
	assert.Equal(t, []string{"a", "b"}, names(a))
	assert.Equal(t, []string{"a", "b"}, names(b))
	b.Report(func(m *members.Member) {
		m.Reach, m.Site, m.Name = map[string]bool{"directory": true}, "Berlin", "other"
	})
	c.pass(6*time.Second, a, b)
	live := a.Live()
	require.Len(t, live, 2)
	assert.Equal(t, "b", live[1].Name, "the name stays")
	assert.Equal(t, "Berlin", live[1].Site)
	assert.True(t, live[1].Reach["directory"])
	all, left, err := members.Read(t.Context(), c.store)
	require.NoError(t, err)
	assert.Len(t, all, 2)
	assert.False(t, left["a"] || left["b"])

	c.pass(8*time.Second, a) // b is killed
	assert.Equal(t, []string{"a", "b"}, names(a))
	c.pass(8*time.Second, a)
	assert.Equal(t, []string{"a"}, names(a))
	assert.False(t, a.Gone("b", b.Incarnation(), 30*time.Second))
	c.pass(30*time.Second, a)
	assert.True(t, a.Gone("b", b.Incarnation(), 30*time.Second))
	assert.False(t, a.Gone("a", a.Incarnation(), 0))
	assert.Error(t, b.Refuses(), "who has not told for so long that it lives makes no changes")
}

func TestALaterIncarnationReplacesTheEarlier(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", 0), c.join("b", 0)
	again := c.join("b", 0) // it was killed, and started at once
	assert.Greater(t, again.Incarnation(), b.Incarnation())
	assert.False(t, a.Gone("b", b.Incarnation(), time.Hour))
	c.pass(time.Second, a)
	assert.True(t, a.Gone("b", b.Incarnation(), time.Hour))
	assert.False(t, a.Gone("b", again.Incarnation(), 0))
	assert.True(t, again.Gone("b", b.Incarnation(), time.Hour))

	c.pass(6*time.Second, b, again, a) // the earlier one still runs
	require.Error(t, b.Refuses())
	assert.Contains(t, b.Refuses().Error(), "rejoin")
	assert.NoError(t, again.Refuses())
	assert.False(t, b.Checks()[0].OK)
}

func TestWhoMayJoin(t *testing.T) {
	for _, name := range []string{"", "GW1", "gw_1", "gw.1", "-gw"} {
		_, err := members.Join(t.Context(), nil, members.Options{Name: name, File: "x"})
		assert.ErrorContains(t, err, "cluster.gateway")
	}
	c := newCluster(t)
	a := c.join("a", 0)
	other := c.options("a", 0)
	other.File += "-elsewhere"
	_, err := members.Join(t.Context(), c.store, other)
	require.ErrorIs(t, err, members.ErrTaken)
	assert.Contains(t, err.Error(), "another name")
	assert.ErrorIs(t, members.Rejoin(t.Context(), c.store, other), members.ErrTaken)

	c.pass(20 * time.Second)
	_, err = members.Join(t.Context(), c.store, other)
	require.ErrorIs(t, err, members.ErrBehind, "another disk does not know what the gateway had begun")
	assert.Contains(t, err.Error(), "adgateway cluster rejoin")
	require.NoError(t, members.Rejoin(t.Context(), c.store, other))
	again, err := members.Join(t.Context(), c.store, other)
	require.NoError(t, err)
	assert.Greater(t, again.Incarnation(), a.Incarnation())

	// The disk is taken back.
	old, err := os.ReadFile(other.File)
	require.NoError(t, err)
	_, err = members.Join(t.Context(), c.store, other)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(other.File, old, 0o600))
	_, err = members.Join(t.Context(), c.store, other)
	assert.ErrorIs(t, err, members.ErrBehind)
	require.NoError(t, os.WriteFile(other.File, []byte("{"), 0o600))
	_, err = members.Join(t.Context(), c.store, other)
	assert.ErrorIs(t, err, members.ErrBehind)
}

func TestClocks(t *testing.T) {
	for name, test := range map[string]struct {
		ahead    []time.Duration
		skew     []time.Duration
		degraded []bool
		refused  []bool
	}{
		"equal":             {[]time.Duration{0, 0, 0}, []time.Duration{0, 0, 0}, []bool{false, false, false}, []bool{false, false, false}},
		"one is ahead":      {[]time.Duration{0, 0, 5 * time.Second}, []time.Duration{0, 0, 5 * time.Second}, []bool{false, false, true}, []bool{false, false, false}},
		"one is far behind": {[]time.Duration{0, -5 * time.Minute, 0}, []time.Duration{0, -5 * time.Minute, 0}, []bool{false, false, false}, []bool{false, true, false}},
		"which of the two":  {[]time.Duration{0, time.Minute}, []time.Duration{-time.Minute, time.Minute}, []bool{false, false}, []bool{true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			var all []*members.Self
			for i, ahead := range test.ahead {
				all = append(all, c.join(string(rune('a'+i)), ahead))
			}
			c.pass(12*time.Second, all...)
			for i, s := range all {
				assert.InDelta(t, test.skew[i].Seconds(), s.Skew().Seconds(), 1, "%d", i)
				assert.Equal(t, test.refused[i], s.Refuses() != nil, "%d: %v", i, s.Refuses())
				degraded := false
				for _, check := range s.Checks() {
					degraded = degraded || check.Degraded
					assert.Equal(t, test.refused[i], !check.OK)
				}
				assert.Equal(t, test.degraded[i], degraded, "%d", i)
			}
		})
	}
}

func TestMembersThatDiffer(t *testing.T) {
	c := newCluster(t)
	a := c.join("a", 0)
	newer := c.options("b", 0)
	newer.Settings = "other"
	b, err := members.Join(t.Context(), c.storeOf(2), newer)
	require.NoError(t, err)
	c.pass(time.Second, a, b)
	last := a.Checks()[2]
	assert.True(t, last.OK && last.Degraded)
	assert.Contains(t, last.Reason, "update this one")
	assert.Contains(t, last.Reason, "make the settings equal")
	assert.NotContains(t, b.Checks()[2].Reason, "newer")
}

func TestAMemberThatEndsLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.store = keeptest.Seal(t, keep.NewMemory(nil))
		a, b := c.options("a", 0), c.options("b", 0)
		a.Now, b.Now = nil, nil
		first, err := members.Join(t.Context(), c.store, a)
		require.NoError(t, err)
		second, err := members.Join(t.Context(), c.store, b)
		require.NoError(t, err)
		staying, stop := context.WithCancel(t.Context())
		leaving, leave := context.WithCancel(t.Context())
		go first.Run(staying)
		done := make(chan struct{})
		go func() { defer close(done); second.Run(leaving) }()
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"a", "b"}, names(first))
		leave()
		<-done
		time.Sleep(2 * time.Second)
		assert.Equal(t, []string{"a"}, names(first))
		assert.False(t, first.Gone("b", second.Incarnation(), 30*time.Second))
		time.Sleep(30 * time.Second)
		assert.True(t, first.Gone("b", second.Incarnation(), 30*time.Second))
		stop()
	})
}

func TestFences(t *testing.T) {
	ctx := t.Context()
	c := newCluster(t)
	a, b := c.join("a", 0), c.join("b", 0)
	allow := func(begun uint64) error {
		pass, err := a.Pass(ctx, begun)
		if err != nil {
			return err
		}
		defer pass.End()
		for {
			changes, err := pass.Changes()
			if err != nil {
				return err
			}
			revision, err := c.store.Apply(ctx, changes...)
			if err == nil {
				pass.Done(revision)
				return nil
			}
			require.ErrorIs(t, err, keep.ErrConflict)
			if err := pass.Refresh(ctx); err != nil {
				return err
			}
		}
	}
	for range 20 {
		require.NoError(t, allow(a.Begin()))
	}
	begun := a.Begin()
	moved, err := members.MoveFences(ctx, c.store, "a")
	require.NoError(t, err)
	require.NotEmpty(t, moved)
	_, err = c.store.Apply(ctx, moved...)
	require.NoError(t, err)
	assert.ErrorIs(t, allow(begun), members.ErrFenced, "whoever has begun before is stopped")
	for range 20 {
		require.NoError(t, allow(a.Begin()), "others are not")
	}
	assert.ErrorIs(t, allow(begun), members.ErrFenced)
	assert.NoError(t, b.Refuses())
	none, err := members.MoveFences(ctx, c.store, "unknown")
	require.NoError(t, err)
	assert.Empty(t, none)

	c.join("a", 0) // again
	assert.ErrorIs(t, allow(a.Begin()), members.ErrFenced)
	assert.Error(t, a.Refuses())
}

func TestAGatewayAlone(t *testing.T) {
	var alone *members.Self
	assert.Len(t, alone.Live(), 1)
	assert.Empty(t, alone.Name()+alone.Incarnation())
	assert.Empty(t, alone.Checks())
	assert.NoError(t, alone.Refuses())
	assert.Zero(t, alone.Skew())
	assert.True(t, alone.Gone("a", "1", time.Hour))
	assert.False(t, alone.Gone("", "", 0))
	alone.Report(nil)
	pass, err := alone.Pass(t.Context(), alone.Begin())
	require.NoError(t, err)
	changes, err := pass.Changes()
	assert.NoError(t, err)
	assert.Empty(t, changes)
	assert.NoError(t, pass.Refresh(t.Context()))
	pass.Done(1)
	pass.End()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	alone.Run(ctx)
}

// TestAMemberThatJoinsLater: it makes no changes before, its name may be taken meanwhile, and
// what was reported of it is told when it joins.
func TestAMemberThatJoinsLater(t *testing.T) {
	c := newCluster(t)
	a := c.join("a", 0)
	away := errors.New("the engine is away")
	options := c.options("b", 0)
	options.Check = func(context.Context) error { return away }
	b, err := members.New(c.store, options, away)
	require.NoError(t, err)
	c.pass(20*time.Second, a, b)
	require.ErrorIs(t, b.Refuses(), away)
	assert.Equal(t, []string{"a"}, names(a))
	assert.Equal(t, []string{"b"}, names(b))
	assert.False(t, b.Gone("a", a.Incarnation(), 0), "it has watched nobody")
	assert.Equal(t, "0", b.Incarnation())
	begun := b.Begin()
	b.Report(func(m *members.Member) { m.Reach = map[string]bool{"dns": true} })

	other := c.options("b", 0)
	other.File += "-other"
	taken, err := members.Join(t.Context(), c.store, other)
	require.NoError(t, err)
	away = nil
	c.pass(members.Beat, a, b, taken)
	require.ErrorIs(t, b.Refuses(), members.ErrTaken)

	require.NoError(t, os.Rename(other.File, options.File)) // the disk that the name belongs to
	c.pass(members.Lapse+members.Beat, a, b)
	require.NoError(t, b.Refuses())
	assert.Equal(t, "2", b.Incarnation())
	assert.Equal(t, []string{"a", "b"}, names(a))
	assert.True(t, a.Live()[1].Reach["dns"])
	pass, err := b.Pass(t.Context(), begun)
	require.NoError(t, err)
	_, err = pass.Changes()
	require.ErrorIs(t, err, members.ErrFenced, "a run that began before is refused")
	pass.End()
	pass, err = b.Pass(t.Context(), b.Begin())
	require.NoError(t, err)
	pass.End()
}

// TestLeave: a gateway that is gone for good is forgotten, and one that only slept makes no
// change any more.
func TestLeave(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", 0), c.join("b", 0)
	c.pass(2*time.Second, a, b)
	leave := func(name string) error { return members.Leave(t.Context(), c.store, name, c.clock.Now()) }
	require.ErrorIs(t, leave("b"), members.ErrLives)
	require.ErrorIs(t, leave("c"), keep.ErrAbsent)
	begun := b.Begin()
	c.pass(members.Lapse+time.Second, a)
	require.NoError(t, leave("b"))
	all, _, err := members.Read(t.Context(), c.store)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, "a", all[0].Name)
	require.ErrorIs(t, leave("b"), keep.ErrAbsent)

	pass, err := b.Pass(t.Context(), begun)
	require.NoError(t, err)
	defer pass.End()
	changes, err := pass.Changes()
	require.NoError(t, err)
	_, err = c.store.Apply(t.Context(), changes...)
	require.ErrorIs(t, err, keep.ErrConflict)
	assert.ErrorIs(t, pass.Refresh(t.Context()), members.ErrFenced)
	c.join("b", 0)
}

// TestOneAccountForSeveralGateways: a controller takes five connections of an account.
func TestOneAccountForSeveralGateways(t *testing.T) {
	for name, test := range map[string]struct {
		accounts    [2]string
		sites       [2]string
		connections [2]int
		told        bool
	}{
		"of their own":      {[2]string{`CORP\gw1$`, `CORP\gw2$`}, [2]string{"", ""}, [2]int{4, 4}, false},
		"one for both":      {[2]string{`CORP\gw$`, `corp\GW$`}, [2]string{"", ""}, [2]int{4, 4}, true},
		"one, few sessions": {[2]string{`CORP\gw$`, `CORP\gw$`}, [2]string{"", ""}, [2]int{3, 2}, false},
		"at two sites":      {[2]string{`CORP\gw$`, `CORP\gw$`}, [2]string{"Berlin", "Rome"}, [2]int{4, 4}, false},
		"not known yet":     {[2]string{"", ""}, [2]string{"", ""}, [2]int{4, 4}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			var all []*members.Self
			for i, gateway := range []string{"a", "b"} {
				o := c.options(gateway, 0)
				o.Site, o.Connections = test.sites[i], test.connections[i]
				s, err := members.Join(t.Context(), c.store, o)
				require.NoError(t, err)
				s.Report(func(m *members.Member) { m.Account = test.accounts[i] })
				all = append(all, s)
			}
			c.pass(2*time.Second, all...)
			reason := ""
			for _, check := range all[0].Checks() {
				require.True(t, check.OK)
				if check.Name == "agreement" {
					assert.Equal(t, test.told, check.Degraded)
					reason = check.Reason
				}
			}
			if test.told {
				assert.Contains(t, reason, "8 connections")
				assert.Contains(t, reason, "'b'")
			} else {
				assert.Empty(t, reason)
			}
		})
	}
}
