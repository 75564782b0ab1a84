package many

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/histories"
	"adgateway/test/systemtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// item is one change, with a value that no other has. It is asked for under one key, until
// some gateway says what became of it.
type item struct {
	key, method, path, body string

	write string // what the write log must have once, see nameOf

	status  int    // of the answer that settled it; 0: none came
	outcome string // none, unknown or partial, if that was not 2xx
	code    string
	asked   int

	ambush string // where the gateway ends that it comes to first; empty: it does not
}

const users = 24

// items returns changes of several kinds to a few objects, so that they meet.
func items(n int, random *rand.Rand) []*item {
	var all []*item
	for i := range n {
		value := fmt.Sprintf("v%05d", i)
		it := &item{key: fmt.Sprintf("many-key-%05d", i)}
		switch i % 4 {
		case 0:
			it.method, it.path, it.body = http.MethodPost, "/api/ADUser/many"+value, `{}`
			it.write = "add many" + value
		case 1, 2:
			name := fmt.Sprintf("shared%02d", random.IntN(users))
			it.method, it.path, it.body = http.MethodPut, "/api/ADUser/"+name, fmt.Sprintf(`{"City":%q}`, value)
			it.write = "city " + value
		case 3:
			it.method, it.path = http.MethodPost, "/api/DnsCNameRecord"
			it.body = fmt.Sprintf(`{"DNS_HostName":%q,"DNS_HostName_Alias":"host.corp.example","ZoneName":"corp.example"}`, "many"+value)
			it.write = "record many" + value
		}
		all = append(all, it)
	}
	return all
}

// usual is how long clients wait for an answer.
const usual = 30 * time.Second

// crowd are the clients.
type crowd struct {
	f        *fleet
	client   *http.Client
	patience time.Duration // for one item, which is left open then
	longest  time.Duration // for one answer
	repeats  atomic.Int64  // answers to keys that were settled before, which must be the same
	wrong    sync.Map      // what must not be
	calls    histories.Recorder
}

// work settles items one after the other, each of them at gateways at random.
func (c *crowd) work(ctx context.Context, queue <-chan *item, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 7))
	for it := range queue {
		for began := time.Now(); it.status == 0 && ctx.Err() == nil && time.Since(began) < c.patience; {
			gateway := random.IntN(members)
			if random.IntN(5) == 0 { // at two at once
				var second sync.WaitGroup
				other, copied := (gateway+1)%members, *it
				second.Go(func() { c.ask(ctx, other, &copied) })
				c.ask(ctx, gateway, it)
				second.Wait()
				if it.status == 0 {
					*it = copied
				}
			} else {
				c.ask(ctx, gateway, it)
			}
			if it.status == 0 {
				pause(ctx, time.Duration(20+random.IntN(80))*time.Millisecond)
			}
		}
		if it.status/100 == 2 && random.IntN(3) == 0 { // once more, when all is settled
			again := *it
			again.status = 0
			if c.ask(ctx, random.IntN(members), &again); again.status != 0 {
				c.repeats.Add(1)
				if again.status != it.status {
					c.wrong.Store(it.key, fmt.Sprintf("%s was %d and then %d %s", it.key, it.status, again.status, again.code))
				}
			}
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// ask sends an item to a gateway, and sets its status if the answer settles it.
func (c *crowd) ask(ctx context.Context, gateway int, it *item) {
	ctx, cancel := context.WithTimeout(ctx, min(c.longest, c.patience))
	defer cancel()
	it.asked++
	request, err := http.NewRequestWithContext(ctx, it.method, "http://"+c.f.gateways[gateway].plan.Listen+it.path, strings.NewReader(it.body))
	if err != nil {
		c.wrong.Store(it.key, err.Error())
		return
	}
	request.Header.Set("Auth-Token", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", it.key)
	if it.ambush != "" {
		request.Header.Set(pointHeader, it.ambush)
	}
	call := c.calls.Begin(histories.Op{Of: it.key, At: gateway, Do: "call"})
	response, err := c.client.Do(request)
	if err != nil {
		call.Forget()
		return // it was killed, or is not there yet
	}
	defer response.Body.Close()
	var answer struct {
		Error struct{ Code, Outcome string }
	}
	if json.NewDecoder(response.Body).Decode(&answer) != nil {
		call.Forget()
		return // it was killed meanwhile
	}
	call.End(histories.Answer{Refused: response.StatusCode/100 != 2, Value: response.Header.Get("X-Change-Id")})
	switch {
	case response.StatusCode/100 == 2:
	case answer.Error.Outcome == "unknown" || answer.Error.Outcome == "partial":
	case response.StatusCode == http.StatusInternalServerError:
		c.wrong.Store(it.key, fmt.Sprintf("%s was answered with 500 %s", it.key, answer.Error.Code))
	default: // it runs elsewhere, or nothing was done: again
		it.code = answer.Error.Code
		return
	}
	it.status, it.code, it.outcome = response.StatusCode, answer.Error.Code, answer.Error.Outcome
}

// leaseEnds is when what a killed gateway was changing is free again at the latest: after
// http.writeTimeout and a minute. Who is not that patient leaves items open.
const leaseEnds = 75 * time.Second

// TestFaultsAmongMany: whichever gateways and nodes are killed, stopped, cut off, slow or deaf,
// hear each other twice or late, or have a wrong clock, a key runs at most once, with one
// answer; what was confirmed is in the directory, and nothing else is. FAULTS, FAULT_EVERY_MS, FAULT_LASTS_MS, MANY_ITEMS, PATIENCE_S and SEED
// are for longer runs; FAULT is one kind of them only.
func TestFaultsAmongMany(t *testing.T) {
	n := systemtest.Number(t, "MANY_ITEMS", 120)
	patience := time.Duration(systemtest.Number(t, "PATIENCE_S", 2)) * time.Second
	seed := uint64(systemtest.Number(t, "SEED", 1))
	plan := faultPlan{
		most:   systemtest.Number(t, "FAULTS", 8),
		every:  time.Duration(systemtest.Number(t, "FAULT_EVERY_MS", 350)) * time.Millisecond,
		lasts:  time.Duration(systemtest.Number(t, "FAULT_LASTS_MS", 1500)) * time.Millisecond,
		kind:   os.Getenv("FAULT"),
		random: rand.New(rand.NewPCG(seed, 0)),
	}
	f := newFleet(t, "cluster.settleDelay=1s", "http.settlePause=50ms", "http.writeTimeout=3s", "pool.directorySessions=4", "log.level=error")
	f.makeUsers()
	started := f.last()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(n)*time.Second+time.Duration(plan.most)*(plan.every+plan.lasts+patience+20*time.Second))
	defer cancel()

	all := items(n, plan.random)
	queue := make(chan *item, n)
	for _, it := range all {
		queue <- it
	}
	close(queue)
	c := &crowd{f: f, patience: patience, longest: usual, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() { c.work(ctx, queue, seed*100+uint64(i)) })
	}
	over := make(chan struct{})
	go func() { defer close(over); clients.Wait() }()
	happened := f.fail(ctx, over, plan)
	<-over
	t.Logf("seed %d: %d items, 8 clients, %d faults (%s) in %s; %d asked again afterwards", seed, n, len(happened), strings.Join(happened, ", "),
		time.Since(began).Round(time.Millisecond), c.repeats.Load())
	if left := unsettled(all); len(left) > n/2 || patience > leaseEnds+plan.lasts && len(left) > 0 {
		t.Errorf("%d are open:\n%s", len(left), strings.Join(left[:min(len(left), 10)], "\n"))
	}
	c.wrong.Range(func(_, what any) bool { t.Error(what); return true })
	for key, times := range f.verify(all, started) {
		for _, at := range times {
			c.calls.Happened(histories.Op{Of: key, Do: "write"}, at)
		}
	}
	c.calls.Check(t, histories.Keys, fmt.Sprint("seed ", seed))
}

func unsettled(all []*item) (left []string) {
	for _, it := range all {
		if it.status == 0 {
			left = append(left, fmt.Sprintf("%s %s %s asked %d times, last %q", it.key, it.method, it.path, it.asked, it.code))
		}
	}
	return left
}

// makeUsers makes the accounts that many items change.
func (f *fleet) makeUsers() {
	f.t.Helper()
	dc := f.world.Directory.DCs()[0]
	for i := range users {
		name := fmt.Sprintf("shared%02d", i)
		_, err := dc.Add(f.t.Context(), "CN="+name+","+f.world.Directory.UsersContainer(), directory.Attr("objectClass", "user"), directory.Attr("sAMAccountName", name))
		require.NoError(f.t, err)
	}
}

func (f *fleet) last() int64 {
	last := int64(0)
	for _, w := range f.writes.After(0, 1<<30) {
		last = w.Position
	}
	return last
}

// nameOf returns what a write is of which an item must have exactly one; empty if it belongs
// to another one. It is not known if no item has such writes.
func nameOf(w sandbox.Write) (name string, known bool) {
	leaf, _, _ := strings.Cut(strings.TrimPrefix(w.Object, "CN="), ",")
	after := strings.Join(w.After, "")
	switch {
	case w.Op == "add record":
		return "record " + after[:strings.IndexAny(after+".", ".\t ")], true
	case w.Op == "add" && w.Attribute == "":
		return "add " + leaf, true
	case w.Attribute == "l":
		return "city " + after, true
	case w.Attribute == "member" && len(w.After) > len(w.Before):
		return "member of " + leaf, true
	case w.Op == "delete" && w.Attribute == "":
		leaf, _, _ := strings.Cut(strings.TrimPrefix(strings.Join(w.Before, ""), "CN="), ",")
		return "delete " + leaf, true
	case w.Attribute == "sAMAccountName" && len(w.Before) > 0 && len(w.After) > 0:
		return "rename to " + after, true
	}
	return "", w.Op == "add" || w.Op == "delete" || strings.HasPrefix(leaf, "many") // a part of what an item does
}

// verify holds the write log against what the clients were told, and returns when each key
// wrote.
func (f *fleet) verify(all []*item, started int64) (wrote map[string][]time.Time) {
	f.t.Helper()
	wrote = map[string][]time.Time{}
	times := map[string][]time.Time{} // by object and value
	for _, w := range f.writes.After(started, 1<<30) {
		switch name, known := nameOf(w); {
		case w.Writer == "" && w.Op == "add": // by the test, for what is to be changed
		case !known:
			assert.Fail(f.t, "a write that nobody asked for", "%+v", w)
		case strings.HasPrefix(name, "delete many"): // what was left of a creation that was cut off
			made := "add" + strings.TrimPrefix(name, "delete")
			if assert.NotEmpty(f.t, times[made], name) {
				times[made] = times[made][1:]
			}
		case name != "":
			times[name] = append(times[name], w.Time)
		}
	}
	told := map[string]int{}
	for _, it := range all {
		wrote[it.key] = times[it.write]
		made := len(times[it.write])
		delete(times, it.write)
		assert.LessOrEqual(f.t, made, 1, "%s (%s %s) was made twice", it.key, it.method, it.path)
		switch {
		case it.status/100 == 2:
			told["done"]++
			assert.Equal(f.t, 1, made, "%s (%s %s) was answered with %d and is not in the directory", it.key, it.method, it.path, it.status)
		case it.status == 0:
			told["open"]++
		default:
			told[it.outcome]++
		}
	}
	assert.Empty(f.t, times, "are written and nobody asked for them")
	f.t.Logf("told: %v", told)
	if f.t.Failed() {
		f.showLogs()
	}
	return wrote
}

// showLogs shows what the gateways have said.
func (f *fleet) showLogs() {
	for _, p := range f.gateways {
		f.t.Logf("%s:\n%.6000s", p.plan.Name, p.log.String())
	}
}
