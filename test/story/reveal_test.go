package story

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
)

const (
	because    = "INC-4711: no network at this computer"
	berlin     = "OU=Berlin,OU=Workstations,OU=Devices,OU=Corp,DC=corp,DC=example"
	recoveryID = "7f6b1d5c-3a1e-4c0b-9e57-1c2d3e4f5a6b"
)

func revealing(computer string) systemtest.Call {
	return posting("/api/Computers/"+computer+"/LocalAdmin/Reveal", map[string]any{"Reason": because})
}

func revealingKey(computer, id string) systemtest.Call {
	path := "/api/Computers/" + computer + "/RecoveryKeys/" + id + "/Reveal"
	return posting(path, map[string]any{"Reason": because})
}

// TestThePasswordOfALocalAdministratorIsShown: the password is read from each attribute in
// which LAPS may store it, and appears only in the answer.
func TestThePasswordOfALocalAdministratorIsShown(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for computer, want := range map[string]map[string]any{
		"PC01": {"source": "windows", "account": "Administrator", "password": "Sandbox-Local-PC01", "updated": "2026-09-21T14:13:20Z"},
		"PC02": {"source": "legacy", "account": nil, "password": "Sandbox-Legacy-PC02", "updated": nil},
		"PC03": {"source": "windowsEncrypted", "account": "Administrator", "password": "Sandbox-Sealed-PC03", "updated": "2026-09-21T14:13:20Z"},
	} {
		a := s.Do(revealing(computer))
		require.Equal(t, http.StatusOK, a.Status, "%s: %s", computer, a.Body)
		assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
		record := s.Record(a)
		for name, value := range want {
			assert.Equal(t, value, record[name], "%s %s", computer, name)
		}
		assert.Equal(t, computer, record["computerName"])
		assert.Equal(t, "2027-01-26T21:46:40Z", record["expires"])
		assert.Empty(t, record["history"])
	}
	call := revealing("PC03")
	call.Params["History"] = true
	record := s.Record(s.Do(call))
	assert.Equal(t, "Sandbox-Sealed-PC03", record["password"])
	earlier, _ := record["history"].([]any)
	require.Len(t, earlier, 1)
	assert.Equal(t, "Sandbox-Earlier-PC03", earlier[0].(map[string]any)["password"])

	s.World.SetLAPS(false)
	lacking := s.Rejects(revealing("PC03"), http.StatusUnprocessableEntity, "unprocessable")
	assert.Contains(t, string(lacking.Body), "lacks the PowerShell module LAPS")
	inClear := s.Record(s.Do(revealing("PC01")))
	assert.Equal(t, "Sandbox-Local-PC01", inClear["password"], "needs no module")
}

// TestAPasswordIsNotShown: each reason for not showing a password has its own message.
func TestAPasswordIsNotShown(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	dc := s.World.Directory.DCs()[0]
	without := func(c systemtest.Call, name string) systemtest.Call { delete(c.Params, name); return c }
	as := func(c systemtest.Call, token string) systemtest.Call { c.Token = token; return c }
	for name, c := range map[string]struct {
		call   systemtest.Call
		status int
		code   string
		says   string
	}{
		"no reason":         {without(revealing("PC01"), "Reason"), 400, "invalid_request", "Reason is required"},
		"no real reason":    {posting("/api/Computers/PC01/LocalAdmin/Reveal", map[string]any{"Reason": "x"}), 400, "invalid_request", "at least 8 characters"},
		"for others only":   {revealing("PC04"), 403, "directory_denied", "Domain Admins', to which the gateway's account does not belong"},
		"not managed":       {revealing("PC05"), 404, "not_found", "LAPS keeps no password"},
		"no such computer":  {revealing("PC99"), 404, "not_found", "PC99"},
		"a controller":      {as(revealing("DC1"), systemtest.PlainToken), 403, "forbidden", "it is a domain controller"},
		"the scope":         {as(revealing("PC01"), systemtest.ReadToken), 403, "forbidden", "'laps:reveal'"},
		"outside, with one": {as(revealing("PC01"), systemtest.LimitedToken), 404, "not_found", "within the limits of this credential"},
		"outside, without":  {as(revealing("PC05"), systemtest.LimitedToken), 404, "not_found", "within the limits of this credential"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.In(t).Rejects(c.call, c.status, c.code)
			assert.Contains(t, string(a.Body), c.says)
			assert.NotContains(t, string(a.Body), "Sandbox-")
		})
	}
	key := map[string]string{"Idempotency-Key": "reveal-0001"}
	c := revealing("PC01")
	c.Headers = key
	s.Rejects(c, http.StatusBadRequest, "not_supported")

	// Without the control access right, a confidential attribute appears absent.
	ace := directory.ACE{Trustee: directory.Everyone, Rights: directory.RightControlAccess, Inherit: true}
	require.NoError(t, dc.SetACL(t.Context(), "CN=PC01,"+berlin, []directory.ACE{ace}))
	denied := s.Rejects(revealing("PC01"), http.StatusForbidden, "directory_denied")
	assert.Contains(t, string(denied.Body), "msLAPS-Password")
	state := s.Record(s.Get("/api/Computers/PC01/LocalAdmin"))
	assert.Equal(t, "windows", state["kind"], "the expiry is not confidential")
	denied = s.Rejects(revealingKey("PC01", recoveryID), http.StatusForbidden, "directory_denied")
	assert.Contains(t, string(denied.Body), "msFVE-RecoveryPassword")
}

// TestARefusalHidesWhetherThereIsASecret: callers who may not read a secret get the same answer whether the
// secret exists, is encrypted for others, or does not exist.
func TestARefusalHidesWhetherThereIsASecret(t *testing.T) {
	const otherID = "00000000-3a1e-4c0b-9e57-1c2d3e4f5a6b"
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	named := func(a systemtest.Answer, names ...string) string {
		text := a.Envelope.Output
		for _, name := range names {
			text = strings.ReplaceAll(text, name, "NAME")
		}
		return text
	}
	for name, c := range map[string]struct {
		token, reason string
		status        int
		code          string
	}{
		"the scope is missing": {systemtest.ReadToken, because, 403, "forbidden"},
		"no reason":            {systemtest.AllToken, "", 400, "invalid_request"},
		"outside the limits":   {systemtest.LimitedToken, because, 404, "not_found"},
	} {
		ask := func(t *testing.T, computer, secret string, names ...string) string {
			t.Helper()
			path := "/api/Computers/" + computer + secret + "/Reveal"
			call := posting(path, map[string]any{"Reason": c.reason})
			call.Token = c.token
			return named(s.In(t).Rejects(call, c.status, c.code), append(names, computer)...)
		}
		t.Run(name, func(t *testing.T) {
			want := ask(t, "PC01", "/LocalAdmin")
			for _, computer := range []string{"PC04", "PC05", "PC99"} {
				assert.Equal(t, want, ask(t, computer, "/LocalAdmin"), computer)
			}
		})
		t.Run(name+", BitLocker", func(t *testing.T) {
			want := ask(t, "PC01", "/RecoveryKeys/"+recoveryID, recoveryID)
			assert.Equal(t, want, ask(t, "PC01", "/RecoveryKeys/"+otherID, otherID), "no such key")
			for _, computer := range []string{"PC04", "PC99"} {
				key := "/RecoveryKeys/" + recoveryID
				assert.Equal(t, want, ask(t, computer, key, recoveryID), "%s has no such key", computer)
			}
		})
	}
	// Domain controllers have another kind of password, so a controller with LAPS is treated like one without.
	call := revealing("DC1")
	call.Token = systemtest.PlainToken
	want := named(s.Rejects(call, http.StatusForbidden, "forbidden"), "DC1")
	expiry := []directory.Change{{
		Op: directory.OpReplace, Name: "msLAPS-PasswordExpirationTime", Values: []any{int64(134e15)},
	}}
	const controller = "CN=DC1,OU=Domain Controllers,DC=corp,DC=example"
	dc := s.World.Directory.DCs()[0]
	require.NoError(t, dc.Modify(t.Context(), controller, expiry, directory.ModifyOptions{}))
	assert.Equal(t, want, named(s.Rejects(call, http.StatusForbidden, "forbidden"), "DC1"))
}

// TestThePasswordOfALocalAdministratorExpires: a change makes the password expire at once, and its undo
// restores the earlier expiry.
func TestThePasswordOfALocalAdministratorExpires(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for computer, kind := range map[string]string{"PC01": "windows", "PC02": "legacy", "PC03": "windows"} {
		before := s.Record(s.Get("/api/Computers/" + computer + "/LocalAdmin"))
		assert.Equal(t, kind, before["kind"])
		a := s.Do(posting("/api/Computers/"+computer+"/LocalAdmin/Expire", nil))
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.NotEqual(t, before["expires"], s.Record(a)["expires"])
		assert.Contains(t, a.Envelope.Output, "within about an hour")
		undone := s.Do(posting("/api/Changes/"+a.Header.Get("X-Change-Id")+"/Undo", nil))
		require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
		assert.Equal(t, before, s.Record(s.Get("/api/Computers/"+computer+"/LocalAdmin")))
	}
	assert.Equal(t, "none", s.Record(s.Get("/api/Computers/PC05/LocalAdmin"))["kind"])
	s.Rejects(posting("/api/Computers/PC05/LocalAdmin/Expire", nil), http.StatusNotFound, "not_found")
}

// TestARecoveryKeyIsFoundAndShown: a recovery key is found by its computer, and by the id on
// the recovery screen. Lists contain no keys.
func TestARecoveryKeyIsFoundAndShown(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for name, path := range map[string]string{
		"of a computer": "/api/Computers/PC01/RecoveryKeys", "by eight digits": "/api/RecoveryKeys?KeyId=7F6B1D5C",
		"by its id": "/api/RecoveryKeys?KeyId=" + recoveryID,
	} {
		a := s.Get(path)
		require.Equal(t, http.StatusOK, a.Status, "%s: %s", name, a.Body)
		require.Len(t, a.Envelope.Result, 1, name)
		record := a.Envelope.Result[0]
		assert.Equal(t, recoveryID, record["keyId"], name)
		assert.Equal(t, "PC01", record["computerName"], name)
		assert.NotNil(t, record["created"], name)
		assert.NotContains(t, string(a.Body), "111111", name)
	}
	assert.Empty(t, s.Get("/api/RecoveryKeys?KeyId=00000000").Envelope.Result)
	finding := systemtest.Call{Method: http.MethodGet, Path: "/api/RecoveryKeys?KeyId=7f6b1d5c"}
	finding.Token = systemtest.LimitedToken
	assert.Empty(t, s.Do(finding).Envelope.Result, "outside")
	finding = systemtest.Call{Method: http.MethodGet, Path: "/api/RecoveryKeys?KeyId=7f6b"}
	s.Rejects(finding, http.StatusBadRequest, "invalid_request")

	for _, id := range []string{recoveryID, "7F6B1D5C"} {
		a := s.Do(revealingKey("PC01", id))
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.Equal(t, "111111-222222-333333-444444-555555-666666-777777-888888", s.Record(a)["recoveryPassword"])
	}
	s.Rejects(revealingKey("PC02", recoveryID), http.StatusNotFound, "not_found")
}

// TestTheAuditNamesTheCallerBeforeTheSecretIsRead: the caller is audited before a secret is
// read, even if the audit log omits reads.
func TestTheAuditNamesTheCallerBeforeTheSecretIsRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "audit.file="+file, "audit.reads=false")
	require.Equal(t, http.StatusOK, s.Do(revealing("PC01")).Status)
	s.Rejects(revealing("PC04"), http.StatusForbidden, "directory_denied")
	s.Rejects(posting("/api/Computers/PC01/LocalAdmin/Reveal", nil), http.StatusBadRequest, "invalid_request")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var events []string
	for line := range strings.Lines(string(text)) {
		var one struct {
			Event, Operation, Outcome, Code string
			Parameters                      map[string]string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &one))
		if one.Operation != "computer.revealLocalAdmin" {
			continue
		}
		events = append(events, one.Event+" "+one.Code)
		if one.Event == "intent" {
			assert.Equal(t, because, one.Parameters["Reason"])
			assert.Regexp(t, "PC0[14]", one.Parameters["ADComputerName"])
		}
	}
	want := []string{"intent ", "outcome ", "intent ", "outcome directory_denied", "refused invalid_request"}
	assert.Equal(t, want, events)
	assert.NotContains(t, string(text), "Sandbox-Local")
}

// TestFewSecretsAnHour: revealed secrets count towards an hourly limit, even after a restart. The log names a
// caller who has seen many secrets.
func TestFewSecretsAnHour(t *testing.T) {
	w, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	most := 4
	settings := []string{"store.file=" + filepath.Join(t.TempDir(), "state.db")}
	start := func(t *testing.T) *systemtest.System {
		return systemtest.NewWith(t, w, session.Config{Starter: w.Starter()}, func(o *app.Options) {
			static := authn.NewStatic(authn.Header{})
			caller := &identity.Principal{
				ID: "desk", Name: "desk", Kind: identity.KindToken, Scopes: identity.Everything(),
				Quota: &identity.Quota{RevealsPerHour: &most},
			}
			require.NoError(t, static.AddToken(systemtest.AllToken, caller))
			o.Auth = static
		}, settings...)
	}
	many := `"event":"many_reveals"`
	t.Run("first", func(t *testing.T) {
		s := start(t)
		// a refusal reveals nothing and does not count
		s.Rejects(revealing("PC04"), http.StatusForbidden, "directory_denied")
		s.Rejects(revealing("PC99"), http.StatusNotFound, "not_found")
		require.Equal(t, http.StatusOK, s.Do(revealing("PC01")).Status)
		assert.NotContains(t, s.Log.String(), many)
		require.Equal(t, http.StatusOK, s.Do(revealing("PC02")).Status)
		assert.Equal(t, 1, strings.Count(s.Log.String(), many), "half of them")
		require.Equal(t, http.StatusOK, s.Do(revealingKey("PC01", recoveryID)).Status)
	})
	s := start(t)
	require.Equal(t, http.StatusOK, s.Do(revealing("PC03")).Status)
	assert.Equal(t, 1, strings.Count(s.Log.String(), many), "all of them")
	a := s.Rejects(revealing("PC01"), http.StatusTooManyRequests, "rate_limited")
	assert.Contains(t, string(a.Body), "may reveal 4 secrets of computers an hour and has 0 left")
	assert.NotEmpty(t, a.Header.Get("Retry-After"))
	for _, computer := range []string{"PC03", "PC04", "PC05", "PC99"} {
		other := s.Rejects(revealing(computer), http.StatusTooManyRequests, "rate_limited")
		assert.Equal(t, a.Envelope.Output, other.Envelope.Output, computer)
	}
	managed := s.Record(s.Get("/api/Computers/PC01/LocalAdmin"))
	assert.Equal(t, "windows", managed["kind"], "other calls go on")
}

// TestASecretIsNowhereButInItsAnswer: a revealed secret is not in the log, the history, lists or the store.
func TestASecretIsNowhereButInItsAnswer(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	a := s.Do(revealing("PC01"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.Equal(t, 1, strings.Count(string(a.Body), "Sandbox-Local-PC01"))
	for _, path := range []string{
		"/api/Changes", "/api/Jobs", "/api/Computers", "/api/Computers/PC01", "/api/Computers/PC01/LocalAdmin",
		"/api/Computers/PC01/RecoveryKeys", "/api/Search?Text=PC01",
	} {
		assert.NotContains(t, string(s.Get(path).Body), "Sandbox-", path)
	}
}
