package store

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clocks implements the sources of a [Clock] with values that a test sets.
type clocks struct {
	passed time.Duration
	set    time.Duration // how far ahead the wall clock was set
	alone  bool          // the wall clock is not trusted
}

var begin = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func (c *clocks) sources() ClockSources {
	return ClockSources{
		Monotonic: func() time.Duration { return c.passed },
		Wall:      func() time.Time { return begin.Add(c.passed + c.set) },
		Agree:     func() bool { return !c.alone },
	}
}

// jumps are the amounts by which a test sets a wall clock ahead or back.
var jumps = []time.Duration{time.Second, 30 * time.Second, time.Hour, 400 * 24 * time.Hour}

func TestAJumpOfTheWallClockChangesNothingAtOnce(t *testing.T) {
	for _, jump := range jumps {
		for _, set := range []time.Duration{jump, -jump} {
			c := &clocks{}
			clock := NewClock(time.Time{}, c.sources())
			assert.Equal(t, begin, clock.Now(), "it begins at the wall clock")
			c.set = set
			assert.Equal(t, begin, clock.Now(), "%s: at once", set)
			assert.Equal(t, set, clock.Apart(), "%s: at once", set)
			c.passed = time.Minute
			drift := time.Second
			if set < 0 {
				drift = -drift
			}
			assert.Equal(t, begin.Add(time.Minute+drift), clock.Now(), "%s: after a minute", set)
			c.passed = time.Hour
			drift = min(time.Minute, max(-time.Minute, set))
			assert.Equal(t, begin.Add(time.Hour+drift), clock.Now(), "%s: after an hour", set)
		}
	}
}

func TestTheWallClockIsFollowedOnlyWhileItMayBe(t *testing.T) {
	c := &clocks{set: time.Hour, alone: true}
	clock := NewClock(begin, c.sources())
	c.passed = time.Hour
	assert.Equal(t, begin.Add(time.Hour), clock.Now(), "it goes on with the monotonic clock")
	c.alone = false
	assert.Equal(t, begin.Add(time.Hour), clock.Now(), "what passed before does not count")
	c.passed += time.Minute
	assert.Equal(t, begin.Add(time.Hour+time.Minute+time.Second), clock.Now())
}

func TestHowOftenAClockIsReadDoesNotMatter(t *testing.T) {
	c := &clocks{set: -time.Hour}
	clock := NewClock(begin, c.sources())
	before := clock.Now()
	for range 60_000 {
		c.passed += time.Millisecond
		now := clock.Now()
		require.True(t, now.After(before), "it never goes back")
		before = now
	}
	assert.WithinDuration(t, begin.Add(59*time.Second), before, time.Millisecond)
	c.passed -= time.Minute
	assert.Equal(t, before, clock.Now(), "not even if the monotonic clock does")
}

func TestAClockIsRaisedOnly(t *testing.T) {
	c := &clocks{}
	clock := NewClock(begin, c.sources())
	clock.Raise(begin.Add(time.Hour))
	assert.Equal(t, begin.Add(time.Hour), clock.Now())
	clock.Raise(begin)
	assert.Equal(t, begin.Add(time.Hour), clock.Now())
	c.passed = time.Minute
	assert.Equal(t, begin.Add(time.Hour+59*time.Second), clock.Now(), "the wall clock draws it back")
}

func TestAClockOfTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := NewClock(time.Time{}, ClockSources{})
		for range 3 {
			assert.Equal(t, time.Now().Round(0), clock.Now())
			time.Sleep(24*time.Hour + time.Millisecond)
		}
		behind := NewClock(time.Now().Add(-time.Minute), ClockSources{})
		time.Sleep(time.Hour)
		assert.Equal(t, time.Now().Round(0), behind.Now(), "it has caught up")
	})
}

// TestNothingExpiresBecauseTheWallClockWasSet: while a store is open, setting the wall clock makes
// nothing expire. After the next start, expiry follows the wall clock.
func TestNothingExpiresBecauseTheWallClockWasSet(t *testing.T) {
	for _, jump := range jumps {
		c := &clocks{}
		path := filepath.Join(t.TempDir(), "state.db")
		reopen := func(use func(s Store)) {
			s, _, err := Open(Options{Path: path, Clock: NewClock(time.Time{}, c.sources())})
			require.NoError(t, err)
			use(s)
			require.NoError(t, s.Close())
		}
		there := func(s Store) bool {
			_, err := s.Get(t.Context(), "k", "a")
			if err != nil {
				require.ErrorIs(t, err, ErrAbsent)
			}
			return err == nil
		}
		reopen(func(s Store) {
			change := put("a", "1", Absent)
			change.Expires = begin.Add(jump)
			_, err := s.Apply(t.Context(), change)
			require.NoError(t, err)
			c.set = jump
			assert.True(t, there(s), "%s", jump)
			removed, err := s.Sweep(t.Context())
			require.NoError(t, err)
			assert.Zero(t, removed)
			c.passed, c.set = jump+jump/59+time.Second, -jump // the wall clock is set back meanwhile
			assert.False(t, there(s), "%s: it has passed", jump)
			c.passed, c.set = 0, 0
		})
		reopen(func(s Store) { assert.True(t, there(s), "%s: not yet", jump) })
		c.set = jump
		reopen(func(s Store) { assert.False(t, there(s), "%s: at a start the wall clock counts", jump) })
	}
}

func TestASealedStoreTellsTheTimeOfTheOtherOne(t *testing.T) {
	file, _, err := Open(Options{Path: filepath.Join(t.TempDir(), "state.db"),
		Now: func() time.Time { return begin }})
	require.NoError(t, err)
	defer file.Close()
	for _, store := range []Store{file, NewMemory(func() time.Time { return begin })} {
		assert.Equal(t, begin, (&Sealed{Store: store}).Now())
	}
}
