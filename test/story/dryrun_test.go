package story

import (
	"encoding/json"
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// plan is the plan in the answer to a dry run.
type plan struct {
	ID, Operation, Effect, Server, State, Undo string
	Change                                     *string
	Checks                                     []struct{ Name, State, Message string }
	Objects                                    []struct {
		GUID              *string
		DistinguishedName string
		Changes           []struct {
			Field, Attribute, Kind, Undo string
			Before, After                any
		}
	}
	Requires []string
}

// dryRun sends a call as a dry run, which must succeed without changing anything.
func dryRun(s *systemtest.System, c systemtest.Call) (plan, systemtest.Answer) {
	s.T.Helper()
	params := map[string]any{"DryRun": true}
	maps.Copy(params, c.Params)
	c.Params = params
	start := s.Snapshot()
	a := s.Do(c)
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	assert.Empty(s.T, start.Compare(s.Snapshot()), "a dry run must change nothing")
	assert.Equal(s.T, "true", a.Header.Get("X-Dry-Run"))
	assert.NotEmpty(s.T, a.Header.Get("X-Directory-Server"))
	assert.Regexp(s.T, "^Would ", a.Envelope.Output)
	assert.Empty(s.T, a.Envelope.Result)
	var answer struct{ Plan plan }
	require.NoError(s.T, json.Unmarshal(a.Body, &answer))
	return answer.Plan, a
}

// TestADryRunShowsExactlyTheChange: the dry run of every operation that changes something
// shows the change without making it. The call itself then makes exactly that change, once.
func TestADryRunShowsExactlyTheChange(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, op := range opstest.Changes() {
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			s.Prepare(op)
			call := systemtest.Sample(op)
			planned, _ := dryRun(s, call)
			assert.Equal(t, op.ID, planned.Operation)
			assert.NotEqual(t, "none", planned.Effect)
			assert.Contains(t, planned.Requires, string(op.Scope))
			require.NotEmpty(t, planned.Objects)
			start := s.Snapshot()
			call = applying(call, planned)
			a := s.Do(call)
			require.Less(t, a.Status, 300, "%s", a.Body)
			assert.Equal(t, a.Status == http.StatusCreated, planned.Effect == "created")
			assert.NotEmpty(t, start.Compare(s.Snapshot()))
			for _, change := range planned.Objects[0].Changes {
				if change.Kind == "secret" || change.Kind == "server" {
					assert.Nil(t, change.Before)
					assert.Nil(t, change.After)
					continue
				}
				assert.NotEqual(t, change.Before, change.After, "%s", change.Field)
				if change.Kind == "member" && len(a.Envelope.Result) > 1 {
					continue // there is one record per group, and none of them has the member
				}
				if planned.Effect == "removed" || change.Kind == "member" {
					continue
				}
				if shown, isField := s.Record(a)[change.Field]; isField {
					assert.Equal(t, change.After, shown, "%s", change.Field)
				}
			}
			s.Rejects(call, http.StatusConflict, "plan_used")
			s.Undo(op)
		})
	}
}

// TestWhatADryRunAnswers: a dry run is refused like the change, shows no change for a value
// that is already set, and uses up neither secrets nor limits.
func TestWhatADryRunAnswers(t *testing.T) {
	const secret = "N0t-shown.4711"
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	put := func(path string, params map[string]any) systemtest.Call {
		return systemtest.Call{Method: http.MethodPut, Path: path, Params: params}
	}

	t.Run("a user with every kind of change", func(t *testing.T) {
		s := s.In(t)
		planned, a := dryRun(s, put("/api/ADUser/aschmidt", map[string]any{
			"JobTitle": "", "Department": "IT", "Country": "GR", "Password": secret, "ChangePasswordNextLogon": true,
			"OUPath": "OU=IT,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example", "RDSAllowLogon": false,
		}))
		assert.NotContains(t, string(a.Body), secret)
		kinds := map[string]string{}
		for _, change := range planned.Objects[0].Changes {
			kinds[change.Field] = change.Kind
		}
		assert.Equal(t, map[string]string{"jobTitle": "clear", "department": "set", "country": "set", "co": "set",
			"countryCode": "set",
			"password":    "secret", "changePasswordNextLogon": "flag", "ouPath": "move", "rdsAllowLogon": "flag"}, kinds)
		assert.ElementsMatch(t, []string{"user:write", "user:password"}, planned.Requires)
	})
	t.Run("nothing to change", func(t *testing.T) {
		planned, a := dryRun(s.In(t), put("/api/ADUser/aschmidt/Enable", nil))
		assert.Equal(t, "none", planned.Effect)
		assert.Empty(t, planned.Objects)
		assert.Equal(t, "Would change nothing about the user 'aschmidt'.", a.Envelope.Output)
	})
	for name, c := range map[string]struct {
		call   systemtest.Call
		status int
		code   string
	}{
		"missing":            {put("/api/ADUser/nobody/Disable", map[string]any{"DryRun": true}), 404, "not_found"},
		"name taken":         {systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/aschmidt", Params: map[string]any{"DryRun": true}}, 409, "conflict"},
		"scope":              {put("/api/ADUser/aschmidt/Disable", map[string]any{"DryRun": true}).As(systemtest.ReadToken), 403, "forbidden"},
		"empty":              {put("/api/ADUser/aschmidt/Disable", map[string]any{"DryRun": ""}), 400, "invalid_request"},
		"neither":            {put("/api/ADUser/aschmidt/Disable", map[string]any{"DryRun": "perhaps"}), 400, "invalid_request"},
		"of a read":          {systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/aschmidt/Details", Params: map[string]any{"DryRun": "true"}}, 400, "invalid_request"},
		"both in one":        {systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt/Disable?DryRun=true", Params: map[string]any{"DryRun": false}}, 400, "invalid_request"},
		"protected, as ever": {systemtest.RemoveOU("OU=Protected empty,OU=Corp,DC=corp,DC=example", "DryRun", "true"), 409, "protected"},
	} {
		t.Run(name, func(t *testing.T) { s.In(t).Rejects(c.call, c.status, c.code) })
	}
	t.Run("classic", func(t *testing.T) {
		a := s.Do(put("/api/ADUser/aschmidt/Disable", map[string]any{"DryRun": true}).As(systemtest.ClassicToken))
		assert.Equal(t, http.StatusOK, a.Status)
		var answer map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(a.Body, &answer))
		assert.JSONEq(t, "null", string(answer["result"]))
		assert.Contains(t, answer, "plan")
	})
}
