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

	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kinds are kinds of changes, of which each item has objects of its own.
var kinds = []func(f *fleet, value string) item{
	func(_ *fleet, value string) item {
		return item{method: http.MethodPost, path: "/api/ADUser/many" + value, body: `{"Password":"Xq7-mm-Laterne-42","City":"Rome","Enabled":true}`, write: "add many" + value}
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

// TestAGatewayIsKilledAtEachPoint of several changes at once. It is started again, and the
// keys are repeated at all gateways until they are answered: no value is written twice, what
// was confirmed is in the directory, and what was not allowed is not. POINTS are those to be
// tried, "all" or with commas; ROUNDS is how often, each time with other kinds of changes.
func TestAGatewayIsKilledAtEachPoint(t *testing.T) {
	f := newAmbushed(t)
	var all []*item
	started := f.last()
	c := &crowd{f: f, patience: leaseEnds + time.Minute, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	round := 0
	for range systemtest.Number(t, "ROUNDS", 1) {
		for _, point := range pointsToTry(t) {
			round++
			victim := round % members
			batch := f.itemsOf(round, f.atOnce(point, round)...)
			before := f.last()
			f.awaitReady(victim)
			f.askAmbushed(c, batch, victim, point, killed)
			f.gateways[victim].awaitEnd(t, batch)
			if slices.Index(points, point) <= slices.Index(points, atGo) {
				assert.Empty(t, f.writes.After(before, 1), "%s: something was written that was not begun", point)
			}
			began := time.Now()
			require.NoError(t, f.gateways[victim].again(t.Context()))
			f.settle(c, batch, uint64(round))
			t.Logf("%s: %d changes were settled in %s", point, len(batch), time.Since(began).Round(time.Millisecond))
			all = append(all, batch...)
		}
	}
	c.wrong.Range(func(_, what any) bool { t.Error(what); return true })
	f.verify(all, started)
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
		return []string{atGo, atGone, atEnd}
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
	var asking sync.WaitGroup
	for _, it := range batch {
		it.ambush = fmt.Sprintf("%s %d %s", point, len(batch), how)
		asking.Go(func() { c.ask(f.t.Context(), gateway, it) })
	}
	asking.Wait()
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
