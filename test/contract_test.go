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
	params map[string]any
	status int // 200 when zero
	// undo puts the world back after the good call, for samples that change it.
	undo call
}

// samples has one entry for every operation: a row without one fails the tests.
var samples = merged(dnsSamples, userSamples, membershipSamples, ouSamples, groupSamples, computerSamples)

// before makes what the good calls of removing operations remove.
var before = merged(dnsBefore, userBefore, membershipBefore, ouBefore, groupBefore, computerBefore)

func merged[V any](tables ...map[string]V) map[string]V {
	all := map[string]V{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// callOf makes a request of an operation; params may lack what is in the path.
func callOf(op *ops.Operation, params map[string]any) call {
	c := call{method: op.Method, path: op.Path, params: map[string]any{}}
	for name, value := range params {
		c.params[name] = value
	}
	for _, p := range op.Params {
		if value, given := c.params[p.Name]; given && p.Path != "" {
			c.path = strings.Replace(c.path, "{"+p.Path+"}", url.PathEscape(text(value)), 1)
			delete(c.params, p.Name)
		}
	}
	return c
}

func TestEveryOperationHasASample(t *testing.T) {
	for _, op := range ops.Table() {
		assert.Contains(t, samples, op.ID)
	}
	assert.Len(t, samples, len(ops.Table()), "a sample without operation")
}

// TestContractInAnotherLanguage: messages of Windows decide nothing (facts D3).
func TestContractInAnotherLanguage(t *testing.T) {
	for _, op := range ops.Table() {
		t.Run(op.ID, func(t *testing.T) {
			t.Parallel()
			newSystem(t, sandbox.Options{Seed: 1, Culture: "de-DE"}).goodCall(op)
		})
	}
}

// TestClassicDialect: every success is 200; result is an object, a boolean or a
// date-time where the row's mark says so.
func TestClassicDialect(t *testing.T) {
	for _, op := range ops.Table() {
		t.Run(op.ID, func(t *testing.T) {
			t.Parallel()
			s := newSystem(t, sandbox.Options{Seed: 1})
			if first, needed := before[op.ID]; needed {
				require.Equal(t, http.StatusCreated, s.do(first).status)
			}
			c := callOf(op, samples[op.ID].params)
			c.token = classicToken
			a := s.do(c)
			require.Equal(t, http.StatusOK, a.status, "%s", a.body)
			var envelope struct {
				Output string `json:"output"`
				Result any    `json:"result"`
			}
			require.NoError(t, json.Unmarshal(a.body, &envelope), "%s", a.body)
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
					_, err := time.Parse(time.RFC3339, text(envelope.Result))
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
					s := newSystem(t, sandbox.Options{Seed: 1}, fmt.Sprintf("http.allowSecretsInQuery=%t", allowed))
					c := callOf(op, samples[op.ID].params)
					delete(c.params, name)
					c.path += "?" + url.Values{name: {secret}}.Encode()
					if a := s.do(c); allowed {
						assert.Less(t, a.status, 300, "%s", a.body)
					} else {
						require.Equal(t, http.StatusBadRequest, a.status, "%s", a.body)
						assert.Equal(t, name, a.envelope.Error.Details[0].Field)
					}
					assert.NotContains(t, s.log.String(), secret)
				})
			}
		}
	}
}

func TestContract(t *testing.T) {
	for _, op := range ops.Table() {
		t.Run(op.ID, func(t *testing.T) {
			t.Parallel()
			s := newSystem(t, sandbox.Options{Seed: 1})
			t.Run("good call", func(t *testing.T) { s.in(t).goodCall(op) })
			t.Run("no token", func(t *testing.T) {
				c := callOf(op, samples[op.ID].params)
				c.token = "none"
				a := s.in(t).refused(c, http.StatusUnauthorized, "unauthenticated")
				assert.Equal(t, auth.Challenge, a.header.Get("WWW-Authenticate"))
			})
			t.Run("wrong token", func(t *testing.T) {
				c := callOf(op, samples[op.ID].params)
				c.token = "nobody's"
				s.in(t).refused(c, http.StatusUnauthorized, "unauthenticated")
			})
			if op.Scope != auth.UserRead {
				t.Run("wrong scope", func(t *testing.T) {
					c := callOf(op, samples[op.ID].params)
					c.token = readToken
					a := s.in(t).refused(c, http.StatusForbidden, "forbidden")
					assert.Contains(t, a.envelope.Output, string(op.Scope), "the answer names the scope")
				})
			}
			t.Run("unknown parameter", func(t *testing.T) {
				c := callOf(op, samples[op.ID].params)
				c.params["Nonsense"] = "x"
				a := s.in(t).refused(c, http.StatusBadRequest, "invalid_request")
				assert.Equal(t, "Nonsense", a.envelope.Error.Details[0].Field)
			})
			for _, p := range op.Params {
				if p.Required && p.Path == "" {
					t.Run("without "+p.Name, func(t *testing.T) {
						c := callOf(op, samples[op.ID].params)
						delete(c.params, p.Name)
						a := s.in(t).refused(c, http.StatusBadRequest, "invalid_request")
						assert.Equal(t, p.Name, a.envelope.Error.Details[0].Field)
					})
				}
			}
		})
	}
}

// in is the system for a subtest.
func (s *system) in(t testing.TB) *system {
	copied := *s
	copied.t = t
	return &copied
}

// goodCall calls the sample, holds the answer against the row and the world
// against what the answer says, and puts the world back.
func (s *system) goodCall(op *ops.Operation) {
	good := samples[op.ID]
	if first, needed := before[op.ID]; needed {
		a := s.do(first)
		require.Equal(s.t, http.StatusCreated, a.status, "%s", a.body)
	}
	start := s.snapshot()
	a := s.do(callOf(op, good.params))
	want := good.status
	if want == 0 {
		want = http.StatusOK
	}
	require.Equal(s.t, want, a.status, "%s", a.body)
	assert.Equal(s.t, "application/json; charset=utf-8", a.header.Get("Content-Type"))
	assert.Equal(s.t, "sandbox", a.header.Get("X-Engine"))
	assert.NotEmpty(s.t, a.header.Get("X-Request-Id"))
	assert.Equal(s.t, "dc1.corp.example", a.header.Get("X-Directory-Server"))
	assert.NotEmpty(s.t, a.envelope.Output)
	require.NotEmpty(s.t, a.envelope.Result)
	if op.Reply.Mark != ops.List {
		assert.Len(s.t, a.envelope.Result, 1)
	}
	s.fieldOrder(op, a)
	changed := start.Compare(s.snapshot())
	if !op.Effect.Writes() {
		assert.Empty(s.t, changed, "a read changes nothing")
		return
	}
	assert.NotEmpty(s.t, changed, "a change changes something")
	if good.undo.path != "" {
		undone := s.do(good.undo)
		require.Less(s.t, undone.status, 300, "%s", undone.body)
	}
}

// fieldOrder holds the first record's fields against the declared order.
func (s *system) fieldOrder(op *ops.Operation, a answer) {
	at := 0
	for _, field := range op.Reply.Shape.Fields {
		_, present := a.envelope.Result[0][field.Name]
		require.True(s.t, present, "%s is missing", field.Name)
		next := strings.Index(string(a.body[at:]), fmt.Sprintf("%q:", field.Name))
		require.GreaterOrEqual(s.t, next, 0, "%s stands before its place", field.Name)
		at += next
	}
	assert.Len(s.t, a.envelope.Result[0], len(op.Reply.Shape.Fields))
}

// refused sends a request that must be refused with a status and a code, and
// must change nothing.
func (s *system) refused(c call, status int, code string) answer {
	s.t.Helper()
	start := s.snapshot()
	a := s.do(c)
	require.Equal(s.t, status, a.status, "%s", a.body)
	require.NotNil(s.t, a.envelope.Error, "%s", a.body)
	assert.Equal(s.t, code, a.envelope.Error.Code)
	assert.Equal(s.t, a.envelope.Output, a.envelope.Error.Message)
	assert.Equal(s.t, a.header.Get("X-Request-Id"), a.envelope.Error.RequestID)
	assert.Empty(s.t, a.envelope.Result)
	assert.Empty(s.t, start.Compare(s.snapshot()), "a refused request changes nothing")
	return a
}

func (s *system) snapshot() sandbox.Snapshot {
	s.t.Helper()
	snapshot, err := s.world.Snapshot()
	require.NoError(s.t, err)
	return snapshot
}
