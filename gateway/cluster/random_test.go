package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/journal"
	"adgateway/gateway/journal/journaltest"
)

// TestRandomFaultsKeepTheInvariants: random faults of every kind never violate the invariants. At most one
// gateway is certain to lead, no script begins to write to an object with another open attempt, each attempt
// is closed once, and the log contains every acknowledged entry. In the end all gateways agree, and nothing
// is open.
func TestRandomFaultsKeepTheInvariants(t *testing.T) {
	seeds := 10
	if testing.Short() {
		seeds = 3
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, w *world) { w.anything(rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

// random is the state of one run of TestRandomFaultsKeepTheInvariants.
type random struct {
	*world
	*rand.Rand
	mends []later
}

// later is an action to take at a certain time.
type later struct {
	at time.Time
	do func()
}

func (w *world) anything(r *rand.Rand) {
	const lasts = 3 * time.Minute
	run := &random{world: w, Rand: r}
	w.network.lossy(rand.New(rand.NewPCG(r.Uint64(), 2)), 0.05, 200*time.Millisecond)
	for _, h := range w.hosts {
		h.reaches("ad", "dns")
		run.begin(h)
	}
	for end := time.Now().Add(lasts); time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		w.leader() // fails if there are two
		run.mends = slices.DeleteFunc(run.mends, func(l later) bool {
			due := !time.Now().Before(l.at)
			if due {
				l.do()
			}
			return due
		})
		if run.IntN(20) == 0 {
			run.changeAnywhere()
		}
		if run.IntN(400) == 0 {
			run.fault()
		}
	}
	for _, mend := range run.mends {
		mend.do()
	}
	w.network.lossy(r, 0, 0)
	for _, h := range w.hosts {
		h.resume()
		h.reaches("ad", "dns")
		if h.running() == nil {
			run.begin(h)
		}
		h.running().client.Fates(nil)
	}
	time.Sleep(3 * time.Minute)
	run.check()
}

// begin starts a gateway with an unreliable connection to the nodes.
func (r *random) begin(h *host) {
	p := h.start()
	p.judging = time.Duration(r.IntN(3000)) * time.Millisecond
	fates := rand.New(rand.NewPCG(r.Uint64(), 3))
	p.client.Fates(func(uint64, []byte, int) journaltest.Fate {
		switch fates.IntN(40) {
		case 0:
			return journaltest.Fate{Lost: true}
		case 1:
			return journaltest.Fate{Silent: true}
		case 2:
			return journaltest.Fate{Late: time.Duration(fates.IntN(6000)) * time.Millisecond}
		}
		return journaltest.Fate{}
	})
}

// changeAnywhere changes one of a few objects at one of the gateways.
func (r *random) changeAnywhere() {
	p := r.hosts[r.IntN(len(r.hosts))].running()
	if p == nil {
		return
	}
	object, takes := fmt.Sprint(r.IntN(6)), time.Duration(r.IntN(5000))*time.Millisecond
	p.ended.Go(func() { _, _ = p.change(object, takes) })
}

// fault injects one temporary fault into a gateway.
func (r *random) fault() {
	h := r.hosts[r.IntN(len(r.hosts))]
	p, other := h.running(), r.hosts[r.IntN(len(r.hosts))]
	mend := func() {}
	if p == nil {
		r.begin(h)
		return
	}
	switch r.IntN(8) {
	case 0, 1:
		h.resume() // so nobody waits for its end
		h.kill()
		mend = func() {
			if h.running() == nil {
				r.begin(h)
			}
		}
	case 2:
		h.suspend()
		mend = h.resume
	case 3:
		p.client.Cut()
		mend = p.client.Mend
	case 4:
		p.client.Cut()
		for _, other := range r.others(h) {
			r.network.separate(h, other, true)
		}
		mend = func() {
			p.client.Mend()
			for _, other := range r.others(h) {
				r.network.separate(h, other, false)
			}
		}
	case 5:
		r.network.separate(h, other, true)
		mend = func() { r.network.separate(h, other, false) }
	case 6:
		h.reaches("ad")
		mend = func() { h.reaches("ad", "dns") }
	case 7:
		p.ended.Go(func() { _ = p.m.HandOver(p.ctx) })
	}
	r.mends = append(r.mends, later{time.Now().Add(time.Duration(r.IntN(40_000)) * time.Millisecond), mend})
}

// check checks the invariants of the final state.
func (r *random) check() {
	t := r.t
	leads := r.leader()
	require.NotNil(t, leads)
	_, err := leads.running().change("last", 0)
	require.NoError(t, err)
	synctest.Wait()
	reference := newDisk(r.world)
	log := journal.New(r.nodes.Client(), reference, journaltest.Options())
	require.NoError(t, log.CatchUp(t.Context()))
	for id, k := range reference.attempts {
		assert.NotEmpty(t, k.verdict, "attempt %s is still open", id)
		if known := r.opened[id]; k.verdict == "none" {
			assert.Zero(t, known.wrote, "attempt %s has written, and its verdict is none", id)
		}
	}
	for _, id := range r.acked {
		require.NotNil(t, reference.attempts[id], id)
		assert.Equal(t, "done", reference.attempts[id].verdict, id)
	}
	assert.NotEmpty(t, r.acked)
	for _, h := range r.hosts {
		assert.Equal(t, reference.attempts, h.disk.attempts, h.name)
		assert.Zero(t, h.running().m.Status().Reports, h.name)
	}
	t.Log(len(r.acked), "changes acknowledged,", len(r.opened), "begun,", leads.running().m.Status().Term,
		"terms")
}
