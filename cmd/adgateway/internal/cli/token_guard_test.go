package cli

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestATokenThatNeedsAGuard: a token can be made to require a guard for the changes of
// one scope, and the requirement can be removed again.
func TestATokenThatNeedsAGuard(t *testing.T) {
	store := "--store=" + filepath.Join(t.TempDir(), "credentials.json")
	token := "Bearer " + command(t, "token", "create", "sync", store, "--scope", "*", "--require-guard",
		"user:write")
	assert.Regexp(t, `guard required +user:write`, command(t, "token", "show", "sync", store))
	s := startSandbox(t, "--set", "auth.store="+strings.TrimPrefix(store, "--store="))
	const disable, remove = "/api/ADUser/aschmidt/Disable", "/api/ADUser/aschmidt/Group/VPN%20Users"
	status, body := s.ask(http.MethodPut, disable, token)
	assert.Equal(t, http.StatusPreconditionRequired, status)
	assert.Contains(t, body, `"code":"precondition_required"`)
	status, body = s.ask(http.MethodPut, disable+"?DryRun=true", token)
	assert.Equal(t, http.StatusOK, status, body)
	status, body = s.ask(http.MethodDelete, remove, token)
	assert.Equal(t, http.StatusOK, status, body)
	command(t, "token", "set", "sync", store, "--clear", "require-guard")
	assert.NotContains(t, command(t, "token", "show", "sync", store), "guard required")
	assert.Zero(t, s.stop())
}
