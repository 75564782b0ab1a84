package settle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/ps"
)

// fakeRunner answers by script name and records its requests.
type fakeRunner struct {
	scripts  map[string]func(ctx context.Context, req ps.Request) error
	requests []ps.Request
}

func (f *fakeRunner) Run(ctx context.Context, req ps.Request) (*ps.Result, error) {
	f.requests = append(f.requests, req)
	if err := f.scripts[req.Script](ctx, req); err != nil {
		return nil, err
	}
	return &ps.Result{Effect: ps.EffectNone}, nil
}

// emitting returns a script that emits one batch of records per call, and repeats the last one.
func emitting(batches ...string) func(context.Context, ps.Request) error {
	calls := 0
	return func(_ context.Context, req ps.Request) error {
		batch := batches[min(calls, len(batches)-1)]
		calls++
		return req.Records(json.RawMessage(batch))
	}
}

const (
	confirm = "Confirm-Thing"
	remove  = "Remove-Remnant"
)

func settler(runner *fakeRunner) *Settler {
	params := []ps.Param{
		{Name: "Class", Type: "string"}, {Name: ops.SettleGuid, Type: "string"}, {Name: ops.SettleGuids, Type: "string[]"},
		{Name: ops.SettleMaxAge, Type: "int"}, {Name: "Server", Type: "string", Mandatory: true},
	}
	return &Settler{
		Runner: runner, Limit: 10 * time.Second, Pause: time.Millisecond,
		Scripts: map[string]ps.Script{confirm: {Name: confirm, Params: params},
			remove: {Name: remove, Writes: true, Params: params}},
	}
}

// cutOff returns a change that was cut off after its announcement.
func cutOff(effect ps.Effect, mark ops.Mark, steps []ps.Step, objects ...ps.Intended) Change {
	op := &ops.Operation{
		Effect: ops.Update, Lane: ps.Directory, Reply: ops.Reply{Mark: mark},
		Settle: ops.Settle{Script: confirm, Fixed: ps.Args{"Class": ps.Text("user")}},
	}
	if effect == ps.EffectCreated {
		op.Effect, op.Settle.CleanUp = ops.Create, remove
	}
	return Change{
		Operation: op, Bound: &ops.Bound{Op: op}, Request: ps.Request{ID: "r-1", Write: true},
		StartedAt: time.Now(),
		Cut: &ps.Error{
			Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Server: "dc9.corp.example", Steps: steps,
			Intent: &ps.Intent{Effect: effect, Objects: objects, Counts: map[string]int{"removed": len(objects)}},
		},
	}
}

func newPassword() Change {
	return cutOff(ps.EffectChanged, ops.Single, []ps.Step{{Label: "something", DN: "CN=j"}},
		ps.Intended{GUID: "g-1", DN: "CN=j", Changes: []ps.IntendedChange{change("pwdLastSet", "5", "renewed")}})
}

func passwordSetAt(at string) string {
	return `[{"guid":"g-1","dn":"CN=j","age":1,"state":{"exists":"True","pwdLastSet":"` + at + `"},"record":{"name":"j"}}]`
}

func TestOpen(t *testing.T) {
	intent := &ps.Intent{Objects: []ps.Intended{{GUID: "g"}}}
	for name, c := range map[string]struct {
		write bool
		err   error
		want  bool
	}{
		"cut off":           {true, &ps.Error{Outcome: ps.OutcomeUnknown, Intent: intent}, true},
		"wrapped":           {true, fmt.Errorf("run: %w", &ps.Error{Outcome: ps.OutcomeUnknown, Intent: intent}), true},
		"read":              {false, &ps.Error{Outcome: ps.OutcomeUnknown, Intent: intent}, false},
		"outcome is known":  {true, &ps.Error{Outcome: ps.OutcomePartial, Intent: intent}, false},
		"nothing announced": {true, &ps.Error{Outcome: ps.OutcomeUnknown}, false},
		"no objects":        {true, &ps.Error{Outcome: ps.OutcomeUnknown, Intent: &ps.Intent{}}, false},
		"other error":       {true, errors.New("broken"), false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, Open(ps.Request{Write: c.write}, c.err) != nil)
		})
	}
}

func TestReadingsUntilTheOutcomeIsClear(t *testing.T) {
	away := &ps.Error{Kind: ps.KindUnavailable}
	for name, c := range map[string]struct {
		readings []any // time of the password, or an error
		outcome  ps.Outcome
		unread   error
	}{
		"done":                      {[]any{"6"}, ps.OutcomeDone, nil},
		"done while it was settled": {[]any{"5", "6"}, ps.OutcomeDone, nil},
		"not done":                  {[]any{"5", "5"}, ps.OutcomeNone, nil},
		"server away":               {[]any{away}, ps.OutcomeUnknown, away},
		"server away later":         {[]any{"5", away}, ps.OutcomeUnknown, away},
	} {
		t.Run(name, func(t *testing.T) {
			runner := &fakeRunner{}
			runner.scripts = map[string]func(context.Context,
				ps.Request) error{confirm: func(_ context.Context, req ps.Request) error {
				switch reading := c.readings[len(runner.requests)-1].(type) {
				case error:
					return reading
				default:
					return req.Records(json.RawMessage(passwordSetAt(reading.(string))))
				}
			}}
			got := settler(runner).Settle(t.Context(), newPassword())
			assert.Equal(t, c.outcome, got.Outcome)
			assert.Equal(t, c.unread, got.Unread)
			assert.Len(t, runner.requests, len(c.readings))
			for _, req := range runner.requests {
				assert.Equal(t, confirm, req.Script)
				assert.Equal(t, "r-1", req.ID)
				assert.True(t, req.Settles)
				assert.False(t, req.Write)
				assert.Equal(t, ps.Args{
					"Class": ps.Text("user"), "Guid": ps.Text("g-1"), "Guids": ps.List([]string{"g-1"}), "MaxAge": ps.Int(2),
					"Server": ps.Text("dc9.corp.example"),
				}, req.Args)
			}
			if c.outcome == ps.OutcomeDone {
				require.NotNil(t, got.Result)
				assert.Nil(t, got.Err)
				assert.Equal(t, "dc9.corp.example", got.Result.Server)
				assert.Equal(t, []json.RawMessage{json.RawMessage(`{"name":"j"}`)}, got.Records)
				return
			}
			assert.Nil(t, got.Result)
			assert.Equal(t, c.outcome, got.Err.Outcome)
			assert.Equal(t, ps.KindDied, got.Err.Kind)
		})
	}
}

func TestTheLimitEndsTheSettling(t *testing.T) {
	s := settler(&fakeRunner{scripts: map[string]func(context.Context,
		ps.Request) error{confirm: func(ctx context.Context, _ ps.Request) error {
		<-ctx.Done()
		return &ps.Error{Kind: ps.KindCancelled, Cause: ctx.Err()}
	}}})
	s.Limit = 20 * time.Millisecond
	got := s.Settle(t.Context(), newPassword())
	assert.Equal(t, ps.OutcomeUnknown, got.Outcome)
	assert.ErrorIs(t, got.Unread, context.DeadlineExceeded)
}

func TestTheLimitEndsThePause(t *testing.T) {
	s := settler(&fakeRunner{scripts: map[string]func(context.Context,
		ps.Request) error{confirm: emitting(passwordSetAt("5"))}})
	s.Limit, s.Pause = 20*time.Millisecond, time.Hour
	got := s.Settle(t.Context(), newPassword())
	assert.Equal(t, ps.OutcomeUnknown, got.Outcome)
	assert.ErrorIs(t, got.Unread, context.DeadlineExceeded)
}

func TestCancellingDoesNotStopTheSettling(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := settler(&fakeRunner{scripts: map[string]func(context.Context,
		ps.Request) error{confirm: emitting(passwordSetAt("5"), passwordSetAt("6"))}})
	got := s.Settle(ctx, newPassword())
	assert.Equal(t, ps.OutcomeDone, got.Outcome)
}

func TestAScriptWithoutARecordLeavesTheOutcomeUnknown(t *testing.T) {
	got := settler(&fakeRunner{scripts: map[string]func(context.Context,
		ps.Request) error{confirm: emitting("[]")}}).Settle(t.Context(), newPassword())
	assert.Equal(t, ps.OutcomeUnknown, got.Outcome)
	assert.ErrorIs(t, got.Unread, errNoRecord)
}

// newUser returns a create of two steps that was cut off after the given steps.
func newUser(steps ...ps.Step) Change {
	return cutOff(ps.EffectCreated, ops.Single, steps,
		ps.Intended{Account: "j", Changes: []ps.IntendedChange{change(existence, "False", "True"),
			change("enabled", "False", "True")}})
}

const (
	halfCreated  = `[{"guid":"g-2","dn":"CN=j","age":0,"state":{"exists":"True","enabled":"False"},"record":{"guid":"g-2"}}]`
	fullyCreated = `[{"guid":"g-2","dn":"CN=j","age":0,"state":{"exists":"True","enabled":"True"},"record":{"guid":"g-2","distinguishedName":"CN=j"}}]`
	oldObject    = `[{"guid":"g-7","dn":"CN=j","age":900,"state":{"exists":"True","enabled":"True"},"record":{"guid":"g-7"}}]`
)

func TestAnUnfinishedCreateIsRemoved(t *testing.T) {
	broken := errors.New("access is denied")
	for name, c := range map[string]struct {
		remove  error
		outcome ps.Outcome
		remains []ps.Object
	}{
		"removed":     {nil, ps.OutcomeNone, nil},
		"not removed": {broken, ps.OutcomePartial, []ps.Object{{GUID: "g-2", DN: "CN=j"}}},
	} {
		t.Run(name, func(t *testing.T) {
			runner := &fakeRunner{scripts: map[string]func(context.Context, ps.Request) error{
				confirm: emitting(halfCreated),
				remove:  func(context.Context, ps.Request) error { return c.remove },
			}}
			got := settler(runner).Settle(t.Context(), newUser(ps.Step{Label: "create", GUID: "g-2"}))
			assert.Equal(t, c.outcome, got.Outcome)
			assert.Equal(t, c.remove, got.NoCleanUp)
			assert.Equal(t, c.outcome, got.Err.Outcome)
			assert.Equal(t, c.remains, got.Err.Remains)
			last := runner.requests[len(runner.requests)-1]
			assert.Equal(t, remove, last.Script)
			assert.True(t, last.Write)
			assert.Equal(t, ps.Text("g-2"), last.Args[ops.SettleGuid])
		})
	}
}

func TestACreatedObjectIsReported(t *testing.T) {
	got := settler(&fakeRunner{scripts: map[string]func(context.Context,
		ps.Request) error{confirm: emitting(fullyCreated)}}).Settle(t.Context(), newUser())
	require.NotNil(t, got.Result)
	assert.Equal(t, ps.EffectCreated, got.Result.Effect)
	require.Len(t, got.Result.Changes, 1)
	assert.Equal(t, "g-2", got.Result.Changes[0].GUID)
	assert.Equal(t, "CN=j", got.Result.Changes[0].DN)
}

func TestAnOlderObjectOfThatNameIsNotTheOneCreated(t *testing.T) {
	got := settler(&fakeRunner{scripts: map[string]func(context.Context,
		ps.Request) error{confirm: emitting(oldObject)}}).Settle(t.Context(), newUser())
	assert.Equal(t, ps.OutcomeNone, got.Outcome)
	assert.Nil(t, got.Result)
}

func TestARemovalOfSeveralReportsWhatWasDone(t *testing.T) {
	removed := func(guid string) ps.Intended {
		return ps.Intended{
			GUID: guid, DN: "CN=" + guid, Record: json.RawMessage(`{"guid":"` + guid + `"}`),
			Changes: []ps.IntendedChange{change(existence, "True", "False")},
		}
	}
	change := cutOff(ps.EffectRemoved, ops.List, nil, removed("a"), removed("b"))
	got := settler(&fakeRunner{scripts: map[string]func(context.Context, ps.Request) error{
		confirm: emitting(`[{"state":{"exists":"False"}},{"guid":"b","state":{"exists":"True"}}]`),
	}}).Settle(t.Context(), change)
	assert.Equal(t, ps.OutcomePartial, got.Outcome)
	require.NotNil(t, got.Result)
	assert.Equal(t, []json.RawMessage{json.RawMessage(`{"guid":"a"}`)}, got.Records)
	assert.Equal(t, map[string]int{"removed": 1}, got.Result.Counts)
	assert.Equal(t, []ps.Failure{{GUID: "b", DN: "CN=b", Error: ps.Error{Kind: ps.KindDied}}},
		got.Result.Failures)
	require.Len(t, got.Result.Changes, 1)
	assert.Equal(t, "a", got.Result.Changes[0].GUID)
}
