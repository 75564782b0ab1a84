package replicas

import (
	"math/rand/v2"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/engine/enginetest"
	"adgateway/test/failing"
)

// each calls hold for some wires, or releases them.
func each(wires []*enginetest.Wire, hold func(*enginetest.Wire, bool), on bool) func() {
	return func() {
		for _, wire := range wires {
			hold(wire, on)
		}
	}
}

const soon = failing.Soon

func (p *process) kill()   { p.end(syscall.SIGKILL) }
func (p *process) stop()   { p.end(syscall.SIGTERM) }
func (p *process) pause()  { p.freeze(true) }
func (p *process) resume() { p.freeze(false) }

// gatewayFaults returns the possible faults of a gateway.
func (w *world) gatewayFaults(g *member, rnd *rand.Rand) []failing.Fault {
	all := append(append([]*enginetest.Wire{}, g.log...), g.beats...)
	cut := func(kind string, wires []*enginetest.Wire, hold func(*enginetest.Wire, bool)) failing.Fault {
		return failing.New(kind, g.name, time.Second, 15*time.Second,
			each(wires, hold, true), each(wires, hold, false))
	}
	one := rnd.IntN(size)
	offsets := []time.Duration{time.Second, 30 * time.Second, time.Hour, 400 * 24 * time.Hour}
	offset := offsets[rnd.IntN(len(offsets))] * time.Duration(1-2*rnd.IntN(2))
	return []failing.Fault{
		failing.New("kill a gateway", g.name, soon, 8*time.Second, g.kill, g.run),
		failing.New("kill all gateways", "all", soon, 2*time.Second, w.killGateways, w.runGateways),
		failing.New("kill a gateway that has another clock then", g.name, soon, 8*time.Second, func() {
			g.kill()
			w.setClock(g, offset)
		}, g.run),
		failing.New("end a gateway", g.name, soon, 2*time.Second, g.stop, g.run),
		failing.New("freeze a gateway", g.name, time.Second/2, 20*time.Second, g.pause, g.resume),
		cut("cut a gateway off", all, (*enginetest.Wire).Hold),
		cut("cut a gateway off from one node", []*enginetest.Wire{g.log[one], g.beats[one]},
			(*enginetest.Wire).Hold),
		cut("cut the beats of a gateway", g.beats, (*enginetest.Wire).Hold),
		cut("cut the log of a gateway", g.log, (*enginetest.Wire).Hold),
		cut("a gateway hears nothing", all, (*enginetest.Wire).HoldAnswers),
		cut("nobody hears a gateway", all, (*enginetest.Wire).HoldCalls),
		failing.New("set a clock", g.name, time.Second, 15*time.Second, func() { w.setClock(g, offset) }, func() {
			if rnd.IntN(2) == 0 {
				w.setClock(g, 0)
			}
		}),
		failing.New("hand over", g.name, soon, time.Second, func() {
			w.call(g, http.MethodPost, "/handover", 5*time.Second)
		}, func() {}),
	}
}

func (w *world) killGateways() {
	for _, g := range w.gateways {
		g.kill()
	}
}

func (w *world) runGateways() {
	for _, g := range w.gateways {
		g.run()
	}
}

// setClock sets the wall clock of a gateway and corrects all other wall clocks, so that at most one is wrong.
func (w *world) setClock(g *member, offset time.Duration) {
	for _, other := range w.gateways {
		text := "0s"
		if other == g {
			text = offset.String()
		}
		assert.NoError(w.t, os.WriteFile(other.offset+".new", []byte(text), 0o600))
		assert.NoError(w.t, os.Rename(other.offset+".new", other.offset))
	}
}

// nodeFaults returns the possible faults of a node.
func (w *world) nodeFaults(i int) []failing.Fault {
	n := w.nodes[i]
	cut := func(kind string, hold func(on bool)) failing.Fault {
		return failing.New(kind, n.name, time.Second, 15*time.Second, func() { hold(true) }, func() { hold(false) })
	}
	return []failing.Fault{
		failing.New("kill a node", n.name, soon, 8*time.Second, n.kill, n.run),
		failing.New("kill all nodes", "all", soon, 2*time.Second, func() {
			for _, n := range w.nodes {
				n.kill()
			}
		}, func() {
			for _, n := range w.nodes {
				n.run()
			}
		}),
		failing.New("end a node", n.name, soon, 2*time.Second, n.stop, n.run),
		failing.New("freeze a node", n.name, time.Second/2, 20*time.Second, n.pause, n.resume),
		cut("cut a node off from the others", func(on bool) { w.between.Cut(i, on) }),
		cut("cut a node off from all", func(on bool) {
			w.between.Cut(i, on)
			for _, g := range w.gateways {
				g.log[i].Hold(on)
				g.beats[i].Hold(on)
			}
		}),
		cut("a node hears nothing of what it asks the others", func(on bool) {
			w.between.From(i, func(wire *enginetest.Wire) { wire.HoldAnswers(on) })
		}),
		cut("a node sends nothing to the others it asks", func(on bool) {
			w.between.From(i, func(wire *enginetest.Wire) { wire.HoldCalls(on) })
		}),
	}
}

// aGateway returns a random gateway. The leader is more likely than any other gateway.
func (w *world) aGateway(rnd *rand.Rand) *member {
	if rnd.IntN(2) == 0 {
		if g := w.leader(); g != nil {
			return g
		}
	}
	return w.gateways[rnd.IntN(size)]
}

func (w *world) aNode(rnd *rand.Rand) int {
	if rnd.IntN(2) == 0 {
		leads := w.streamLeader()
		for i, n := range w.nodes {
			if n == leads {
				return i
			}
		}
	}
	return rnd.IntN(size)
}
