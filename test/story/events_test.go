package story

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
	"adgateway/winsvc/events"
)

// TestEventsOfCalls: the system's event log contains an entry for each change that was made
// or refused, but none for reads and for changes with nothing to do, and no secret.
func TestEventsOfCalls(t *testing.T) {
	var mu sync.Mutex
	texts := map[string][]string{}
	write := func(e events.Event, text string) {
		mu.Lock()
		defer mu.Unlock()
		texts[e.Name] = append(texts[e.Name], text)
	}
	var password string
	t.Run("calls", func(t *testing.T) {
		w, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
		require.NoError(t, err)
		s := systemtest.NewWith(t, w, session.Config{Starter: w.Starter()},
			func(o *app.Options) { o.Event = write },
			"audit.file="+t.TempDir()+"/audit.jsonl", "audit.eventLog=all")
		city := systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt",
			Params: map[string]any{"City": "Oslo"}}
		s.OK(city, http.StatusOK)
		s.OK(city, http.StatusOK) // has nothing to do
		s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/aschmidt/Details"}, http.StatusOK)
		reset := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt/ResetPassword"})
		password = systemtest.Text(reset.Envelope.Result[0]["password"])
		require.NotEmpty(t, password)
		s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/OU", Params: opstest.Find("ou.create").Sample},
			http.StatusCreated)
		s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/nobody"}, http.StatusNotFound,
			"not_found")
		s.Rejects(city.As(systemtest.ReadToken), http.StatusForbidden, "forbidden")
	})
	for name, want := range map[string]int{"changed": 1, "password_set": 1, "created": 1, "removed_failed": 1,
		"out_of_limits": 1, "audit_end": 2, "failover": 0, "session_trouble": 0} {
		assert.Len(t, texts[name], want, name)
	}
	assert.Contains(t, texts["changed"][0], `"outcome":"done"`)
	assert.Contains(t, texts["removed_failed"][0], "user.delete by ")
	for name, all := range texts {
		assert.NotContains(t, strings.Join(all, ""), password, name)
	}
}
