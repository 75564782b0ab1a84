package story

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
)

const annasLockouts = "/api/ADUser/" + systemtest.SampleUser + "/Lockouts"

// lockOut tries wrong passwords from a computer until the account is locked out.
func lockOut(s *systemtest.System, source string) {
	dc, ctx := s.World.Directory.DCs()[0], directory.WithSource(s.T.Context(), source)
	for range 20 {
		_ = dc.Logon(ctx, systemtest.SampleUser, "not it") // counts as a failed logon
	}
}

// TestWhereAnAccountWasLockedOut: the source of a lockout is read from the event log, or from the
// counters of the controllers if the log cannot be read. The logon state contains it as well.
func TestWhereAnAccountWasLockedOut(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	state := "/api/ADUser/" + systemtest.SampleUser + "/LogonState"
	assert.Empty(t, s.Get(annasLockouts).Envelope.Result)
	assert.Equal(t, []any{}, s.Record(s.Get(state))["lockouts"], "not locked out: nobody is asked")

	lockOut(s, "PC07")
	a := s.Get(annasLockouts)
	require.Len(t, a.Envelope.Result, 1, "%s", a.Body)
	event := a.Envelope.Result[0]
	assert.Equal(t, "PC07", event["source"])
	assert.Equal(t, "lockout", event["kind"])
	assert.Equal(t, "dc1.corp.example", event["controller"])
	assert.Empty(t, a.Envelope.Warnings)
	locked := s.Record(s.Get(state))
	require.Len(t, locked["lockouts"], 1)
	assert.Equal(t, event, locked["lockouts"].([]any)[0])

	s.World.Events.Deny(true)
	a = s.Get(annasLockouts)
	require.Len(t, a.Envelope.Result, 1, "%s", a.Body)
	assert.Equal(t, "badPassword", a.Envelope.Result[0]["kind"])
	assert.Nil(t, a.Envelope.Result[0]["source"])
	assert.Greater(t, a.Envelope.Result[0]["count"], 2.0)
	require.Len(t, a.Envelope.Warnings, 1)
	assert.Equal(t, "log_unreadable", a.Envelope.Warnings[0].Code)
	assert.Contains(t, a.Envelope.Warnings[0].Message, "Event Log Readers")
	a = s.Get(state)
	assert.Len(t, s.Record(a)["lockouts"], 1)
	assert.Equal(t, "log_unreadable", a.Envelope.Warnings[0].Code)

	a = s.Do(systemtest.Call{Method: http.MethodGet, Path: state, Token: systemtest.ReadToken})
	assert.Nil(t, s.Record(a)["lockouts"])
	require.Len(t, a.Envelope.Warnings, 1)
	assert.Equal(t, "scope_missing", a.Envelope.Warnings[0].Code)
	assert.Contains(t, a.Envelope.Warnings[0].Message, string(identity.UserLockouts))
	asking := systemtest.Call{Method: http.MethodGet, Path: annasLockouts, Token: systemtest.ReadToken}
	s.Rejects(asking, http.StatusForbidden, "forbidden")
	asking = systemtest.Call{Method: http.MethodGet, Path: annasLockouts + "?Hours=169"}
	s.Rejects(asking, http.StatusBadRequest, "invalid_request")
}

// TestALockoutAtSignInComesFromTheGateway: a lockout at sign-in names the gateway's
// computer, because the gateway checks the password.
func TestALockoutAtSignInComesFromTheGateway(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for range 20 {
		_, err := s.World.LogOn(t.Context(), systemtest.SampleUser, "not it")
		require.ErrorIs(t, err, sandbox.ErrLogon)
	}
	a := s.Get(annasLockouts)
	require.Len(t, a.Envelope.Result, 1, "%s", a.Body)
	assert.Equal(t, "GATEWAY", a.Envelope.Result[0]["source"])
}
