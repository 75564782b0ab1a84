package gateway_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/changes"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

// bin is a directory in which removed objects are restored, one per call. Restoring an object twice means
// that a change was made twice.
type bin struct {
	mu   sync.Mutex
	back map[string]int // number of restores by GUID
}

func (b *bin) times() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.back)
}

// run runs the scripts; at is as in [scene.on].
func (b *bin) run(at func(point string) (dies bool)) ps.Runner {
	return &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		text, _ := req.Args["Guid"].MarshalJSON() // a string always encodes
		var guid string
		if err := json.Unmarshal(text, &guid); err != nil {
			return nil, err
		}
		record := json.RawMessage(harness.Sample(schema.RestoredObject))
		if req.Settles {
			state := map[string]string{harness.Existence: map[bool]string{true: "True",
				false: "False"}[b.times()[guid] > 0]}
			return &ps.Result{Effect: ps.EffectNone},
				req.Records(harness.JSON([]map[string]any{{"guid": guid, "dn": "CN=" + guid, "age": 1, "state": state,
					"record": record}}))
		}
		intent := ps.Intent{Effect: ps.EffectCreated, Server: "dc9",
			Objects: []ps.Intended{harness.Changed(guid, harness.Existence, "False", "True")}}
		if err := req.Announced(intent); err != nil {
			return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
		}
		if at("announced") {
			return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Intent: &intent, Server: "dc9"}
		}
		b.mu.Lock()
		b.back[guid]++
		b.mu.Unlock()
		at("written")
		made := ps.Change{GUID: guid, DN: "CN=" + guid, After: map[string]json.RawMessage{"x": nil}}
		return &ps.Result{Effect: ps.EffectCreated, Server: "dc9", Changes: []ps.Change{made}},
			req.Records(harness.JSON([]json.RawMessage{record}))
	}}
}

// TestAnUndoOfSeveralCallsIsCompleted: a gateway dies at each step of the undo. After a restart, a
// repetition with the key makes the missing calls and answers with all of them.
func TestAnUndoOfSeveralCallsIsCompleted(t *testing.T) {
	const other = "0a3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f11"
	for step := 1; ; step++ {
		b := &bin{back: map[string]int{}}
		g := harness.NewGateway(t, b.run)
		past := &changes.Record{ID: changes.NewID(), Time: time.Now(), Operation: "computer.deleteMany",
			Server: "dc9",
			Intent: ps.Intent{Effect: ps.EffectRemoved,
				Objects: []ps.Intended{harness.Removed(harness.GUID, schema.Computer),
					harness.Removed(other, schema.Computer)}}}
		require.NoError(t, g.History.Complete(t.Context(), past, ps.OutcomeDone))
		undo := func() (*httptest.ResponseRecorder, []struct{ ID string }) {
			w := harness.Call(g.Server, http.MethodPut, "/api/Changes/"+past.ID+"/Undo", "",
				"Idempotency-Key: key-of-the-undo")
			var got struct{ Result []struct{ ID string } }
			_ = json.Unmarshal(w.Body.Bytes(), &got) // a dying gateway may answer anything
			return w, got.Result
		}
		g.Life.Begin(step)
		undo()
		died, during := g.Life.Dead()
		if died {
			g.Start(b.run)
			_, err := g.Writer().SettleHistory(t.Context())
			require.NoError(t, err, during)
		}
		first, made := undo()
		require.Equal(t, http.StatusOK, first.Code, "%s: %s", during, first.Body)
		require.Len(t, made, 2, "%s: %s", during, first.Body)
		require.Equal(t, map[string]int{harness.GUID: 1, other: 1}, b.times(), during)
		again, same := undo()
		require.Equal(t, http.StatusOK, again.Code, during)
		require.Equal(t, made, same, during)
		record, err := g.History.Get(t.Context(), past.ID)
		require.NoError(t, err)
		require.Len(t, record.UndoneBy, 2, during)
		if !died {
			require.Greater(t, step, 12)
			return
		}
	}
}
