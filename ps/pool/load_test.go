package pool_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/ps"
	"adgateway/ps/pool"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// load contains the measurements of clients that send one request after another.
type load struct {
	waits   []time.Duration // from request to answer
	errors  []error
	seconds []int // number of answers in each second
}

func (l *load) longest() time.Duration { return slices.Max(l.waits) }

// median returns the median of the waits.
func (l *load) median() time.Duration {
	sorted := slices.Sorted(slices.Values(l.waits))
	return sorted[len(sorted)/2]
}

// run lets clients send a request repeatedly until the time is over.
func run(t *testing.T, p *pool.Pool, clients int, during time.Duration, req ps.Request) *load {
	t.Helper()
	var mu sync.Mutex
	l := &load{seconds: make([]int, during/time.Second+1)}
	began := time.Now()
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for time.Since(began) < during {
				asked := time.Now()
				_, err := p.Run(t.Context(), req)
				mu.Lock()
				if err != nil {
					l.errors = append(l.errors, err)
				} else if second := int(time.Since(began) / time.Second); second < len(l.seconds) {
					l.seconds[second]++
				}
				l.waits = append(l.waits, time.Since(asked))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return l
}

// loaded returns a maker whose requests take 20 ms and whose starts take the given time.
func loaded(t *testing.T, start time.Duration) *maker {
	m := newMaker(t)
	m.start = func(ctx context.Context, _ int64) error {
		select {
		case <-time.After(start):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.scripts["Get-User"] = func(_ context.Context, f *fake, _ ps.Request) (*ps.Result, error) {
		time.Sleep(20 * time.Millisecond)
		if f.kill.Err() != nil {
			return nil, f.died()
		}
		return &ps.Result{Effect: ps.EffectNone}, nil
	}
	return m
}

func warm(size, requests int) func(*pool.Config) {
	return lane(func(l *pool.Lane) { l.Size, l.Warm, l.MaxRequests, l.MaxAge = size, size, requests, -1 })
}

// No request waits for a start, neither the one that triggered it nor any other.
func TestNobodyStarvesWhileASessionStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := loaded(t, 12*time.Second)
		p := open(t, m, warm(4, 500))
		time.Sleep(time.Minute) // all sessions have started
		l := run(t, p, 8, 2*time.Minute, request("Get-User"))
		t.Logf("%d requests, %d refused, median %s, longest %s", len(l.waits), len(l.errors), l.median(),
			l.longest())
		assert.Empty(t, l.errors)
		// 8 clients share at least 3 sessions: at most 3 turns of 20 ms.
		assert.LessOrEqual(t, l.longest(), 60*time.Millisecond)
		assert.Greater(t, p.Stats()[ps.Directory].Ended["requests"], int64(5))
		require.NoError(t, p.Close(t.Context()))
	})
}

// Under full load, a retirement costs one session's share of the capacity, and the sessions
// do not retire together.
func TestRetirementUnderLoadCostsOneSessionsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := loaded(t, 3*time.Second)
		p := open(t, m, func(c *pool.Config) { c.Queue = 1000; warm(4, 500)(c) })
		time.Sleep(time.Minute)
		l := run(t, p, 64, 2*time.Minute, request("Get-User"))
		seconds := l.seconds[:120]
		total := 0
		for _, n := range seconds {
			total += n
		}
		t.Logf("%d/s on average, %d to %d/s, median %s, longest %s", total/len(seconds), slices.Min(seconds),
			slices.Max(seconds), l.median(), l.longest())
		assert.Empty(t, l.errors)
		assert.Equal(t, 200, slices.Max(seconds), "four sessions of 50/s")
		assert.GreaterOrEqual(t, slices.Min(seconds), 148, "three of them")
		assert.LessOrEqual(t, l.longest(), 440*time.Millisecond, "64 clients on three sessions")
		assert.LessOrEqual(t, m.most.Load(), int64(4))
		require.NoError(t, p.Close(t.Context()))
	})
}

// If a lane is below its maximum, the replacement starts before the session ends.
func TestTheReplacementComesBeforeTheSessionLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := loaded(t, 12*time.Second)
		p := open(t, m, func(c *pool.Config) {
			lane(func(l *pool.Lane) { l.Size, l.Warm, l.MaxRequests = 2, 1, 500 })(c)
		})
		time.Sleep(time.Minute)
		l := run(t, p, 1, 2*time.Minute, request("Get-User"))
		assert.Empty(t, l.errors)
		assert.Equal(t, 20*time.Millisecond, l.longest(), "it always meets an idle session")
		stats := p.Stats()[ps.Directory]
		assert.Greater(t, stats.Ended["requests"], int64(3))
		assert.LessOrEqual(t, m.most.Load(), int64(2))
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.LessOrEqual(t, m.live.Load(), int64(2))
		require.NoError(t, p.Close(t.Context()))
	})
}

// While starts fail, sessions that are due stay, because an old session is better than none.
func TestNoSessionRetiresThatCannotBeReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := loaded(t, time.Second)
		succeed := m.start
		m.start = func(ctx context.Context, n int64) error {
			if n > 3 {
				return diedAtStart
			}
			return succeed(ctx, n)
		}
		p := open(t, m, warm(3, 100))
		time.Sleep(10 * time.Second)
		l := run(t, p, 6, time.Minute, request("Get-User"))
		assert.Empty(t, l.errors)
		assert.EqualValues(t, 2, m.live.Load(), "one has left for a replacement that did not come")
		assert.NotEmpty(t, p.Stats()[ps.Directory].Reason)
		require.NoError(t, p.Close(t.Context()))
	})
}

// Idle sessions that reach their age together end one after another.
func TestIdleSessionsRetireOneAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := loaded(t, 5*time.Second)
		p := open(t, m, lane(func(l *pool.Lane) { l.Size, l.Warm, l.MaxAge = 3, 3, 10*time.Minute }))
		time.Sleep(time.Minute)
		least := 3
		for range 3 * 60 * 10 {
			time.Sleep(time.Second)
			synctest.Wait()
			least = min(least, int(m.live.Load()))
		}
		assert.Equal(t, 2, least)
		assert.GreaterOrEqual(t, p.Stats()[ps.Directory].Ended["age"], int64(6))
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestRequestsAreServedInOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := loaded(t, time.Second)
		p := open(t, m, func(c *pool.Config) { c.Queue = 1000; c.MaxWait = time.Minute; warm(2, -1)(c) })
		time.Sleep(time.Minute)
		var mu sync.Mutex
		var served []int
		var all sync.WaitGroup
		for i := range 500 {
			all.Go(func() {
				req := request("Get-User")
				req.List = i%5 == 0
				_, err := p.Run(t.Context(), req)
				assert.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				if !req.List {
					served = append(served, i)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		for at, i := range served {
			assert.InDelta(t, served[max(at-1, 0)], i, 4, "request %d", i)
		}
		require.NoError(t, p.Close(t.Context()))
	})
}

// 500 clients wait for 4 sessions. Only requests that find the queue full are refused, and they are refused
// immediately. All clients get the same share.
func TestFiveHundredClients(t *testing.T) {
	for _, c := range []struct {
		name           string
		queue, refused int
	}{{"with a place for each", 1000, 0}, {"with 256 places", 256, 240}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := loaded(t, time.Second)
				p := open(t, m, func(cfg *pool.Config) { cfg.Queue = c.queue; warm(4, 300)(cfg) })
				time.Sleep(time.Minute)
				began := time.Now()
				var refused, served int
				var longest time.Duration
				var mu sync.Mutex
				var all sync.WaitGroup
				for range 500 {
					all.Go(func() {
						_, err := p.Run(t.Context(), request("Get-User"))
						mu.Lock()
						defer mu.Unlock()
						if err != nil {
							assert.Equal(t, ps.KindOverloaded, kind(err))
							assert.Zero(t, time.Since(began))
							refused++
							return
						}
						served++
						longest = max(longest, time.Since(began))
					})
				}
				all.Wait()
				assert.Equal(t, c.refused, refused)
				assert.Equal(t, 500-c.refused, served)
				assert.Equal(t, time.Duration(500-c.refused)/4*20*time.Millisecond, longest)
				assert.Zero(t, p.Stats()[ps.Directory].Waiting)
				require.NoError(t, p.Close(t.Context()))
				assert.Zero(t, m.live.Load())
			})
		})
	}
}

// Sessions cannot be started for a while. When the cause has gone, the lane recovers within 15 s, no matter
// how long the cause lasted.
func TestTheLaneIsBackSoonAfterTheCauseIsGone(t *testing.T) {
	for _, c := range []struct {
		name  string
		lasts time.Duration
		fail  func(ctx context.Context) error
	}{
		{"starts die", 75 * time.Second, func(context.Context) error { time.Sleep(time.Second); return diedAtStart }},
		{"starts die for hours", 5 * time.Hour, func(context.Context) error { return diedAtStart }},
		{"starts hang", 10 * time.Minute, func(ctx context.Context) error {
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
			}
			return &ps.Error{Kind: ps.KindUnavailable, Message: "no sign of life"}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := loaded(t, 3*time.Second)
				succeed, began := m.start, time.Now()
				m.start = func(ctx context.Context, n int64) error {
					if time.Since(began) < c.lasts {
						return c.fail(ctx)
					}
					return succeed(ctx, n)
				}
				p := open(t, m, lane(func(l *pool.Lane) { l.Size, l.Warm = 4, 1 }))
				refused := 0
				for {
					asked := time.Now()
					_, err := p.Run(t.Context(), request("Get-User"))
					if err == nil {
						break
					}
					refused++
					assert.Equal(t, ps.KindUnavailable, kind(err))
					assert.LessOrEqual(t, time.Since(asked), 10*time.Second)
					time.Sleep(time.Second)
				}
				dark := time.Since(began) - c.lasts
				t.Logf("dark for %s after the cause was gone, %d refused", dark, refused)
				assert.LessOrEqual(t, dark, 15*time.Second)
				require.NoError(t, p.Close(t.Context()))
				assert.Zero(t, m.live.Load())
			})
		})
	}
}

// A request during the first start waits for it, within its own limit. If the limit passes,
// the error says that the first session is starting.
func TestRequestsWaitForTheFirstSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started atomic.Int64
		p := open(t, loaded(t, 30*time.Second), func(c *pool.Config) {
			c.Started = func(ps.Lane) { started.Add(1) }
			lane(func(l *pool.Lane) { l.Warm = 1 })(c)
		})
		began := time.Now()
		var all sync.WaitGroup
		all.Go(func() {
			patient := request("Get-User")
			patient.Wait = time.Minute
			_, err := p.Run(t.Context(), patient)
			assert.NoError(t, err)
			assert.LessOrEqual(t, time.Since(began), 31*time.Second)
		})
		synctest.Wait()
		require.ErrorIs(t, p.Starting(ps.Directory), ps.ErrStarting)
		_, why := p.Stats()[ps.Directory].Ready()
		assert.Equal(t, "the first session is starting", why)
		_, err := p.Run(t.Context(), request("Get-User"))
		require.Equal(t, ps.KindUnavailable, kind(err))
		require.ErrorIs(t, err, ps.ErrStarting)
		assert.Positive(t, ps.AsError(err).RetryAfter)
		assert.Equal(t, 10*time.Second, time.Since(began))
		all.Wait()
		require.NoError(t, p.Starting(ps.Directory))
		require.NoError(t, p.Starting("other"))
		require.NoError(t, p.Close(t.Context()))
		assert.Positive(t, started.Load())
	})
}

// Close kills an idle session that does not end in time, and does not fail because of that.
func TestAHungIdleSessionDoesNotFailClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.hang = true
		p := open(t, m, nil)
		_, err := p.Run(t.Context(), request("Get-Quick"))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.NoError(t, p.Close(ctx))
		assert.Zero(t, m.live.Load())
	})
}

// No matter what happens concurrently, all requests get an answer and all sessions end.
func TestClosingInTheMiddleOfEverything(t *testing.T) {
	for at := range 40 {
		synctest.Test(t, func(t *testing.T) {
			m := loaded(t, 500*time.Millisecond)
			p := open(t, m, func(c *pool.Config) { c.Queue = 20; warm(3, 10)(c) })
			var all sync.WaitGroup
			for i := range 30 {
				all.Go(func() {
					for range 20 {
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*50*time.Millisecond)
						req := request([]string{"Get-User", "Get-Dying", "Get-Quick"}[i%3])
						req.List, req.Write = i%4 == 0, i%5 == 0
						_, _ = p.Run(ctx, req)
						cancel()
						time.Sleep(time.Millisecond)
					}
				})
			}
			time.Sleep(time.Duration(at) * 37 * time.Millisecond)
			if at%2 == 0 {
				p.Drain()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(at)*time.Millisecond)
			defer cancel()
			_ = p.Close(ctx)
			assert.Zero(t, m.live.Load())
			all.Wait()
			assert.Zero(t, p.Stats()[ps.Directory].Waiting)
			assert.LessOrEqual(t, m.most.Load(), int64(3))
		})
	}
}
