package test

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"testing"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everyChange changes a user in every way that can be taken back.
var everyChange = map[string]any{
	"Description": "changed", "POBox": "1", "Country": "FR", "Manager": "jkrueger", "HomeFolderPath": `C:\x`, "OUPath": athensOU,
	"PasswordNeverExpired": true, "RdsProfilePath": `\\fs1\rds`, "RdsAllowLogon": false,
}

func with(params map[string]any, name string, value any) map[string]any {
	more := maps.Clone(params)
	more[name] = value
	return more
}

// TestUsersAreChangedWhollyOrNotAtAll has a late step of a change fail: the
// earlier ones are taken back.
func TestUsersAreChangedWhollyOrNotAtAll(t *testing.T) {
	const path = "/api/ADUser/" + sampleUser
	for _, culture := range cultures {
		s, f := newFaultySystem(t, sandbox.Options{Seed: 1, Culture: culture})
		ctx := context.Background()
		t.Run(culture+"/the password is refused", func(t *testing.T) {
			c := call{method: http.MethodPut, path: path, params: with(everyChange, "Password", "weak")}
			a := s.in(t).refused(c, http.StatusUnprocessableEntity, "policy")
			assert.Equal(t, "none", a.envelope.Error.Outcome)
		})
		t.Run(culture+"/the new place has the name meanwhile", func(t *testing.T) {
			s := s.in(t)
			f.before("Move-ADObject", func(call int) {
				if call == 1 {
					s.add("CN=Anna Schmidt,"+athensOU, "container")
				}
			})
			s.onlyChanged(call{method: http.MethodPut, path: path, params: everyChange}, http.StatusConflict, "conflict", "AD:8305", "+ CN=Anna Schmidt,"+athensOU)
			f.before("Move-ADObject", nil)
			require.NoError(t, s.dc1().Delete(ctx, "CN=Anna Schmidt,"+athensOU))
		})
		t.Run(culture+"/the settings change meanwhile", func(t *testing.T) {
			s := s.in(t)
			f.before("Set-ADUser", func(n int) {
				if n == 1 {
					change := directory.Change{Op: directory.OpReplace, Name: "userParameters", Values: []any{"m:mine"}}
					require.NoError(t, s.dc1().Modify(ctx, sampleUserDN, []directory.Change{change}, directory.ModifyOptions{}))
				}
			})
			s.onlyChanged(call{method: http.MethodPut, path: path, params: everyChange}, http.StatusConflict, "conflict", "", "~ "+sampleUserDN+" userParameters")
			f.before("Set-ADUser", nil)
		})
		t.Run(culture+"/the new common name is taken meanwhile", func(t *testing.T) {
			s := s.in(t)
			s.ok(call{method: http.MethodPost, path: "/api/ADUser/first"}, http.StatusCreated)
			f.before("Rename-ADObject", func(n int) {
				if n == 1 {
					s.add("CN=second,CN=Users,DC=corp,DC=example", "container")
				}
			})
			s.onlyChanged(call{method: http.MethodPut, path: "/api/ADUser/first/Rename/second"}, http.StatusConflict, "conflict", "AD:8305",
				"+ CN=second,CN=Users,DC=corp,DC=example")
			f.before("Rename-ADObject", nil)
		})
		t.Run(culture+"/a new user cannot be enabled", func(t *testing.T) {
			s := s.in(t)
			f.before("Enable-ADAccount", func(int) { s.denyTo("CN=late,CN=Users,DC=corp,DC=example", directory.RightWriteProperty, true) })
			c := call{method: http.MethodPost, path: "/api/ADUser/late", params: with(map[string]any{"RdsAllowLogon": false}, "Password", goodPass)}
			a := s.refused(c, http.StatusForbidden, "directory_denied")
			f.before("Enable-ADAccount", nil)
			assert.Equal(t, "none", a.envelope.Error.Outcome)
			assert.NotContains(t, s.log.String(), goodPass)
		})
	}
}

// TestWhatCannotBeTakenBackIsTold: a password stays, and so does what the
// directory does not let be undone.
func TestWhatCannotBeTakenBackIsTold(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	s.ok(call{method: http.MethodPost, path: "/api/ADUser/half", params: map[string]any{"ChangePasswordNextLogon": false}}, http.StatusCreated)
	const dn = "CN=half,CN=Users,DC=corp,DC=example"
	f.before("Set-ADUser", func(int) { s.denyTo(dn, directory.RightWriteProperty, true) })
	a := s.do(call{method: http.MethodPut, path: "/api/ADUser/half/ResetPassword", params: map[string]any{"newPassword": goodPass, "ChangePassword": true}})
	f.before("Set-ADUser", nil)
	require.Equal(t, http.StatusForbidden, a.status, "%s", a.body)
	assert.Equal(t, "partial", a.envelope.Error.Outcome)
	assert.Contains(t, string(a.body), "This remains: "+dn)
	require.NoError(t, s.dc1().SetACL(context.Background(), dn, nil))
	s.put("/api/ADUser/half/Enable", nil)
	assert.NoError(t, s.dc1().Logon(context.Background(), "half", goodPass), "the new password is there")

	f.before("Set-ADAccountPassword", func(int) { s.switchDC(false) })
	a = s.do(call{method: http.MethodPut, path: "/api/ADUser/half", params: map[string]any{"City": "x", "Password": "An0ther-Horse"}})
	f.before("Set-ADAccountPassword", nil)
	s.switchDC(true)
	require.Equal(t, http.StatusServiceUnavailable, a.status, "%s", a.body)
	assert.Equal(t, "partial", a.envelope.Error.Outcome)
	assert.Contains(t, string(a.body), "This remains: "+dn)
	assert.Equal(t, "x", s.ok(call{method: http.MethodGet, path: "/api/ADUser/half/Details"}, http.StatusOK)["city"])
	assert.NotContains(t, s.log.String(), "Horse")
}

// TestAControllerThatGoesAwayWhileItIsAsked is named like one that was away before.
func TestAControllerThatGoesAwayWhileItIsAsked(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	dc2 := s.world.Directory.DCs()[1].HostName()
	f.before("Get-ADUser", func(call int) { // the first finds the user, the second asks dc1
		if call == 3 {
			require.NoError(t, s.world.SetAlive(dc2, false))
		}
	})
	got := s.ok(call{method: http.MethodGet, path: "/api/ADUser/" + sampleUser + "/LastLogon"}, http.StatusOK)
	assert.Equal(t, []any{false, []any{dc2}}, []any{got["complete"], got["unreached"]})
	assert.NotNil(t, got["lastLogon"])
}

// TestUsersAtOnce: of several that want one name, one gets it.
func TestUsersAtOnce(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	names := []string{"one", "two", "three"}
	for _, name := range names {
		s.ok(call{method: http.MethodPost, path: "/api/ADUser/" + name}, http.StatusCreated)
	}
	for title, c := range map[string]func(name string) call{
		"create": func(string) call { return call{method: http.MethodPost, path: "/api/ADUser/wanted"} },
		"rename": func(name string) call {
			return call{method: http.MethodPut, path: "/api/ADUser/" + name + "/Rename/renamed"}
		},
	} {
		t.Run(title, func(t *testing.T) {
			answers := make([]answer, len(names))
			var all sync.WaitGroup
			for i, name := range names {
				all.Go(func() { answers[i] = s.do(c(name)) })
			}
			all.Wait()
			done := 0
			for _, a := range answers {
				if a.status < 300 {
					done++
					continue
				}
				assert.Equal(t, http.StatusConflict, a.status, "%s", a.body)
				assert.Equal(t, "none", a.envelope.Error.Outcome)
			}
			assert.Equal(t, 1, done)
		})
	}
}
