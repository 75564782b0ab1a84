package faults

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/sandboxtest"
	"adgateway/test/systemtest"
)

// everyChange changes a user in every way that can be undone.
var everyChange = map[string]any{
	"Description": "changed", "POBox": "1", "Country": "FR", "Manager": "jkrueger", "HomeFolderPath": `C:\x`, "OUPath": systemtest.AthensOU,
	"PasswordNeverExpired": true, "RdsProfilePath": `\\fs1\rds`, "RdsAllowLogon": false,
}

// with returns params with an additional parameter.
func with(params map[string]any, name string, value any) map[string]any {
	more := maps.Clone(params)
	more[name] = value
	return more
}

// TestUsersAreChangedCompletelyOrNotAtAll: if a late step of a change fails, the earlier steps are undone.
func TestUsersAreChangedCompletelyOrNotAtAll(t *testing.T) {
	const path = "/api/ADUser/" + systemtest.SampleUser
	for _, culture := range systemtest.Cultures {
		s, f := newFaultySystem(t, sandbox.Options{Seed: 1, Culture: culture})
		ctx := context.Background()
		t.Run(culture+"/the password is refused", func(t *testing.T) {
			c := systemtest.Call{Method: http.MethodPut, Path: path, Params: with(everyChange, "Password", "weak")}
			a := s.In(t).Rejects(c, http.StatusUnprocessableEntity, "policy")
			assert.Equal(t, "none", a.Envelope.Error.Outcome)
		})
		t.Run(culture+"/the new place has the name meanwhile", func(t *testing.T) {
			s := s.In(t)
			f.before("Move-ADObject", func(call int) {
				if call == 1 {
					s.AddObject("CN=Anna Schmidt,"+systemtest.AthensOU, "container")
				}
			})
			onlyChanged(s, systemtest.Call{Method: http.MethodPut, Path: path, Params: everyChange},
				http.StatusConflict, "conflict", "AD:8305", "+ CN=Anna Schmidt,"+systemtest.AthensOU)
			f.before("Move-ADObject", nil)
			require.NoError(t, s.DC1().Delete(ctx, "CN=Anna Schmidt,"+systemtest.AthensOU))
		})
		t.Run(culture+"/the settings change meanwhile", func(t *testing.T) {
			s := s.In(t)
			f.before("Set-ADUser", func(n int) {
				if n == 1 {
					change := directory.Change{Op: directory.OpReplace, Name: "userParameters", Values: []any{"m:mine"}}
					require.NoError(t, s.DC1().Modify(ctx, systemtest.SampleUserDN, []directory.Change{change},
						directory.ModifyOptions{}))
				}
			})
			onlyChanged(s, systemtest.Call{Method: http.MethodPut, Path: path, Params: everyChange},
				http.StatusConflict, "conflict", "", "~ "+systemtest.SampleUserDN+" userParameters")
			f.before("Set-ADUser", nil)
		})
		t.Run(culture+"/the new common name is taken meanwhile", func(t *testing.T) {
			s := s.In(t)
			s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/first"}, http.StatusCreated)
			f.before("Rename-ADObject", func(n int) {
				if n == 1 {
					s.AddObject("CN=second,CN=Users,DC=corp,DC=example", "container")
				}
			})
			onlyChanged(s, systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/first/Rename/second"},
				http.StatusConflict, "conflict", "AD:8305",
				"+ CN=second,CN=Users,DC=corp,DC=example")
			f.before("Rename-ADObject", nil)
		})
		t.Run(culture+"/a new user cannot be enabled", func(t *testing.T) {
			s := s.In(t)
			f.before("Enable-ADAccount",
				func(int) { s.DenyEveryone("CN=late,CN=Users,DC=corp,DC=example", directory.RightWriteProperty, true) })
			c := systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/late",
				Params: with(map[string]any{"RdsAllowLogon": false}, "Password", systemtest.GoodPassword)}
			a := s.Rejects(c, http.StatusForbidden, "directory_denied")
			f.before("Enable-ADAccount", nil)
			assert.Equal(t, "none", a.Envelope.Error.Outcome)
			assert.NotContains(t, s.Log.String(), systemtest.GoodPassword)
		})
	}
}

// TestWhatCannotBeUndoneIsReported: the steps that the script cannot undo are reported. These are a new
// password, and every step whose undo the directory refuses.
func TestWhatCannotBeUndoneIsReported(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/half",
		Params: map[string]any{"ChangePasswordNextLogon": false}}, http.StatusCreated)
	const dn = "CN=half,CN=Users,DC=corp,DC=example"
	f.before("Set-ADUser", func(int) { s.DenyEveryone(dn, directory.RightWriteProperty, true) })
	a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/half/ResetPassword",
		Params: map[string]any{"newPassword": systemtest.GoodPassword, "ChangePassword": true}})
	f.before("Set-ADUser", nil)
	require.Equal(t, http.StatusForbidden, a.Status, "%s", a.Body)
	assert.Equal(t, "partial", a.Envelope.Error.Outcome)
	assert.Contains(t, string(a.Body), "This remains: "+dn)
	require.NoError(t, s.DC1().SetACL(context.Background(), dn, nil))
	s.Put("/api/ADUser/half/Enable", nil)
	assert.NoError(t, s.DC1().Logon(context.Background(), "half", systemtest.GoodPassword),
		"the new password must work")

	f.before("Set-ADAccountPassword", func(int) { s.SwitchDC(false) })
	a = s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/half",
		Params: map[string]any{"City": "x", "Password": "An0ther-Horse"}})
	f.before("Set-ADAccountPassword", nil)
	s.SwitchDC(true)
	require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s", a.Body)
	assert.Equal(t, "partial", a.Envelope.Error.Outcome)
	assert.Contains(t, string(a.Body), "This remains: "+dn)
	assert.Equal(t, "x", s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/half/Details"},
		http.StatusOK)["city"])
	assert.NotContains(t, s.Log.String(), "Horse")
}

// TestAControllerFailsWhileItIsQueried: the answer lists the controller like a controller that was already
// down.
func TestAControllerFailsWhileItIsQueried(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	dc2 := s.World.Directory.DCs()[1].HostName()
	f.before("Get-ADUser", func(call int) { // the first call finds the user, and the second one queries dc1
		if call == 3 {
			require.NoError(t, sandboxtest.SetAlive(s.World, dc2, false))
		}
	})
	got := s.OK(systemtest.Call{Method: http.MethodGet,
		Path: "/api/ADUser/" + systemtest.SampleUser + "/LastLogon"}, http.StatusOK)
	assert.Equal(t, []any{false, []any{dc2}}, []any{got["complete"], got["unreached"]})
	assert.NotNil(t, got["lastLogon"])
}

// TestConcurrentUsers: if several changes request the same name, exactly one of them succeeds.
func TestConcurrentUsers(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	names := []string{"one", "two", "three"}
	for _, name := range names {
		s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/" + name}, http.StatusCreated)
	}
	for title, c := range map[string]func(name string) systemtest.Call{
		"create": func(string) systemtest.Call {
			return systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/wanted"}
		},
		"rename": func(name string) systemtest.Call {
			return systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + name + "/Rename/renamed"}
		},
	} {
		t.Run(title, func(t *testing.T) {
			answers := make([]systemtest.Answer, len(names))
			var all sync.WaitGroup
			for i, name := range names {
				all.Go(func() { answers[i] = s.Do(c(name)) })
			}
			all.Wait()
			done := 0
			for _, a := range answers {
				if a.Status < 300 {
					done++
					continue
				}
				assert.Equal(t, http.StatusConflict, a.Status, "%s", a.Body)
				assert.Equal(t, "none", a.Envelope.Error.Outcome)
			}
			assert.Equal(t, 1, done)
		})
	}
}
