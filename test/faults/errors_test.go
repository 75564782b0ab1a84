package faults

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/test/systemtest"
)

const directoryTypes = "Microsoft.ActiveDirectory.Management."

// fault returns an error of the web service without a number, as public transcripts record
// it (facts D14). An empty name returns an error of the module itself.
func (f *faults) fault(name string) *dotnet.ErrorRecord {
	e := dotnet.NewException(f.types[directoryTypes+"ADException"],
		"Der Server kann die Anforderung nicht verarbeiten.")
	e.Props.Set("ErrorCode", int32(0))
	e.Props.Set("ServerErrorMessage", nil)
	if name != "" {
		code := f.types["System.ServiceModel.FaultCode"]
		e.Inner = dotnet.NewException(f.types["System.ServiceModel.FaultException"], "fault")
		e.Inner.Props.Set("Code", dotnet.NewInstance(code, "Name", "Sender", "SubCode",
			dotnet.NewInstance(code, "Name", name)))
	}
	return dotnet.NewError(e, "ActiveDirectoryServer:0", dotnet.NotSpecified, nil)
}

// numbered returns an error with a number for which there is no exception type.
func (f *faults) numbered(code int32) *dotnet.ErrorRecord {
	record := f.fault("UnwillingToPerform")
	record.Exception.Props.Set("ErrorCode", code)
	record.ErrorID = "ActiveDirectoryServer:" + strconv.Itoa(int(code))
	return record
}

// rejection returns the error of a controller that rejects the account (facts D17).
func rejection() *dotnet.ErrorRecord {
	const name = "System.Security.Authentication.AuthenticationException"
	e := dotnet.ExceptionNamed(name, "Der Server hat die Clientanmeldeinformationen abgelehnt.")
	return dotnet.NewError(e, "ActiveDirectoryCmdlet:"+name, dotnet.SecurityError, nil)
}

// TestProtectionAndFaults: an error without a number means a missing right only if the
// module itself raised the error.
func TestProtectionAndFaults(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	for _, c := range []struct {
		fault  string
		status int
		code   string
	}{
		{"", http.StatusForbidden, "directory_denied"},
		{"AccessDenied", http.StatusForbidden, "directory_denied"},
		{"UnwillingToPerform", http.StatusUnprocessableEntity, "unprocessable"},
		{"EndpointUnavailable", http.StatusServiceUnavailable, "unavailable"},
		{"OperationTimeout", http.StatusGatewayTimeout, "timeout"},
		{"Brandnew", http.StatusBadGateway, "backend"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			s := s.In(t)
			f.raise("Set-ADObject", func(int) *dotnet.ErrorRecord { return f.fault(c.fault) })
			defer f.raise("Set-ADObject", nil)
			a := s.Do(systemtest.UpdateOU(systemtest.ProtectedOU, "IsProtected", "false"))
			require.Equal(t, c.status, a.Status, "%s", a.Body)
			assert.Equal(t, c.code, a.Envelope.Error.Code)
			assert.Equal(t, c.fault == "", strings.Contains(a.Envelope.Error.Message, "access lists"), "%s", a.Body)
			assert.NotContains(t, string(a.Body), "nicht verarbeiten")
		})
	}
	assert.Equal(t, true, s.OK(systemtest.ReadOU(systemtest.ProtectedOU), http.StatusOK)["protected"])
}

// TestReadsAfterFaults: a read is retried once if the web service has no capacity.
func TestReadsAfterFaults(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	f.raise("Get-ADComputer", func(call int) *dotnet.ErrorRecord {
		if call == 1 {
			return f.fault("EndpointUnavailable")
		}
		return nil
	})
	s.OK(systemtest.ReadComputer("WEB1"), http.StatusOK)
	f.raise("Get-ADComputer", func(int) *dotnet.ErrorRecord { return f.fault("EndpointUnavailable") })
	a := s.Do(systemtest.ReadComputer("WEB1"))
	require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s", a.Body)
	assert.NotEmpty(t, a.Header.Get("Retry-After"))
}

// TestRejectedAccount: if every controller rejects the gateway's account, the answer and
// /readyz name the account as the cause.
func TestRejectedAccount(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	s.OK(systemtest.ReadComputer("WEB1"), http.StatusOK)
	require.Eventually(t, func() bool { return s.Get("/readyz").Status == http.StatusOK }, systemtest.Patience,
		10*time.Millisecond)
	f.raise("Get-ADComputer", func(call int) *dotnet.ErrorRecord {
		if call == 1 {
			return rejection()
		}
		return nil
	})
	s.OK(systemtest.ReadComputer("WEB1"), http.StatusOK)
	require.Equal(t, http.StatusOK, s.Get("/readyz").Status, "one controller alone")
	f.raise("Get-ADComputer", func(int) *dotnet.ErrorRecord { return rejection() })
	var a systemtest.Answer
	for range s.World.Directory.DCs() {
		a = s.Do(systemtest.ReadComputer("WEB1"))
	}
	require.Equal(t, http.StatusBadGateway, a.Status, "%s", a.Body)
	assert.Equal(t, "backend", a.Envelope.Error.Code)
	assert.Contains(t, string(a.Body), "Every domain controller rejects the gateway's service account.")
	ready := s.Get("/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, ready.Status)
	assert.Contains(t, string(ready.Body),
		"every domain controller rejects the credentials of the gateway's service account")
	f.raise("Get-ADComputer", nil)
	s.OK(systemtest.ReadComputer("WEB1"), http.StatusOK)
	assert.Equal(t, http.StatusOK, s.Get("/readyz").Status)
}

// TestMembershipWhenAnotherIsFaster: if another writer makes the same change between the look-up and the
// change, the directory refuses the change, but the call succeeds (facts D18).
func TestMembershipWhenAnotherIsFaster(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	path := systemtest.UserInGroupPath(systemtest.SampleUser, "Help Desk")
	for _, c := range []struct {
		name, method, cmdlet string
		other                directory.ChangeOp // change by the other writer
		code                 int32
		status               int
	}{
		{"added", http.MethodPost, "Add-ADGroupMember", directory.OpAdd, 1378, http.StatusOK},
		{"removed", http.MethodDelete, "Remove-ADGroupMember", directory.OpDelete, 1377, http.StatusOK},
		{"added, as a local group says", http.MethodPost, "Add-ADGroupMember", directory.OpAdd, 1320, http.StatusOK},
		{"removed, as a local group says", http.MethodDelete, "Remove-ADGroupMember", directory.OpDelete, 1321, http.StatusOK},
		{"a number that does not fit", http.MethodPost, "Add-ADGroupMember", directory.OpAdd, 1377, http.StatusConflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s.In(t)
			f.raise(c.cmdlet, func(int) *dotnet.ErrorRecord {
				change := directory.Change{Op: c.other, Name: "member", Values: []any{systemtest.SampleUserDN}}
				assert.NoError(t, s.DC1().Modify(t.Context(), "CN=Help Desk,"+systemtest.SecurityOU,
					[]directory.Change{change}, directory.ModifyOptions{}))
				return f.numbered(c.code)
			})
			defer f.raise(c.cmdlet, nil)
			a := s.Do(systemtest.Call{Method: c.method, Path: path})
			require.Equal(t, c.status, a.Status, "%s", a.Body)
			exists := s.OK(systemtest.Call{Method: http.MethodGet, Path: path + "/Exists"}, http.StatusOK)["exists"]
			assert.Equal(t, c.other == directory.OpAdd, exists)
			if c.status == http.StatusOK {
				assert.Contains(t, a.Envelope.Output, "nothing was changed")
			}
		})
	}
}
