package pool_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/pool"
)

// computer is a computer with two processors that the starts of sessions share.
type computer struct{ busy atomic.Int64 }

// burn uses the given amount of processor time.
func (c *computer) burn(ctx context.Context, need time.Duration) error {
	const processors, tick = 2, 10 * time.Millisecond
	c.busy.Add(1)
	defer c.busy.Add(-1)
	for need > 0 {
		select {
		case <-time.After(tick):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		need -= tick * processors / time.Duration(max(c.busy.Load(), processors))
	}
	return nil
}

// TestStartsAreStaggered: if five sessions that each need 5 s of processor time are requested together, the
// first is ready before the others. If they were started at the same time, all would be ready only after 12.5
// s.
func TestStartsAreStaggered(t *testing.T) {
	for _, starts := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			const alone, sessions = 5 * time.Second, 5
			m, shared := newMaker(t), &computer{}
			var ready []time.Duration
			var mu sync.Mutex
			begun := time.Now()
			m.start = func(ctx context.Context, _ int64) error {
				err := shared.burn(ctx, alone)
				mu.Lock()
				defer mu.Unlock()
				ready = append(ready, time.Since(begun))
				return err
			}
			p := open(t, m, func(c *pool.Config) {
				c.MaxWait = time.Minute
				lane(func(l *pool.Lane) { l.Size, l.Starts = sessions, starts })(c)
			})
			for range sessions {
				go func() { _, _ = p.Run(t.Context(), request("Get-Slow")) }()
			}
			time.Sleep(time.Minute)
			mu.Lock()
			assert.Len(t, ready, sessions)
			assert.LessOrEqual(t, ready[0], alone*13/10)
			assert.LessOrEqual(t, ready[sessions-1], sessions*alone*11/10)
			mu.Unlock()
			assert.NoError(t, p.Close(context.Background()))
		})
	}
}

// TestAStartThatHangsHoldsUpNobodyForLong: if a start hangs, the next one begins after a limited time.
func TestAStartThatHangsHoldsUpNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.start = func(ctx context.Context, n int64) error {
			if n == 1 {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			time.Sleep(time.Second / 2) // the second start begins when the run below has waited long enough
			return nil
		}
		p := open(t, m, func(c *pool.Config) {
			c.MaxWait = 10 * time.Second
			lane(func(l *pool.Lane) { l.Size, l.Starts = 2, 1 })(c)
		})
		_, err := p.Run(t.Context(), request("Get-Quick"))
		assert.Error(t, err)
		time.Sleep(time.Second)
		_, err = p.Run(t.Context(), request("Get-Quick"))
		assert.NoError(t, err)
		assert.NoError(t, p.Close(context.Background()))
	})
}
