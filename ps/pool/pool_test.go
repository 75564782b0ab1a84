package pool_test

import (
	"context"
	"encoding/json"
	"errors"
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

func open(t *testing.T, m *maker, change func(*pool.Config)) *pool.Pool {
	t.Helper()
	cfg := pool.Config{
		Lanes: map[ps.Lane]pool.Lane{ps.Directory: {Start: m.Start, Size: 3, Starts: 10, Warm: -1}},
	}
	if change != nil {
		change(&cfg)
	}
	p, err := pool.New(cfg)
	require.NoError(t, err)
	return p
}

func lane(change func(*pool.Lane)) func(*pool.Config) {
	return func(c *pool.Config) {
		l := c.Lanes[ps.Directory]
		change(&l)
		c.Lanes[ps.Directory] = l
	}
}

func request(script string) ps.Request { return ps.Request{Script: script, Lane: ps.Directory} }

func kind(err error) ps.Kind {
	if err == nil {
		return ""
	}
	return ps.AsError(err).Kind
}

func TestSessionsAreReusedLastInFirstOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		p := open(t, m, nil)
		for range 10 {
			_, err := p.Run(t.Context(), request("Get-Quick"))
			require.NoError(t, err)
		}
		assert.EqualValues(t, 1, m.starts.Load())
		_, err := p.Run(t.Context(), request("Get-Failing"))
		assert.Equal(t, "not_found", ps.AsError(err).Gateway)
		assert.EqualValues(t, 1, m.live.Load(), "an error record is no surprise")
		require.NoError(t, p.Close(t.Context()))
		assert.Zero(t, m.live.Load())
		assert.EqualValues(t, 1, m.closed.Load())
	})
}

func TestTheLaneSizeIsNeverExceededDuringReplacement(t *testing.T) {
	m := newMaker(t)
	p := open(t, m, func(c *pool.Config) {
		c.Queue = 1000
		lane(func(l *pool.Lane) { l.MaxRequests = 2 })(c)
	})
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for i := range 50 {
				script := "Get-Quick"
				if i%10 == 9 {
					script = "Get-Dying"
				}
				_, _ = p.Run(t.Context(), request(script))
			}
		})
	}
	callers.Wait()
	require.NoError(t, p.Close(t.Context()))
	assert.LessOrEqual(t, m.most.Load(), int64(3))
	assert.Zero(t, m.live.Load())
}

func TestAStartContinuesAfterItsCallerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.start = func(ctx context.Context, _ int64) error {
			select {
			case <-time.After(8 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		p := open(t, m, func(c *pool.Config) { c.MaxWait = time.Minute })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Run(ctx, request("Get-Quick"))
		assert.Equal(t, ps.KindCancelled, kind(err))
		began := time.Now()
		time.Sleep(8 * time.Second)
		synctest.Wait()
		_, err = p.Run(t.Context(), request("Get-Quick"))
		require.NoError(t, err)
		assert.Equal(t, 8*time.Second, time.Since(began))
		assert.EqualValues(t, 1, m.starts.Load())
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestAWaiterTakesASessionThatBecomesFreeBeforeItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.start = func(ctx context.Context, n int64) error {
			if n == 1 {
				return nil
			}
			select {
			case <-time.After(8 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		p := open(t, m, func(c *pool.Config) { c.MaxWait = time.Minute })
		go func() { _, _ = p.Run(t.Context(), request("Get-Slow")) }()
		synctest.Wait()
		began := time.Now()
		_, err := p.Run(t.Context(), request("Get-Quick"))
		require.NoError(t, err)
		assert.Equal(t, 5*time.Second, time.Since(began))
		time.Sleep(4 * time.Second)
		synctest.Wait()
		stats := p.Stats()[ps.Directory]
		assert.Equal(t, 2, stats.Idle, "the other start went on")
		assert.EqualValues(t, 2, m.starts.Load())
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestAWaiterTakesASessionStartedForACallerWhoIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.start = func(ctx context.Context, n int64) error {
			select {
			case <-time.After(time.Duration(n*n) * 8 * time.Second): // 8 s, then 32 s
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		p := open(t, m, func(c *pool.Config) { c.MaxWait = time.Minute; c.Sweep = time.Hour })
		began := time.Now()
		leaving, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		var left sync.WaitGroup
		left.Go(func() {
			_, err := p.Run(leaving, request("Get-Quick"))
			assert.Equal(t, ps.KindCancelled, kind(err))
		})
		synctest.Wait()
		_, err := p.Run(t.Context(), request("Get-Quick"))
		require.NoError(t, err)
		assert.Equal(t, 8*time.Second, time.Since(began))
		assert.EqualValues(t, 2, m.starts.Load())
		left.Wait()
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestFailingStartsBackOffAndRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		broken := atomic.Bool{}
		broken.Store(true)
		m.start = func(context.Context, int64) error {
			if broken.Load() {
				return &ps.Error{Kind: ps.KindUnavailable, Message: "module is missing"}
			}
			return nil
		}
		p := open(t, m, lane(func(l *pool.Lane) { l.Warm = 2 }))
		synctest.Wait()
		_, err := p.Run(t.Context(), request("Get-Quick"))
		e := ps.AsError(err)
		assert.Equal(t, ps.KindUnavailable, e.Kind)
		assert.Contains(t, e.Error(), "module is missing")
		assert.Positive(t, e.RetryAfter)
		assert.Equal(t, ps.OutcomeNone, e.Outcome)
		assert.EqualValues(t, 1, m.starts.Load(), "what is wrong for good is not tried again at once")
		ready, why := p.Stats()[ps.Directory].Ready()
		assert.False(t, ready)
		assert.Contains(t, why, "module is missing")

		time.Sleep(time.Hour)
		synctest.Wait()
		starts := m.starts.Load()
		assert.Greater(t, starts, int64(300), "tried about every 10 s")
		assert.Less(t, starts, int64(400))
		assert.Contains(t, p.Stats()[ps.Directory].Reason, "module is missing")

		broken.Store(false)
		time.Sleep(12 * time.Second)
		synctest.Wait()
		stats := p.Stats()[ps.Directory]
		assert.Empty(t, stats.Reason)
		assert.Equal(t, 2, stats.Idle)
		ready, why = stats.Ready()
		assert.True(t, ready, why)
		_, err = p.Run(t.Context(), request("Get-Quick"))
		require.NoError(t, err)
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestRequestsWaitForLivingSessionsWhileStartsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.start = func(_ context.Context, n int64) error {
			if n > 1 {
				return errors.New("no more")
			}
			return nil
		}
		p := open(t, m, func(c *pool.Config) { c.MaxWait = time.Minute })
		go func() { _, _ = p.Run(t.Context(), request("Get-Slow")) }()
		synctest.Wait()
		began := time.Now()
		_, err := p.Run(t.Context(), request("Get-Quick"))
		require.NoError(t, err)
		assert.Equal(t, 5*time.Second, time.Since(began))
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestSessionsRetire(t *testing.T) {
	cases := []struct {
		name   string
		lane   func(*pool.Lane)
		use    func(t *testing.T, m *maker, p *pool.Pool)
		reason string
	}{
		{"after so many requests", func(l *pool.Lane) { l.MaxRequests = 3 }, func(t *testing.T, _ *maker, p *pool.Pool) {
			for range 3 {
				_, err := p.Run(t.Context(), request("Get-Quick"))
				require.NoError(t, err)
			}
		}, "requests"},
		{"after a time, idle", func(l *pool.Lane) { l.MaxAge = time.Minute }, func(t *testing.T, _ *maker, p *pool.Pool) {
			_, err := p.Run(t.Context(), request("Get-Quick"))
			require.NoError(t, err)
			time.Sleep(62 * time.Second)
		}, "age"},
		{"after a time, busy", func(l *pool.Lane) { l.MaxAge = 4 * time.Second }, func(t *testing.T, _ *maker, p *pool.Pool) {
			_, err := p.Run(t.Context(), request("Get-Slow"))
			require.NoError(t, err)
		}, "age"},
		{"when too large", func(l *pool.Lane) { l.MaxMemory = 100 }, func(t *testing.T, m *maker, p *pool.Pool) {
			_, err := p.Run(t.Context(), request("Get-Quick"))
			require.NoError(t, err)
			m.session(0).size.Store(101)
			_, err = p.Run(t.Context(), request("Get-Quick"))
			require.NoError(t, err)
		}, "memory"},
		{"when they die idle", func(*pool.Lane) {}, func(t *testing.T, m *maker, p *pool.Pool) {
			_, err := p.Run(t.Context(), request("Get-Quick"))
			require.NoError(t, err)
			m.session(0).end()
		}, "died"},
		{"when they die at work", func(*pool.Lane) {}, func(t *testing.T, _ *maker, p *pool.Pool) {
			write := request("Get-Dying")
			write.Write = true
			_, err := p.Run(t.Context(), write)
			assert.Equal(t, ps.KindDied, kind(err))
		}, "died"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMaker(t)
				p := open(t, m, lane(c.lane))
				c.use(t, m, p)
				synctest.Wait()
				stats := p.Stats()[ps.Directory]
				assert.Equal(t, map[string]int64{c.reason: 1}, stats.Ended)
				assert.Zero(t, m.live.Load())
				_, err := p.Run(t.Context(), request("Get-Quick"))
				require.NoError(t, err)
				require.NoError(t, p.Close(t.Context()))
			})
		})
	}
}

func TestAReadIsRetriedIfItsSessionDiesBeforeAnswering(t *testing.T) {
	cases := []struct {
		name, script string
		write        bool
		kind         ps.Kind
		starts       int64
	}{
		{name: "a read", script: "Get-DyingOnce", starts: 2},
		{name: "a read that kills every session", script: "Get-Dying", kind: ps.KindDied, starts: 2},
		{name: "a read that had answered", script: "Get-DyingAfterRecords", kind: ps.KindDied, starts: 1},
		{name: "a write", script: "Get-DyingOnce", write: true, kind: ps.KindDied, starts: 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMaker(t)
				p := open(t, m, nil)
				req := request(c.script)
				req.Write = c.write
				_, err := p.Run(t.Context(), req)
				assert.Equal(t, c.kind, kind(err))
				assert.Equal(t, c.starts, m.starts.Load())
				require.NoError(t, p.Close(t.Context()))
			})
		})
	}
}

// All idle sessions die at the same time, and the pool has not been told yet.
func TestNoRequestGetsASessionThatDiedUnnoticed(t *testing.T) {
	for _, write := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := newMaker(t)
			m.notice = make(chan struct{})
			p := open(t, m, nil)
			var calls sync.WaitGroup
			for range 3 {
				calls.Go(func() {
					_, err := p.Run(t.Context(), request("Get-Slow"))
					assert.NoError(t, err)
				})
			}
			calls.Wait()
			require.EqualValues(t, 3, m.live.Load())
			for n := range 3 {
				m.session(n).end()
			}
			req := request("Get-Quick")
			req.Write = write
			_, err := p.Run(t.Context(), req)
			assert.NoError(t, err)
			synctest.Wait()
			stats := p.Stats()[ps.Directory]
			assert.Zero(t, stats.Retries)
			assert.Equal(t, 1, stats.Idle)
			assert.EqualValues(t, 4, m.starts.Load())
			close(m.notice)
			require.NoError(t, p.Close(t.Context()))
		})
	}
}

func TestACanceledReadKeepsItsSessionIfItEndsInTime(t *testing.T) {
	for _, c := range []struct {
		grace time.Duration
		alive int64
	}{{time.Second, 0}, {10 * time.Second, 1}} {
		synctest.Test(t, func(t *testing.T) {
			m := newMaker(t)
			p := open(t, m, func(cfg *pool.Config) { cfg.Grace = c.grace })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			_, err := p.Run(ctx, request("Get-Slow"))
			assert.Equal(t, ps.KindCancelled, kind(err))
			assert.Equal(t, time.Second, time.Since(began), "the caller is not kept")
			time.Sleep(20 * time.Second)
			synctest.Wait()
			assert.Equal(t, c.alive, m.live.Load())
			require.NoError(t, p.Close(t.Context()))
		})
	}
}

func TestAWriteIsNotCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, newMaker(t), nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		write := request("Get-Slow")
		write.Write = true
		_, err := p.Run(ctx, write)
		require.NoError(t, err)

		write.Limit = 2 * time.Second
		_, err = p.Run(t.Context(), write)
		assert.Equal(t, ps.KindTimeout, kind(err), "it has its own limit")

		_, err = p.Run(ctx, write)
		assert.Equal(t, ps.KindCancelled, kind(err), "it has not begun")
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestNoRecordArrivesAfterCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.scripts["Get-Trickle"] = func(_ context.Context, _ *fake, req ps.Request) (*ps.Result, error) {
			for range 20 {
				time.Sleep(100 * time.Millisecond)
				if err := req.Records(json.RawMessage(`[]`)); err != nil {
					return nil, err
				}
			}
			return &ps.Result{}, nil
		}
		p := open(t, m, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 550*time.Millisecond)
		defer cancel()
		req := request("Get-Trickle")
		var got atomic.Int64
		req.Records = func(json.RawMessage) error { got.Add(1); return nil }
		_, err := p.Run(ctx, req)
		assert.Equal(t, ps.KindCancelled, kind(err))
		assert.EqualValues(t, 5, got.Load())
		time.Sleep(time.Minute)
		assert.EqualValues(t, 5, got.Load())
		assert.EqualValues(t, 1, m.live.Load())
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestCloseFinishesRunningAndRejectsWaitingRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		p := open(t, m, lane(func(l *pool.Lane) { l.Size = 1 }))
		var calls sync.WaitGroup
		calls.Go(func() {
			_, err := p.Run(t.Context(), request("Get-Slow"))
			assert.NoError(t, err)
		})
		synctest.Wait()
		calls.Go(func() {
			_, err := p.Run(t.Context(), request("Get-Quick"))
			assert.Equal(t, ps.KindUnavailable, kind(err))
		})
		synctest.Wait()
		require.NoError(t, p.Close(t.Context()))
		calls.Wait()
		assert.Zero(t, m.live.Load())
		_, err := p.Run(t.Context(), request("Get-Quick"))
		assert.Equal(t, ps.KindUnavailable, kind(err))
		require.NoError(t, p.Close(t.Context()), "closing twice")
	})
}

func TestDrainRejectsWaitingRequestsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		p := open(t, m, func(c *pool.Config) { c.MaxWait = time.Minute })
		began := time.Now()
		var calls sync.WaitGroup
		run := func(name string, req ps.Request, kind_ ps.Kind, after time.Duration) {
			calls.Go(func() {
				_, err := p.Run(t.Context(), req)
				assert.Equal(t, kind_, kind(err), "%s: %v", name, err)
				assert.Equal(t, after, time.Since(began), name)
				assert.Equal(t, kind_ != "", errors.Is(err, ps.ErrClosing), name)
			})
			synctest.Wait()
		}
		list, settle := request("Get-Slow"), request("Get-Quick")
		list.List, settle.Settles = true, true
		run("a list that runs", list, "", 5*time.Second)
		run("another", list, "", 5*time.Second)
		run("a list that waits", list, ps.KindUnavailable, time.Second)
		run("a read that runs", request("Get-Slow"), "", 5*time.Second)
		run("a read that waits", request("Get-Quick"), ps.KindUnavailable, time.Second)
		run("what settles another", settle, "", 5*time.Second)
		time.Sleep(time.Second)
		p.Drain()
		synctest.Wait()
		run("one that comes late", request("Get-Quick"), ps.KindUnavailable, time.Second)
		run("what settles late", settle, "", 5*time.Second)
		calls.Wait()
		run("one that need not wait", request("Get-Quick"), "", 5*time.Second)
		calls.Wait()
		require.NoError(t, p.Close(t.Context()))
		assert.Zero(t, m.live.Load())
	})
}

func TestCloseCutsOffWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		p := open(t, m, nil)
		var calls sync.WaitGroup
		calls.Go(func() {
			write := request("Get-Slow")
			write.Write = true
			_, err := p.Run(t.Context(), write)
			assert.Equal(t, ps.KindDied, kind(err))
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, p.Close(ctx), context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(began))
		calls.Wait()
		assert.Zero(t, m.live.Load())
	})
}

func TestCloseCancelsStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.start = func(ctx context.Context, _ int64) error { <-ctx.Done(); return ctx.Err() }
		p := open(t, m, lane(func(l *pool.Lane) { l.Warm = 1 }))
		synctest.Wait()
		assert.Equal(t, 1, p.Stats()[ps.Directory].Starting)
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestNewRejectsAnIncompleteConfig(t *testing.T) {
	_, err := pool.New(pool.Config{})
	require.Error(t, err)
	_, err = pool.New(pool.Config{Lanes: map[ps.Lane]pool.Lane{ps.DNS: {}}})
	require.Error(t, err)
	p := open(t, newMaker(t), nil)
	_, err = p.Run(t.Context(), ps.Request{Lane: "other", Script: "Get-Quick"})
	assert.Equal(t, ps.KindInternal, kind(err))
	require.NoError(t, p.Close(t.Context()))
}
