package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/freeport"
)

// python is the interpreter for which Samba's modules are installed.
const python = "/usr/bin/python3"

// startDomain starts the KDC of a Samba domain, whose tickets name the groups of an account, and returns the
// path of a file with the domain's objects. It skips the test if Samba is not installed; `make kerberos-test`
// installs it where possible.
func startDomain(t *testing.T) (a *authority, objects string) {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for _, program := range []string{"samba", "samba-tool", "ldbsearch", python, "kinit", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: make kerberos-test installs it, as root on Debian", program)
		}
	}
	if _, err := os.Stat("/usr/share/samba/setup/provision.ldif"); err != nil {
		t.Skip("samba-ad-provision is not installed: make kerberos-test installs it, as root on Debian")
	}
	if os.Geteuid() != 0 {
		t.Skip("samba needs root")
	}
	a = &authority{t: t, folder: t.TempDir(), env: os.Environ()}
	port := freeport.Ports(t, 1)[0]
	address := net.JoinHostPort("127.0.0.2", strconv.Itoa(port)) // the port is reserved at 127.0.0.1, for UDP
	a.configure(address)
	a.run("", python, "testdata/domain_of_samba.py", a.folder, strconv.Itoa(port), gatewayName)
	objects = filepath.Join(a.folder, "domain.ldif")
	text := a.run("", "ldbsearch", "-H", a.folder+"/private/sam.ldb")
	require.NoError(t, os.WriteFile(objects, []byte(text), 0o600))
	a.serve(address, "samba", "-i", "-M", "single", "-s", a.folder+"/etc/smb.conf")
	return a, objects
}

// sidOf returns the SID of an account from the exported objects.
func sidOf(t *testing.T, objects, name string) string {
	t.Helper()
	text, err := os.ReadFile(objects)
	require.NoError(t, err)
	found := regexp.MustCompile(`(?s)objectSid: (S-[-0-9]+)\n[^#]*?sAMAccountName: ` + name + `\n`).FindSubmatch(text)
	require.NotNil(t, found, name)
	return string(found[1])
}

// statusOf returns the status of the last answer in the output of curl.
func statusOf(t *testing.T, said string) int {
	t.Helper()
	all := regexp.MustCompile(`(?m)^HTTP/[0-9.]+ ([0-9]{3})`).FindAllStringSubmatch(said, -1)
	require.NotEmpty(t, all, said)
	status, err := strconv.Atoi(all[len(all)-1][1])
	require.NoError(t, err)
	return status
}

// TestADomainOfSamba: the groups in the tickets of a domain controller give roles by SID, as long as the
// directory still has these memberships. The directory of the gateway is a copy of the domain.
func TestADomainOfSamba(t *testing.T) {
	a, objects := startDomain(t)
	s := a.startGateway("--empty", "--ldif", objects, "--set", "signIn.bindings=ifSent", "--set", `signIn.roles=[
		{"group":"`+sidOf(t, objects, "GW-Nested")+`","scopes":["user:read"]},
		{"group":"CORP\\GW-Helpdesk","scopes":["group:read"]},
		{"group":"`+sidOf(t, objects, "GW-Operators")+`","scopes":["ou:read"]}]`)
	may := func(path string) int {
		t.Helper()
		return statusOf(t, a.curl(s, path))
	}
	change := func(method, path string) {
		t.Helper()
		said := a.curlPlain(s, path, "-X", method, "-H", "Auth-Token: Bearer t")
		require.Less(t, statusOf(t, said), 300, said)
	}
	change("POST", "/api/ADUser/helpdesk/Group/GW-Operators")
	change("DELETE", "/api/ADUser/helpdesk/Group/GW-Helpdesk")

	a.signIn("helpdesk")
	assert.Contains(t, a.curl(s, "/api/WhoAmI"), `"name":"helpdesk"`)
	assert.Equal(t, 200, may("/api/ADUser/operator/Details"), "through groups of three kinds")
	assert.Equal(t, 403, may("/api/OU/All"), "the ticket does not name the group")
	assert.Equal(t, 403, may("/api/ADGroups/Berlin"), "the account has left the group")
	a.signIn("operator")
	assert.Equal(t, 200, may("/api/OU/All"), "a local group")
	assert.Equal(t, 200, may("/api/ADGroups/Berlin"), "a global group")
	assert.Equal(t, 403, may("/api/ADUser/operator/Details"))
	a.signIn("nobody")
	assert.Equal(t, 403, may("/api/OU/All"))
	assert.Contains(t, a.curl(s, "/api/WhoAmI"), `"name":"nobody"`, "known, and without rights")

	// The SID in the ticket counts, not the name, because another account may have that name by now.
	a.signIn("operator")
	assert.Equal(t, 200, may("/api/OU/All"))
	change("PUT", "/api/ADUser/operator/Rename/former")
	change("PUT", "/api/ADUser/nobody/Rename/operator")
	taken := a.curl(s, "/api/WhoAmI")
	assert.Equal(t, 401, statusOf(t, taken))
	assert.Contains(t, taken, "may not log on")
	assert.Contains(t, s.log.String(), "belong to different accounts")
}
