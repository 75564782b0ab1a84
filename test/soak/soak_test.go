// Package soak lets clients work at random on processes that fail, and compares
// what they were answered with the stores: "make soak".
package soak

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/zones"
	"adgateway/test/systemtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

const (
	soakClients = 32
	soakSlots   = 3                // objects of each kind that a client makes and changes
	soakLimit   = 60 * time.Second // of one request: what takes longer hangs
)

// soakFaults are struck by 5 % of all calls of processes together.
var soakFaults = strings.Join([]string{
	"die-at-intent%0.5", "die-at-step%0.7", "hang-at-step%0.3", "die-after%0.7", "grandchild%0.1", "late%0.5", "noise%0.5", "drip%0.2",
	"stderr-flood%0.1", "Stop-GatewayBefore%0.4", "Stop-GatewayInsideFrame%0.4", "Send-GatewayWrongId%0.2", "Wait-GatewayForever%0.2", "Stop-GatewayInsideHeader%0.2",
}, ",")

// TestSoak lets clients work at random on processes that fail, each on objects
// of its own, and holds what they are told against the store: after each
// change, and in the end against its journal. SOAK is how long (1s), SEED the
// seed of what is asked.
func TestSoak(t *testing.T) {
	duration, seed := time.Second, uint64(1)
	if text := os.Getenv("SOAK"); text != "" {
		var err error
		duration, err = time.ParseDuration(text)
		require.NoError(t, err, "SOAK")
		seed = uint64(time.Now().UnixNano())
	}
	if text := os.Getenv("SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, "SEED")
	}
	t.Logf("seed %d, %s", seed, duration)
	before, memory, routines := goleak.IgnoreCurrent(), systemtest.HeapBytes(), runtime.NumGoroutine()
	p := &systemtest.Processes{Faults: func() string { return soakFaults }, MaxOutput: 8 << 20}
	var told tally
	settled := 0           // writes that were cut off and told as done
	failed, paused := 0, 0 // starts of processes, and those after which there was a pause
	t.Run("clients", func(t *testing.T) {
		j := &soakJournal{written: map[string]bool{}}
		p.World.OnDNSChange = j.recordChanged
		s := p.NewSystem(t, "http.readTimeout=3s", "http.writeTimeout=3s", "http.listTimeout=5s", "http.settleTimeout=10s", "http.settlePause=100ms", "pool.maxWait=30s")
		j.system = s
		n := &systemtest.Nonces{}
		end := time.Now().Add(duration)
		var clients sync.WaitGroup
		all := make([]*soakClient, soakClients)
		for i := range soakClients {
			all[i] = &soakClient{t: t, s: s.In(t), j: j, n: n, told: &told, random: rand.New(rand.NewPCG(seed, uint64(i)))}
			for _, kind := range soakKinds {
				for k := range soakSlots {
					all[i].slots = append(all[i].slots, &soakSlot{kind: kind, name: kind.name(i, k), sure: true})
				}
			}
			clients.Go(func() {
				for time.Now().Before(end) && !t.Failed() {
					all[i].act()
				}
			})
		}
		clients.Wait()
		j.follow()
		for _, client := range all {
			client.audit()
		}
		p.OnlySessionsLeft(t)
		log := s.Log.String()
		settled = strings.Count(log, `"outcome":"done","request"`)
		failed = strings.Count(log, `"msg":"a session could not be started"`)
		paused = failed - strings.Count(log, `"msg":"a session could not be started","pause":"0s"`)
		s.Log.Reset() // it has grown with the requests, and timers may hold it for some seconds yet
	})
	assert.Eventually(t, func() bool { return len(p.Running()) == 0 }, systemtest.Patience, 10*time.Millisecond, "processes are left: %v", p.Running())
	systemtest.NoGoroutinesLeft(t, before)
	p.Server, p.World = nil, sandbox.Options{} // and with them the world, whose journal has grown
	after := systemtest.HeapBytes()
	assert.Eventually(t, func() bool { // timers of the last requests hold the system for some seconds yet
		after = systemtest.HeapBytes()
		return after < memory+systemtest.MaxHeapGrowth
	}, time.Minute, time.Second, "bytes of memory are left")
	// Processes that die one at a time keep nobody from an answer: only after
	// several starts in a row have failed is there a pause, and are requests refused.
	refused := told.unavailable()
	assert.LessOrEqual(t, paused, failed/10+1, "pauses after %d failed starts", failed)
	assert.True(t, refused == 0 || paused > 0, "%d requests were refused without need", refused)
	t.Logf("requests %d (reads %d, writes %d); outcomes of writes: done %d (%d of them settled), none %d, partial %d, unknown %d; errors: %s; longest request %s; failed starts %d (%d with a pause after); heap %d KiB -> %d KiB; goroutines %d -> %d; processes left %d",
		told.reads.Load()+told.writes.Load(), told.reads.Load(), told.writes.Load(), told.done.Load(), settled, told.none.Load(), told.partial.Load(), told.unknown.Load(), told.failures(),
		time.Duration(told.longest.Load()).Round(time.Millisecond), failed, paused, memory>>10, after>>10, routines, runtime.NumGoroutine(), len(p.Running()))
}

// tally counts what clients were told.
type tally struct {
	reads, writes, done, none, partial, unknown atomic.Int64
	longest                                     atomic.Int64 // nanoseconds of a request
	errors                                      sync.Map     // "504 timeout" to *atomic.Int64
}

// unavailable is how many requests were told that nothing can answer them.
func (t *tally) unavailable() (sum int64) {
	t.errors.Range(func(code, n any) bool {
		if strings.HasPrefix(code.(string), "503 ") {
			sum += n.(*atomic.Int64).Load()
		}
		return true
	})
	return sum
}

// failures tells the errors with their numbers.
func (t *tally) failures() string {
	var lines []string
	t.errors.Range(func(code, n any) bool {
		lines = append(lines, fmt.Sprintf("%s: %d", code, n.(*atomic.Int64).Load()))
		return true
	})
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// soakKind is how objects of a kind are worked on. The text of an object is a
// nonce: its description, or what the record points to.
type soakKind struct {
	name   func(client, slot int) string
	create func(name, text string) systemtest.Call
	update func(name, text string) systemtest.Call // nil: such a thing cannot be changed
	remove func(name, text string) systemtest.Call
	read   func(name, text string) systemtest.Call
	list   func(name string) systemtest.Call
	// truth is what the store holds.
	truth func(s *systemtest.System, name, text string) (there bool, stored string, err error)
}

// soakSlot is one object, and what its client knows of it.
type soakSlot struct {
	kind  *soakKind
	name  string
	there bool
	text  string
	sure  bool     // nothing is open
	done  []string // texts that were told as written
	none  []string // and as not written
}

type soakClient struct {
	t      *testing.T
	s      *systemtest.System
	j      *soakJournal
	n      *systemtest.Nonces
	told   *tally
	random *rand.Rand
	slots  []*soakSlot
}

// act makes one request.
func (c *soakClient) act() {
	slot := c.slots[c.random.IntN(len(c.slots))]
	switch pick := c.random.IntN(10); {
	case !slot.sure:
		c.learn(slot)
	case !slot.there && pick < 8:
		text := c.n.Next()
		c.write(slot, slot.kind.create(slot.name, text), true, text)
	case !slot.there:
		c.read(slot)
	case pick < 2:
		c.write(slot, slot.kind.remove(slot.name, slot.text), false, "")
	case pick < 6 && slot.kind.update != nil:
		text := c.n.Next()
		c.write(slot, slot.kind.update(slot.name, text), true, text)
	case pick < 7 && slot.kind.list != nil:
		c.ask(slot.kind.list(slot.name))
		c.told.reads.Add(1)
	default:
		c.read(slot)
	}
}

// ask sends a request, which must be answered in time.
func (c *soakClient) ask(request systemtest.Call) systemtest.Answer {
	start := time.Now()
	a := c.s.Do(request)
	took := time.Since(start)
	assert.Less(c.t, took, soakLimit, "%s %s hangs", request.Method, request.Path)
	for {
		longest := c.told.longest.Load()
		if int64(took) <= longest || c.told.longest.CompareAndSwap(longest, int64(took)) {
			return a
		}
	}
}

// read asks for an object, and holds the answer against what is known.
func (c *soakClient) read(slot *soakSlot) {
	a := c.ask(slot.kind.read(slot.name, slot.text))
	c.told.reads.Add(1)
	switch a.Status {
	case http.StatusOK:
		assert.True(c.t, slot.there, "%s was read, and should not be there", slot.name)
		c.own(slot, a)
	case http.StatusNotFound:
		assert.False(c.t, slot.there, "%s should be there", slot.name)
	default:
		c.failed(a)
	}
}

// own holds that an answer is about the object of the request.
func (c *soakClient) own(slot *soakSlot, a systemtest.Answer) {
	c.n.Only(c.t, slot.text, a.Body)
	assert.Contains(c.t, strings.ToLower(string(a.Body)), strings.ToLower(slot.name), "an answer to another request")
}

// failed holds that an answer is one that a failing process may cause.
func (c *soakClient) failed(a systemtest.Answer) {
	assert.Contains(c.t, []int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, a.Status, "%s", a.Body)
	n, _ := c.told.errors.LoadOrStore(fmt.Sprintf("%d %s %s", a.Status, a.Envelope.Error.Code, a.Envelope.Error.Outcome), &atomic.Int64{})
	n.(*atomic.Int64).Add(1)
}

// write sends a change, and holds what is told of it against the store.
func (c *soakClient) write(slot *soakSlot, request systemtest.Call, there bool, text string) {
	a := c.ask(request)
	c.told.writes.Add(1)
	outcome := "done"
	if a.Status >= 300 {
		c.failed(a)
		require.NotNil(c.t, a.Envelope.Error, "%s", a.Body)
		outcome = a.Envelope.Error.Outcome
	}
	is, stored, err := slot.kind.truth(c.s, slot.name, cmp.Or(text, slot.text))
	if !assert.NoError(c.t, err) {
		return
	}
	about := fmt.Sprintf("%s %s: told %d %s, the store has %t %q, before %t %q; %.600s", request.Method, request.Path, a.Status, outcome, is, stored, slot.there, slot.text, a.Body)
	switch outcome {
	case "done":
		c.told.done.Add(1)
		assert.True(c.t, is == there && (!there || stored == text), "lost: %s", about)
		slot.there = there
		if there {
			slot.text = text
			c.own(slot, a)
			slot.done = append(slot.done, text)
		}
	case "none":
		c.told.none.Add(1)
		assert.True(c.t, is == slot.there && (!is || stored == slot.text), "changed silently: %s", about)
		if text != "" && slot.there {
			slot.none = append(slot.none, text)
		}
	case "partial":
		c.told.partial.Add(1)
		slot.sure = false
	case "unknown":
		c.told.unknown.Add(1)
		slot.sure = false
	default:
		assert.Fail(c.t, "no outcome", about)
	}
	if !slot.sure && text != "" {
		slot.text = text // what may be there now
	}
}

// learn finds out what became of what was left open. The store is asked: a
// record with a target can only be read by it.
func (c *soakClient) learn(slot *soakSlot) {
	is, stored, err := slot.kind.truth(c.s, slot.name, slot.text)
	if assert.NoError(c.t, err) {
		slot.there, slot.text, slot.sure = is, stored, true
	}
}

// audit holds all that a client was told against the store and its journal.
func (c *soakClient) audit() {
	for _, slot := range c.slots {
		if slot.sure {
			is, stored, err := slot.kind.truth(c.s, slot.name, slot.text)
			require.NoError(c.t, err)
			assert.True(c.t, is == slot.there && (!is || stored == slot.text), "%s: the store has %t %q in the end, told was %t %q", slot.name, is, stored, slot.there, slot.text)
		}
		for _, text := range slot.done {
			assert.True(c.t, c.j.has(text), "%s was told as written, and never was", text)
		}
		for _, text := range slot.none {
			assert.False(c.t, c.j.has(text), "%s was told as not written, and was", text)
		}
	}
}

// soakJournal is every text that was ever written to the stores.
type soakJournal struct {
	system *systemtest.System

	mu      sync.Mutex
	written map[string]bool
}

func (j *soakJournal) take(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, nonce := range systemtest.NoncePattern.FindAllString(text, -1) {
		j.written[nonce] = true
	}
}

// recordChanged takes the new text of a DNS record.
func (j *soakJournal) recordChanged(change zones.Change) { j.take(change.After) }

// follow reads the journal of the directory.
func (j *soakJournal) follow() {
	for _, entry := range j.system.World.Directory.Journal(0) {
		for _, object := range entry.Objects {
			for _, change := range object.Changes {
				j.take(strings.Join(change.After, " "))
			}
		}
	}
}

func (j *soakJournal) has(text string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.written[text]
}
