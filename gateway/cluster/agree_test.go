package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// skew moves a host's wall clock forward.
func (h *host) skew(by time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wall = func() time.Time { return time.Now().Add(by) }
}

func TestMostWallClocksAgree(t *testing.T) {
	for name, c := range map[string]struct {
		skews []time.Duration
		want  []bool
	}{
		"all":          {[]time.Duration{0, 9 * time.Second, -time.Second}, []bool{true, true, true}},
		"one is wrong": {[]time.Duration{0, time.Hour, -time.Second}, []bool{true, false, true}},
		"none agrees":  {[]time.Duration{0, time.Hour, -400 * 24 * time.Hour}, []bool{false, false, false}},
		"two of four":  {[]time.Duration{0, 0, time.Hour, time.Hour}, []bool{false, false, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, len(c.skews), func(t *testing.T, w *world) {
				for i, h := range w.hosts {
					h.skew(c.skews[i])
				}
				w.startAll()
				var got []bool
				for _, h := range w.hosts {
					got = append(got, h.running().m.Agree())
				}
				assert.Equal(t, c.want, got)
				ahead := w.hosts[0].running().m.Status().Gateways[0].Ahead
				assert.InDelta(t, c.skews[1]-c.skews[0], ahead, float64(time.Second))
			})
		})
	}
}

func TestAGatewayAloneIsNoMajority(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		w.startAll()
		assert.True(t, w.hosts[2].running().m.Agree())
		w.hosts[0].kill()
		w.hosts[1].kill()
		time.Sleep(silence + ticking)
		assert.False(t, w.hosts[2].running().m.Agree())
	})
}

func TestLogTimeAfterAllWereDown(t *testing.T) {
	for name, c := range map[string]struct {
		size, start int           // gateways of the cluster, and gateways that start again
		down        time.Duration // according to the first one's wall clock
		others      time.Duration // how far the wall clocks of the others are ahead of the true time
		unset       bool          // log time is not raised
	}{
		"for a short time one clock is enough": {3, 1, 50 * time.Minute, 0, false},
		"for longer it is not":                 {3, 1, 2 * time.Hour, 0, true},
		"two that agree are enough":            {3, 2, 2 * time.Hour, 2 * time.Hour, false},
		"two that differ are not":              {3, 2, 400 * 24 * time.Hour, 0, true},
		"a cluster of one has just its own":    {1, 1, 400 * 24 * time.Hour, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, c.size, func(t *testing.T, w *world) {
				w.startAll()
				time.Sleep(10 * time.Second)
				for _, h := range w.hosts {
					h.kill()
					h.skew(c.others)
				}
				w.hosts[0].skew(c.down)
				for _, h := range w.hosts[:c.start] {
					h.start()
				}
				a := w.untilLed()
				time.Sleep(5 * time.Second)
				m := a.running().m
				assert.Equal(t, c.unset, m.Status().ClockUnset)
				want := time.Now()
				if !c.unset {
					want = want.Add(c.down)
				}
				assert.InDelta(t, 0, m.o.Clock.Now().Sub(want), float64(10*time.Second))
			})
		})
	}
}

func TestTheFollowerOfAnUnsetClockReportsIt(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		w.startAll()
		for _, h := range w.hosts {
			h.kill()
		}
		w.hosts[0].skew(2 * time.Hour)
		w.hosts[1].skew(4 * time.Hour)
		a := w.hosts[0]
		a.start()
		w.untilLed()
		w.hosts[1].start()
		time.Sleep(5 * time.Second)
		require.True(t, a.running().m.Status().ClockUnset)
		a.kill()
		b := w.untilLed()
		time.Sleep(time.Second)
		assert.True(t, b.running().m.Status().ClockUnset)
	})
}

func TestLogTimeGoesOnAfterATakeover(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		a := w.startAll()
		for _, h := range w.others(a) {
			h.skew(400 * 24 * time.Hour)
		}
		time.Sleep(10 * time.Second)
		a.kill()
		b := w.untilLed()
		time.Sleep(10 * time.Second)
		m := b.running().m
		assert.False(t, m.Status().ClockUnset)
		assert.InDelta(t, 0, time.Until(m.o.Clock.Now()), float64(5*time.Second), "no wall clock is followed")
	})
}

func TestTheFormatIsTheLeastOfAllGateways(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		reads := map[string]int{"a": 3, "b": 1, "c": 2}
		a := w.startAll(func(h *host, o *Options) { o.Reads = reads[h.name] })
		m := a.running().m
		assert.Equal(t, 1, m.Format())
		time.Sleep(10 * time.Second)
		w.hosts[1].kill()
		time.Sleep(10 * time.Second)
		assert.Equal(t, 1, m.Format(), "it may come back")
		a.disk.mu.Lock()
		assert.Len(t, a.disk.seen, 3)
		b := a.disk.seen["b"]
		b.Time = b.Time.Add(-formatsOf)
		a.disk.seen["b"] = b
		a.disk.mu.Unlock()
		assert.Equal(t, 2, m.Format(), "it was away too long")
		m.SetGateways([]string{"a", "b"})
		assert.Equal(t, 3, m.Format(), "c has left")
	})
}

func TestAGatewayThatReadsTooLittleDoesNotLead(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.startAll(func(h *host, o *Options) {
			if o.Reads = 1; h.name == "a" {
				o.Reads = 2
			}
		})
		b := w.hosts[1].running().m
		b.mu.Lock()
		b.hearBeat(a.running().self, &Beat{Term: 1, Leads: true, Writes: 2}, time.Now())
		b.mu.Unlock()
		a.kill()
		time.Sleep(time.Minute)
		assert.Nil(t, w.leader())
		a.start()
		assert.Equal(t, a, w.untilLed())
	})
}
