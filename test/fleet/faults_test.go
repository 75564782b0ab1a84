package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/test/failing"
	"adgateway/test/systemtest"
)

// TestNothingIsLostWhateverFails runs a cluster in network namespaces, and injects FAULTS random faults with
// the seed SEED, while clients of every kind use the cluster. At the end, all answers and all data must
// agree. The test does not change the clocks of nodes, because the NATS server reads the time in many places.
func TestNothingIsLostWhateverFails(t *testing.T) {
	faults := systemtest.Number(t, "FAULTS", 0)
	if faults == 0 {
		t.Skip("make soak runs it: it needs root, iproute2 and its time")
	}
	_, err := exec.LookPath("ip")
	require.NoError(t, err, "iproute2 is needed")
	seed := uint64(systemtest.Number(t, "SEED", rand.IntN(1_000_000)))
	label := fmt.Sprintf("SEED=%d FAULTS=%d", seed, faults)
	t.Log(label)
	f := newDomainIn(t, newNetwork(t), quick...)
	f.found()
	for _, h := range f.hosts {
		h.gateway.plan.Clock = filepath.Join(h.folder, "clock")
		f.setClock(h, 0)
		h.node.start()
		h.gateway.start()
	}
	f.whole()
	b := newBusy(f, seed)
	working, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.run(working)
	}()
	series := failing.Series{Seed: seed, Faults: faults, Longest: time.Minute, Log: t.Logf}
	kinds := series.Happen(t.Context(),
		func(rnd *rand.Rand) []failing.Fault { return gatewayFaults(f, rnd) },
		func(rnd *rand.Rand) []failing.Fault { return nodeFaults(f, rnd) },
		func(rnd *rand.Rand) []failing.Fault { return networkFaults(f, rnd) })
	f.rightClocks()
	stop()
	f.whole()
	<-ended
	f.whole()
	b.check(label)
	t.Logf("faults:%s", kinds)
}

// aHost returns the number of a random host. The leader's host is more likely than any other host.
func aHost(f *fleet, rnd *rand.Rand) int {
	n := rnd.IntN(size)
	if rnd.IntN(2) == 0 {
		if leader := f.leader(); leader != nil {
			n = slices.Index(f.hosts, leader)
		}
	}
	return n
}

// gatewayFaults returns possible faults of a gateway.
func gatewayFaults(f *fleet, rnd *rand.Rand) []failing.Fault {
	var gateways []*process
	for _, h := range f.hosts {
		gateways = append(gateways, h.gateway)
	}
	h := f.hosts[aHost(f, rnd)]
	offsets := []time.Duration{time.Second, 30 * time.Second, time.Hour, 400 * 24 * time.Hour}
	offset := offsets[rnd.IntN(len(offsets))] * time.Duration(1-2*rnd.IntN(2))
	back := rnd.IntN(2) == 0
	return append(faultsOf(h.gateway, "gateway", gateways),
		failing.New("set a clock", h.name, time.Second, 15*time.Second, func() {
			f.rightClocks() // at most one clock is wrong
			f.setClock(h, offset)
		}, func() {
			if back {
				f.setClock(h, 0)
			}
		}))
}

// nodeFaults returns possible faults of a node.
func nodeFaults(f *fleet, rnd *rand.Rand) []failing.Fault {
	var nodes []*process
	for _, h := range f.hosts {
		nodes = append(nodes, h.node)
	}
	return faultsOf(nodes[rnd.IntN(size)], "node", nodes)
}

// faultsOf returns possible faults of a process, and of all processes of its kind together.
func faultsOf(p *process, kind string, all []*process) []failing.Fault {
	each := func(do func(*process)) func() {
		return func() {
			for _, p := range all {
				do(p)
			}
		}
	}
	name := p.plan.Name
	return []failing.Fault{
		failing.New("kill a "+kind, name, failing.Soon, 8*time.Second, p.kill, p.start),
		failing.New("kill every "+kind, "all", failing.Soon, 2*time.Second,
			each((*process).kill), each((*process).start)),
		failing.New("stop a "+kind, name, failing.Soon, 2*time.Second, p.stop, p.start),
		failing.New("freeze a "+kind, name, time.Second/2, 20*time.Second,
			func() { p.freeze(true) }, func() { p.freeze(false) }),
	}
}

// networkFaults returns possible faults of the network of a host.
func networkFaults(f *fleet, rnd *rand.Rand) []failing.Fault {
	i := aHost(f, rnd)
	self, others := []string{f.network.ips[i]}, f.network.others(i)
	one := others[rnd.IntN(len(others))]
	fault := func(kind string, set func(on bool)) failing.Fault {
		return failing.New(kind, f.hosts[i].name, time.Second, 15*time.Second,
			func() { set(true) }, func() { set(false) })
	}
	return []failing.Fault{
		fault("cut a host off", func(on bool) { f.network.away(i, on) }),
		fault("no other host hears a host", func(on bool) { f.network.mute(i, others, on) }),
		fault("one other host does not hear a host", func(on bool) { f.network.mute(i, []string{one}, on) }),
		fault("a host hears no other", func(on bool) {
			for other := range f.hosts {
				if other != i {
					f.network.mute(other, self, on)
				}
			}
		}),
		fault("the domain does not hear a host", func(on bool) { f.network.mute(i, []string{f.network.own}, on) }),
	}
}
