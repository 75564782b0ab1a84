// Package soak lets clients make random calls while processes fail, and compares the answers with the stores.
// It is run by "make soak".
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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/zones"
	"adgateway/test/systemtest"
)

const (
	soakClients = 32
	soakSlots   = 3                // objects of each kind per client
	soakLimit   = 60 * time.Second // of one request
)

// soakFaults contains the faults, which together affect 5 % of all requests to processes.
var soakFaults = strings.Join([]string{
	"die-at-intent%0.5", "die-at-step%0.7", "hang-at-step%0.3", "die-after%0.7", "grandchild%0.1", "late%0.5", "noise%0.5", "drip%0.2",
	"stderr-flood%0.1", "Stop-GatewayBefore%0.4", "Stop-GatewayInsideFrame%0.4", "Send-GatewayWrongId%0.2", "Wait-GatewayForever%0.2", "Stop-GatewayInsideHeader%0.2",
}, ",")

// TestSoak lets each client make random calls for its own objects while processes fail. It compares the
// answers with the store after each change, and with the store's journal at the end. The environment
// variables are SOAK, the duration (default 1s), and SEED, the seed of the requests.
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
	var counts tally
	settled := 0           // writes that were cut off and reported as done
	failed, paused := 0, 0 // number of failed starts of processes, and of those that were followed by a pause
	t.Run("clients", func(t *testing.T) {
		j := &soakJournal{written: map[string]bool{}}
		p.World.OnDNSChange = j.recordChanged
		s := p.NewSystem(t, "http.readTimeout=3s", "http.writeTimeout=3s", "http.listTimeout=5s",
			"http.settleTimeout=10s", "http.settlePause=100ms", "pool.maxWait=30s")
		j.system = s
		n := &systemtest.Nonces{}
		end := time.Now().Add(duration)
		var clients sync.WaitGroup
		all := make([]*soakClient, soakClients)
		for i := range soakClients {
			all[i] = &soakClient{t: t, s: s.In(t), j: j, n: n, counts: &counts,
				random: rand.New(rand.NewPCG(seed, uint64(i)))}
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
		paused = failed - strings.Count(log, `"msg":"a session could not be started","pause_ms":0,`)
		s.Log.Reset() // the log is large, and timers may keep it for some seconds
	})
	assert.Eventually(t, func() bool { return len(p.Running()) == 0 }, systemtest.Patience, 10*time.Millisecond,
		"processes are left: %v", p.Running())
	systemtest.NoGoroutinesLeft(t, before)
	p.Server, p.World = nil, sandbox.Options{} // also releases the world, whose journal has grown
	after := systemtest.NoMemoryLeft(t, memory)
	// A single process that dies does not prevent an answer. Only several failed starts in a row lead to a
	// pause, during which requests are rejected.
	refused := counts.unavailable()
	assert.LessOrEqual(t, paused, failed/10+1, "pauses after %d failed starts", failed)
	assert.True(t, refused == 0 || paused > 0, "%d requests were rejected without need", refused)
	t.Logf("requests %d (reads %d, writes %d); outcomes of writes: done %d (%d of them settled), none %d, "+
		"partial %d, unknown %d; errors: %s; longest request %s; failed starts %d (%d with a pause after); heap "+
		"%d KiB -> %d KiB; goroutines %d -> %d; processes left %d",
		counts.reads.Load()+counts.writes.Load(), counts.reads.Load(), counts.writes.Load(), counts.done.Load(),
		settled, counts.none.Load(), counts.partial.Load(), counts.unknown.Load(), counts.failures(),
		time.Duration(counts.longest.Load()).Round(time.Millisecond), failed, paused, memory>>10, after>>10,
		routines, runtime.NumGoroutine(), len(p.Running()))
}

// tally counts answers.
type tally struct {
	reads, writes, done, none, partial, unknown atomic.Int64
	longest                                     atomic.Int64 // nanoseconds of a request
	errors                                      sync.Map     // "504 timeout" to *atomic.Int64
}

// unavailable returns the number of 503 answers.
func (t *tally) unavailable() (sum int64) {
	t.errors.Range(func(code, n any) bool {
		if strings.HasPrefix(code.(string), "503 ") {
			sum += n.(*atomic.Int64).Load()
		}
		return true
	})
	return sum
}

// failures lists the errors with their counts.
func (t *tally) failures() string {
	var lines []string
	t.errors.Range(func(code, n any) bool {
		lines = append(lines, fmt.Sprintf("%s: %d", code, n.(*atomic.Int64).Load()))
		return true
	})
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// soakKind contains the requests for objects of one kind. The text of an object is its description, or the
// target of a record. It is a nonce.
type soakKind struct {
	name   func(client, slot int) string
	create func(name, text string) systemtest.Call
	update func(name, text string) systemtest.Call // nil if objects of this kind cannot be changed
	remove func(name, text string) systemtest.Call
	read   func(name, text string) systemtest.Call
	list   func(name string) systemtest.Call
	// truth reads the object from the store.
	truth func(s *systemtest.System, name, text string) (there bool, stored string, err error)
}

// soakSlot is one object and the state in which its client expects it.
type soakSlot struct {
	kind  *soakKind
	name  string
	there bool
	text  string
	sure  bool     // there and text are certain
	done  []string // texts reported as written
	none  []string // texts reported as not written
}

type soakClient struct {
	t      *testing.T
	s      *systemtest.System
	j      *soakJournal
	n      *systemtest.Nonces
	counts *tally
	random *rand.Rand
	slots  []*soakSlot
}

// act sends one random request.
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
		c.counts.reads.Add(1)
	default:
		c.read(slot)
	}
}

// ask sends a request and checks that the answer comes in time.
func (c *soakClient) ask(request systemtest.Call) systemtest.Answer {
	start := time.Now()
	a := c.s.Do(request)
	took := time.Since(start)
	assert.Less(c.t, took, soakLimit, "%s %s hangs", request.Method, request.Path)
	for {
		longest := c.counts.longest.Load()
		if int64(took) <= longest || c.counts.longest.CompareAndSwap(longest, int64(took)) {
			return a
		}
	}
}

// read reads an object and compares the answer with the client's knowledge.
func (c *soakClient) read(slot *soakSlot) {
	a := c.ask(slot.kind.read(slot.name, slot.text))
	c.counts.reads.Add(1)
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

// own checks that an answer concerns the requested object.
func (c *soakClient) own(slot *soakSlot, a systemtest.Answer) {
	c.n.Only(c.t, slot.text, a.Body)
	assert.Contains(c.t, strings.ToLower(string(a.Body)), strings.ToLower(slot.name),
		"an answer to another request")
}

// failed checks that the answer is one that a failing process may cause.
func (c *soakClient) failed(a systemtest.Answer) {
	assert.Contains(c.t, []int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout},
		a.Status, "%s", a.Body)
	n, _ := c.counts.errors.LoadOrStore(fmt.Sprintf("%d %s %s", a.Status, a.Envelope.Error.Code,
		a.Envelope.Error.Outcome), &atomic.Int64{})
	n.(*atomic.Int64).Add(1)
}

// write sends a change and compares the reported outcome with the store.
func (c *soakClient) write(slot *soakSlot, request systemtest.Call, there bool, text string) {
	a := c.ask(request)
	c.counts.writes.Add(1)
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
	about := fmt.Sprintf("%s %s: answered %d %s, the store has %t %q, before %t %q; %.600s", request.Method,
		request.Path, a.Status, outcome, is, stored, slot.there, slot.text, a.Body)
	switch outcome {
	case "done":
		c.counts.done.Add(1)
		assert.True(c.t, is == there && (!there || stored == text), "lost: %s", about)
		slot.there = there
		if there {
			slot.text = text
			c.own(slot, a)
			slot.done = append(slot.done, text)
		}
	case "none":
		c.counts.none.Add(1)
		assert.True(c.t, is == slot.there && (!is || stored == slot.text), "changed silently: %s", about)
		if text != "" && slot.there {
			slot.none = append(slot.none, text)
		}
	case "partial":
		c.counts.partial.Add(1)
		slot.sure = false
	case "unknown":
		c.counts.unknown.Add(1)
		slot.sure = false
	default:
		assert.Fail(c.t, "no outcome", about)
	}
	if !slot.sure && text != "" {
		slot.text = text // the text may have been written
	}
}

// learn reads the outcome of an unsettled change from the store.
func (c *soakClient) learn(slot *soakSlot) {
	is, stored, err := slot.kind.truth(c.s, slot.name, slot.text)
	if assert.NoError(c.t, err) {
		slot.there, slot.text, slot.sure = is, stored, true
	}
}

// audit compares all answers to a client with the store and its journal.
func (c *soakClient) audit() {
	for _, slot := range c.slots {
		if slot.sure {
			is, stored, err := slot.kind.truth(c.s, slot.name, slot.text)
			require.NoError(c.t, err)
			assert.True(c.t, is == slot.there && (!is || stored == slot.text),
				"%s: the store has %t %q in the end, reported %t %q", slot.name, is, stored, slot.there, slot.text)
		}
		for _, text := range slot.done {
			assert.True(c.t, c.j.has(text), "%s was reported as written and never was", text)
		}
		for _, text := range slot.none {
			assert.False(c.t, c.j.has(text), "%s was reported as not written and was", text)
		}
	}
}

// soakJournal contains every text that was ever written to the stores.
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

// recordChanged records the new text of a DNS record.
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
