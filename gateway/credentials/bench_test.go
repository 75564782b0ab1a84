package credentials

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/keep/natsstore"
)

// BenchmarkRevocation measures when other gateways accept a token for the last time: after a
// gateway was told to revoke it, and after it said that it has. Three gateways share three
// nodes of the engine, in one process; each is asked about once in a millisecond.
func BenchmarkRevocation(b *testing.B) {
	engine := enginetest.Start(b, 3)
	js, err := jetstream.New(engine.Connect())
	require.NoError(b, err)
	ctx, cancel := context.WithTimeout(b.Context(), 3*time.Minute)
	defer cancel()
	require.NoError(b, natsstore.Create(ctx, js, natsstore.StreamOptions{Name: "c", Replicas: 3}))
	folder := b.TempDir()
	var all []*gateway
	for i := range 3 {
		name := fmt.Sprint("gw", i)
		store, err := natsstore.Open(ctx, natsstore.Options{Name: "c", Gateway: name, Mirror: filepath.Join(folder, name), Connect: func(o ...nats.Option) (*nats.Conn, error) {
			return nats.Connect(strings.Join(engine.URLs(), ","), o...)
		}})
		require.NoError(b, err)
		b.Cleanup(func() { _ = store.Close() })
		all = append(all, start(b, store, Options{Reread: time.Hour, Probe: time.Hour}))
	}
	round := 0
	b.Run("gateways=3", func(b *testing.B) {
		var told, said []time.Duration
		for range b.N {
			round++
			began, ended, last := revoke(b, all, fmt.Sprint("portal", round))
			told, said = append(told, last.Sub(began)), append(said, max(0, last.Sub(ended)))
		}
		slices.Sort(told)
		slices.Sort(said)
		milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(milliseconds(told[len(told)/2]), "told-p50-ms")
		b.ReportMetric(milliseconds(told[len(told)-1]), "told-max-ms")
		b.ReportMetric(milliseconds(said[len(said)/2]), "said-p50-ms")
		b.ReportMetric(milliseconds(said[len(said)-1]), "said-max-ms")
	})
}

// revoke makes a token that all gateways accept, and revokes it at the first one. It returns
// when that began and ended, and when another gateway accepted the token for the last time.
func revoke(b *testing.B, all []*gateway, name string) (began, ended, last time.Time) {
	a, token := newToken(b, name)
	require.NoError(b, Edit(b.Context(), all[0].store, add(a)))
	for _, g := range all {
		g.await(b, "credentials were made: token "+name)
		require.NoError(b, g.try(token))
	}
	accepted := make([]time.Time, len(all))
	var callers sync.WaitGroup
	for i, g := range all[1:] {
		callers.Go(func() {
			for b.Context().Err() == nil && g.try(token) == nil {
				accepted[i] = time.Now()
				time.Sleep(500 * time.Microsecond)
			}
		})
	}
	began = time.Now()
	require.NoError(b, Edit(b.Context(), all[0].store, remove(a.ID)))
	ended = time.Now()
	callers.Wait()
	for _, g := range all {
		g.await(b, "credentials were removed: token "+name)
	}
	return began, ended, slices.MaxFunc(accepted, time.Time.Compare)
}
