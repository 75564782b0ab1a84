package cluster

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAHandOverTakesLessThanASecond(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		a := w.startAll()
		start := time.Now()
		require.NoError(t, a.running().m.HandOver(t.Context()))
		next := w.untilReplaced(a)
		assert.Less(t, time.Since(start), time.Second)
		a.kill()
		for range 1000 {
			time.Sleep(10 * time.Millisecond)
			require.Equal(t, next, w.leader())
		}
	})
}

func TestAHandOverWaitsForTheChangesThatRun(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.startAll()
		id, end := a.running().background("x", 2*time.Second)
		require.NotEmpty(t, id())
		left := make(chan error, 1)
		go func() { left <- a.running().m.HandOver(t.Context()) }()
		time.Sleep(time.Second)
		assert.Equal(t, Leaving, a.running().m.Status().Role)
		_, err := a.running().change("y", 0)
		assert.ErrorIs(t, err, ErrNotLeader)
		_, ok := a.running().m.Leads()
		assert.True(t, ok, "its own state is the newest as long as it leads")
		assert.NoError(t, end())
		assert.NoError(t, <-left)
		assert.Equal(t, "b", w.untilLed().name)
		assert.Zero(t, w.hosts[1].running().m.Status().Open)
	})
}

func TestAHandOverWaitsNoLongerThanItsContext(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.startAll()
		id, _ := a.running().background("x", 10*time.Second)
		require.NotEmpty(t, id())
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		_ = a.running().m.HandOver(ctx)
		assert.Equal(t, 2*time.Second, time.Since(start))
		assert.Equal(t, "b", w.untilReplaced(a).name)
		assert.Less(t, time.Since(start), 3*time.Second)
		assert.Equal(t, 1, w.hosts[1].running().m.Status().Open)
	})
}

func TestALeaderWithoutASuccessorGoesOn(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.hosts[0]
		a.start()
		w.untilLed()
		assert.ErrorIs(t, a.running().m.HandOver(t.Context()), ErrNoSuccessor)
		_, err := a.running().change("x", 0)
		assert.NoError(t, err)
		w.hosts[1].start(func(_ *host, o *Options) { o.Reads = 0 })
		time.Sleep(time.Second)
		a.running().m.mu.Lock()
		assert.Empty(t, a.running().m.bestSuccessor(time.Now(), 1), "it reads too little")
		assert.Equal(t, "b", a.running().m.bestSuccessor(time.Now(), 0))
		a.running().m.mu.Unlock()
	})
}

func TestASuccessorThatDiesIsNotWaitedFor(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		a := w.startAll()
		time.Sleep(time.Second)
		w.hosts[1].running().client.Cut() // it is named but cannot claim
		start := time.Now()
		require.NoError(t, a.running().m.HandOver(t.Context()))
		w.untilReplaced(nil)
		assert.Less(t, time.Since(start), silence+3*silenceRank)
	})
}

func TestTheLeaderIsWhereTheControllersAre(t *testing.T) {
	all := []string{"ad", "dns"}
	bubble(t, 3, func(t *testing.T, w *world) {
		for _, h := range w.hosts {
			h.lanes = all
		}
		a := w.startAll()
		time.Sleep(2 * lanesEvery)
		require.Equal(t, a, w.leader())
		a.reaches("ad")
		w.hosts[1].reaches("dns")
		since := time.Now()
		assert.Equal(t, "c", w.untilReplaced(a).name, "b does not reach what a reaches")
		assert.InDelta(t, lanesAfter, time.Since(since), float64(time.Second))
	})
}

func TestControllersThatNobodyReachesMoveNoLeader(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		a := w.startAll()
		for _, h := range w.hosts {
			h.reaches("ad")
		}
		a.reaches()
		w.hosts[1].reaches()
		w.hosts[2].reaches()
		time.Sleep(5 * time.Minute)
		assert.Equal(t, a, w.leader())
	})
}

func TestControllersThatFlapMoveTheLeaderSeldom(t *testing.T) {
	for name, c := range map[string]struct {
		every       time.Duration // interval at which the gateways in turn lose and regain their controllers
		least, most uint64        // number of terms in ten minutes
	}{
		"quickly": {4 * time.Second, 1, 1},
		"slowly":  {15 * time.Second, 5, 10},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, w *world) {
				w.startAll()
				for i := range int(10 * time.Minute / c.every) {
					w.hosts[i%2].reaches("ad")
					w.hosts[(i+1)%2].reaches()
					time.Sleep(c.every)
				}
				terms := w.untilLed().running().m.Status().Term
				assert.GreaterOrEqual(t, terms, c.least)
				assert.LessOrEqual(t, terms, c.most)
			})
		})
	}
}

// TestTimesWithoutChanges measures, at many moments, how long no change can be made.
func TestTimesWithoutChanges(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(h *host)
		most time.Duration
	}{
		"handed over": {func(h *host) { _ = h.running().m.HandOver(context.Background()); h.kill() }, time.Second},
		"killed":      {(*host).kill, 4500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			var took []time.Duration
			for i := range 25 {
				bubble(t, 3, func(t *testing.T, w *world) {
					a := w.startAll()
					time.Sleep(10*time.Second + time.Duration(i)*41*time.Millisecond)
					start := time.Now()
					c.end(a)
					w.until(time.Minute, func() bool {
						next := w.leader()
						if next == nil || next == a {
							return false
						}
						_, err := next.running().change("x", 0)
						return err == nil
					})
					took = append(took, time.Since(start))
				})
			}
			slices.Sort(took)
			t.Logf("median %v, worst %v", took[len(took)/2], took[len(took)-1])
			assert.LessOrEqual(t, took[len(took)-1], c.most)
		})
	}
}
