package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/journal"
	"adgateway/gateway/journal/journaltest"
	"adgateway/gateway/store"
)

// bubble runs a test with a cluster in virtual time.
func bubble(t *testing.T, size int, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t, size)) })
}

func TestTheFirstNameLeadsWhenAllStart(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		start := time.Now()
		assert.Equal(t, "a", w.startAll().name)
		took := time.Since(start)
		assert.GreaterOrEqual(t, took, silence)
		assert.Less(t, took, silence+silenceRank)
		for _, h := range w.others(w.hosts[0]) {
			w.until(time.Second, func() bool { return h.running().m.Status().Leader == "a" })
			s := h.running().m.Status()
			assert.Equal(t, Follower, s.Role)
			assert.Equal(t, "a:1", s.Hop)
			assert.Zero(t, s.Leaderless)
			assert.EqualValues(t, 1, s.Term)
		}
	})
}

func TestWhenTheLeaderIsKilledTheNextOneLeads(t *testing.T) {
	for _, size := range []int{3, 5} {
		bubble(t, size, func(t *testing.T, w *world) {
			for _, next := range []string{"b", "c"} {
				w.leaderOrWait().kill()
				killed := time.Now()
				if size == 3 && next == "c" {
					w.hosts[0].start() // comes back, and ranks first again
					next = "a"
				}
				assert.Equal(t, next, w.untilLed().name)
				assert.LessOrEqual(t, time.Since(killed), 4500*time.Millisecond)
			}
		})
	}
}

// TestWaitersForALeaderAreWoken: the first sign of a leader, an entry or a beat, wakes the waiters.
func TestWaitersForALeaderAreWoken(t *testing.T) {
	for _, by := range []string{"entry", "beat"} {
		t.Run(by, func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, w *world) {
				a, c := w.startAll(), w.hosts[2]
				m := c.running().m
				known := func() bool { s := m.Status(); return s.Leader != "" && s.Hop != "" }
				w.until(time.Second, known)
				c.running().client.Cut()
				w.network.separate(a, c, true) // otherwise a would hear c, which would lead first
				w.until(time.Minute, func() bool { return !known() })
				woken := make(chan time.Time, 1)
				go func() {
					for {
						changed := m.Changed()
						if known() {
							woken <- time.Now()
							return
						}
						<-changed
					}
				}()
				if by == "entry" {
					c.running().client.Mend()
				} else {
					w.network.separate(a, c, false)
				}
				w.until(time.Minute, known)
				heard := time.Now()
				assert.LessOrEqual(t, (<-woken).Sub(heard), time.Millisecond)
			})
		})
	}
}

func (w *world) leaderOrWait() *host {
	if w.hosts[0].starts == 0 {
		return w.startAll()
	}
	return w.untilLed()
}

func TestALaterRankWaitsLonger(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		a := w.startAll()
		w.hosts[1].running().client.Cut() // cannot claim
		a.kill()
		killed := time.Now()
		assert.Equal(t, "c", w.untilLed().name)
		assert.Greater(t, time.Since(killed), silence)
		assert.Less(t, time.Since(killed), silence+2*silenceRank)
	})
}

func TestOfTwoThatClaimAtOnceOneLeads(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		for i, h := range w.hosts { // no gateway hears another one, so each believes that it ranks first
			for _, other := range w.hosts[:i] {
				w.network.separate(h, other, true)
			}
		}
		w.startAll()
		for range 1000 { // they only see each other through the log
			time.Sleep(10 * time.Millisecond)
			w.leader()
		}
		for _, h := range w.hosts {
			assert.EqualValues(t, 1, h.running().m.Status().Term)
		}
	})
}

func TestAnEntryThatIsFoundCountsAsHeardNow(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a, b := w.startAll(), w.hosts[1]
		w.network.separate(a, b, true)
		b.running().client.Cut()
		time.Sleep(time.Minute)
		require.Equal(t, a, w.leader())
		b.running().client.Mend() // its claim has been on the way since then
		for range 1000 {
			time.Sleep(10 * time.Millisecond)
			require.Equal(t, a, w.leader())
		}
		assert.EqualValues(t, 1, b.running().m.Status().Term)
	})
}

func TestAClaimEndsWhenALeaderIsHeard(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a, b := w.startAll(), w.hosts[1]
		w.network.separate(a, b, true)
		b.running().client.Cut()
		time.Sleep(time.Minute)
		assert.Equal(t, Claiming, b.running().m.Status().Role)
		assert.Empty(t, b.running().m.Status().Leader)
		assert.InDelta(t, time.Minute, b.running().m.Status().Leaderless, float64(time.Second))
		w.network.separate(a, b, false)
		time.Sleep(time.Second)
		assert.Equal(t, Follower, b.running().m.Status().Role)
		assert.Equal(t, "a", b.running().m.Status().Leader)
	})
}

func TestALeaderThatLosesTheLogDoesNotProveItself(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		a := w.startAll()
		a.running().client.Cut()
		cut := time.Now()
		w.until(proofLasts+ticking, func() bool { _, ok := a.running().m.Leads(); return !ok })
		next := w.untilLed() // its beats continue, so the others wait until it gives up
		assert.NotEqual(t, a, next)
		assert.Less(t, time.Since(cut), writerHangs+proofLasts)
		a.running().client.Mend()
		w.until(time.Second, func() bool { return a.running().m.Status().Leader == next.name })
	})
}

func TestALeaderThatLosesLogAndMessagesIsReplaced(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		a := w.startAll()
		a.running().client.Cut()
		for _, h := range w.others(a) {
			w.network.separate(a, h, true)
		}
		cut := time.Now()
		assert.Equal(t, "b", w.untilReplaced(a).name)
		assert.LessOrEqual(t, time.Since(cut), 4500*time.Millisecond)
		_, err := a.running().change("x", 0)
		assert.ErrorIs(t, err, ErrNotLeader)
	})
}

func TestAcknowledgementsThatAreLostDoNotDepose(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		a := w.startAll()
		n := 0
		a.running().client.Fates(func(uint64, []byte, int) journaltest.Fate {
			if n++; n%3 == 0 {
				return journaltest.Fate{Silent: true}
			}
			return journaltest.Fate{Late: time.Duration(n%3) * 300 * time.Millisecond}
		})
		for range 20 {
			_, err := a.running().change("x", time.Millisecond)
			assert.NoError(t, err)
		}
		assert.EqualValues(t, 1, a.running().m.Status().Term)
	})
}

func TestABatchThatArrivesLateOpensNoScript(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.startAll()
		p := a.running()
		p.client.Fates(func(uint64, []byte, int) journaltest.Fate { return journaltest.Fate{Lost: true} })
		time.AfterFunc(goAfterSending+time.Second, func() { p.client.Fates(nil) })
		_, late := p.change("x", time.Millisecond)
		assert.ErrorIs(t, late, ErrLate)
		_, err := p.change("x", time.Millisecond)
		assert.NoError(t, err)
	})
}

func TestADeposedLeaderLearnsItFromTheLog(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a, b := w.startAll(), w.hosts[1]
		w.network.separate(a, b, true)
		b.running().m.mu.Lock()
		b.running().m.successor = 1 // claims as if it had been named
		b.running().m.mu.Unlock()
		w.until(time.Second, func() bool { return b.running().m.Status().Role == Leader })
		synctest.Wait()
		assert.Equal(t, Follower, a.running().m.Status().Role)
		assert.Equal(t, "b", a.running().m.Status().Leader)
	})
}

func TestADeposedLeaderLearnsItFromAMessage(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.startAll()
		from := journal.Process{Gateway: "b", Start: "new"}
		a.running().inbox <- Message{From: from, Number: 1, Beat: &Beat{Term: 2}}
		synctest.Wait()
		_, ok := a.running().m.Leads()
		assert.False(t, ok)
	})
}

func TestAWriterThatHangsIsReplaced(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		hung := make(chan struct{})
		defer close(hung)
		hangs := false
		a := w.startAll(func(h *host, o *Options) {
			if h.name == "a" {
				o.Touch = func(ctx context.Context) error {
					if hangs {
						<-hung // a stuck store does not end with its context
						return nil
					}
					p := h.running()
					_, err := p.m.Append(ctx, nil, time.Now())
					return err
				}
			}
		})
		hangs = true
		since := time.Now()
		assert.Equal(t, "b", w.untilReplaced(a).name)
		assert.Less(t, time.Since(since), writerHangs+2*proofEvery)
		w.hosts[1].kill()
		assert.Equal(t, "c", w.untilReplaced(a).name, "who hangs does not lead again")
		assert.Equal(t, Follower, a.running().m.Status().Role)
	})
}

func TestALeaderWithAnEndlessScriptIsReplaced(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.startAll()
		run, err := a.running().m.Begin(10 * time.Second)
		require.NoError(t, err)
		require.NoError(t, run.Store(func() error { return nil }))
		require.NoError(t, run.Go())
		time.Sleep(19 * time.Second)
		require.Equal(t, a, w.leader())
		w.until(2*time.Second, func() bool { l := w.leader(); return l != nil && l != a })
		assert.Equal(t, Deposed, a.running().m.Status().Role)
		w.hosts[1].kill()
		time.Sleep(time.Minute)
		assert.Nil(t, w.leader(), "its script still runs")
		run.End()
		assert.Equal(t, a, w.untilLed())
	})
}

func TestMessagesOfStrangersCountForNothing(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.startAll()
		m, now := a.running().m, time.Now()
		m.hear(Message{From: journal.Process{Gateway: "z"}, Number: 1, Beat: &Beat{Term: 9, Leads: true}}, now, now)
		m.hear(Message{From: journal.Process{Gateway: "a", Start: "twin"}, Number: 1, Beat: &Beat{Term: 9}}, now,
			now)
		s := m.Status()
		assert.Equal(t, []string{"z", "a"}, s.Strangers)
		assert.EqualValues(t, 1, s.Term)
		m.SetGateways([]string{"a"})
		assert.Empty(t, m.Status().Gateways)
		m.hear(Message{From: w.hosts[1].running().self, Number: 1 << 40, Beat: &Beat{Term: 9}}, now, now)
		assert.EqualValues(t, 1, m.Status().Term)
	})
}

func TestAGatewayThatIsRemovedDoesNotLead(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.startAll()
		for _, h := range w.hosts {
			h.running().m.SetGateways([]string{"b"})
		}
		assert.Equal(t, "b", w.untilReplaced(a).name)
		assert.True(t, a.running().m.Status().Unlisted)
		assert.False(t, w.hosts[1].running().m.Status().Unlisted)
		w.hosts[1].kill()
		time.Sleep(time.Minute)
		assert.Nil(t, w.leader())
		assert.EqualValues(t, 2, a.running().m.Status().Term)
	})
}

func TestTermsOfAnotherStreamCountForNothing(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		m, now := w.startAll().running().m, time.Now()
		beat := Beat{Term: 9, Leads: true, Position: store.Point{Journal: "before", Sequence: 100}}
		m.hear(Message{From: journal.Process{Gateway: "b", Start: "new"}, Number: 1, Beat: &beat}, now, now)
		_, ok := m.Leads()
		assert.True(t, ok)
	})
}

func TestOldMessagesCountForNothing(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		m := w.startAll().running().m
		old, next := journal.Process{Gateway: "b", Start: "old"}, journal.Process{Gateway: "b", Start: "next"}
		beat := func(p journal.Process, number uint64, hop string) {
			m.hear(Message{From: p, Number: number, Beat: &Beat{Hop: hop}}, time.Now(), time.Now())
		}
		beat(old, 5, "5")
		beat(old, 4, "4")
		assert.Equal(t, "5", m.Status().Gateways[0].Beat.Hop)
		beat(next, 1, "next")
		beat(old, 6, "6")
		assert.Equal(t, "next", m.Status().Gateways[0].Beat.Hop)
	})
}

func TestALogThatCannotBeFollowedIsRepaired(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.hosts[0]
		a.start()
		w.untilLed()
		time.Sleep(10 * time.Second)
		messages := uint64(len(w.nodes.Messages()))
		w.nodes.Forget(messages - 1)
		var causes []error
		w.hosts[1].start(func(h *host, o *Options) {
			o.Repair = func(_ context.Context, cause error) (Log, error) {
				causes = append(causes, cause)
				point, err := a.disk.Point()
				h.disk.mu.Lock()
				defer h.disk.mu.Unlock()
				h.disk.point = point
				return h.running().log(), err
			}
		})
		w.until(10*time.Second, func() bool { return w.hosts[1].running().m.Status().Position.Sequence > messages })
		require.Len(t, causes, 1)
		assert.ErrorIs(t, causes[0], journal.ErrBehind)
	})
}
