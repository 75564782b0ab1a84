package pool_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/ps"
	"adgateway/ps/pool"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAWaitThatIsTooLongIsAnOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		p := open(t, m, func(c *pool.Config) { c.MaxWait = 2 * time.Second })
		for range 3 {
			go func() { _, _ = p.Run(t.Context(), request("Get-Slow")) }()
		}
		synctest.Wait()
		began := time.Now()
		_, err := p.Run(t.Context(), request("Get-Quick"))
		require.Equal(t, ps.KindOverloaded, kind(err))
		assert.Equal(t, 2*time.Second, time.Since(began))
		assert.Positive(t, ps.AsError(err).RetryAfter)
		assert.Equal(t, ps.OutcomeNone, ps.AsError(err).Outcome)
		assert.EqualValues(t, 1, p.Stats()[ps.Directory].Overloaded)
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestAFullQueueRejectsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		p := open(t, m, func(c *pool.Config) { c.Queue = 2; c.MaxWait = time.Minute })
		var calls sync.WaitGroup
		for range 5 {
			calls.Go(func() {
				_, err := p.Run(t.Context(), request("Get-Slow"))
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		assert.Equal(t, 2, p.Stats()[ps.Directory].Waiting)
		began := time.Now()
		_, err := p.Run(t.Context(), request("Get-Quick"))
		assert.Equal(t, ps.KindOverloaded, kind(err))
		assert.Zero(t, time.Since(began))
		calls.Wait()
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestListsNeverHoldTheLastSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		p := open(t, m, func(c *pool.Config) { c.MaxWait = time.Minute })
		list := request("Get-Slow")
		list.List = true
		var lists sync.WaitGroup
		for range 6 {
			lists.Go(func() {
				_, err := p.Run(t.Context(), list)
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		assert.Equal(t, 2, p.Stats()[ps.Directory].Busy)
		began := time.Now()
		_, err := p.Run(t.Context(), request("Get-Quick"))
		require.NoError(t, err)
		assert.Zero(t, time.Since(began))
		lists.Wait()
		assert.Equal(t, 15*time.Second, time.Since(began))
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestListsUseAtMostHalfOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, newMaker(t), func(c *pool.Config) { c.Queue = 3; c.MaxWait = time.Minute })
		list := request("Get-Slow")
		list.List = true
		var running sync.WaitGroup
		for range 4 { // two run, two wait
			running.Go(func() {
				_, err := p.Run(t.Context(), list)
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		_, err := p.Run(t.Context(), list)
		assert.Equal(t, ps.KindOverloaded, kind(err))
		for range 2 { // one runs, one waits
			running.Go(func() {
				_, err := p.Run(t.Context(), request("Get-Slow"))
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		assert.Equal(t, 3, p.Stats()[ps.Directory].Waiting)
		running.Wait()
		_, err = p.Run(t.Context(), list)
		require.NoError(t, err, "what has ended takes no room")
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestALaneOfOneSessionStillRunsLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, newMaker(t), lane(func(l *pool.Lane) { l.Size = 1 }))
		list := request("Get-Quick")
		list.List = true
		_, err := p.Run(t.Context(), list)
		require.NoError(t, err)
		require.NoError(t, p.Close(t.Context()))
	})
}
