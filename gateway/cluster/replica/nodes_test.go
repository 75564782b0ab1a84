package replica

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/beats"
	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/journal"
	"adgateway/gateway/journal/jetstream"
	"adgateway/gateway/store"
)

// cipher returns the cipher of a store.
func cipher(t testing.TB) journal.Cipher {
	t.Helper()
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(t, err)
	sealed, err := store.Seal(store.NewMemory(nil), key)
	require.NoError(t, err)
	return sealed.Cipher()
}

// overNodes gives hosts the log and the messages of a cluster on nodes. Each host first connects to a
// different node.
func overNodes(t testing.TB, nodes *enginetest.Cluster, cluster string, all []*host) {
	t.Helper()
	urls, seals := nodes.URLs(), cipher(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i, h := range all {
		own := strings.Join(append(append([]string{}, urls[i%len(urls):]...), urls[:i%len(urls)]...), ",")
		connect := func(o ...nats.Option) (*nats.Conn, error) {
			return nats.Connect(own, append(o, nats.DontRandomize())...)
		}
		o := jetstream.Options{Cluster: cluster, Connect: connect}
		require.NoError(t, jetstream.Create(ctx, o, jetstream.Settings{Replicas: len(urls), MaxBytes: 64 << 20}))
		h.wires = func(self journal.Process) (wires, error) {
			var stream *jetstream.Stream
			require.Eventually(t, func() (done bool) {
				var err error
				stream, err = jetstream.Open(context.Background(), o)
				return err == nil
			}, patience, tick)
			peers, err := beats.New(beats.Options{Cluster: cluster, Self: self, Cipher: seals, Connect: connect})
			if err != nil {
				stream.Close()
				return wires{}, err
			}
			return wires{stream, stream.Options(seals), peers, func() { peers.Close(); stream.Close() }}, nil
		}
	}
}

// TestOverThreeNodes: all files contain every acknowledged write after the leader is killed, after it hands
// over, and after the node that leads the stream is stopped or cut off.
func TestOverThreeNodes(t *testing.T) {
	nodes := enginetest.Start(t, 3)
	all := newHosts(t, names...)
	overNodes(t, nodes, "corp", all)
	for _, h := range all {
		h.start()
	}
	put(t, all, "first", "1")
	for round, happens := range []func(leader *host){
		func(leader *host) {
			leader.kill()
			put(t, all, "another leads", "1")
			leader.start()
		},
		func(leader *host) { _ = leader.now().Member().HandOver(t.Context()) },
		func(*host) {
			node := nodes.Leader(jetstream.StreamName("corp"))
			require.GreaterOrEqual(t, node, 0)
			nodes.Stop(node)
			put(t, all, "without a node", "1")
			nodes.Start(node)
			nodes.AwaitReady()
		},
		func(*host) {
			node := nodes.Leader(jetstream.StreamName("corp"))
			require.GreaterOrEqual(t, node, 0)
			nodes.Cut(node)
			put(t, all, "with a node cut off", "1")
			nodes.Heal(node)
		},
	} {
		require.Eventually(t, func() bool { return nodes.Leader(jetstream.StreamName("corp")) >= 0 }, patience,
			tick)
		writing(t, all, round, happens)
	}
}

// BenchmarkChanges makes changes of 2 KiB at the leader, from as many callers as a gateway has at a
// time: in a single file, by one gateway over three nodes, and by three gateways.
func BenchmarkChanges(b *testing.B) {
	const callers = 16
	nodes := enginetest.Start(b, 3)
	value := make([]byte, 2<<10)
	run := func(b *testing.B, file *store.File) {
		b.SetParallelism(callers)
		numbers := make(chan int, callers)
		done := make(chan struct{})
		go func() {
			for i := 0; ; i++ {
				select {
				case numbers <- i:
				case <-done:
					return
				}
			}
		}()
		defer close(done)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, err := file.Apply(context.Background(),
					store.Change{Kind: "k", Key: fmt.Sprint(<-numbers), Value: value})
				if err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "changes/s")
	}
	b.Run("a file", func(b *testing.B) {
		file, _, err := store.Open(store.Options{Path: filepath.Join(b.TempDir(), "store")})
		require.NoError(b, err)
		defer file.Close()
		run(b, file)
	})
	for _, gateways := range []int{1, 3} {
		b.Run(fmt.Sprint(gateways, " gateways"), func(b *testing.B) {
			all := newHosts(b, names[:gateways]...)
			overNodes(b, nodes, fmt.Sprintf("bench%dx%d", gateways, b.N), all)
			for _, h := range all {
				h.start()
			}
			put(b, all, "first", "1")
			run(b, leader(all).now().File())
			equal(b, all)
		})
	}
}
