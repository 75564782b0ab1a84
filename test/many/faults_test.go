package many

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"adgateway/gateway/engine/enginetest"

	"github.com/stretchr/testify/assert"
)

// faultPlan says which faults happen, by its random numbers.
type faultPlan struct {
	most         int
	every, lasts time.Duration // a fault lasts at most so long
	kind         string        // empty: all
	ofNodes      bool          // gateways are left alone
	random       *rand.Rand
}

// fault is what goes wrong with a gateway or a node, by its number. It returns what ends
// it; nil: the process is killed, and started again.
type fault struct {
	name   string
	ofNode bool
	begin  func(f *fleet, i int, random *rand.Rand) (end func())
}

// faults are those that a plan chooses from.
var faults = []fault{
	{"kill", false, nil},
	{"kill", true, nil},
	{"stop", false, func(f *fleet, i int, _ *rand.Rand) func() { return f.gateways[i].stop() }},
	{"stop", true, func(f *fleet, i int, _ *rand.Rand) func() { return f.nodes[i].stop() }},
	{"cut", false, func(f *fleet, i int, _ *rand.Rand) func() {
		f.toEngine(i, func(w *enginetest.Wire) { w.Hold(true) })
		return func() { f.toEngine(i, func(w *enginetest.Wire) { w.Hold(false) }) }
	}},
	{"cut", true, func(f *fleet, i int, _ *rand.Rand) func() {
		f.between.Cut(i, true)
		return func() { f.between.Cut(i, false) }
	}},
	{"slow", false, func(f *fleet, i int, random *rand.Rand) func() {
		late := time.Duration(1+random.IntN(80)) * time.Millisecond
		f.toEngine(i, func(w *enginetest.Wire) { w.Delay(late) })
		return func() { f.toEngine(i, func(w *enginetest.Wire) { w.Delay(0) }) }
	}},
	{"deaf", false, func(f *fleet, i int, _ *rand.Rand) func() {
		f.toEngine(i, func(w *enginetest.Wire) { w.HoldAnswers(true) })
		return func() { f.toEngine(i, func(w *enginetest.Wire) { w.HoldAnswers(false) }) }
	}},
	{"double", false, mischief(enginetest.Mischief{Double: 0.3})},
	{"late", false, mischief(enginetest.Mischief{Late: 0.1, Double: 0.1, By: 5 * time.Second})}, // longer than the driver waits
	{"clock", false, nil}, // it is killed, and has another clock from then on
}

// mischief returns the begin of a fault of what a gateway and the engine tell each other.
func mischief(m enginetest.Mischief) func(*fleet, int, *rand.Rand) func() {
	return func(f *fleet, i int, _ *rand.Rand) func() {
		f.toEngine(i, func(w *enginetest.Wire) { w.Mischief(m) })
		return func() { f.toEngine(i, func(w *enginetest.Wire) { w.Mischief(enginetest.Mischief{}) }) }
	}
}

// toEngine calls do with the wires of a gateway to the engine.
func (f *fleet) toEngine(i int, do func(*enginetest.Wire)) {
	for _, w := range f.wires[i] {
		do(w)
	}
}

// stop lets a process stand still until what it returns is called. The signals for that have
// no names on Windows.
func (p *process) stop() (goOn func()) {
	p.told("STOP")
	return func() { p.told("CONT") }
}

// told sends a signal by its name to a process, which may have ended.
func (p *process) told(signal string) {
	p.mu.Lock()
	command := p.command
	p.mu.Unlock()
	if command == nil {
		return
	}
	if out, err := exec.Command("kill", "-"+signal, strconv.Itoa(command.Process.Pid)).CombinedOutput(); err != nil {
		p.t.Logf("kill -%s %s: %v %s", signal, p.plan.Name, err, out)
	}
}

// clocks are by how much clocks are ahead.
var clocks = []time.Duration{0, 1500 * time.Millisecond, -1500 * time.Millisecond, 5 * time.Second, -5 * time.Second, 5 * time.Minute, -5 * time.Minute}

// fail lets faults happen to gateways and nodes, never to two nodes at a time, as more than
// that is not promised, until there were enough of them or the clients are over. All have
// ended when it returns.
func (f *fleet) fail(ctx context.Context, over <-chan struct{}, plan faultPlan) (happened []string) {
	var ending sync.WaitGroup
	defer ending.Wait()
	var nodes, gateways [members]atomic.Bool // something is wrong with them
	for range plan.most {
		select {
		case <-over:
			return happened
		case <-ctx.Done():
			return happened
		case <-time.After(plan.every):
		}
		one, i := faults[plan.random.IntN(len(faults))], plan.random.IntN(members)
		lasts := time.Duration(plan.random.Int64N(int64(plan.lasts)))
		late := clocks[plan.random.IntN(len(clocks))]
		for plan.kind != "" && one.name != plan.kind || plan.ofNodes && !one.ofNode {
			one = faults[plan.random.IntN(len(faults))]
		}
		p, busy := f.gateways[i], &gateways[i]
		if one.ofNode {
			p, busy = f.nodes[i], &nodes[i]
			if slices.ContainsFunc([]int{0, 1, 2}, func(k int) bool { return nodes[k].Load() }) {
				continue
			}
		}
		if busy.Swap(true) {
			continue
		}
		what := fmt.Sprintf("%s %s %s", one.name, p.plan.Name, lasts.Round(time.Millisecond))
		if one.name == "clock" {
			what = fmt.Sprintf("clock %s %s", p.plan.Name, late)
		}
		happened = append(happened, what)
		if one.begin != nil {
			end := one.begin(f, i, plan.random)
			ending.Go(func() {
				pause(ctx, lasts)
				end()
				busy.Store(false)
			})
			continue
		}
		p.signal(syscall.SIGKILL)
		if one.name == "clock" {
			p.plan.Clock = late
		}
		ending.Go(func() {
			defer busy.Store(false)
			if one.ofNode {
				pause(ctx, min(lasts, time.Second))
			}
			assert.NoError(f.t, p.again(ctx))
		})
	}
	return happened
}
