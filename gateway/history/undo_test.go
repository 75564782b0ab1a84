package history_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/history"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"
)

// outer is the outer call of an undo.
type outer struct {
	call.Call
	parts int // argument of Plan
}

func (o *outer) Part(id string, op *ops.Operation, given ops.Given) call.Call {
	return call.Call{ID: id, Op: op, Principal: o.Principal, Input: call.Values(given), For: o}
}

func (o *outer) Resumed(context.Context) (string, error) { return "", nil }

func (o *outer) Plan(_ context.Context, parts int) error {
	o.parts = parts
	return nil
}

// undoTwo undoes the removal of two computers with two calls. do returns their outcomes.
func undoTwo(t *testing.T, do func(n int, made *changes.Record) (call.Answer, error)) (call.Answer, error) {
	t.Helper()
	kept := changes.New(storetest.Seal(t, store.NewMemory(nil)), time.Hour, 1<<30)
	const other = "0a3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f11"
	removed := []ps.Intended{
		harness.Removed(harness.GUID, schema.Computer), harness.Removed(other, schema.Computer),
	}
	past := &changes.Record{
		ID: changes.NewID(), Time: time.Now(), Operation: "computer.deleteMany", Server: "dc9",
		Intent: ps.Intent{Effect: ps.EffectRemoved, Objects: removed},
	}
	require.NoError(t, kept.Complete(t.Context(), past, ps.OutcomeDone))
	var calls []call.Call
	service := history.New(history.Options{
		History: kept, Operations: ops.Table(),
		Do: func(_ context.Context, c call.Call, _ call.Sink) (call.Answer, error) {
			calls = append(calls, c)
			made := &changes.Record{
				ID: changes.NewID(), RequestID: c.ID, Operation: c.Op.ID, Undoes: past.ID, Outcome: ps.OutcomeDone,
				Intent: ps.Intent{Effect: ps.EffectCreated, Objects: removed[:1]},
			}
			return do(len(calls), made)
		},
	})
	op := ops.Find(ops.Table(), "change.undo")
	bound, problems := op.Bind(ops.Given{ops.ChangeIDParam: past.ID})
	require.Empty(t, problems)
	of := &outer{Call: call.Call{ID: "r", Op: op,
		Principal: &identity.Principal{Name: "ops", Scopes: []identity.Scope{identity.All}}}}
	answer, err := service.Local().Handlers[op.ID](t.Context(),
		call.Accepted{Call: of.Call, Bound: bound, As: of})
	assert.Equal(t, 2, of.parts)
	require.Len(t, calls, 2)
	assert.Equal(t, "r.1", calls[0].ID)
	assert.Equal(t, call.Outer(of), calls[1].For)
	return answer, err
}

func codes(warnings []ps.Warning) (all []string) {
	for _, w := range warnings {
		all = append(all, w.Code)
	}
	return all
}

// TestAnUndoShowsWhatItsCallsWarnOf: the answer contains each warning of the calls once. The warnings say
// that a change may have been made twice, could not be read back, or is missing from the history.
func TestAnUndoShowsWhatItsCallsWarnOf(t *testing.T) {
	answer, err := undoTwo(t, func(n int, made *changes.Record) (call.Answer, error) {
		warnings := []ps.Warning{{Code: call.NotReadBack}, {Code: "of the script"}}
		if n == 2 {
			warnings = append(warnings, ps.Warning{Code: call.Raced}, ps.Warning{Code: call.NotInHistory})
		}
		return call.Answer{ChangeID: made.ID, Change: made, Warnings: warnings, Server: "dc1"}, nil
	})
	require.NoError(t, err)
	assert.Equal(t, 2, answer.Count)
	assert.Equal(t, "dc1", answer.Server)
	assert.Equal(t, []string{call.NotReadBack, call.Raced, call.NotInHistory}, codes(answer.Warnings))
}

// TestAPartOfAnUndoShowsWhatItsCallsWarnOf: the error of an undo that was made only in part, or is
// missing from the history, contains the same warnings.
func TestAPartOfAnUndoShowsWhatItsCallsWarnOf(t *testing.T) {
	gone := problem.New(schema.NotFound, "It is gone.")
	for recorded, want := range map[bool]schema.Code{true: schema.Partial, false: schema.NotFound} {
		var id string
		answer, err := undoTwo(t, func(n int, made *changes.Record) (call.Answer, error) {
			if n == 2 {
				return call.Answer{}, call.Warned(gone, ps.Warning{Code: call.Raced})
			}
			id = made.ID
			answer := call.Answer{ChangeID: id, Change: made, Warnings: []ps.Warning{{Code: call.NotReadBack}}}
			if !recorded {
				answer.Change = nil
			}
			return answer, nil
		})
		failed := problem.Of(call.Problem(answer, err))
		assert.Equal(t, want, failed.Code)
		assert.Equal(t, id, answer.ChangeID)
		assert.Equal(t, recorded, answer.Partly != nil)
		assert.Equal(t, recorded, len(answer.Records) > 0)
		warnings := append(answer.Warnings, failed.Warnings...)
		assert.ElementsMatch(t, []string{call.NotReadBack, call.Raced}, codes(warnings))
	}
}
