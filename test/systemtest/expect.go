package systemtest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
)

// GoodCall sends the sample of op, compares the answer with the declaration of the operation and the changes
// in the world with the declared effect, and undoes the change.
func (s *System) GoodCall(op *ops.Operation) {
	s.Prepare(op)
	start := s.Snapshot()
	a := s.Do(Sample(op))
	require.Equal(s.T, GoodStatus(op), a.Status, "%s", a.Body)
	assert.Equal(s.T, "application/json; charset=utf-8", a.Header.Get("Content-Type"))
	assert.Equal(s.T, "sandbox", a.Header.Get("X-Engine"))
	assert.NotEmpty(s.T, a.Header.Get("X-Request-Id"))
	assert.Equal(s.T, "dc1.corp.example", a.Header.Get("X-Directory-Server"))
	assert.NotEmpty(s.T, a.Envelope.Output)
	require.NotEmpty(s.T, a.Envelope.Result)
	if op.Reply.Mark != ops.List {
		assert.Len(s.T, a.Envelope.Result, 1)
	}
	s.fieldOrder(op, a)
	changed := start.Compare(s.Snapshot())
	if !op.Effect.Writes() {
		assert.Empty(s.T, changed, "a read must change nothing")
		return
	}
	assert.NotEmpty(s.T, changed, "a write must change something")
	s.Undo(op)
}

// Prepare creates or removes the object of op's sample, and reports whether that was necessary.
func (s *System) Prepare(op *ops.Operation) bool {
	s.T.Helper()
	first, needed := Needed(op)
	if needed {
		a := s.Do(first)
		require.Less(s.T, a.Status, 300, "%s", a.Body)
	}
	return needed
}

// Undo undoes the last change by op through the history, unless a part of the change cannot be undone or the
// change has already been undone.
func (s *System) Undo(op *ops.Operation) {
	s.T.Helper()
	if !op.Effect.Writes() || op.Undo.Never != "" {
		return
	}
	// The request does not filter by the operation, because the gateway would then read the whole history.
	listed := s.Do(Call{Method: http.MethodGet, Path: "/api/Changes", Params: map[string]any{"Limit": 1}})
	require.Equal(s.T, http.StatusOK, listed.Status, "%s", listed.Body)
	if len(listed.Envelope.Result) == 0 || listed.Envelope.Result[0]["operation"] != op.ID {
		return // the call changed nothing
	}
	made := listed.Envelope.Result[0]
	undoneBy, _ := made["undoneBy"].([]any)
	if can := made["undo"] == "full" || made["undo"] == "restore"; !can || len(undoneBy) > 0 {
		return
	}
	undone := s.Do(UndoOf(Text(made["id"])))
	require.Equal(s.T, http.StatusOK, undone.Status, "%s", undone.Body)
}

// fieldOrder checks that the first record has exactly the declared fields, in order.
func (s *System) fieldOrder(op *ops.Operation, a Answer) {
	at, shape := 0, op.Reply.Shape
	for _, variant := range shape.Variants { // a restore returns records of several classes
		if _, has := a.Envelope.Result[0][variant.Fields[len(variant.Fields)/2].Name]; has &&
			len(variant.Fields) == len(a.Envelope.Result[0]) {
			shape = variant
		}
	}
	always := 0
	for _, field := range shape.Fields {
		if field.Extra != nil {
			continue // shown only if a list of fields names it
		}
		always++
		_, present := a.Envelope.Result[0][field.Name]
		require.True(s.T, present, "%s is missing", field.Name)
		next := strings.Index(string(a.Body[at:]), fmt.Sprintf("%q:", field.Name))
		require.GreaterOrEqual(s.T, next, 0, "%s comes too early", field.Name)
		at += next
	}
	assert.Len(s.T, a.Envelope.Result[0], always)
}

// Rejects sends a request that must fail with status and code, and must change nothing.
func (s *System) Rejects(c Call, status int, code string) Answer {
	s.T.Helper()
	start := s.Snapshot()
	a := s.Do(c)
	require.Equal(s.T, status, a.Status, "%s", a.Body)
	require.NotNil(s.T, a.Envelope.Error, "%s", a.Body)
	assert.Equal(s.T, code, a.Envelope.Error.Code)
	assert.Equal(s.T, a.Envelope.Output, a.Envelope.Error.Message)
	assert.Equal(s.T, a.Header.Get("X-Request-Id"), a.Envelope.Error.RequestID)
	assert.Empty(s.T, a.Envelope.Result)
	assert.Empty(s.T, start.Compare(s.Snapshot()), "a rejected request must change nothing")
	return a
}

// Record returns the only record of an answer.
func (s *System) Record(a Answer) map[string]any {
	s.T.Helper()
	require.Len(s.T, a.Envelope.Result, 1, "%s", a.Body)
	return a.Envelope.Result[0]
}

// Expect sends a request that must succeed with status and returns its only record.
func (s *System) Expect(status int, method, path string, params map[string]any) map[string]any {
	s.T.Helper()
	return s.OK(Call{Method: method, Path: path, Params: params}, status)
}

// ComputerNames sends a request for computers, which must succeed, and returns their names.
func (s *System) ComputerNames(c Call) []string {
	s.T.Helper()
	a := s.Do(c)
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	return NamesOfComputers(a)
}

// ChangesNothing sends a change that must succeed without an effect.
func (s *System) ChangesNothing(c Call) {
	s.T.Helper()
	start := s.Snapshot()
	a := s.Do(c)
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	assert.Contains(s.T, a.Envelope.Output, "nothing was changed")
	assert.Empty(s.T, start.Compare(s.Snapshot()))
}

// FirstField returns the parameter in the first detail of an error, or "".
func FirstField(a Answer) string {
	if len(a.Envelope.Error.Details) == 0 {
		return ""
	}
	return a.Envelope.Error.Details[0].Field
}

// OK sends a request that must succeed with status and returns its only record.
func (s *System) OK(c Call, status int) map[string]any {
	s.T.Helper()
	a := s.Do(c)
	require.Equal(s.T, status, a.Status, "%s %s: %s", c.Method, c.Path, a.Body)
	require.Len(s.T, a.Envelope.Result, 1, "%s", a.Body)
	return a.Envelope.Result[0]
}

// Put sends a PUT request that must succeed with 200 and returns its only record.
func (s *System) Put(path string, params map[string]any) map[string]any {
	s.T.Helper()
	return s.OK(Call{Method: http.MethodPut, Path: path, Params: params}, http.StatusOK)
}
