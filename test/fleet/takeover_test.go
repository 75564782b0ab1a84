package fleet

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine/stock"
	"adgateway/test/failing"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// leadingNode returns the host whose node leads the log.
func (f *fleet) leadingNode() (leads *host) {
	f.t.Helper()
	h := f.hosts[0]
	identity, err := h.trust().Identity()
	require.NoError(f.t, err)
	list, err := h.trust().List()
	require.NoError(f.t, err)
	await(f.t, "no node leads the log", func() bool {
		for _, at := range f.hosts {
			secure := nats.Secure(identity.Client(list.Members, at.name))
			inbox := nats.CustomInboxPrefix(stock.InboxPrefix(cluster, h.name))
			conn, err := nats.Connect("tls://"+at.clients, secure, inbox)
			if err != nil {
				continue
			}
			defer conn.Close()
			js, err := jetstream.New(conn)
			require.NoError(f.t, err)
			ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Second)
			defer cancel()
			stream, err := js.Stream(ctx, stock.LogStream(cluster))
			if err != nil || stream.CachedInfo().Cluster == nil {
				continue
			}
			for _, other := range f.hosts {
				if other.name == stream.CachedInfo().Cluster.Leader {
					leads = other
				}
			}
			return leads != nil
		}
		return false
	})
	return leads
}

// pauseOf returns the longest time without a confirmed change for the clients of all other hosts, while
// happens affects one host.
func (f *fleet) pauseOf(name string, at *host, happens func()) time.Duration {
	f.t.Helper()
	var (
		mu      sync.Mutex
		times   []time.Time
		over    atomic.Bool
		clients sync.WaitGroup
	)
	for i, h := range f.hosts {
		if h == at {
			continue
		}
		clients.Go(func() {
			for n := 0; !over.Load(); n++ {
				value := fmt.Sprintf("%s%d-%05d", name, i, n)
				// Each call changes a different object, because an object stays locked for a while after a change of it
				// was cut off.
				if f.call(h, http.MethodPost, "/api/ADUser/"+value, "{}", "fleet-key-"+value).status/100 != 2 {
					failing.Pause(f.t.Context(), 10*time.Millisecond)
					continue
				}
				mu.Lock()
				times = append(times, time.Now())
				mu.Unlock()
			}
		})
	}
	confirmed := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(times)
	}
	more := func(n int) {
		before := confirmed()
		await(f.t, "the changes do not go on", func() bool { return confirmed() >= before+n })
	}
	more(20)
	mu.Lock()
	from := len(times) - 1
	mu.Unlock()
	happens()
	more(20)
	over.Store(true)
	clients.Wait()
	longest := time.Duration(0)
	for i := from + 1; i < len(times); i++ {
		longest = max(longest, times[i].Sub(times[i-1]))
	}
	return longest
}

// TestTakeovers prints for how long no changes are made when the leading gateway is stopped or killed, and
// when the node that leads the log is killed. Each case is repeated TAKEOVERS times. Only a thorough run
// kills the gateway, because TestTheLeaderIsKilled does that in every run.
func TestTakeovers(t *testing.T) {
	t.Parallel()
	rounds := systemtest.Number(t, "TAKEOVERS", 1)
	f := newFleet(t, quick...)
	for _, kind := range []struct {
		name string
		who  func() *host
		does func(*host) func()
		back func(*host)
	}{
		{"stop", f.leader, func(h *host) func() { return h.gateway.stop }, func(h *host) { h.gateway.start() }},
		{"kill", f.leader, func(h *host) func() { return h.gateway.kill }, func(h *host) { h.gateway.start() }},
		{"node", f.leadingNode, func(h *host) func() { return h.node.kill }, func(h *host) { h.node.start() }},
	} {
		if kind.name == "kill" && !thorough.All() {
			continue
		}
		var all []time.Duration
		for i := range rounds {
			h := kind.who()
			if !assert.NotNil(t, h, kind.name) {
				return
			}
			all = append(all, f.pauseOf(fmt.Sprint(kind.name, i), h, kind.does(h)))
			kind.back(h)
			f.whole()
		}
		slices.Sort(all)
		t.Logf("%s: without changes %v in the median, at most %v: %v", kind.name,
			all[len(all)/2].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond), all)
	}
}
