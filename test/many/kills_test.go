package many

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adgateway/gateway/engine/enginetest"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kinds are kinds of changes, of which each item has objects of its own.
var kinds = []func(f *fleet, value string) item{
	func(_ *fleet, value string) item {
		return item{method: http.MethodPost, path: "/api/ADUser/many" + value, body: `{"Password":"Xq7-mm-Laterne-42"}`, write: "add many" + value}
	},
	func(f *fleet, value string) item {
		f.add("u"+value, "user")
		return item{method: http.MethodPut, path: "/api/ADUser/u" + value, body: fmt.Sprintf(`{"City":%q}`, value), write: "city " + value}
	},
	func(f *fleet, value string) item {
		f.add("u"+value, "user")
		f.add("g"+value, "group")
		return item{method: http.MethodPost, path: "/api/ADUser/u" + value + "/Group/g" + value, body: `{}`, write: "member of g" + value}
	},
	func(f *fleet, value string) item {
		f.add("u"+value, "user")
		return item{method: http.MethodPut, path: "/api/ADUser/u" + value + "/Rename/many" + value, body: `{}`, write: "rename to many" + value}
	},
	func(f *fleet, value string) item {
		f.add("u"+value, "user")
		return item{method: http.MethodDelete, path: "/api/ADUser/u" + value, body: `{}`, write: "delete u" + value}
	},
	func(_ *fleet, value string) item {
		return item{method: http.MethodPost, path: "/api/ADGroups/many" + value + "/Security", body: `{"GroupScope":"Global"}`, write: "add many" + value}
	},
	func(_ *fleet, value string) item {
		return item{method: http.MethodPost, path: "/api/DnsCNameRecord", write: "record many" + value,
			body: fmt.Sprintf(`{"DNS_HostName":%q,"DNS_HostName_Alias":"host.corp.example","ZoneName":"corp.example"}`, "many"+value)}
	},
}

// add adds an object that an item changes.
func (f *fleet) add(name, class string) {
	f.t.Helper()
	_, err := f.world.Directory.DCs()[0].Add(f.t.Context(), "CN="+name+","+f.world.Directory.UsersContainer(), directory.Attr("objectClass", class), directory.Attr("sAMAccountName", name))
	require.NoError(f.t, err)
}

// itemsOf returns an item of each of some kinds.
func (f *fleet) itemsOf(round int, of ...int) (all []*item) {
	for _, kind := range of {
		it := kinds[kind](f, fmt.Sprintf("r%02dk%d", round, kind))
		it.key = fmt.Sprintf("many-key-%d-%d", round, kind)
		all = append(all, &it)
	}
	return all
}

// atPoint are faults that a gateway has when several changes have come to a point together.
// When they return, the gateway runs and reaches the engine.
var atPoint = []struct {
	name    string
	happens func(f *fleet, c *crowd, batch []*item, gateway int, point string)
}{
	{"killed", func(f *fleet, c *crowd, batch []*item, gateway int, point string) {
		before := f.last()
		f.askAmbushed(c, batch, gateway, point, killed)
		f.gateways[gateway].awaitEnd(f.t, batch)
		if slices.Index(points, point) <= slices.Index(points, atGo) {
			assert.Empty(f.t, f.ofGateways(before), "%s: something was written that was not begun", point)
		}
		require.NoError(f.t, f.gateways[gateway].again(f.t.Context()))
	}},
	{"cut off", func(f *fleet, c *crowd, batch []*item, gateway int, point string) {
		answered, stands := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(answered)
			f.askUntil(stands, c, batch, gateway, point, stopped)
		}()
		f.awaitStop(gateway)
		close(stands)
		f.toEngine(gateway, func(w *enginetest.Wire) { w.Hold(true) })
		f.gateways[gateway].told("CONT")
		select {
		case <-answered:
		case <-time.After(2 * time.Second): // for which it is cut off at most
		}
		f.toEngine(gateway, func(w *enginetest.Wire) { w.Hold(false) })
		<-answered
	}},
	{"killed, with a clock that is off", func(f *fleet, c *crowd, batch []*item, gateway int, point string) {
		f.askAmbushed(c, batch, gateway, point, killed)
		p := f.gateways[gateway]
		p.awaitEnd(f.t, batch)
		p.plan.Clock = 5 * time.Minute // it may make no changes, and takes nothing over
		require.NoError(f.t, p.again(f.t.Context()))
		f.settle(c, batch, 1)
		p.signal(syscall.SIGKILL)
		p.plan.Clock = 0
		require.NoError(f.t, p.again(f.t.Context()))
	}},
}

// TestFaultsAtEachPoint of several changes at once, after which the keys are repeated at all
// gateways until they are answered: no value is written twice, what was confirmed is in the
// directory, and what was not allowed is not. POINTS are those to be tried, "all" or with
// commas; the clock is off only if they are given, as that takes more than a minute each.
func TestFaultsAtEachPoint(t *testing.T) {
	f := newAmbushed(t)
	var all []*item
	started := f.last()
	c := &crowd{f: f, patience: leaseEnds + time.Minute, longest: usual, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	round := 0
	for _, point := range pointsToTry(t) {
		for _, fault := range atPoint {
			if strings.Contains(fault.name, "clock") && os.Getenv("POINTS") == "" {
				continue
			}
			round++
			victim := round % members
			batch := f.itemsOf(round, f.atOnce(point, round)...)
			f.awaitReady(victim)
			fault.happens(f, c, batch, victim, point)
			began := time.Now()
			f.settle(c, batch, uint64(round))
			t.Logf("%s, %s: %d changes were settled in %s", point, fault.name, len(batch), time.Since(began).Round(time.Millisecond))
			all = append(all, batch...)
		}
	}
	c.wrong.Range(func(_, what any) bool { t.Error(what); return true })
	f.verify(all, started)
}

// ofGateways returns what gateways have written after a position.
func (f *fleet) ofGateways(after int64) []sandbox.Write {
	return slices.DeleteFunc(f.writes.After(after, 1<<30), func(w sandbox.Write) bool { return w.Writer == "" })
}

// TestAGatewayStandsStillAtEachPoint until another one has settled what it was doing, with
// the times that apply in reality, and then goes on: it changes nothing more. Where it
// stands between its last look at the clock and the answer to the session, that cannot be
// prevented. It takes more than a minute for each point of POINTS; without them
// nothing is tried.
func TestAGatewayStandsStillAtEachPoint(t *testing.T) {
	if os.Getenv("POINTS") == "" {
		t.Skip("takes minutes: POINTS=all")
	}
	f := newAmbushed(t)
	started := f.last()
	c := &crowd{f: f, patience: leaseEnds + time.Minute, longest: usual, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	var all []*item
	for round, point := range pointsToTry(t) {
		if point == atGo {
			continue
		}
		victim := round % members
		batch := f.itemsOf(round, f.atOnce(point, round)...)
		f.awaitReady(victim)
		sleeping := make([]*item, len(batch))
		for i, it := range batch {
			copied := *it
			sleeping[i] = &copied
		}
		var asleep sync.WaitGroup
		waiting := &crowd{f: f, patience: c.patience, client: c.client, longest: 5 * time.Minute} // what the sleeper answers is waited for
		asleep.Go(func() { f.askAmbushed(waiting, sleeping, victim, point, stopped) })
		f.awaitStop(victim)
		began := time.Now()
		f.settle(c, batch, uint64(round))
		t.Logf("%s: %d changes were settled in %s", point, len(batch), time.Since(began).Round(time.Millisecond))
		f.gateways[victim].told("CONT")
		asleep.Wait()
		all = append(all, batch...)
	}
	c.wrong.Range(func(_, what any) bool { t.Error(what); return true })
	f.verify(all, started)
}

// awaitStop waits until a gateway stands still.
func (f *fleet) awaitStop(gateway int) {
	f.t.Helper()
	p := f.gateways[gateway]
	require.Eventually(f.t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
		_, state, found := strings.Cut(string(text), ") ")
		return err == nil && found && state[0] == 'T'
	}, systemtest.Patience, 10*time.Millisecond, "it has not come to the point")
}

// newAmbushed returns a fleet whose gateways can be lain in wait for.
func newAmbushed(t *testing.T) *fleet {
	t.Helper()
	return newFleetOf(t, func(p *plan) { p.Ambush = true }, "cluster.settleDelay=1s", "http.settlePause=50ms", "http.writeTimeout=5s", "pool.directorySessions=4", "log.level=error")
}

// pointsToTry are those of the environment, or some that differ.
func pointsToTry(t *testing.T) []string {
	t.Helper()
	switch given := os.Getenv("POINTS"); given {
	case "":
		return []string{atGo, atEnd}
	case "all":
		return points
	default:
		return strings.Split(given, ",")
	}
}

// atOnce returns kinds of changes that can come to a point together: as many as there are
// sessions for them. Others in each round, but for what only a creation has.
func (f *fleet) atOnce(point string, round int) []int {
	if point == atSecond {
		return []int{0}
	}
	const dns = 6
	of := []int{dns}
	for i := range 4 {
		of = append(of, (round+i)%dns)
	}
	return of
}

// awaitReady waits until a gateway serves changes of all kinds.
func (f *fleet) awaitReady(gateway int) {
	f.t.Helper()
	require.EventuallyWithT(f.t, func(t *assert.CollectT) {
		for _, lane := range []string{"", "?lane=changes"} {
			response, err := http.Get("http://" + f.gateways[gateway].plan.Listen + "/readyz" + lane)
			if assert.NoError(t, err) {
				assert.Equal(t, http.StatusOK, response.StatusCode)
				assert.NoError(t, response.Body.Close())
			}
		}
	}, systemtest.Patience, 20*time.Millisecond)
}

// askAmbushed asks a gateway for changes, which end it at a point together.
func (f *fleet) askAmbushed(c *crowd, batch []*item, gateway int, point, how string) {
	f.askUntil(nil, c, batch, gateway, point, how)
}

// askUntil is askAmbushed. A gateway that refuses all of the changes, because the machine is
// slow, is asked again until it comes to the point; then sprung is closed, or it has ended.
func (f *fleet) askUntil(sprung <-chan struct{}, c *crowd, batch []*item, gateway int, point, how string) {
	refused := func(it *item) bool { return it.status == 0 && it.code != "" }
	for f.t.Context().Err() == nil {
		var asking sync.WaitGroup
		for _, it := range batch {
			it.code, it.ambush = "", fmt.Sprintf("%s %d %s", point, len(batch), how)
			asking.Go(func() { c.ask(f.t.Context(), gateway, it) })
		}
		asking.Wait()
		select {
		case <-sprung:
		default:
			if !slices.ContainsFunc(batch, func(it *item) bool { return !refused(it) }) {
				pause(f.t.Context(), 20*time.Millisecond)
				continue
			}
		}
		break
	}
	for _, it := range batch {
		it.ambush = ""
	}
}

// settle repeats the keys of changes at all gateways until all of them are answered, and
// then at each.
func (f *fleet) settle(c *crowd, batch []*item, seed uint64) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), c.patience+systemtest.Patience)
	defer cancel()
	queues := make([]chan *item, len(batch))
	var clients sync.WaitGroup
	for i, it := range batch {
		queues[i] = make(chan *item, 1)
		queues[i] <- it
		close(queues[i])
		clients.Go(func() { c.work(ctx, queues[i], seed*100+rand.New(rand.NewPCG(seed, uint64(i))).Uint64()%97) })
	}
	clients.Wait()
	require.Empty(f.t, unsettled(batch), "are open")
}

// awaitEnd waits for the end of a process that ends itself, of which some changes asked it.
func (p *process) awaitEnd(t testing.TB, batch []*item) {
	t.Helper()
	p.mu.Lock()
	command := p.command
	p.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // killed processes have an error
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(systemtest.Patience):
		p.signal(syscall.SIGKILL)
		require.Fail(t, "it has not come to the point", "%q %s", unsettled(batch), p.log.String())
	}
}
