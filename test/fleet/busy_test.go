package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/failing"
	"adgateway/test/histories"
)

const (
	budget    = 10 // accounts that the frugal caller may disable in an hour
	spendable = 40 // accounts that it tries to disable
	registers = 6  // accounts whose city is read and written under a condition
	clients   = 6  // clients of each kind
	jobItems  = 10
)

// busy runs clients of every kind and keeps the answers of the gateways.
type busy struct {
	crowd
	seed uint64

	values, plans histories.Recorder

	mu    sync.Mutex
	made  []*item // all items with a known outcome
	jobs  []*job
	spent int // number of accounts that the frugal caller disabled, according to the answers
	tight int // number of calls refused because the budget is spent
}

// job is a list of changes.
type job struct {
	id    string
	items []*item
}

// newBusy returns the clients of a cluster. They are not running yet.
func newBusy(f *fleet, seed uint64) *busy {
	f.t.Helper()
	f.makeUsers()
	dc := f.world.Directory.DCs()[0]
	add := func(name string) {
		const enabled = "544" // the account is enabled and has no password
		_, err := dc.Add(f.t.Context(), "CN="+name+","+f.world.Directory.UsersContainer(),
			directory.Attr("objectClass", "user"), directory.Attr("sAMAccountName", name),
			directory.Attr("userAccountControl", enabled))
		require.NoError(f.t, err)
	}
	for i := range registers {
		add(fmt.Sprintf("register%02d", i))
	}
	for i := range spendable {
		add(fmt.Sprintf("spent%02d", i))
	}
	return &busy{crowd: crowd{f: f}, seed: seed}
}

// run runs all clients until ctx ends. Each client finishes its current call.
func (b *busy) run(ctx context.Context) {
	var all sync.WaitGroup
	for i := range clients {
		each := func(kind uint64, do func(name string, rnd *rand.Rand)) {
			rnd := rand.New(rand.NewPCG(b.seed, kind<<32+uint64(i)))
			all.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					do(fmt.Sprintf("%d-%05d", i, n), rnd)
					failing.Pause(ctx, soon(rnd))
				}
			})
		}
		each(1, b.change)
		each(2, b.register)
		if i < 2 {
			each(3, b.plan)
		}
		if i < 1 {
			each(4, b.submit)
			each(5, b.spend)
		}
	}
	all.Wait()
}

// soon returns a short random time.
func soon(rnd *rand.Rand) time.Duration { return time.Duration(20+rnd.IntN(80)) * time.Millisecond }

// anyHost returns a random host.
func (b *busy) anyHost(rnd *rand.Rand) (at int, h *host) {
	at = rnd.IntN(size)
	return at, b.f.hosts[at]
}

// change makes a change under an idempotency key, at any gateway that answers.
func (b *busy) change(name string, rnd *rand.Rand) {
	it := items("any"+name+"-", 4, rnd)[rnd.IntN(4)]
	b.untilSettled(it, rnd)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.made = append(b.made, it)
}

func (b *busy) untilSettled(it *item, rnd *rand.Rand) {
	ctx := b.f.t.Context()
	for !it.settled() && ctx.Err() == nil {
		if b.ask(ctx, rnd.IntN(size), it); !it.settled() {
			failing.Pause(ctx, soon(rnd))
		}
	}
}

// register reads a value at a gateway, and replaces the value if it has not changed since.
func (b *busy) register(name string, rnd *rand.Rand) {
	user := fmt.Sprintf("register%02d", rnd.IntN(registers))
	path := "/api/ADUser/" + user
	at, h := b.anyHost(rnd)
	read := b.values.Begin(histories.Op{Of: user, At: at, Do: "read"})
	a := b.f.call(h, http.MethodGet, path+"/Details", "", "")
	var shown struct{ Result []struct{ City string } }
	if a.status != http.StatusOK || json.Unmarshal([]byte(a.text), &shown) != nil || len(shown.Result) != 1 {
		read.Forget()
		return
	}
	is, value := shown.Result[0].City, "register"+name
	read.End(histories.Answer{Value: is})
	b.mayBeWritten("city " + value)
	at, h = b.anyHost(rnd)
	write := b.values.Begin(histories.Op{Of: user, At: at, Do: "write", Expect: is, Value: value})
	body, same := fmt.Sprintf(`{"City":%q}`, value), http.Header{"If-Match": {a.header.Get("ETag")}}
	a = b.f.callWith(h, http.MethodPut, path, body, same)
	switch {
	case a.status == http.StatusOK:
		write.End(histories.Answer{})
	case a.status == http.StatusPreconditionFailed:
		write.End(histories.Answer{Refused: true})
	case a.didNothing():
		write.Forget()
	}
}

// plan makes a plan, and two gateways try to apply it.
func (b *busy) plan(name string, rnd *rand.Rand) {
	value := "plan" + name
	path, body := fmt.Sprintf("/api/ADUser/shared%02d", rnd.IntN(users)), fmt.Sprintf(`{"City":%q}`, value)
	_, h := b.anyHost(rnd)
	var planned struct{ Plan struct{ ID string } }
	a := b.f.call(h, http.MethodPut, path+"?DryRun=true", body, "")
	if a.status != http.StatusOK || json.Unmarshal([]byte(a.text), &planned) != nil || planned.Plan.ID == "" {
		return
	}
	b.mayBeWritten("city " + value)
	var both sync.WaitGroup
	for range 2 {
		at, h := b.anyHost(rnd)
		both.Go(func() {
			use := b.plans.Begin(histories.Op{Of: planned.Plan.ID, At: at, Do: "use"})
			a := b.f.call(h, http.MethodPut, path+"?PlanId="+planned.Plan.ID, body, "")
			switch {
			case a.status == http.StatusOK:
				use.End(histories.Answer{})
			case a.code() == string(schema.PlanUsed):
				use.End(histories.Answer{Refused: true})
			case a.didNothing():
				use.Forget()
			}
		})
	}
	both.Wait()
}

// submit submits a job of changes under one idempotency key.
func (b *busy) submit(name string, rnd *rand.Rand) {
	j, list := &job{}, strings.Builder{}
	for i := range jobItems {
		value := fmt.Sprintf("job%s-%02d", name, i)
		const line = `{"id":"i%03d","operation":"user.update",` +
			`"parameters":{"UserName":"shared%02d","City":%q}}` + "\n"
		fmt.Fprintf(&list, line, i, rnd.IntN(users), value)
		it := &item{key: "job " + value, method: http.MethodPost, path: "/api/Jobs", write: "city " + value}
		j.items = append(j.items, it)
	}
	for ctx := b.f.t.Context(); ctx.Err() == nil; failing.Pause(ctx, soon(rnd)) {
		_, h := b.anyHost(rnd)
		a := b.f.call(h, http.MethodPost, "/api/Jobs", list.String(), "fleet-key-job"+name)
		var shown struct{ Result []struct{ ID string } }
		if a.status/100 == 2 && json.Unmarshal([]byte(a.text), &shown) == nil && len(shown.Result) == 1 {
			j.id = shown.Result[0].ID
			break
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs = append(b.jobs, j)
}

// spend disables an account as the frugal caller.
func (b *busy) spend(_ string, rnd *rand.Rand) {
	_, h := b.anyHost(rnd)
	path := fmt.Sprintf("/api/ADUser/spent%02d/Disable", rnd.IntN(spendable))
	a := b.f.callWith(h, http.MethodPut, path, "", http.Header{"Auth-Token": {"Bearer " + frugal}})
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case a.status == http.StatusOK && a.header.Get("X-Change-Id") != "":
		b.spent++
	case a.status == http.StatusTooManyRequests:
		b.tight++
	}
}

// mayBeWritten records a write whose answer may be lost, see [crowd.once].
func (b *busy) mayBeWritten(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.once = append(b.once, name)
}

// check compares the answers of all clients with the write log and with the stored data. It
// needs a cluster without faults and clients that have stopped.
func (b *busy) check(label string) {
	b.f.t.Helper()
	for _, j := range b.jobs {
		b.checkJob(j)
		b.made = append(b.made, j.items...)
	}
	b.verify(b.made)
	b.calls.Check(b.f.t, histories.Keys, label)
	b.values.Check(b.f.t, histories.LinearizableReads, label)
	b.plans.Check(b.f.t, histories.Once, label)
	b.checkBudget(label)
	b.checkHistory()
	recorders := map[string]*histories.Recorder{"calls": &b.calls, "values": &b.values, "plans": &b.plans}
	for what, r := range recorders {
		all, lost := r.Counts()
		assert.NotZero(b.f.t, all, what)
		b.f.t.Logf("%s: %d, of %d the answer was lost", what, all, lost)
	}
	b.f.t.Logf("%d jobs of %d items; budget: %d of %d spent, refused %d times",
		len(b.jobs), jobItems, b.spent, budget, b.tight)
}

// checkJob waits until a job has ended at every gateway.
func (b *busy) checkJob(j *job) {
	type ends struct {
		State string
		Done  int
	}
	for _, h := range b.f.hosts {
		require.EventuallyWithT(b.f.t, func(c *assert.CollectT) {
			var shown struct{ Result []ends }
			a := b.f.call(h, http.MethodGet, "/api/Jobs/"+j.id, "", "")
			_ = json.Unmarshal([]byte(a.text), &shown) // a refusal has no such members
			assert.Equal(c, []ends{{"done", jobItems}}, shown.Result, "%s: %s", h.name, a.text)
		}, patience, 100*time.Millisecond)
	}
	for _, it := range j.items {
		it.status = http.StatusOK
	}
}

// checkBudget counts the accounts that the frugal caller has disabled.
func (b *busy) checkBudget(label string) {
	disabled := map[string]bool{}
	for _, w := range b.f.writes.After(0, 1<<30) {
		if w.Writer != "" && w.Attribute == "userAccountControl" && strings.HasPrefix(w.Object, "CN=spent") {
			disabled[w.Object] = true
		}
	}
	assert.LessOrEqual(b.f.t, len(disabled), budget, label)
	assert.LessOrEqual(b.f.t, b.spent, len(disabled), label)
	assert.NotZero(b.f.t, b.tight, "%s: the caller was never told that its budget is spent", label)
}

// checkHistory looks up each change whose id a client received.
func (b *busy) checkHistory() {
	n := 0
	for i, it := range b.made {
		if it.change == "" {
			assert.True(b.f.t, it.status/100 != 2 || strings.HasPrefix(it.key, "job "), "%s has no change", it.key)
			continue
		}
		n++
		a := b.f.must(b.f.hosts[i%size], http.MethodGet, "/api/Changes/"+it.change, "", "", nil)
		assert.Contains(b.f.t, a.text, `"outcome":"done"`, it.change)
	}
	b.f.t.Logf("%d changes are in the history", n)
}
