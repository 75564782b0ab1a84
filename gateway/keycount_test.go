package gateway

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/keep"
	"adgateway/gateway/schema"
)

// rangedStore counts how often the values of a kind are read one after another.
type rangedStore struct {
	keep.Store
	ranges atomic.Int64
}

func (s *rangedStore) Range(ctx context.Context, kind keep.Kind, prefix string, visit func(keep.Entry) bool) error {
	if kind == keyKind {
		s.ranges.Add(1)
	}
	return s.Store.Range(ctx, kind, prefix, visit)
}

// TestTheNumberOfKeysIsLimited: beyond the limit calls are refused without reading the
// keys, which are counted again once a second.
func TestTheNumberOfKeysIsLimited(t *testing.T) {
	keys := openKeys(t, filepath.Join(t.TempDir(), "state.db"))
	store := &rangedStore{Store: keys.Store}
	keys.Store = store
	s := newTestServer(t, answering(okResult, "["+sample(schema.User)+"]"), func(o *Options) { o.Kept = keys })
	start := time.Now()
	now := start
	s.keys.count.now = func() time.Time { return now }
	status, _, _ := toRome(s)
	require.Equal(t, http.StatusOK, status)
	require.EqualValues(t, 1, store.ranges.Load())
	for caller := range s.keys.count.kept {
		var more []keep.Change
		for i := range maxKeysPerCaller - 1 {
			more = append(more, keep.Change{
				Kind: keyKind, Key: fmt.Sprintf("%s%d", caller, i), Value: []byte("{}"), Expires: start.Add(time.Hour + time.Duration(i)*time.Second),
			})
		}
		for some := range slices.Chunk(more, 500) {
			_, err := keys.Apply(t.Context(), some...)
			require.NoError(t, err)
		}
	}
	clear(s.keys.count.kept) // as after a restart
	store.ranges.Store(0)
	other := func(key string) *http.Response {
		return call(s, http.MethodPut, "/api/ADUser/jdoe/Disable", "", "Idempotency-Key: "+key).Result()
	}
	for i := range 20 {
		answer := other(fmt.Sprintf("one-too-many-%d", i))
		require.Equal(t, http.StatusTooManyRequests, answer.StatusCode)
		wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
		require.NoError(t, err)
		assert.InDelta(t, time.Hour.Seconds(), wait, 1, "the oldest key ends then")
	}
	assert.EqualValues(t, 1, store.ranges.Load())
	status, _, header := toRome(s)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "true", header.Get("Idempotency-Replayed"), "known keys are answered")
	text := call(s, "GET", "/metrics", "").Body.String()
	for _, line := range []string{"adgateway_idempotency_keys 10000", "adgateway_idempotency_keys_max 10000", "adgateway_idempotency_refusals_total 20"} {
		assert.Contains(t, text, "\n"+line+"\n")
	}

	for caller := range s.keys.count.kept { // a key ends
		found, err := keys.Get(t.Context(), keyKind, caller+"0")
		require.NoError(t, err)
		_, err = keys.Apply(t.Context(), keep.Change{Kind: keyKind, Key: caller + "0", Expect: found.Revision})
		require.NoError(t, err)
	}
	now = start.Add(recountEvery - 1)
	assert.Equal(t, http.StatusTooManyRequests, other("too-early").StatusCode)
	assert.EqualValues(t, 1, store.ranges.Load())
	now = start.Add(recountEvery)
	assert.Equal(t, http.StatusOK, other("one-is-free").StatusCode)
	assert.EqualValues(t, 2, store.ranges.Load())
	assert.Equal(t, http.StatusTooManyRequests, other("full-again").StatusCode)
}
