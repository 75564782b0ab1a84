package story

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// keyed returns a call with an Idempotency-Key.
func keyed(c systemtest.Call, key string) systemtest.Call {
	c.Headers = maps.Clone(c.Headers)
	if c.Headers == nil {
		c.Headers = map[string]string{}
	}
	c.Headers["Idempotency-Key"] = key
	return c
}

// TestAKeyRunsOnce: with the same key, every operation that changes something runs only once, and a
// repetition gets the same answer without a change.
func TestAKeyRunsOnce(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for i, op := range opstest.Changes() {
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			s.Prepare(op)
			call := keyed(systemtest.Sample(op), fmt.Sprintf("key-%06d", i))
			if op.Tagged() {
				call = asking(call, map[string]any{"WithETag": true})
			}
			first := s.Do(call)
			require.Less(t, first.Status, 300, "%s", first.Body)
			assert.Empty(t, first.Header.Get("Idempotency-Replayed"))
			start := s.Snapshot()
			second := s.Do(call)
			assert.Equal(t, first.Status, second.Status)
			assert.JSONEq(t, string(first.Body), string(second.Body))
			assert.Equal(t, "true", second.Header.Get("Idempotency-Replayed"))
			assert.Equal(t, first.Header.Get("X-Request-Id"), second.Header.Get("Idempotency-Request"))
			assert.NotEmpty(t, first.Header.Get("X-Change-Id"))
			assert.Equal(t, op.Tagged(), first.Header.Get("ETag") != "")
			for _, name := range []string{"X-Change-Id", "ETag", "X-Directory-Server"} {
				assert.Equal(t, first.Header.Get(name), second.Header.Get(name), name)
			}
			assert.Empty(t, start.Compare(s.Snapshot()))
			s.Undo(op)
		})
	}
}

func TestWhatAKeyBelongsTo(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	city := func(name string) systemtest.Call {
		return systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt",
			Params: map[string]any{"City": name}}
	}
	const key = "4f0c0f5e-city"
	s.OK(keyed(city("Rome"), key), http.StatusOK)
	s.OK(keyed(city("Rome"), `"`+key+`"`), http.StatusOK) // the quoted form means the same key

	s.Rejects(keyed(city("Oslo"), key), 422, "key_reused")
	dry := city("Rome")
	dry.Params["DryRun"] = true
	s.Rejects(keyed(dry, key), 422, "key_reused")
	other := s.Do(keyed(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt/Disable"}, key))
	assert.Empty(t, other.Header.Get("Idempotency-Replayed"), "each operation has its own keys")
	plain := s.Do(keyed(city("Oslo"), key).As(systemtest.PlainToken))
	assert.Equal(t, http.StatusOK, plain.Status, "each caller has its own keys")

	for name, c := range map[string]struct {
		call   systemtest.Call
		status int
		code   string
	}{
		"too short":        {keyed(city("x"), "1234567"), 400, "invalid_request"},
		"too long":         {keyed(city("x"), strings.Repeat("k", 129)), 400, "invalid_request"},
		"blank":            {keyed(city("x"), "a key with blanks"), 400, "invalid_request"},
		"half quoted":      {keyed(city("x"), `"12345678`), 400, "invalid_request"},
		"of a read":        {keyed(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/aschmidt/Details"}, "12345678"), 400, "not_supported"},
		"without a scope":  {keyed(city("x"), "12345678").As(systemtest.ReadToken), 403, "forbidden"},
		"of a wrong call":  {keyed(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt", Params: map[string]any{"Citi": "x"}}, "12345678"), 400, "invalid_request"},
		"nothing is there": {keyed(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/nobody", Params: map[string]any{"City": "x"}}, "key-nobody"), 404, "not_found"},
	} {
		t.Run(name, func(t *testing.T) { s.In(t).Rejects(c.call, c.status, c.code) })
	}
	a := s.Do(keyed(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/nobody",
		Params: map[string]any{"City": "x"}}, "key-nobody"))
	assert.Equal(t, http.StatusNotFound, a.Status)
	assert.Empty(t, a.Header.Get("Idempotency-Replayed"), "what changed nothing runs again")
	for range 2 {
		dry := s.Do(keyed(dry, "key-of-a-dry-run"))
		assert.Equal(t, http.StatusOK, dry.Status)
		assert.Empty(t, dry.Header.Get("Idempotency-Replayed"), "a dry run is not kept")
	}
}

// TestGeneratedSecretsAreNotKept: only the first answer contains the password.
func TestGeneratedSecretsAreNotKept(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	call := keyed(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt/ResetPassword"},
		"key-of-a-reset")
	first := s.Do(call)
	require.Equal(t, http.StatusOK, first.Status, "%s", first.Body)
	password, _ := s.Record(first)["newPassword"].(string)
	if password == "" {
		password, _ = s.Record(first)["password"].(string)
	}
	require.NotEmpty(t, password, "%s", first.Body)
	second := s.Do(call)
	assert.Equal(t, "true", second.Header.Get("Idempotency-Replayed"))
	assert.NotContains(t, string(second.Body), password)
	require.Len(t, second.Envelope.Warnings, 1)
	assert.Equal(t, "secret_not_replayed", second.Envelope.Warnings[0].Code)
	assert.True(t, json.Valid(second.Body))
}

// TestManyCallsWithOneKey: of many calls with the same key, only one runs. The others are told that it is
// running, or get its answer.
func TestManyCallsWithOneKey(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	call := keyed(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/once", Params: map[string]any{}},
		"key-of-many")
	const callers = 8
	answers := make([]systemtest.Answer, callers)
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() { answers[i] = s.Do(call) })
	}
	group.Wait()
	ran := 0
	for _, a := range answers {
		switch {
		case a.Status == http.StatusServiceUnavailable:
			assert.Equal(t, "in_progress", a.Envelope.Error.Code)
			assert.Equal(t, "1", a.Header.Get("Retry-After"))
		default:
			assert.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
			if a.Header.Get("Idempotency-Replayed") == "" {
				ran++
			}
		}
	}
	assert.Equal(t, 1, ran)
}

// TestKeysOutliveTheGateway: another gateway with the same store file recognizes the calls of the first one.
func TestKeysOutliveTheGateway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	call := keyed(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/once", Params: map[string]any{}},
		"key-of-both")
	t.Run("first", func(t *testing.T) {
		s := systemtest.NewOn(t, world, world.Starter(), "store.file="+file)
		s.OK(call, http.StatusCreated)
	})
	t.Run("second", func(t *testing.T) {
		s := systemtest.NewOn(t, world, world.Starter(), "store.file="+file)
		a := s.Do(call)
		assert.Equal(t, http.StatusCreated, a.Status)
		assert.Equal(t, "true", a.Header.Get("Idempotency-Replayed"))
	})
	t.Run("without", func(t *testing.T) {
		s := systemtest.NewOn(t, world, world.Starter(), "store.file=off")
		s.Rejects(call, 400, "not_supported")
	})
}
