package many

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"adgateway/gateway/keep/natsstore"

	"github.com/stretchr/testify/require"
)

// BenchmarkFailover measures the longest time in which no change was confirmed by the
// gateways that stay, while a gateway is killed. With FAILOVER=all also while nothing or a
// node is, of which the one that leads is replaced by an election, and how long objects stay
// locked that a killed gateway was changing, which takes minutes.
func BenchmarkFailover(b *testing.B) {
	f := newFleet(b, benchSettings...)
	f.makeUsers()
	kinds := []struct {
		name   string
		victim func() *process // nil: none
	}{
		{"nothing", func() *process { return nil }},
		{"gateway", func() *process { return f.gateways[0] }},
		{"node", func() *process { return f.node(b, false) }},
		{"leader", func() *process { return f.node(b, true) }},
	}
	if os.Getenv("FAILOVER") != "all" {
		kinds = kinds[1:2]
	}
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			var all []time.Duration
			for range b.N {
				victim := kind.victim()
				all = append(all, f.longestGap(b, victim))
				if victim != nil {
					require.NoError(b, victim.again(b.Context()))
					f.awaitCurrent(b, natsstore.StreamName("many"))
				}
			}
			reportGaps(b, all)
		})
	}
	if os.Getenv("FAILOVER") == "all" {
		b.Run("object", func(b *testing.B) {
			var all []time.Duration
			for range b.N {
				all = append(all, f.lockedFor(b))
			}
			reportGaps(b, all)
		})
	}
	f.end()
}

func reportGaps(b *testing.B, all []time.Duration) {
	slices.Sort(all)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(all[len(all)/2].Milliseconds()), "gap-p50-ms")
	b.ReportMetric(float64(all[len(all)-1].Milliseconds()), "gap-max-ms")
}

// node returns the node that leads the stream, or another one.
func (f *fleet) node(t testing.TB, leads bool) *process {
	info, err := f.stream(t, natsstore.StreamName("many")).Info(t.Context())
	require.NoError(t, err)
	for _, n := range f.nodes {
		if (n.plan.Name == info.Cluster.Leader) == leads {
			return n
		}
	}
	t.Fatalf("the leader is %q", info.Cluster.Leader)
	return nil
}

// longestGap kills a process, or none, while clients make changes through the second and
// the third gateway, and returns the longest time without a confirmed one.
func (f *fleet) longestGap(t testing.TB, victim *process) time.Duration {
	const clients, enough = 4, 15
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	var mu sync.Mutex
	var confirmed []time.Time
	var running sync.WaitGroup
	defer running.Wait()
	for client := range clients {
		running.Go(func() {
			for ctx.Err() == nil {
				if status, _ := f.change(ctx, 1+client%2, fmt.Sprintf("shared%02d", client), fmt.Sprintf("f%d", values.Add(1))); status == http.StatusOK {
					mu.Lock()
					confirmed = append(confirmed, time.Now())
					mu.Unlock()
				}
			}
		})
	}
	await := func(since time.Time) {
		t.Helper()
		require.Eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			after, _ := slices.BinarySearchFunc(confirmed, since, time.Time.Compare)
			return len(confirmed)-after >= enough
		}, 50*time.Second, 10*time.Millisecond)
	}
	await(time.Time{})
	if victim != nil {
		victim.signal(syscall.SIGKILL)
	}
	await(time.Now())
	await(time.Now()) // the first ones may have been under way
	stop()
	running.Wait()
	longest := time.Duration(0)
	for i := 1; i < len(confirmed); i++ {
		longest = max(longest, confirmed[i].Sub(confirmed[i-1]))
	}
	return longest
}

// lockedFor kills a gateway while it changes objects, and returns after what time all of
// them could be changed through another one.
func (f *fleet) lockedFor(t testing.TB) time.Duration {
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	const objects = 8
	changing, killed := context.WithCancel(ctx)
	defer killed()
	var running sync.WaitGroup
	for object := range objects {
		running.Go(func() {
			for changing.Err() == nil {
				f.change(changing, 0, fmt.Sprintf("shared%02d", object), fmt.Sprintf("o%d", values.Add(1)))
			}
		})
	}
	pause(ctx, time.Second)
	f.gateways[0].signal(syscall.SIGKILL)
	began := time.Now()
	killed()
	running.Wait()
	for object := range objects {
		running.Go(func() {
			for status := 0; status != http.StatusOK && ctx.Err() == nil; pause(ctx, 50*time.Millisecond) {
				status, _ = f.change(ctx, 1, fmt.Sprintf("shared%02d", object), fmt.Sprintf("o%d", values.Add(1)))
			}
		})
	}
	running.Wait()
	took := time.Since(began)
	require.NoError(t, ctx.Err(), "an object stays locked")
	require.NoError(t, f.gateways[0].again(t.Context()))
	return took
}
