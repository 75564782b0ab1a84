package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// localName is a name that Chromium resolves to this computer without any configuration.
const localName = "gateway.localhost"

// chromium returns the page at which Chromium ends up. Chromium loads its Kerberos library only after a
// server has asked for tickets, and remembers that in its profile.
func (a *authority) chromium(s *runningSandbox, path string, args ...string) string {
	a.t.Helper()
	profile := a.t.TempDir()
	met := []byte(`{"net":{"received_http_auth_negotiate_headers":true}}`)
	require.NoError(a.t, os.WriteFile(filepath.Join(profile, "Local State"), met, 0o600))
	all := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--user-data-dir=" + profile,
		"--ignore-certificate-errors", "--dump-dom",
	}
	all = append(all, args...)
	return a.run("", "chromium", append(all, "https://"+localName+":"+a.port(s)+path)...)
}

// TestChromiumSignsInByATicket: Chromium signs in with a ticket if its policy allows the name of the gateway.
// Otherwise it shows the form.
func TestChromiumSignsInByATicket(t *testing.T) {
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed: make kerberos-test installs it, as root on Debian")
	}
	a := startAuthority(t)
	s := a.startGateway("--set", "signIn.bindings=ifSent")
	const allowed, form, person = "--auth-server-allowlist=*.localhost", `name="password"`, "<b>helpdesk</b>"

	without := a.chromium(s, "/ui/people?q=lweber", allowed)
	assert.Contains(t, without, form, "nobody has signed in to the computer")
	a.signIn("helpdesk")
	in := a.chromium(s, "/ui/people?q=lweber", allowed)
	assert.Contains(t, in, person)
	assert.NotContains(t, in, form)
	assert.Contains(t, in, "Weber", "the page that was asked for")
	outside := a.chromium(s, "/ui/people?q=lweber", "--auth-server-allowlist=*.other.example")
	assert.Contains(t, outside, form, "the policy does not allow it")
	assert.NotContains(t, outside, person)
}
