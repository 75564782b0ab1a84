package test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/ps/sandbox"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sample is a good call of an operation in the built-in domain: values by the
// names of parameters, those of the path included.
type sample struct {
	Params map[string]any
	Status int // 200 when zero
	// undo puts the world back after the good call, for samples that change it.
	Undo Call
}

// Samples has one entry for every operation: a row without one fails the tests.
var Samples = Merge(dnsSamples, userSamples, membershipSamples, ouSamples, groupSamples, computerSamples)

// before makes what the good calls of removing operations remove.
var Setup = Merge(dnsBefore, UserBefore, membershipBefore, ouBefore, groupBefore, computerBefore)

func Merge[V any](tables ...map[string]V) map[string]V {
	all := map[string]V{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// callOf makes a request of an operation; params may lack what is in the path.
func CallFor(op *ops.Operation, params map[string]any) Call {
	c := Call{Method: op.Method, Path: op.Path, Params: map[string]any{}}
	for name, value := range params {
		c.Params[name] = value
	}
	for _, p := range op.Params {
		if value, given := c.Params[p.Name]; given && p.Path != "" {
			c.Path = strings.Replace(c.Path, "{"+p.Path+"}", url.PathEscape(Text(value)), 1)
			delete(c.Params, p.Name)
		}
	}
	return c
}

func TestEveryOperationHasASample(t *testing.T) {
	for _, op := range ops.Table() {
		assert.Contains(t, Samples, op.ID)
	}
	assert.Len(t, Samples, len(ops.Table()), "a sample without operation")
}

// TestContractInAnotherLanguage: messages of Windows decide nothing (facts D3).
func TestContractInAnotherLanguage(t *testing.T) {
	for _, op := range ops.Table() {
		t.Run(op.ID, func(t *testing.T) {
			t.Parallel()
			New(t, sandbox.Options{Seed: 1, Culture: "de-DE"}).GoodCall(op)
		})
	}
}

// TestClassicDialect: every success is 200; result is an object, a boolean or a
// date-time where the row's mark says so.
func TestClassicDialect(t *testing.T) {
	for _, op := range ops.Table() {
		t.Run(op.ID, func(t *testing.T) {
			t.Parallel()
			s := New(t, sandbox.Options{Seed: 1})
			if first, needed := Setup[op.ID]; needed {
				require.Equal(t, http.StatusCreated, s.Do(first).Status)
			}
			c := CallFor(op, Samples[op.ID].Params)
			c.Token = ClassicToken
			a := s.Do(c)
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			var envelope struct {
				Output string `json:"output"`
				Result any    `json:"result"`
			}
			require.NoError(t, json.Unmarshal(a.Body, &envelope), "%s", a.Body)
			assert.NotEmpty(t, envelope.Output)
			switch op.Reply.Mark {
			case ops.List:
				assert.IsType(t, []any{}, envelope.Result)
			case ops.Single:
				assert.IsType(t, map[string]any{}, envelope.Result)
			case ops.Exists:
				assert.Equal(t, true, envelope.Result)
			case ops.Moment:
				if envelope.Result != nil {
					_, err := time.Parse(time.RFC3339, Text(envelope.Result))
					assert.NoError(t, err)
				}
			default:
				t.Errorf("mark %q", op.Reply.Mark)
			}
		})
	}
}

// TestSecretsInTheQuery: refused with the field's name, unless the settings
// allow them; even then they are in no log.
func TestSecretsInTheQuery(t *testing.T) {
	const secret = "Corr3ct-Horse-9"
	for _, op := range ops.Table() {
		for _, name := range op.Secrets() {
			for _, allowed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/allowed=%t", op.ID, name, allowed), func(t *testing.T) {
					t.Parallel()
					s := New(t, sandbox.Options{Seed: 1}, fmt.Sprintf("http.allowSecretsInQuery=%t", allowed))
					c := CallFor(op, Samples[op.ID].Params)
					delete(c.Params, name)
					c.Path += "?" + url.Values{name: {secret}}.Encode()
					if a := s.Do(c); allowed {
						assert.Less(t, a.Status, 300, "%s", a.Body)
					} else {
						require.Equal(t, http.StatusBadRequest, a.Status, "%s", a.Body)
						assert.Equal(t, name, a.Envelope.Error.Details[0].Field)
					}
					assert.NotContains(t, s.Log.String(), secret)
				})
			}
		}
	}
}

func TestContract(t *testing.T) {
	for _, op := range ops.Table() {
		t.Run(op.ID, func(t *testing.T) {
			t.Parallel()
			s := New(t, sandbox.Options{Seed: 1})
			t.Run("good call", func(t *testing.T) { s.In(t).GoodCall(op) })
			t.Run("no token", func(t *testing.T) {
				c := CallFor(op, Samples[op.ID].Params)
				c.Token = "none"
				a := s.In(t).Rejects(c, http.StatusUnauthorized, "unauthenticated")
				assert.Equal(t, auth.Challenge, a.Header.Get("WWW-Authenticate"))
			})
			t.Run("wrong token", func(t *testing.T) {
				c := CallFor(op, Samples[op.ID].Params)
				c.Token = "nobody's"
				s.In(t).Rejects(c, http.StatusUnauthorized, "unauthenticated")
			})
			if op.Scope != auth.UserRead {
				t.Run("wrong scope", func(t *testing.T) {
					c := CallFor(op, Samples[op.ID].Params)
					c.Token = ReadToken
					a := s.In(t).Rejects(c, http.StatusForbidden, "forbidden")
					assert.Contains(t, a.Envelope.Output, string(op.Scope), "the answer names the scope")
				})
			}
			t.Run("unknown parameter", func(t *testing.T) {
				c := CallFor(op, Samples[op.ID].Params)
				c.Params["Nonsense"] = "x"
				a := s.In(t).Rejects(c, http.StatusBadRequest, "invalid_request")
				assert.Equal(t, "Nonsense", a.Envelope.Error.Details[0].Field)
			})
			for _, p := range op.Params {
				if p.Required && p.Path == "" {
					t.Run("without "+p.Name, func(t *testing.T) {
						c := CallFor(op, Samples[op.ID].Params)
						delete(c.Params, p.Name)
						a := s.In(t).Rejects(c, http.StatusBadRequest, "invalid_request")
						assert.Equal(t, p.Name, a.Envelope.Error.Details[0].Field)
					})
				}
			}
		})
	}
}

// In is the system for a subtest.
func (s *System) In(t testing.TB) *System {
	copied := *s
	copied.T = t
	return &copied
}

// GoodCall calls the sample, holds the answer against the row and the world
// against what the answer says, and puts the world back.
func (s *System) GoodCall(op *ops.Operation) {
	good := Samples[op.ID]
	if first, needed := Setup[op.ID]; needed {
		a := s.Do(first)
		require.Equal(s.T, http.StatusCreated, a.Status, "%s", a.Body)
	}
	start := s.Snapshot()
	a := s.Do(CallFor(op, good.Params))
	want := good.Status
	if want == 0 {
		want = http.StatusOK
	}
	require.Equal(s.T, want, a.Status, "%s", a.Body)
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
		assert.Empty(s.T, changed, "a read changes nothing")
		return
	}
	assert.NotEmpty(s.T, changed, "a change changes something")
	if good.Undo.Path != "" {
		undone := s.Do(good.Undo)
		require.Less(s.T, undone.Status, 300, "%s", undone.Body)
	}
}

// fieldOrder holds the first record's fields against the declared order.
func (s *System) fieldOrder(op *ops.Operation, a Answer) {
	at := 0
	for _, field := range op.Reply.Shape.Fields {
		_, present := a.Envelope.Result[0][field.Name]
		require.True(s.T, present, "%s is missing", field.Name)
		next := strings.Index(string(a.Body[at:]), fmt.Sprintf("%q:", field.Name))
		require.GreaterOrEqual(s.T, next, 0, "%s stands before its place", field.Name)
		at += next
	}
	assert.Len(s.T, a.Envelope.Result[0], len(op.Reply.Shape.Fields))
}

// refused sends a request that must be refused with a status and a code, and
// must change nothing.
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
	assert.Empty(s.T, start.Compare(s.Snapshot()), "a refused request changes nothing")
	return a
}

func (s *System) Snapshot() sandbox.Snapshot {
	s.T.Helper()
	snapshot, err := s.World.Snapshot()
	require.NoError(s.T, err)
	return snapshot
}
