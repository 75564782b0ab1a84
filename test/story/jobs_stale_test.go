package story

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

const (
	staleComputers = "/api/Jobs/StaleComputers"
	staleUsers     = "/api/Jobs/StaleUsers"
	retiredOU      = "OU=Retired,OU=Devices,OU=Corp,DC=corp,DC=example"
)

// byRule submits a job for the objects that a rule finds, and returns its id.
func byRule(s *systemtest.System, path string, params map[string]any) string {
	s.T.Helper()
	return submitted(s, systemtest.Call{Method: http.MethodPost, Path: path, Params: params})
}

// staleAccounts returns the records that a rule finds, by account.
func staleAccounts(s *systemtest.System, path string, params map[string]any) map[string]map[string]any {
	s.T.Helper()
	a := s.Do(systemtest.Call{Method: http.MethodGet, Path: path, Params: params})
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	found := map[string]map[string]any{}
	for _, record := range a.Envelope.Result {
		found[record["samName"].(string)] = record
	}
	return found
}

// byRuleCase is a rule, with the path of the list of objects that it finds, and the path of the job.
type byRuleCase struct {
	path, list string
	rule, act  map[string]any
	each       int // number of items for each account
}

// TestAJobTreatsWhatARuleFinds: the dry run lists each account with the reason and the date, and changes
// nothing. The run makes the changes that the dry run has shown, and the undo restores everything.
func TestAJobTreatsWhatARuleFinds(t *testing.T) {
	for name, of := range map[string]byRuleCase{
		"computers are disabled and moved": {
			staleComputers, "/api/Computers/Stale", map[string]any{"Days": "60", "ExcludeName": "SRV*,WEB1"},
			map[string]any{"Action": "disable,move", "TargetPath": retiredOU}, 2,
		},
		"computers are removed": {
			staleComputers, "/api/Computers/Stale",
			map[string]any{"Days": "60", "OUPath": "CN=Computers,DC=corp,DC=example"},
			map[string]any{"Action": "remove"}, 1,
		},
		"users are disabled": {
			staleUsers, "/api/ADUser/ListUsers/Stale", map[string]any{"Days": "60", "ExcludeGroup": "VPN Users"},
			map[string]any{"Action": "disable"}, 1,
		},
		"users are moved": {
			staleUsers, "/api/ADUser/ListUsers/Stale",
			map[string]any{"Days": "60", "ExcludeOU": "OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"},
			map[string]any{"Action": []string{"move"}, "TargetPath": "CN=Users,DC=corp,DC=example"}, 1,
		},
	} {
		if thorough.OneOf(3, name) {
			t.Run(name, of.try)
		}
	}
}

// try makes a dry run of the job, runs it, and undoes it.
func (of byRuleCase) try(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	expected := staleAccounts(s, of.list, of.rule)
	target, _ := of.act["TargetPath"].(string)
	for account, record := range expected {
		there := target != "" && strings.HasSuffix(record["distinguishedName"].(string), ","+target)
		if there || of.act["Action"] == "disable" && record["enabled"] == false {
			delete(expected, account)
		}
	}
	require.NotEmpty(t, expected)
	params := map[string]any{"DryRun": true, "StopAfter": 0}
	for _, part := range []map[string]any{of.rule, of.act} {
		for name, value := range part {
			params[name] = value
		}
	}
	before := s.Snapshot()
	id := byRule(s, of.path, params)
	job := reached(s, id, "ready")
	assert.Empty(t, before.Compare(s.Snapshot()), "a dry run")
	assert.Equal(t, float64(len(expected)*of.each), job["total"])
	items, shown := itemsOf(s, id), map[any]int{}
	for _, item := range items {
		// an item may fail, such as that of a guarded account, which the dry run also lists
		if item["state"] == "failed" {
			assert.NotEmpty(t, item["message"])
			assert.NotEmpty(t, item["account"])
			continue
		}
		record := expected[item["account"].(string)]
		require.NotNil(t, record, "%v", item)
		assert.Equal(t, record["reason"], item["reason"])
		assert.Equal(t, record["since"], item["since"])
		assert.Contains(t, item["message"], "Would ")
		shown[item["account"]]++
	}
	require.NotEmpty(t, shown)

	start := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/Jobs/" + id + "/Start"})
	require.Equal(t, http.StatusOK, start.Status, "%s", start.Body)
	ran := reached(s, id, "done")
	assert.Equal(t, job["failed"], ran["notRun"], "what the dry run said comes true")
	assert.Equal(t, 0.0, ran["failed"])
	assert.Equal(t, job["done"], ran["done"])
	left := staleAccounts(s, of.list, of.rule)
	for _, item := range itemsOf(s, id, "State", "done") {
		record := left[item["account"].(string)]
		switch action := of.act["Action"]; {
		case action == "remove":
			assert.Nil(t, record, "%v", item)
		case strings.HasSuffix(item["operation"].(string), ".disable"):
			assert.Equal(t, false, record["enabled"], "%v", item)
		default:
			assert.Contains(t, record["distinguishedName"], target, "%v", item)
		}
	}
	of.takeBack(s, id, ran, expected)
}

// takeBack checks the result of the job and undoes it.
func (of byRuleCase) takeBack(
	s *systemtest.System, id string, ran map[string]any, expected map[string]map[string]any,
) {
	t := s.T
	result := s.Send(get(t.(*testing.T), s, "/api/Jobs/"+id+"/Result"))
	assert.Contains(t, string(result.Body), "Account,Reason,Since")

	undo := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/Jobs/" + id + "/Undo"})
	require.Equal(t, http.StatusAccepted, undo.Status, "%s", undo.Body)
	undone := reached(s, undo.Envelope.Result[0]["id"].(string), "done")
	assert.Equal(t, ran["done"], undone["done"])
	back := staleAccounts(s, of.list, of.rule)
	for account, record := range expected {
		assert.Equal(t, record["distinguishedName"], back[account]["distinguishedName"])
		assert.Equal(t, record["enabled"], back[account]["enabled"])
	}
}

// TestARuleThatFindsNothingIsDone: a job for a rule that finds nothing succeeds, because a nightly job
// usually has nothing to do.
func TestARuleThatFindsNothingIsDone(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	before := s.Snapshot()
	for path, dryRun := range map[string]any{staleComputers: false, staleUsers: true} {
		id := byRule(s, path, map[string]any{"Days": 3650, "Action": "remove", "DryRun": dryRun})
		state := map[any]string{false: "done", true: "ready"}[dryRun]
		assert.Equal(t, 0.0, reached(s, id, state)["total"])
	}
	assert.Empty(t, before.Compare(s.Snapshot()))
}

// TestImplausibleRulesAreRefused: rules with implausible values are refused before anything is submitted.
func TestImplausibleRulesAreRefused(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast, "jobs.maxItems=2")
	for name, of := range map[string]struct {
		params map[string]any
		status int
		field  string
		says   string
	}{
		"too few days":           {map[string]any{"Days": 14, "Action": "disable"}, 400, "Days", "LastLogon"},
		"no days":                {map[string]any{"Action": "disable"}, 400, "Days", "required"},
		"no action":              {map[string]any{"Days": 60}, 400, "Action", "required"},
		"an unknown action":      {map[string]any{"Days": 60, "Action": "delete"}, 400, "Action", "remove"},
		"removed and disabled":   {map[string]any{"Days": 60, "Action": "disable,remove"}, 400, "Action", "combines"},
		"moved nowhere":          {map[string]any{"Days": 60, "Action": "move"}, 400, "TargetPath", "required"},
		"a target for nothing":   {map[string]any{"Days": 60, "Action": "disable", "TargetPath": retiredOU}, 400, "TargetPath", "without"},
		"a target that is not":   {map[string]any{"Days": 60, "Action": "move", "TargetPath": "OU=Nowhere,DC=corp,DC=example"}, 0, "TargetPath", "Nowhere"},
		"an OU that is not":      {map[string]any{"Days": 60, "Action": "disable", "OUPath": "OU=Nowhere,DC=corp,DC=example"}, 0, "OUPath", "Nowhere"},
		"an excluded group":      {map[string]any{"Days": 60, "Action": "disable", "ExcludeGroup": "no such group"}, 0, "ExcludeGroup", "no such group"},
		"more than a job may be": {map[string]any{"Days": 60, "Action": "disable,move", "TargetPath": retiredOU}, 409, "", "jobs.maxItems"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			a := s.Do(systemtest.Call{Method: http.MethodPost, Path: staleComputers, Params: of.params})
			require.GreaterOrEqual(t, a.Status, 400, "%s", a.Body)
			require.Less(t, a.Status, 500, "%s", a.Body)
			if of.status != 0 {
				assert.Equal(t, of.status, a.Status, "%s", a.Body)
			}
			assert.Contains(t, string(a.Body), of.says)
			if of.field != "" {
				assert.Equal(t, of.field, systemtest.FirstField(a), "%s", a.Body)
			}
		})
	}
	list := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Jobs"})
	assert.Empty(t, list.Envelope.Result)
}

// TestARuleFindsWhatItsCallerMayTreat: the caller's scopes and limits apply to the list of objects and to
// each item.
func TestARuleFindsWhatItsCallerMayTreat(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	send := func(token, path string, params map[string]any) systemtest.Answer {
		return s.Do(systemtest.Call{Method: http.MethodPost, Path: path, Params: params, Token: token})
	}
	disable := map[string]any{"Days": 60, "Action": "disable", "DryRun": true}
	a := send(systemtest.ReadToken, staleUsers, disable)
	assert.Equal(t, http.StatusForbidden, a.Status)
	assert.Contains(t, a.Envelope.Output, "job:submit")
	whole, limited := 0, 0
	for token, count := range map[string]*int{systemtest.AllToken: &whole, systemtest.LimitedToken: &limited} {
		a := send(token, staleUsers, disable)
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
		*count = int(a.Envelope.Result[0]["total"].(float64))
	}
	assert.Positive(t, limited)
	assert.Less(t, limited, whole)
	outside := send(systemtest.LimitedToken, staleComputers, map[string]any{
		"Days": 60, "Action": "move", "TargetPath": retiredOU,
	})
	assert.Equal(t, http.StatusForbidden, outside.Status, "%s", outside.Body)
	once := systemtest.Call{
		Method: http.MethodPost, Path: staleUsers, Params: disable,
		Headers: map[string]string{"Idempotency-Key": "a-night-of-clean-up"},
	}
	first, again := s.Do(once), s.Do(once)
	require.Equal(t, http.StatusAccepted, first.Status, "%s", first.Body)
	assert.Equal(t, first.Envelope.Result[0]["id"], again.Envelope.Result[0]["id"])
}
