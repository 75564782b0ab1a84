package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// background makes a change in a goroutine. id returns the id of the attempt, and end waits until the change
// has ended.
func (p *process) background(object string, takes time.Duration) (id func() string, end func() error) {
	started, ended := make(chan string, 1), make(chan error, 1)
	p.ended.Go(func() {
		id, err := p.changeOf(object, takes, started)
		_ = id
		ended <- err
	})
	got := ""
	return func() string {
			if got == "" {
				got = <-started
			}
			return got
		}, func() error {
			return <-ended
		}
}

func TestAnAttemptOfADeadProcess(t *testing.T) {
	const limit = 15 * time.Second
	for name, c := range map[string]struct {
		// time from when the new leader accepts changes until the gateway restarts; negative for never
		restart time.Duration
		judged  time.Duration // when the attempt is judged, after the same moment
	}{
		"is judged when all its limits are over":               {-1, goAfterSending + limit + killTakes + settles},
		"is judged when a new process has run for long enough": {time.Second, time.Second + settles},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, w *world) {
				a := w.startAll()
				id, _ := a.running().background("x", time.Hour)
				require.NotEmpty(t, id())
				a.kill()
				b := w.untilReplaced(a)
				began := time.Now()
				assert.Equal(t, 1, b.running().m.Status().Open)
				_, err := b.running().change("x", 0)
				assert.ErrorIs(t, err, errBusy, "the attempt may still write")
				_, err = b.running().change("y", 0)
				assert.NoError(t, err, "nothing else has to wait")
				if c.restart >= 0 {
					time.Sleep(time.Until(began.Add(c.restart)))
					a.start()
				}
				w.until(2*time.Minute, func() bool { return !b.running().isOpen(id()) })
				assert.InDelta(t, c.judged, time.Since(began), float64(time.Second))
				assert.Equal(t, "judged", b.disk.attempt(id()).verdict)
				assert.Zero(t, b.running().m.Status().Open)
				_, err = b.running().change("x", 0)
				assert.NoError(t, err)
			})
		})
	}
}

func TestOnlyTheLeaderHasAttempts(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		a := w.startAll()
		id, _ := a.running().background("x", time.Hour)
		require.NotEmpty(t, id())
		a.kill()
		b := w.untilReplaced(a)
		require.Equal(t, 1, b.running().m.Status().Open)
		require.NoError(t, b.running().m.HandOver(t.Context()))
		assert.Zero(t, b.running().m.Status().Open)
		assert.Equal(t, 1, w.untilReplaced(b).running().m.Status().Open)
	})
}

func TestAnAttemptOfTheOwnLastProcess(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		a := w.startAll()
		id, _ := a.running().background("x", time.Hour)
		require.NotEmpty(t, id())
		a.kill()
		a.start()
		started := time.Now()
		w.untilLed()
		w.until(2*time.Minute, func() bool { return !a.running().isOpen(id()) })
		assert.InDelta(t, settles, time.Since(started), float64(time.Second))
	})
}

func TestADeposedLeaderReportsItsRuns(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		a := w.startAll()
		id, end := a.running().background("x", 12*time.Second)
		require.NotEmpty(t, id())
		time.Sleep(time.Second)
		a.running().client.Cut()
		for _, h := range w.others(a) {
			w.network.separate(a, h, true)
		}
		b := w.untilReplaced(a)
		a.running().client.Mend() // it learns from the log that it was deposed
		w.until(time.Second, func() bool { return a.running().m.Status().Role == Deposed })
		assert.ErrorIs(t, end(), errUnknown, "its script goes on to its end, and another gateway judges")
		time.Sleep(5 * time.Second)
		assert.True(t, b.running().isOpen(id()))
		assert.Equal(t, 1, a.running().m.Status().Reports, "repeated as it is not acknowledged")
		for _, h := range w.others(a) {
			w.network.separate(a, h, false)
		}
		w.until(2*time.Second, func() bool { return a.running().m.Status().Reports == 0 })
		assert.Equal(t, "done", b.disk.attempt(id()).verdict)
		assert.Empty(t, b.disk.attempt(id()).raced)
		assert.Equal(t, Follower, a.running().m.Status().Role)
	})
}

func TestADeposedLeaderThatLeadsAgainReportsToItself(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a, b := w.startAll(), w.hosts[1]
		id, end := a.running().background("x", 12*time.Second)
		require.NotEmpty(t, id())
		a.running().client.Cut()
		w.network.separate(a, b, true)
		w.untilReplaced(a)
		a.running().client.Mend()
		b.kill()
		require.Equal(t, a, w.untilLed())
		assert.NoError(t, end(), "the attempt is open and it leads: it closes it itself")
		assert.Equal(t, "done", a.disk.attempt(id()).verdict)
	})
}

func TestAReportIsKeptUntilThisGatewayLeadsAgain(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a, b := w.startAll(), w.hosts[1]
		id, end := a.running().background("x", 12*time.Second)
		require.NotEmpty(t, id())
		a.running().client.Cut()
		w.network.separate(a, b, true)
		w.untilReplaced(a)
		a.running().client.Mend()
		assert.ErrorIs(t, end(), errUnknown)
		b.kill()
		w.untilLed()
		w.until(time.Second, func() bool { return a.running().m.Status().Reports == 0 })
		assert.Equal(t, "done", a.disk.attempt(id()).verdict)
	})
}

// usurp lets a gateway lead as if the leader had named it, and waits until it leads. The leader, which has
// not resigned, may write an entry before the gateway's claim, which ends the claim.
func (w *world) usurp(h *host) {
	w.t.Helper()
	m := h.running().m
	w.until(time.Second, func() bool {
		if m.Status().Role == Leader {
			return true
		}
		m.mu.Lock()
		m.successor = m.term
		m.mu.Unlock()
		return false
	})
}

func TestAnAttemptOfALivingProcessWaitsForItsReport(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a, b := w.startAll(), w.hosts[1]
		time.Sleep(2 * settles)
		id, end := a.running().background("x", 14*time.Second)
		require.NotEmpty(t, id())
		w.usurp(b)
		time.Sleep(10 * time.Second)
		assert.True(t, b.running().isOpen(id()))
		w.usurp(a)
		time.Sleep(time.Second)
		assert.True(t, a.running().isOpen(id()), "this process runs the script itself")
		assert.NoError(t, end())
		assert.Equal(t, "done", a.disk.attempt(id()).verdict)
	})
}

func TestAReportThatComesBeforeTheAttemptsAreRead(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a, b := w.startAll(), w.hosts[1]
		id, end := a.running().background("x", time.Second)
		require.NotEmpty(t, id())
		b.running().mu.Lock()
		b.running().opens = 3
		b.running().mu.Unlock()
		w.usurp(b)
		assert.ErrorIs(t, end(), errUnknown)
		w.until(5*time.Second, func() bool { return a.running().m.Status().Reports == 0 })
		assert.Equal(t, "done", b.disk.attempt(id()).verdict)
	})
}

func TestAReportOfAnotherProcessCountsForNothing(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		a := w.startAll()
		id, _ := a.running().background("x", time.Hour)
		require.NotEmpty(t, id())
		a.kill()
		b := w.untilLed()
		c := w.others(b)[1].running()
		c.m.Report(Report{Attempt: id(), Result: []byte("none")})
		time.Sleep(5 * time.Second)
		assert.True(t, b.running().isOpen(id()))
		w.until(2*time.Minute, func() bool { return !b.running().isOpen(id()) })
		assert.Equal(t, "judged", b.disk.attempt(id()).verdict)
	})
}

func TestAReportRepeatedAfterALostAcknowledgementCountsOnce(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.startAll()
		id, end := a.running().background("x", 12*time.Second)
		require.NotEmpty(t, id())
		a.running().client.Cut()
		w.network.separate(a, w.hosts[1], true)
		b := w.untilReplaced(a)
		a.running().client.Mend()
		require.Error(t, end())
		w.network.mu.Lock()
		w.network.cut["ab"] = false // but not the other way
		w.network.mu.Unlock()
		w.until(5*time.Second, func() bool { return !b.running().isOpen(id()) })
		time.Sleep(5 * time.Second)
		assert.Equal(t, 1, a.running().m.Status().Reports)
		w.network.separate(a, b, false)
		w.until(5*time.Second, func() bool { return a.running().m.Status().Reports == 0 })
		assert.Equal(t, "done", b.disk.attempt(id()).verdict)
		assert.Empty(t, b.disk.attempt(id()).raced)
	})
}

func TestASuspendedLeaderMayWriteWhatWasInFlight(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		a := w.startAll()
		objects := []string{"1", "2", "3", "4"}
		var ids []string
		var ends []func() error
		for _, object := range objects {
			id, end := a.running().background(object, time.Second)
			ids, ends = append(ids, id()), append(ends, end)
		}
		a.suspend()
		b := w.untilReplaced(a)
		for _, id := range ids {
			w.until(2*time.Minute, func() bool { return !b.running().isOpen(id) })
			assert.Equal(t, "judged", b.disk.attempt(id).verdict)
		}
		wrote := len(w.written())
		a.resume()
		_, err := a.running().change("5", 0)
		for _, end := range ends {
			assert.ErrorIs(t, end(), errUnknown)
		}
		assert.Error(t, err)
		w.until(5*time.Second, func() bool { return a.running().m.Status().Reports == 0 })
		for _, id := range ids {
			assert.Equal(t, []string{"done"}, b.disk.attempt(id).raced)
		}
		assert.Zero(t, wrote)
		assert.ElementsMatch(t, ids, w.written(), "at most what was in flight")
	})
}

func TestAJudgmentThatFailsIsTriedAgain(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.startAll()
		id, _ := a.running().background("x", time.Hour)
		require.NotEmpty(t, id())
		a.kill()
		b := w.untilLed()
		b.running().mu.Lock()
		b.running().fails = 3
		b.running().mu.Unlock()
		w.until(2*time.Minute, func() bool { return !b.running().isOpen(id()) })
		assert.Zero(t, b.running().fails)
	})
}

func TestNothingIsAcceptedBeforeTheOpenAttemptsAreLocked(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.startAll()
		id, _ := a.running().background("x", time.Hour)
		require.NotEmpty(t, id())
		b := w.hosts[1].running()
		b.mu.Lock()
		b.opens = 5
		b.mu.Unlock()
		a.kill()
		w.until(time.Minute, func() bool { return b.m.Status().Role == Leader })
		for range 10 {
			_, err := b.change("x", 0)
			assert.ErrorIs(t, err, ErrNotLeader)
			_, ok := b.m.Leads()
			assert.False(t, ok)
			time.Sleep(retries / 4)
		}
		w.untilLed()
		_, err := b.change("x", 0)
		assert.ErrorIs(t, err, errBusy)
	})
}
