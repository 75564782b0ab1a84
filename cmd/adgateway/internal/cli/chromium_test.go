package cli

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
)

// chromium returns the page that Chromium ends at.
func (a *authority) chromium(s *runningSandbox, path string, args ...string) string {
	a.t.Helper()
	all := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--user-data-dir=" + a.t.TempDir(),
		"--ignore-certificate-errors", "--disable-auth-negotiate-cname-lookup",
		"--host-resolver-rules=MAP " + gatewayName + " 127.0.0.1", "--dump-dom",
	}
	all = append(all, args...)
	return a.run("", "chromium", append(all, "https://"+gatewayName+":"+a.port(s)+path)...)
}

// TestChromiumSignsInByATicket, if its policy allows the name of the gateway; otherwise it shows the form.
func TestChromiumSignsInByATicket(t *testing.T) {
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed: make kerberos-test installs it, as root on Debian")
	}
	a := startAuthority(t)
	s := a.startGateway("--set", "signIn.bindings=ifSent")
	const allowed = "--auth-server-allowlist=*.corp.example"

	without := a.chromium(s, "/ui/people?q=lweber", allowed)
	assert.Contains(t, without, `name="password"`, "nobody has signed in to the computer")
	assert.NotContains(t, without, "<b>helpdesk</b>")
	a.signIn("helpdesk")
	in := a.chromium(s, "/ui/people?q=lweber", allowed)
	assert.Contains(t, in, "<b>helpdesk</b>")
	assert.NotContains(t, in, `name="password"`)
	assert.Contains(t, in, "lweber", "the page that was asked for")
	outside := a.chromium(s, "/ui/people?q=lweber", "--auth-server-allowlist=*.other.example")
	assert.Contains(t, outside, `name="password"`, "the policy does not allow it")
	assert.NotContains(t, outside, "<b>helpdesk</b>")
}
