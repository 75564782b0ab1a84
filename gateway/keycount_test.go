package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/test/harness"
)

// rangedStore counts how often all values of a kind are listed.
type rangedStore struct {
	store.Store
	ranges atomic.Int64
}

func (s *rangedStore) Range(
	ctx context.Context, kind store.Kind, prefix string, visit func(store.Entry) bool,
) error {
	if kind == harness.Keys {
		s.ranges.Add(1)
	}
	return s.Store.Range(ctx, kind, prefix, visit)
}

// TestTheNumberOfKeysIsLimited: beyond the limit, calls are refused without reading the keys. The gateway
// counts the keys again at most once a second.
func TestTheNumberOfKeysIsLimited(t *testing.T) {
	const most, life = 10_000, 24 * time.Hour
	start := time.Now()
	now := start
	db := &rangedStore{Store: store.NewMemory(func() time.Time { return now })}
	kept := storetest.Seal(t, db)
	serve := func() *gateway.Server {
		runner := harness.Answering(harness.OK, "["+harness.Sample(schema.User)+"]")
		return harness.New(t, runner, func(o *gateway.Options) { o.Kept, o.KeyLife = kept, life })
	}
	s := serve()
	status, _, _ := harness.ToRome(s)
	require.Equal(t, http.StatusOK, status)
	require.EqualValues(t, 2, db.ranges.Load(), "by id and by name")
	with := func(key string) *http.Response {
		return harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable", "", "Idempotency-Key: "+key).Result()
	}
	now = start.Add(time.Minute)
	for i := range most - 1 {
		require.Equal(t, http.StatusOK, with(fmt.Sprint("one-of-many-", i)).StatusCode)
	}
	s = serve() // a new gateway has not counted yet
	db.ranges.Store(0)
	for i := range 20 {
		answer := with(fmt.Sprint("one-too-many-", i))
		require.Equal(t, http.StatusTooManyRequests, answer.StatusCode)
		wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
		require.NoError(t, err)
		assert.InDelta(t, (life - time.Minute).Seconds(), wait, 1, "the oldest key ends then")
	}
	assert.EqualValues(t, 2, db.ranges.Load())
	status, _, header := harness.ToRome(s)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "true", header.Get(harness.ReplayedHeader), "known keys are answered")
	text := harness.Call(s, "GET", "/metrics", "").Body.String()
	for _, line := range []string{"adgateway_idempotency_keys 10000", "adgateway_idempotency_keys_max 10000",
		"adgateway_idempotency_refusals_total 20"} {
		assert.Contains(t, text, "\n"+line+"\n")
	}

	counted := start.Add(life - time.Second/2)
	now = counted
	assert.Equal(t, http.StatusTooManyRequests, with("none-is-free").StatusCode)
	assert.EqualValues(t, 4, db.ranges.Load())
	now = counted.Add(time.Second - 1) // the oldest key has expired
	assert.Equal(t, http.StatusTooManyRequests, with("too-early").StatusCode)
	assert.EqualValues(t, 4, db.ranges.Load())
	now = counted.Add(time.Second)
	assert.Equal(t, http.StatusOK, with("one-is-free").StatusCode)
	assert.EqualValues(t, 6, db.ranges.Load())
	assert.Equal(t, http.StatusTooManyRequests, with("full-again").StatusCode)
}
