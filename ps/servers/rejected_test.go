package servers_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/ps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func credentials(step string) *ps.Error {
	return &ps.Error{Kind: ps.KindScript, Step: step, Outcome: ps.OutcomeNone,
		Type:  "System.Security.Authentication.AuthenticationException",
		Inner: "System.ServiceModel.Security.SecurityNegotiationException"}
}

func TestRejectedCredentials(t *testing.T) {
	const notes = "One domain controller rejected the gateway's service account; others may accept it."
	for _, c := range []struct {
		name      string
		write     bool
		step      string
		rejecting []string
		runs      []string
		pinned    string
		rejected  bool
		note      string
	}{
		{name: "by one, of a read", step: "find user", rejecting: []string{dc1}, runs: []string{dc1, dc2}, pinned: dc2},
		{name: "by one, of a write that looks", write: true, step: "check names", rejecting: []string{dc1}, runs: []string{dc1, dc2}, pinned: dc2},
		{name: "by one, of a write that writes", write: true, step: "create user", rejecting: []string{dc1}, runs: []string{dc1}, pinned: dc1, note: notes},
		{name: "by all", step: "find user", rejecting: []string{dc1, dc2}, runs: []string{dc1, dc2}, pinned: dc1, rejected: true,
			note: "Every domain controller rejects the gateway's service account."},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, dc1, dc2)
				s := w.open(nil)
				defer closed(t, s)
				synctest.Wait()
				w.answer = func(host string, _ ps.Request) error {
					if slices.Contains(c.rejecting, host) {
						return credentials(c.step)
					}
					return nil
				}
				req := request(c.write)
				_, err := s.Run(t.Context(), req)
				assertAsked(t, w, req, c.runs)
				directory, _ := s.Status()
				assert.Equal(t, c.pinned, directory.Pinned)
				assert.Equal(t, c.rejected, directory.Rejected)
				if c.note == "" {
					require.NoError(t, err)
					return
				}
				e := ps.AsError(err)
				assert.Equal(t, ps.KindScript, e.Kind)
				assert.Equal(t, []string{c.note}, e.Notes)
				if !c.rejected {
					return
				}
				assert.Contains(t, directory.Reason, "rejects the credentials of the gateway's service account")
				w.answer = func(string, ps.Request) error { return nil }
				_, err = s.Run(t.Context(), req)
				require.NoError(t, err)
				directory, _ = s.Status()
				assert.False(t, directory.Rejected, "one accepts it again")
			})
		})
	}
}

// A rejection expires after a minute, so that a gateway recovers even if no load balancer sends it requests.
func TestRejectionsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1)
		s := w.open(nil)
		defer closed(t, s)
		synctest.Wait()
		w.answer = func(string, ps.Request) error { return credentials("find user") }
		_, err := s.Run(t.Context(), user())
		require.Error(t, err)
		directory, _ := s.Status()
		assert.False(t, directory.Rejected, "dc2 is known, and was not asked")
		w.discover(func() (string, error) { return `[{"hostName":"dc1.corp.example","writable":true}]`, nil })
		time.Sleep(16 * time.Minute)
		_, err = s.Run(t.Context(), user())
		require.Error(t, err)
		directory, _ = s.Status()
		assert.True(t, directory.Rejected)
		time.Sleep(time.Minute)
		directory, _ = s.Status()
		assert.False(t, directory.Rejected)
	})
}

// The gateway does not leave a domain controller that accepts connections just because a request breaks its
// connection or a port that only ADSI needs is closed.
func TestTransportFaultsDoNotWalk(t *testing.T) {
	brokenConnection := &ps.Error{Kind: ps.KindScript, Step: "find user", Code: "0", Outcome: ps.OutcomeNone,
		Type:  "Microsoft.ActiveDirectory.Management.ADServerDownException",
		Inner: "System.ServiceModel.CommunicationException"}
	inWrite := *brokenConnection
	inWrite.Step = "create user"
	busy := &ps.Error{Kind: ps.KindScript, Step: "find user", Code: "0", Outcome: ps.OutcomeNone,
		Type: "Microsoft.ActiveDirectory.Management.ADException", Inner: "System.ServiceModel.FaultException",
		Fault: "EndpointUnavailable"}
	ldap := &ps.Error{Kind: ps.KindScript, Step: "set remote desktop settings", Code: "8250",
		Outcome: ps.OutcomeNone,
		Type:    "System.Runtime.InteropServices.COMException"}
	for _, c := range []struct {
		name    string
		write   bool
		err     *ps.Error
		down    bool // the server no longer accepts connections
		runs    []string
		kind    ps.Kind
		outcome ps.Outcome
	}{
		{name: "a broken connection", err: brokenConnection, runs: []string{dc1, dc1}, kind: ps.KindUnavailable, outcome: ps.OutcomeNone},
		{name: "a broken connection, and the server is down", err: brokenConnection, down: true, runs: []string{dc1, dc2}},
		{name: "a broken connection in a change", write: true, err: &inWrite, runs: []string{dc1}, kind: ps.KindScript, outcome: ps.OutcomeUnknown},
		{name: "no connection left", err: busy, runs: []string{dc1, dc1}, kind: ps.KindScript, outcome: ps.OutcomeNone},
		{name: "LDAP is closed to ADSI", write: true, err: ldap, runs: []string{dc1}, kind: ps.KindScript, outcome: ps.OutcomeUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, dc1, dc2)
				s := w.open(nil)
				defer closed(t, s)
				synctest.Wait()
				w.answer = func(host string, _ ps.Request) error {
					if c.down {
						w.set(dc1, false)
					}
					if host == dc1 {
						return c.err
					}
					return nil
				}
				req := request(c.write)
				_, err := s.Run(t.Context(), req)
				assertAsked(t, w, req, c.runs)
				directory, _ := s.Status()
				assert.Equal(t, c.runs[len(c.runs)-1], directory.Pinned)
				if c.kind == "" {
					require.NoError(t, err)
					return
				}
				e := ps.AsError(err)
				assert.Equal(t, c.kind, e.Kind)
				assert.Equal(t, c.outcome, e.Outcome)
			})
		})
	}
}
