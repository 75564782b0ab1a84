package many

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/keep"
	"adgateway/gateway/keep/natsstore"
	"adgateway/test/systemtest"
)

// space is what changes take.
type space struct {
	messages, stream float64 // of the stream, and their bytes, as they would be without replicas
	node, mirror     float64 // bytes of the files of one node, and of one gateway's mirror
}

// BenchmarkSpace measures the bytes that changes leave: in the stream, on the disk of each
// node, where what was replaced or removed is until the engine tidies it up, and in the
// mirror of each gateway. Let it make some thousand changes, of one kind in a run: what a
// kind before has left is tidied up meanwhile.
func BenchmarkSpace(b *testing.B) {
	f := newFleet(b, benchSettings...)
	f.makeUsers()
	for _, keyed := range []bool{false, true} {
		b.Run(fmt.Sprintf("key=%v", keyed), func(b *testing.B) {
			before := f.space(b)
			f.measureChanges(b, 1, 8, keyed)
			after, n := f.space(b), float64(b.N)
			b.ReportMetric((after.messages-before.messages)/n, "messages/change")
			b.ReportMetric((after.stream-before.stream)/n, "stream-B/change")
			b.ReportMetric((after.node-before.node)/n, "node-B/change")
			b.ReportMetric((after.mirror-before.mirror)/n, "mirror-B/change")
		})
	}
	f.end()
}

// space returns what is taken now.
func (f *fleet) space(t testing.TB) (s space) {
	info, err := f.stream(t, natsstore.StreamName("many")).Info(t.Context())
	require.NoError(t, err)
	return space{
		messages: float64(info.State.Msgs), stream: float64(info.State.Bytes),
		node: sizeOf(t, f.nodes[0].plan.Node.Store), mirror: sizeOf(t, filepath.Join(f.folder, "cluster-many-gw1.mirror")),
	}
}

// connect returns a connection to the nodes, those that are not there included.
func (f *fleet) connect(options ...nats.Option) (*nats.Conn, error) {
	var urls []string
	for _, n := range f.nodes {
		urls = append(urls, "nats://"+n.plan.Node.Listen)
	}
	return nats.Connect(strings.Join(urls, ","), options...)
}

// stream returns a stream of the engine. Its connection ends with the test.
func (f *fleet) stream(t testing.TB, name string) (found jetstream.Stream) {
	t.Helper()
	conn, err := f.connect(nats.MaxReconnects(-1))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		found, err = js.Stream(ctx, name)
		require.NoError(c, err)
	}, systemtest.Patience, 50*time.Millisecond)
	return found
}

// sizeOf returns the bytes of a file, or of those in a folder. A file may be removed
// meanwhile.
func sizeOf(t testing.TB, path string) (bytes float64) {
	_, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			if info, err := entry.Info(); err == nil {
				bytes += float64(info.Size())
			}
		}
		return nil
	}))
	return bytes
}

// BenchmarkRecords measures what many values cost: RECORDS of 500 bytes each, 2,000 unless
// said. A mirror is made anew from the stream, and a node, which was killed, is started
// again. The memory is that of the node that needs most.
func BenchmarkRecords(b *testing.B) {
	records := systemtest.Number(b, "RECORDS", 2000)
	f := &fleet{t: b}
	f.startNodes(b)
	f.createStore(b, "records")
	empty := f.memory(b)
	began := time.Now()
	f.fill(b, records)
	filled := time.Since(began)
	b.Run(fmt.Sprintf("records=%d", records), func(b *testing.B) {
		var rebuilt, started, mirror float64
		for i := range b.N {
			path := filepath.Join(b.TempDir(), fmt.Sprintf("mirror%d.db", i))
			began := time.Now()
			store := f.open(b, path)
			rebuilt += time.Since(began).Seconds()
			found := 0
			require.NoError(b, store.Range(b.Context(), "record", "", func(keep.Entry) bool { found++; return true }))
			require.Equal(b, records, found)
			require.NoError(b, store.Close())
			mirror = sizeOf(b, path)

			f.nodes[0].signal(syscall.SIGKILL)
			began = time.Now()
			require.NoError(b, f.nodes[0].again(b.Context()))
			started += time.Since(began).Seconds()
			f.awaitCurrent(b, natsstore.StreamName("records"))
		}
		n, all := float64(b.N), float64(records)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(filled.Seconds(), "fill-s")
		b.ReportMetric(rebuilt/n, "rebuild-s")
		b.ReportMetric(started/n, "node-start-s")
		b.ReportMetric(sizeOf(b, f.nodes[0].plan.Node.Store)/all, "node-B/record")
		b.ReportMetric(mirror/all, "mirror-B/record")
		b.ReportMetric(empty, "node-empty-MB")
		b.ReportMetric(f.memory(b), "node-MB")
	})
	kill(f.nodes)
}

// createStore makes a store, as soon as the nodes have found each other.
func (f *fleet) createStore(t testing.TB, name string) {
	t.Helper()
	conn, err := f.connect()
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		assert.NoError(c, natsstore.Create(ctx, js, natsstore.StreamOptions{Name: name, Replicas: members}))
	}, systemtest.Patience, 50*time.Millisecond)
}

// open opens the store of records, with its mirror in a file.
func (f *fleet) open(t testing.TB, path string) *natsstore.Store {
	t.Helper()
	store, err := natsstore.Open(t.Context(), natsstore.Options{Name: "records", Gateway: "gw1", Mirror: path, Connect: f.connect, Patience: 30 * time.Minute})
	require.NoError(t, err)
	return store
}

// fill makes records of bytes that cannot be compressed, as sealed ones are.
func (f *fleet) fill(t testing.TB, records int) {
	t.Helper()
	store := f.open(t, filepath.Join(t.TempDir(), "filler.db"))
	defer func() { require.NoError(t, store.Close()) }()
	random := rand.NewChaCha8([32]byte{1})
	var changes []keep.Change
	for i := range records {
		value := make([]byte, 500)
		_, _ = random.Read(value) // never fails
		changes = append(changes, keep.Change{Kind: "record", Key: fmt.Sprintf("%010d", i), Value: value})
		if len(changes) == keep.MostChanges || i == records-1 {
			_, err := store.Apply(t.Context(), changes...)
			require.NoError(t, err)
			changes = changes[:0]
		}
	}
}

// awaitCurrent waits until all nodes have all of a stream.
func (f *fleet) awaitCurrent(t testing.TB, name string) {
	t.Helper()
	stream := f.stream(t, name)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		info, err := stream.Info(ctx)
		require.NoError(c, err)
		require.NotEmpty(c, info.Cluster.Leader)
		require.Len(c, info.Cluster.Replicas, members-1)
		for _, replica := range info.Cluster.Replicas {
			assert.True(c, replica.Current, replica.Name)
		}
	}, 2*systemtest.Patience, 50*time.Millisecond)
}

// memory returns the resident megabytes of the node that has most; 0 where the system does
// not tell.
func (f *fleet) memory(t testing.TB) (most float64) {
	t.Helper()
	for _, n := range f.nodes {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.command.Process.Pid))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), "VmRSS:")
		kilobytes, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
		require.NoError(t, err)
		most = max(most, kilobytes*1024/1e6)
	}
	return most
}
