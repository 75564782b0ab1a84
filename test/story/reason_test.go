package story

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestChangesSayWhy: a reason is passed from the dry run to the plan, the history, the audit
// log and a webhook.
func TestChangesSayWhy(t *testing.T) {
	folder := t.TempDir()
	secret := filepath.Join(folder, "secret")
	require.NoError(t, os.WriteFile(secret, []byte(storySecret+"\n"), 0o600))
	chat, log := newInbox(t, storySecret), filepath.Join(folder, "audit.jsonl")
	const hook = "events.webhooks=[{name: chat, url: 'http://%s/', secretFile: '%s', types: [change]}]"
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "audit.file="+log,
		"reason.required=[user.disable, group.*]", fmt.Sprintf(hook, chat.address, secret))
	const why = "INC-4711: left <today> & \"soon\""
	disable := func(pairs ...string) systemtest.Call {
		return withParams(http.MethodPut, "/api/ADUser/"+systemtest.SampleUser+"/Disable", pairs)
	}

	a := s.Rejects(disable(), http.StatusBadRequest, "invalid_request")
	assert.Equal(t, "Reason is required here: give the reason for the change.", a.Envelope.Output)
	assert.Contains(t, string(a.Body), `"field":"Reason"`)
	for _, wrong := range []string{strings.Repeat("x", 201), "   ", "two\nlines"} {
		s.Rejects(disable("Reason", wrong), http.StatusBadRequest, "invalid_request")
	}

	s.Rejects(disable("DryRun", "true"), http.StatusBadRequest, "invalid_request")
	planned := s.Do(disable("DryRun", "true", "Reason", why))
	require.Equal(t, http.StatusOK, planned.Status, "%s", planned.Body)
	var answer struct{ Plan struct{ ID, Reason string } }
	require.NoError(t, json.Unmarshal(planned.Body, &answer))
	assert.Equal(t, why, answer.Plan.Reason)
	s.Rejects(disable("PlanId", answer.Plan.ID), http.StatusBadRequest, "invalid_request")
	made := s.Do(disable("PlanId", answer.Plan.ID, "Reason", why))
	require.Equal(t, http.StatusOK, made.Status, "%s", made.Body)
	change := made.Header.Get("X-Change-Id")
	assert.Equal(t, why, s.Get("/api/Changes/" + change).Envelope.Result[0]["reason"])
	var body struct {
		Data struct{ ChangeID, Reason string }
	}
	require.NoError(t, json.Unmarshal([]byte(chat.next().body), &body))
	assert.Equal(t, []string{change, why}, []string{body.Data.ChangeID, body.Data.Reason})
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"Reason":"`+strings.ReplaceAll(why, `"`, `\"`)+`","Username"`)

	// Other changes need no reason, and then have none.
	other := s.Do(withParams(http.MethodPut, "/api/ADUser/"+systemtest.SampleUser, []string{"City", "Ulm"}))
	require.Equal(t, http.StatusOK, other.Status, "%s", other.Body)
	unmarked := "/api/Changes/" + other.Header.Get("X-Change-Id")
	assert.Nil(t, s.Get(unmarked).Envelope.Result[0]["reason"])
	undone := s.Do(withParams(http.MethodPost, unmarked+"/Undo", []string{"Reason", "typo"}))
	require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
	unmarked = "/api/Changes/" + undone.Header.Get("X-Change-Id")
	assert.Equal(t, "typo", s.Get(unmarked).Envelope.Result[0]["reason"])
}
