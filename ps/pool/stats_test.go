package pool_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/ps"
	"adgateway/ps/pool"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestALaneIsReadyWhileItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.start = func(context.Context, int64) error { time.Sleep(time.Second); return nil }
		p := open(t, m, lane(func(l *pool.Lane) { l.Warm = 1; l.Size = 1; l.MaxAge = -1 }))
		ready := func() (bool, string) { return p.Stats()[ps.Directory].Ready() }
		ok, why := ready()
		assert.False(t, ok)
		assert.Equal(t, "no session has answered yet", why)
		time.Sleep(2 * time.Second)
		ok, why = ready()
		assert.True(t, ok, "a session that has started has answered: %s", why)
		time.Sleep(time.Hour + 10*time.Second) // between two probes
		ok, why = ready()
		assert.True(t, ok, why)
		assert.InDelta(t, 120, m.probes.Load(), 5, "every half minute of silence")

		m.scripts["Get-Endless"] = func(ctx context.Context, f *fake, _ ps.Request) (*ps.Result, error) {
			<-ctx.Done()
			return nil, f.died()
		}
		m.start = func(ctx context.Context, _ int64) error { <-ctx.Done(); return ctx.Err() }
		endless := request("Get-Endless")
		endless.Limit = time.Hour
		go func() { _, _ = p.Run(t.Context(), endless) }()
		time.Sleep(91 * time.Second)
		ok, why = ready()
		assert.False(t, ok)
		assert.Contains(t, why, "no session has answered since 2000-01-01T0")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = p.Close(ctx)
	})
}

func TestTheLogHasEveryRunAndTheAgeOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		logged := map[string]map[string]any{}
		p := open(t, newMaker(t), func(c *pool.Config) {
			lane(func(l *pool.Lane) { l.Size = 1 })(c)
			c.Log = func(message string,
				fields map[string]any) {
				mu.Lock()
				defer mu.Unlock()
				logged[message] = fields
			}
			c.Debug = func(message string, fields func() map[string]any) { c.Log(message, fields()) }
		})
		var calls sync.WaitGroup
		calls.Go(func() { _, _ = p.Run(t.Context(), request("Get-Slow")) })
		synctest.Wait()
		failing := request("Get-Failing")
		failing.ID = "r-1"
		_, err := p.Run(t.Context(), failing)
		require.Error(t, err)
		calls.Wait()
		require.NoError(t, p.Close(t.Context()))
		assert.Equal(t, map[string]any{"request": "r-1", "script": "Get-Failing", "lane": "directory",
			"waited_ms": 5000.0, "took_ms": 0.0, "result": "script"}, logged["a script was run"])
		assert.Equal(t, map[string]any{"lane": "directory", "reason": "closed", "requests": 2, "age_ms": 5000.0},
			logged["a session was ended"])
	})
}

func TestAnIdleSessionThatDoesNotAnswerIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.scripts["Get-Probed"] = func(ctx context.Context, f *fake, _ ps.Request) (*ps.Result, error) {
			if f == m.session(0) {
				<-ctx.Done()
				return nil, f.died()
			}
			return &ps.Result{}, nil
		}
		p := open(t, m, lane(func(l *pool.Lane) { l.Warm = 1 }))
		time.Sleep(40 * time.Second)
		synctest.Wait()
		assert.EqualValues(t, 2, m.starts.Load())
		assert.Equal(t, map[string]int64{"died": 1}, p.Stats()[ps.Directory].Ended)
		ok, why := p.Stats()[ps.Directory].Ready()
		assert.True(t, ok, why)
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestStatsOfALane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, newMaker(t), lane(func(l *pool.Lane) { l.Size = 1 }))
		var calls sync.WaitGroup
		for range 2 {
			calls.Go(func() { _, _ = p.Run(t.Context(), request("Get-Slow")) })
		}
		calls.Wait()
		_, _ = p.Run(t.Context(), request("Get-Failing"))
		s := p.Stats()[ps.Directory]
		assert.EqualValues(t, 3, s.Waits.Count)
		assert.Equal(t, 5*time.Second, s.Waits.Sum)
		assert.EqualValues(t, 2, s.Waits.Within[time.Millisecond])
		assert.EqualValues(t, 3, s.Waits.Within[5*time.Second])
		assert.EqualValues(t, 3, s.Runs.Count)
		assert.Equal(t, 10*time.Second, s.Runs.Sum)
		assert.Equal(t, map[string]int64{"ok": 2, "script": 1}, s.Results)
		require.NoError(t, p.Close(t.Context()))
	})
}
