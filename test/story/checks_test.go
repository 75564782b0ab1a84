package story

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
)

// check returns the state and the message of one check of a plan.
func (p plan) check(t *testing.T, name string) (state, message string) {
	t.Helper()
	for _, c := range p.Checks {
		if c.Name == name {
			return c.State, c.Message
		}
	}
	require.Fail(t, "no check", name)
	return "", ""
}

// TestADryRunChecksPasswords: the dry run accepts and refuses the same passwords as the directory.
func TestADryRunChecksPasswords(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	reset := func(password string) systemtest.Call {
		return put("/api/ADUser/jschmidt/ResetPassword", "newPassword", password)
	}
	for password, why := range map[string]string{
		"Tr0ub4dor&3-long":   "",
		"sp8T?":              "has fewer than",
		"onlysmallletters":   "needs three of these",
		"only small 1234":    "needs three of these",
		"€uro and 1 small":   "needs three of these",
		"12345-JSchmidt-x":   "contains the account name",
		"My1-SCHMIDT-secret": "contains",
		"Jonas4president!":   "contains a word of the display name",
		"Größe+Ωmega":        "",
	} {
		p, a := dryRun(s, reset(password))
		state, message := p.check(t, "password_policy")
		assert.NotContains(t, string(a.Body), password)
		answer := s.Do(reset(password))
		if why == "" {
			assert.Equal(t, "passed", state, "%s: %s", password, message)
			assert.Equal(t, http.StatusOK, answer.Status, "%s: %s", password, answer.Body)
			continue
		}
		assert.Equal(t, "failed", state, "%s: %s", password, message)
		assert.Contains(t, message, "Default Domain Policy")
		assert.Contains(t, message, why)
		assert.Equal(t, "Would change the user 'jschmidt': password, but a check failed: "+message,
			a.Envelope.Output)
		assert.Equal(t, http.StatusUnprocessableEntity, answer.Status, "%s: %s", password, answer.Body)
	}
	p, _ := dryRun(s, put("/api/ADUser/jschmidt/ResetPassword")) // with a generated password
	state, _ := p.check(t, "password_policy")
	assert.Equal(t, "passed", state)
	create := post("/api/ADUser/new.one", "Password", "new.one-Secret1")
	p, _ = dryRun(s, create)
	state, message := p.check(t, "password_policy")
	assert.Equal(t, "failed", state, message)
	assert.Contains(t, message, "contains the account name")
}

// TestADryRunChecksRights: if the directory reports that the gateway's account lacks a
// right, the dry run reports that, too.
func TestADryRunChecksRights(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	ctx := t.Context()
	create := post("/api/ADUser/new.one", "OUPath", systemtest.AthensOU)
	calls := map[string]systemtest.Call{
		"create": create,
		"update": update("jschmidt", map[string]any{"Department": "Elsewhere"}),
		"flag":   put("/api/ADUser/jschmidt/Disable"),
		"member": post("/api/ADUser/jschmidt/Group/Newsletter"),
	}
	for name, call := range calls {
		p, _ := dryRun(s, call)
		state, message := p.check(t, "write_rights")
		assert.Equal(t, "passed", state, "%s: %s", name, message)
	}
	deny := func(dn string, right directory.Rights) {
		require.NoError(t, s.DC1().SetACL(ctx, dn, []directory.ACE{{Trustee: directory.Everyone, Rights: right}}))
	}
	user := s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/jschmidt/Details"},
		http.StatusOK)["distinguishedName"].(string)
	group := s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADGroups/Newsletter"},
		http.StatusOK)["distinguishedName"].(string)
	deny(systemtest.AthensOU, directory.RightCreateChild)
	deny(user, directory.RightWriteProperty)
	deny(group, directory.RightWriteProperty)
	for name, want := range map[string]string{
		"create": "The gateway may not create a user in '" + systemtest.AthensOU + "'.",
		"update": "The gateway may not write the attribute 'department' of '" + user + "'.",
		"flag":   "The gateway may not write the attribute 'userAccountControl' of '" + user + "'.",
		"member": "The gateway may not write the attribute 'member' of '" + group + "'.",
	} {
		p, a := dryRun(s, calls[name])
		state, message := p.check(t, "write_rights")
		assert.Equal(t, "failed", state, "%s: %s", name, message)
		assert.Equal(t, want, message)
		assert.Contains(t, a.Envelope.Output, "but a check failed: "+want)
		s.Rejects(calls[name], http.StatusForbidden, "directory_denied")
	}
}

// TestADryRunOfARemovalLooksAtTheRecycleBin: the dry run reports whether the removed objects
// could be restored.
func TestADryRunOfARemovalLooksAtTheRecycleBin(t *testing.T) {
	remove := systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/jschmidt"}
	for off, want := range map[bool]string{
		false: "The Recycle Bin is enabled: removed objects can be restored for 180 days.",
		true:  "The Recycle Bin is not enabled: removed objects cannot be restored.",
	} {
		s := systemtest.New(t, sandbox.Options{Seed: 1, NoRecycleBin: off})
		p, _ := dryRun(s, remove)
		state, message := p.check(t, "recycle_bin")
		assert.Equal(t, map[bool]string{false: "passed", true: "failed"}[off], state)
		assert.Equal(t, want, message)
	}
}
