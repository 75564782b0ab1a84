package replicas

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"adgateway/test/failing"
	"adgateway/test/histories"
)

// asked contains the requests of the clients and the answers.
type asked struct {
	w       *world
	history histories.Recorder

	mu    sync.Mutex
	acks  []time.Time       // times of acknowledgements
	added []string          // keys of values that must exist
	told  map[string]string // outcomes of changes, by ID
	count failing.Counts

	stopped time.Time // time when the last client stopped; no fault lasted until then
}

func newAsked(w *world) *asked {
	return &asked{w: w, told: map[string]string{}, count: failing.Counts{}}
}

func (a *asked) note(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count[what]++
}

// run runs clients until ctx ends. Some clients read and write values that they share, one client per gateway
// adds values, and some clients make changes.
func (a *asked) run(ctx context.Context, seed uint64) {
	var all sync.WaitGroup
	defer all.Wait()
	for i := range 4 {
		all.Go(func() { a.registers(ctx, i, rand.New(rand.NewPCG(seed, uint64(100+i)))) })
	}
	for i := range 8 {
		all.Go(func() { a.changes(ctx, i, rand.New(rand.NewPCG(seed, uint64(200+i)))) })
	}
	a.adds(ctx)
}

// favorite is the gateway that a client calls until that gateway no longer leads.
type favorite struct{ at int }

func (f *favorite) heed(status int) {
	if status == notBegun || status == 0 || status == inDoubt {
		f.at = (f.at + 1) % size
	}
}

// callFor is the time limit of a client's call.
const callFor = 2 * time.Second

// registers reads values and replaces the values that it has read.
func (a *asked) registers(ctx context.Context, client int, rnd *rand.Rand) {
	at, known, unsure := favorite{rnd.IntN(size)}, map[string]string{}, map[string]bool{}
	for n := 0; ctx.Err() == nil; n++ {
		// Values are abandoned after a while, so that the search for an order stays short.
		key := fmt.Sprintf("%d-%d", int(time.Since(began)/(5*time.Second)), rnd.IntN(2))
		op := histories.Op{Of: key, At: at.at, Do: "read"}
		method, path := http.MethodGet, "/value/"+key
		// no write while an outcome is unknown, because each such write makes the search for an order harder
		if rnd.IntN(10) < 6 && !unsure[key] {
			op.Do, op.Expect, op.Value = "write", known[key], fmt.Sprintf("%d.%d", client, n)
			method, path = http.MethodPut, path+"?"+url.Values{"expect": {op.Expect}, "value": {op.Value}}.Encode()
		}
		call := a.history.Begin(op)
		status, body := a.w.call(a.w.gateways[at.at], method, path, callFor)
		switch {
		case status == notBegun:
			call.Forget()
		case status == conflict:
			call.End(histories.Answer{Refused: true})
			a.note("values refused")
		case op.Do == "read" && (status == http.StatusOK || status == absent):
			call.End(histories.Answer{Value: body})
			known[key], unsure[key] = body, false
			a.note("values read")
		case op.Do == "read":
			call.Forget()
		case status == http.StatusOK:
			call.End(histories.Answer{Value: op.Value})
			known[key] = op.Value
			a.note("values written")
		default:
			unsure[key] = true
			a.note("values in doubt")
		}
		at.heed(status)
		failing.Pause(ctx, time.Duration(5+rnd.IntN(30))*time.Millisecond)
	}
}

// began is the start of the first generation of values.
var began = time.Now()

// adds adds values at each gateway, each as soon as the previous one is acknowledged.
func (a *asked) adds(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, g := range a.w.gateways {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				key := fmt.Sprintf("add-%s-%d", g.name, n)
				status, _ := a.w.call(g, http.MethodPut, "/value/"+key+"?value=x", callFor)
				if status == http.StatusOK {
					a.mu.Lock()
					a.added, a.acks = append(a.added, key), append(a.acks, time.Now())
					a.mu.Unlock()
					a.note("values added")
				}
				failing.Pause(ctx, 10*time.Millisecond)
			}
		})
	}
}

// changes makes changes of a few objects. If an answer was lost, it repeats the change at any gateway.
func (a *asked) changes(ctx context.Context, client int, rnd *rand.Rand) {
	at := favorite{rnd.IntN(size)}
	for n := 0; ctx.Err() == nil; n++ {
		object, number := fmt.Sprint("o", rnd.IntN(10)), fmt.Sprintf("%d-%d", client, n)
		for range 1 + rnd.IntN(40) {
			status, body := a.w.call(a.w.gateways[at.at], http.MethodPost, "/change/"+object+"/"+number, callFor)
			if status == http.StatusOK {
				a.mu.Lock()
				a.told[object+"."+number] = body
				a.mu.Unlock()
				a.note("changes told as " + body)
				break
			}
			if status == inDoubt || status == 0 {
				a.note("changes in doubt")
			}
			at.heed(status)
			failing.Pause(ctx, time.Duration(20+rnd.IntN(100))*time.Millisecond)
		}
	}
}

// darkest returns the longest time between two consecutive acknowledgements of which the later one came after
// the given time.
func (a *asked) darkest(after time.Time) (longest time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := len(a.acks) - 1; i > 0 && a.acks[i].After(after); i-- {
		longest = max(longest, a.acks[i].Sub(a.acks[i-1]))
	}
	return longest
}

// acknowledged returns the number of values added so far.
func (a *asked) acknowledged() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.acks)
}
