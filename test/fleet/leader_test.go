package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/histories"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// quick contains settings with which the gateway settles changes that were cut off soon.
var quick = []string{"cluster.settleDelay: 1s", "http.settlePause: 50ms", "http.writeTimeout: 3s"}

// TestTheLeaderIsKilled: the leader is killed while it makes changes. Each change is made once, every gateway
// reports the same outcome, and every acknowledged change is in the directory. The killed gateway restarts as
// a follower. The environment variable SEED determines the order of the calls.
func TestTheLeaderIsKilled(t *testing.T) {
	t.Parallel()
	// number of changes, and how many of them are settled before the leader is killed
	changes, before := 20, int32(6)
	if thorough.All() {
		changes, before = 50, 15
	}
	seed := uint64(systemtest.Number(t, "SEED", 1))
	random := rand.New(rand.NewPCG(seed, 0))
	f := newFleet(t, quick...)
	f.makeUsers()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := &crowd{f: f}

	first := items("first", size, random)
	for i, it := range first {
		c.ask(ctx, i, it)
		require.Equal(t, 2, it.status/100, "%s has refused: %d %s", f.hosts[i].name, it.status, it.last)
	}

	leader := f.awaitLeader()
	all := items("then", changes, random)
	var settled atomic.Int32
	var killing sync.WaitGroup
	c.settle(ctx, all, 8, seed, func(*item) {
		if settled.Add(1) == before {
			killing.Go(leader.gateway.kill)
		}
	})
	killing.Wait()
	next := f.awaitOther(leader)

	all = slices.Concat(first, all)
	for at, h := range f.hosts {
		if h == leader {
			continue
		}
		for _, it := range all {
			c.ask(ctx, at, it)
		}
	}
	leader.gateway.start()
	await(t, leader.name+" is not ready", func() bool {
		return f.ask(leader, "/readyz?lane=changes") == http.StatusOK
	})
	assert.Same(t, next, f.awaitLeader(), "who comes back follows")
	last := items("last", size, random)
	for i, it := range last {
		c.ask(ctx, i, it)
		require.Equal(t, 2, it.status/100, "%s has refused: %d %s", f.hosts[i].name, it.status, it.last)
	}
	for _, it := range all {
		c.ask(ctx, slices.Index(f.hosts, leader), it)
	}
	c.verify(append(all, last...))
	c.calls.Check(t, histories.Keys, fmt.Sprint("seed ", seed))
}

// awaitOther waits until a host other than the given one, which may be nil, leads, and returns that host.
func (f *fleet) awaitOther(than *host) (next *host) {
	f.t.Helper()
	await(f.t, "no other gateway leads", func() bool {
		next = f.leader()
		return next != nil && next != than
	})
	return next
}
