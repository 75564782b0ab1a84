package replica

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/clustertest"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

// opening writes to its host's file when the open changes are read.
type opening struct {
	clustertest.NoAttempts
	h *host

	mu    *sync.Mutex
	terms map[uint64]error
}

func (o *opening) Open(ctx context.Context) ([]cluster.Attempt, error) {
	term, _ := o.h.now().Member().Leads()
	_, err := o.h.now().File().Apply(ctx, store.Change{Log: "log", Value: []byte("x")})
	o.mu.Lock()
	defer o.mu.Unlock()
	if ctx.Err() == nil {
		o.terms[term] = err
	}
	return nil, nil
}

// TestTheNextLeaderCanWrite: in each term the file decides changes once the open changes have been read,
// because the gateway then starts to accept changes.
func TestTheNextLeaderCanWrite(t *testing.T) {
	t.Parallel()
	all := newHosts(t, names[:2]...)
	inMemory(all)
	opened := opening{mu: &sync.Mutex{}, terms: map[uint64]error{}}
	for _, h := range all {
		h.attempts = func() cluster.Attempts { return &opening{h: h, mu: opened.mu, terms: opened.terms} }
		h.start()
	}
	put(t, all, "first", "1")
	for range 6 {
		require.Eventually(t, func() bool { return leader(all) != nil }, patience, tick)
		if h := leader(all); h != nil {
			_ = h.now().Member().HandOver(t.Context()) // there may be no gateway to take over yet
		}
	}
	put(t, all, "last", "1")
	for _, h := range all {
		h.kill()
	}
	require.NotEmpty(t, opened.terms)
	for term, err := range opened.terms {
		assert.NoError(t, err, "term %d", term)
	}
}

// TestTheRoleOfTheFileComesLater: no change is accepted before the file has its role.
func TestTheRoleOfTheFileComesLater(t *testing.T) {
	t.Parallel()
	all := newHosts(t, names[:1]...)
	inMemory(all)
	h := all[0]
	opened := opening{h: h, mu: &sync.Mutex{}, terms: map[uint64]error{}}
	h.attempts = func() cluster.Attempts { return &opened }
	run := make(chan struct{})
	h.run = func(ctx context.Context, r *Replica, attempts cluster.Attempts) {
		var watching sync.WaitGroup
		defer watching.Wait()
		watching.Go(func() {
			select {
			case <-run:
				r.watch(ctx)
			case <-ctx.Done():
			}
		})
		r.member.Run(ctx, r.log, takenOver{attempts, r})
	}
	h.start()
	require.Eventually(t, func() bool { own, _ := h.now().Member().Leads(); return own != 0 }, patience, tick)
	time.Sleep(20 * tick) // after this time, a replica that does not wait has failed
	_, accepts := h.now().Member().Leads()
	assert.False(t, accepts)
	close(run)
	require.Eventually(t, func() bool { _, ok := h.now().Member().Leads(); return ok }, patience, tick)
	h.kill()
	require.NotEmpty(t, opened.terms)
	for term, err := range opened.terms {
		assert.NoError(t, err, "term %d", term)
	}
}

// TestFormatsAreKept: the leader stores the formats, and all gateways read them. A gateway that
// does not lead is not affected.
func TestFormatsAreKept(t *testing.T) {
	t.Parallel()
	file, _, err := store.Open(store.Options{Path: filepath.Join(t.TempDir(), "store")})
	require.NoError(t, err)
	defer file.Close()
	sealed := storetest.Seal(t, file)
	f := NewFormats(sealed)
	assert.Empty(t, f.Seen())
	first := cluster.Seen{Reads: 1, Time: time.Unix(100, 0).UTC()}
	second := cluster.Seen{Reads: 2, Time: time.Unix(200, 0).UTC()}
	require.NoError(t, f.See(t.Context(), "gw1", first))
	require.NoError(t, f.See(t.Context(), "gw2", first))
	require.NoError(t, f.See(t.Context(), "gw1", second))
	want := map[string]cluster.Seen{"gw1": second, "gw2": first}
	assert.Equal(t, want, NewFormats(sealed).Seen())
	file.Follow()
	require.NoError(t, f.See(t.Context(), "gw2", second))
	assert.Equal(t, want, f.Seen())
	require.NoError(t, file.Close())
	assert.Equal(t, want, f.Seen(), "as it was")
}

// TestTheOldestReaderDecidesTheFormat: a gateway that only reads an older format makes the others
// write that format.
func TestTheOldestReaderDecidesTheFormat(t *testing.T) {
	t.Parallel()
	all := newHosts(t, names[:2]...)
	inMemory(all)
	var told [2]atomic.Int64
	for i, h := range all {
		h.reads = 3 - i // 3 and 2
		h.setFormat = func(format int) { told[i].Store(int64(format)) }
		h.start()
	}
	require.Eventually(t, func() bool { return told[0].Load() == 2 && told[1].Load() == 2 }, patience, tick)
}
