package replica

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/clustertest"
	"adgateway/gateway/cluster/copies"
	"adgateway/gateway/journal"
	"adgateway/gateway/journal/journaltest"
	"adgateway/gateway/store"
)

// patience is how long a test waits for an event that must occur. It is not a promise about speed.
const patience = 3 * time.Minute

// tick is the interval at which a test checks a condition.
const tick = 10 * time.Millisecond

// host is a gateway of a cluster within this process. It can be killed and started again.
type host struct {
	t       testing.TB
	name    string
	cluster []string
	path    string

	// wires returns the connections of a process to the others. The process closes them at its end.
	wires  func(self journal.Process) (wires, error)
	client *journaltest.Client // set in memory only

	attempts  func() cluster.Attempts // nil if there are none
	reads     int                     // newest format that it reads; 0 means 1
	setFormat func(int)

	run func(ctx context.Context, r *Replica, attempts cluster.Attempts) // nil means Replica.Run

	starts  int
	running atomic.Pointer[Replica]
	kill    func()
}

// now returns the replica of the latest start.
func (h *host) now() *Replica { return h.running.Load() }

type wires struct {
	stream  journal.Stream
	journal journal.Options
	peers   cluster.Peers
	close   func()
}

var names = []string{"gw1", "gw2", "gw3"}

// newHosts returns hosts whose files are copies of an empty one, and which do not have a log yet.
func newHosts(t testing.TB, names ...string) (all []*host) {
	t.Helper()
	folder := t.TempDir()
	first, _, err := store.Open(store.Options{Path: filepath.Join(folder, "first")})
	require.NoError(t, err)
	require.NoError(t, first.Close())
	same, err := os.ReadFile(filepath.Join(folder, "first"))
	require.NoError(t, err)
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), same, 0o600))
		h := &host{t: t, name: name, cluster: names, path: filepath.Join(folder, name), kill: func() {}}
		t.Cleanup(func() { h.kill() })
		all = append(all, h)
	}
	return all
}

// inMemory gives hosts a log in memory.
func inMemory(all []*host) *journaltest.Memory {
	nodes, mail := journaltest.NewMemory(), clustertest.NewMail(all[0].cluster...)
	for _, h := range all {
		h.client = nodes.Client()
		w := wires{h.client, journaltest.Options(), mail.Peers(h.name), func() {}}
		h.wires = func(journal.Process) (wires, error) { return w, nil }
	}
	return nodes
}

func (h *host) start() {
	h.t.Helper()
	clock := store.NewClock(time.Time{}, store.ClockSources{})
	open := func() (*store.File, error) {
		file, _, err := store.Open(store.Options{Path: h.path, Clock: clock, Follows: true})
		return file, err
	}
	file, err := open()
	require.NoError(h.t, err)
	h.starts++
	self := journal.Process{Gateway: h.name, Start: fmt.Sprint(h.name, h.starts)}
	wires, err := h.wires(self)
	require.NoError(h.t, err)
	hop := httptest.NewUnstartedServer(nil)
	var replica *Replica
	copying := &copies.Client{
		Path: h.path, Open: open,
		Sources: func() []copies.Source { return copies.Sources(replica.Member().Status()) },
		TLS: func(string) *tls.Config {
			return hop.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		},
	}
	replica = New(Options{
		File: file, Stream: wires.stream, Journal: wires.journal, Clock: clock, Copy: copying.Copy,
		SetFormat: h.setFormat,
		Member: cluster.Options{
			Self: self, Gateways: h.cluster, Reads: max(h.reads, 1),
			Hop: hop.Listener.Addr().String(), Peers: wires.peers, Formats: clustertest.NoFormats{},
			SettleDelay: time.Second,
			Note:        func(message string, err error) { h.t.Logf("%s: %s: %v", h.name, message, err) },
		},
	})
	h.running.Store(replica)
	hop.Config.Handler = &copies.Handler{File: replica.File}
	hop.StartTLS()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	var attempts cluster.Attempts = clustertest.NoAttempts{}
	if h.attempts != nil {
		attempts = h.attempts()
	}
	run := (*Replica).Run
	if h.run != nil {
		run = func(r *Replica, ctx context.Context, attempts cluster.Attempts) { h.run(ctx, r, attempts) }
	}
	go func() { defer close(ended); run(replica, ctx, attempts) }()
	h.kill = sync.OnceFunc(func() {
		hop.CloseClientConnections()
		hop.Close()
		cancel()
		<-ended
		wires.close()
		assert.NoError(h.t, replica.File().Close())
	})
}

// put sets a value at the host that leads, and returns once the change is certain.
func put(t testing.TB, all []*host, key, value string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, h := range all {
			file := h.now().File()
			found, err := file.Get(t.Context(), "k", key)
			if err != nil && !errors.Is(err, store.ErrAbsent) {
				continue
			}
			if _, err = file.Apply(t.Context(),
				store.Change{Kind: "k", Key: key, Expect: found.Revision, Value: []byte(value)}); err == nil {
				return true
			}
		}
		return false
	}, patience, tick, "%s", key)
}

// equal waits until all files have the same contents, up to the end of the log.
func equal(t testing.TB, all []*host) {
	t.Helper()
	require.Eventually(t, func() bool {
		digests := map[store.Hash]bool{}
		for _, h := range all {
			_, digest, err := h.now().File().Digest(context.Background())
			if errors.Is(err, store.ErrClosed) {
				return false // a copy is replacing it
			}
			assert.NoError(t, err)
			digests[digest] = true
		}
		return len(digests) == 1
	}, patience, 5*tick)
}

func leader(all []*host) *host {
	for _, h := range all {
		if _, ok := h.now().Member().Leads(); ok {
			return h
		}
	}
	return nil
}

// writing writes while something happens, and checks that all files finally contain every acknowledged write.
func writing(t *testing.T, all []*host, round int, happens func(leader *host)) {
	t.Helper()
	stop := make(chan struct{})
	var writer sync.WaitGroup
	written := 0
	writer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				put(t, all, fmt.Sprintf("%d-%04d", round, written), "x")
				written++
			}
		}
	})
	at := leader(all)
	if at == nil {
		at = all[round%len(all)]
	}
	happens(at)
	close(stop)
	writer.Wait()
	began := time.Now()
	put(t, all, fmt.Sprintf("end-%d", round), "1")
	t.Logf("round %d: %d were written, and the next one %v later", round, written,
		time.Since(began).Round(time.Millisecond))
	equal(t, all)
	for i := range written {
		_, err := all[0].now().File().Get(t.Context(), "k", fmt.Sprintf("%d-%04d", round, i))
		require.NoError(t, err, "%d-%04d", round, i)
	}
}

// TestAllFilesHoldWhatTheLeaderWrote: all files contain the leaders' writes, even if leaders are
// killed, cut off and replaced while they write, and gateways are started again.
func TestAllFilesHoldWhatTheLeaderWrote(t *testing.T) {
	t.Parallel()
	all := newHosts(t, names...)
	inMemory(all)
	for _, h := range all {
		h.start()
	}
	put(t, all, "first", "1")
	for round := range 6 {
		writing(t, all, round, func(leader *host) {
			switch round % 3 {
			case 0:
				leader.kill()
				leader.start()
			case 1:
				leader.client.Cut()
				leader.client.Mend()
			case 2:
				_ = leader.now().Member().HandOver(t.Context()) // there may be no gateway to take over yet
			}
		})
	}
}
