package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"
	"adgateway/test/histories"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gatewayOver returns a gateway over a store.
func gatewayOver(
	t *testing.T, db store.Store, runner ps.Runner, change ...func(*gateway.Options),
) *gateway.Server {
	t.Helper()
	g := &harness.Gateway{T: t, Store: db}
	g.Start(func(func(string) bool) ps.Runner { return runner }, change...)
	return g.Server
}

func TestAPlanIsAppliedOnce(t *testing.T) {
	var made atomic.Int64
	good := harness.Answering(ps.Result{Effect: ps.EffectChanged}, "["+harness.Sample(schema.User)+"]")
	s := gatewayOver(t, store.NewMemory(nil),
		&harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
			result, err := good.Do(ctx, req)
			if err == nil && req.Write {
				made.Add(1)
			}
			return result, err
		}})
	id := planID(t, harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "").Body.Bytes())
	var group sync.WaitGroup
	var calls histories.Recorder
	statuses := make(chan int, 30)
	for range cap(statuses) {
		group.Go(func() {
			use := calls.Begin(histories.Op{Of: id, Do: "use"})
			status := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?PlanId="+id, "").Code
			use.End(histories.Answer{Refused: status == http.StatusConflict})
			statuses <- status
		})
	}
	group.Wait()
	calls.Check(t, histories.Once, "one plan")
	close(statuses)
	done := 0
	for status := range statuses {
		if status == http.StatusOK {
			done++
			continue
		}
		assert.Equal(t, http.StatusConflict, status)
	}
	assert.Equal(t, 1, done)
	assert.EqualValues(t, 1, made.Load())
}

// TestABudgetIsSpentOnce: of 500 attempts, exactly as many succeed as the limit allows.
func TestABudgetIsSpentOnce(t *testing.T) {
	spendAll(t, 0)
}

// TestABudgetIsNotOverspent: no matter what the store loses, duplicates or delays, no more objects are
// removed than the limit allows.
func TestABudgetIsNotOverspent(t *testing.T) {
	spendAll(t, 0.2)
}

// spendAll runs clients that together try to remove ten times the limit, over a store that
// sometimes fails.
func spendAll(t *testing.T, faults float64) {
	q := newQuotas(t)
	q.now = time.Now()
	accounts, header := q.stored(authn.Rights{Scopes: []string{"user:delete"},
		Quota: &identity.Quota{DeletionsPerHour: number(50)}})
	var removed atomic.Int64
	runner := &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		user := userOf(req)
		if err := req.Announced(ps.Intent{Effect: ps.EffectRemoved, Server: "dc1", Objects: []ps.Intended{
			{GUID: user, DN: "CN=" + user,
				Changes: []ps.IntendedChange{{Name: "exists", Before: "True", After: "False"}}}}}); err != nil {
			return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
		}
		removed.Add(1)
		return &ps.Result{Effect: ps.EffectRemoved, Server: "dc1", Changes: make([]ps.Change, 1)},
			req.Records(json.RawMessage("[" + harness.Sample(schema.User) + "]"))
	}}
	faulty := storetest.NewFaulty(store.NewMemory(nil), 1, 0)
	t.Cleanup(func() { assert.NoError(t, faulty.Close()) })
	s := gatewayOver(t, faulty, runner, func(o *gateway.Options) {
		own, err := authn.OpenStore(authn.StoreOptions{File: q.file, Now: q.clock})
		require.NoError(t, err)
		o.Auth, o.Quotas = own, identity.NewMeters(identity.Quota{}, q.clock)
	})
	assert.NotNil(t, accounts)
	faulty.Fail(faults)
	var group sync.WaitGroup
	var calls histories.Recorder
	var done, refused atomic.Int64
	tries := make(chan int)
	for range 20 {
		group.Go(func() {
			for n := range tries {
				spend := calls.Begin(histories.Op{Of: "deletions", Do: "spend"})
				w := harness.Call(s, http.MethodDelete, fmt.Sprintf("/api/ADUser/user%d", n), "", header)
				switch {
				case w.Code == http.StatusOK:
					spend.End(histories.Answer{})
					done.Add(1)
				case w.Code == http.StatusTooManyRequests:
					if faults > 0 {
						spend.Forget() // drops the reservation for a change that was not made, which may still be held
					} else {
						spend.End(histories.Answer{Refused: true})
					}
					refused.Add(1)
					assert.Contains(t, w.Body.String(), "may remove 50 objects an hour")
				case faults > 0:
					spend.Forget() // a removal that was made counts
				default:
					assert.Fail(t, "neither done nor refused", "%d: %s", w.Code, w.Body)
				}
			}
		})
	}
	for n := range 500 {
		tries <- n
	}
	close(tries)
	group.Wait()
	calls.Check(t, histories.Budget(50), "one budget")
	t.Logf("%d removed, %d told so, %d refused", removed.Load(), done.Load(), refused.Load())
	if faults > 0 {
		assert.LessOrEqual(t, removed.Load(), int64(50))
		assert.NotZero(t, done.Load())
		return
	}
	assert.EqualValues(t, 50, removed.Load())
	assert.EqualValues(t, 50, done.Load())
	assert.EqualValues(t, 450, refused.Load())
}

// TestChangesOfAnObjectExcludeEachOther: a change reads the value that the previous one wrote, no matter what
// the store loses, duplicates or delays.
func TestChangesOfAnObjectExcludeEachOther(t *testing.T) {
	for name, faults := range map[string]float64{"a good store": 0, "a faulty store": 0.2} {
		t.Run(name, func(t *testing.T) { excludeEachOther(t, faults) })
	}
}

func excludeEachOther(t *testing.T, faults float64) {
	var value, within, most atomic.Int64
	var changes histories.Recorder
	run := func(_ context.Context, req ps.Request) (*ps.Result, error) {
		read := value.Load()
		change := changes.Begin(histories.Op{Of: "g-1", Do: "change", Expect: fmt.Sprint(read),
			Value: fmt.Sprint(read + 1)})
		if err := req.Announced(ps.Intent{Effect: ps.EffectChanged, Server: "dc1", Objects: []ps.Intended{
			{GUID: "g-1", DN: "CN=j", Changes: []ps.IntendedChange{{Name: "l", Before: fmt.Sprint(read),
				After: fmt.Sprint(read + 1)}}}}}); err != nil {
			change.End(histories.Answer{Refused: true})
			return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
		}
		now := within.Add(1)
		for last := most.Load(); now > last && !most.CompareAndSwap(last, now); last = most.Load() {
			continue
		}
		value.Store(read + 1)
		within.Add(-1)
		change.End(histories.Answer{})
		return &ps.Result{Effect: ps.EffectChanged, Server: "dc1"},
			req.Records(json.RawMessage("[" + harness.Sample(schema.User) + "]"))
	}
	faulty := storetest.NewFaulty(store.NewMemory(nil), 1, 0)
	t.Cleanup(func() { assert.NoError(t, faulty.Close()) })
	s := gatewayOver(t, faulty, &harness.Runner{Do: run})
	faulty.Fail(faults)
	var group sync.WaitGroup
	var done atomic.Int64
	for range 30 {
		group.Go(func() {
			w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, "Content-Type: application/json")
			if w.Code == http.StatusOK {
				done.Add(1)
			}
			assert.True(t, w.Code == http.StatusOK || faults > 0, w.Body)
		})
	}
	group.Wait()
	changes.Check(t, histories.Leases, "one object")
	assert.EqualValues(t, 1, most.Load())
	assert.Equal(t, done.Load(), value.Load(), "no change is lost")
	assert.NotZero(t, done.Load())
	t.Logf("%d of 30 were made", done.Load())
}

// TestWhatANewerGatewayHasWritten: if a key is stored in a format that this gateway does not know,
// the gateway does not guess its contents, and the call does not run.
func TestWhatANewerGatewayHasWritten(t *testing.T) {
	d := &harness.OneUser{City: "Oslo", At: func(string) {}}
	s := gatewayOver(t, store.NewMemory(nil), &harness.Runner{Do: d.Run})
	status, _, _ := harness.ToRome(s)
	require.Equal(t, http.StatusOK, status)
	var newer store.Change
	require.NoError(t, s.Kept.Range(t.Context(), harness.Keys, "", func(e store.Entry) bool {
		newer = store.Change{Kind: harness.Keys, Key: e.Key, Expect: e.Revision, Expires: e.Expires,
			Value: bytes.Replace(e.Value, []byte(`"v":1`), []byte(`"v":2`), 1)}
		require.NotEqual(t, e.Value, newer.Value)
		return true
	}))
	_, err := s.Kept.Apply(t.Context(), newer)
	require.NoError(t, err)
	status, answer, _ := harness.ToRome(s)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, schema.NewerPeer, answer.Error.Code)
	assert.Equal(t, 1, d.Changes)
}

// TestAChangeTakesTwoWrites: a change with a key, a plan, a budget and the history takes two writes
// of the store.
func TestAChangeTakesTwoWrites(t *testing.T) {
	q := newQuotas(t)
	q.now = time.Now()
	accounts, header := q.stored(authn.Rights{Scopes: []string{"user:write"},
		Quota: &identity.Quota{ChangesPerHour: number(5)}})
	store := harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
	history := changes.New(store, time.Hour, 1<<20)
	s := harness.New(t, harness.Answering(ps.Result{Effect: ps.EffectChanged},
		"["+harness.Sample(schema.User)+"]"), func(o *gateway.Options) {
		o.Auth, o.Kept, o.History = accounts, store, history
	})
	w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?DryRun=true", "", header)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	before := store.State().Writes
	w = harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/Disable?PlanId="+planID(t, w.Body.Bytes()), "", header,
		harness.KeyOfRome)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	assert.EqualValues(t, 2, store.State().Writes-before)
}
