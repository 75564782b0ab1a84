package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// budgets counts the writes of budgets, and can make them fail.
type budgets struct {
	store.Store
	writes atomic.Int64
	fails  atomic.Bool
}

func (b *budgets) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	for _, c := range changes {
		if c.Kind == "budget" {
			b.writes.Add(1)
			if b.fails.Load() {
				return 0, errors.New("the disk is full")
			}
			break
		}
	}
	return b.Store.Apply(ctx, changes...)
}

// TestWhatWasSpentIsKnownAfterARestart: a change that counts towards a limit costs one write to the store;
// other changes cost none. The next gateway counts all changes that were made or may have been made.
func TestWhatWasSpentIsKnownAfterARestart(t *testing.T) {
	q := newQuotas(t)
	rights := authn.Rights{Scopes: []string{"user:delete", "user:write"},
		Quota: &identity.Quota{DeletionsPerHour: number(3)}}
	q.now = time.Now()
	accounts, header := q.stored(rights)
	again := func() *authn.Store { // as after a restart
		store, err := authn.OpenStore(authn.StoreOptions{File: q.file, Now: q.clock})
		require.NoError(t, err)
		return store
	}
	plain := &budgets{Store: store.NewMemory(nil)}
	var cut error
	good := harness.Answering(ps.Result{Effect: ps.EffectRemoved, Changes: make([]ps.Change, 1)},
		"["+harness.Sample(schema.User)+"]").Do
	runner := &harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		result, err := good(ctx, req)
		if cut != nil && err == nil {
			return nil, cut
		}
		return result, err
	}}
	start := func(accounts *authn.Store) *gateway.Server {
		return harness.New(t, runner, func(o *gateway.Options) {
			o.Auth, o.Quotas, o.Kept = accounts, identity.NewMeters(identity.Quota{}, q.clock), storetest.Seal(t,
				plain)
		})
	}
	remove := func(s *gateway.Server) int {
		return harness.Call(s, http.MethodDelete, "/api/ADUser/a", "", header).Code
	}

	s := start(accounts)
	require.Equal(t, http.StatusOK, remove(s))
	assert.EqualValues(t, 1, plain.writes.Load())
	harness.Call(s, http.MethodPut, "/api/ADUser/a/Disable", "", header)
	assert.EqualValues(t, 1, plain.writes.Load(), "what has no limit is not kept")
	cut = &ps.Error{Kind: ps.KindScript, Gateway: "protected", Message: "No.", Outcome: ps.OutcomeNone}
	assert.Equal(t, http.StatusConflict, remove(s))
	assert.EqualValues(t, 3, plain.writes.Load(), "it is reserved, and given back")
	cut = &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown}
	assert.Equal(t, http.StatusGatewayTimeout, remove(s), "it may have been done")
	cut = nil

	s = start(again())
	require.Equal(t, http.StatusOK, remove(s))
	assert.Equal(t, http.StatusTooManyRequests, remove(s))
	writes := plain.writes.Load()
	s = start(again())
	for range 2 {
		w := harness.Call(s, http.MethodDelete, "/api/ADUser/a", "", header)
		require.Equal(t, http.StatusTooManyRequests, w.Code)
		assert.Contains(t, w.Body.String(), "may remove 3 objects an hour and has 0 left")
		assert.NotEmpty(t, w.Header().Get("Retry-After"))
	}
	assert.Equal(t, writes, plain.writes.Load(), "a refused call writes nothing")
	q.step(time.Hour)
	assert.Equal(t, http.StatusOK, remove(s))
}

func TestWhatCannotBeCountedIsNotChanged(t *testing.T) {
	q := newQuotas(t)
	accounts, header := q.stored(authn.Rights{Scopes: []string{"user:delete"},
		Quota: &identity.Quota{DeletionsPerHour: number(1)}})
	plain := &budgets{Store: store.NewMemory(nil)}
	plain.fails.Store(true)
	s := harness.New(t, harness.Answering(ps.Result{Effect: ps.EffectRemoved, Changes: make([]ps.Change, 1)},
		"["+harness.Sample(schema.User)+"]"),
		func(o *gateway.Options) { o.Auth, o.Kept = accounts, storetest.Seal(t, plain) })
	w := harness.Call(s, http.MethodDelete, "/api/ADUser/a", "", header)
	assert.Equal(t, http.StatusServiceUnavailable, w.Code)
	got := harness.Read(t, w)
	assert.Equal(t, "none", got.Error.Outcome)
	assert.Contains(t, got.Output, "hourly limits")
	assert.NotEmpty(t, w.Header().Get("Retry-After"))
	plain.fails.Store(false)
	assert.Equal(t, http.StatusOK, harness.Call(s, http.MethodDelete, "/api/ADUser/a", "", header).Code,
		"nothing was spent")
}

// TestAResumedCallReleasesItsReservation: a repetition finds that the removal was made, and does not
// remove anything again.
func TestAResumedCallReleasesItsReservation(t *testing.T) {
	q := newQuotas(t)
	accounts, header := q.stored(authn.Rights{Scopes: []string{"user:write"},
		Quota: &identity.Quota{ChangesPerHour: number(2)}})
	d := &harness.OneUser{City: "Oslo", At: func(string) {}}
	cut := true
	runner := &harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if !req.Write {
			if d.Unreadable {
				return nil, &ps.Error{Kind: ps.KindUnavailable}
			}
			return d.Run(ctx, req)
		}
		intent := ps.Intent{Effect: ps.EffectChanged,
			Objects: []ps.Intended{{GUID: "g-1",
				Changes: []ps.IntendedChange{{Name: "l", Before: "Oslo", After: "Rome"}}}}}
		if err := req.Announced(intent); err != nil {
			return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
		}
		d.City = "Rome"
		if cut {
			return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Intent: &intent}
		}
		return &ps.Result{Effect: ps.EffectChanged}, req.Records([]byte("[" + harness.Sample(schema.User) + "]"))
	}}
	s := harness.New(t, runner, func(o *gateway.Options) {
		o.Auth, o.Kept, o.Policy.SettlePause = accounts, storetest.Seal(t, store.NewMemory(nil)), time.Millisecond
	})
	d.Unreadable = true
	disable := func(key string) int {
		return harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable", "", header, "Idempotency-Key: "+key).Code
	}
	require.Equal(t, http.StatusGatewayTimeout, disable("key-one-1"))
	d.Unreadable, cut = false, false
	require.Equal(t, http.StatusOK, disable("key-one-1"))
	assert.Equal(t, http.StatusOK, disable("key-two-2"), "one of two is left")
	assert.Equal(t, http.StatusTooManyRequests, disable("key-three-3"))
}
