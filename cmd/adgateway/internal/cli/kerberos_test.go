package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/freeport"
)

// authority is an MIT Kerberos KDC with its database in a separate folder.
type authority struct {
	t      *testing.T
	folder string
	env    []string
}

const gatewayName = "gateway.corp.example"

// startAuthority starts a KDC with accounts for people and a key for the gateway. If its programs
// are missing, the test is skipped. `make kerberos-test` installs them and sets KERBEROS.
func startAuthority(t *testing.T) *authority {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for _, program := range []string{"krb5kdc", "kdb5_util", "kadmin.local", "kinit", "curl", "faketime"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("KERBEROS") != "" {
				t.Fatalf("%s is missing", program)
			}
			t.Skipf("%s is not installed: make kerberos-test installs it", program)
		}
	}
	a := &authority{t: t, folder: t.TempDir()}
	port := freeport.Ports(t, 1)[0]
	a.write("krb5.conf", fmt.Sprintf(`[libdefaults]
 default_realm = CORP.EXAMPLE
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
 default_ccache_name = FILE:%[2]s/tickets
[realms]
 CORP.EXAMPLE = {
  kdc = 127.0.0.1:%[1]d
 }
[domain_realm]
 .corp.example = CORP.EXAMPLE
`, port, a.folder))
	a.write("kdc.conf", fmt.Sprintf(`[kdcdefaults]
 kdc_listen = ""
 kdc_tcp_listen = 127.0.0.1:%[1]d
[realms]
 CORP.EXAMPLE = {
  database_name = %[2]s/principals
  key_stash_file = %[2]s/stash
  acl_file = %[2]s/acl
 }
[logging]
 kdc = STDERR
`, port, a.folder))
	a.env = append(os.Environ(), "KRB5_CONFIG="+a.folder+"/krb5.conf", "KRB5_KDC_PROFILE="+a.folder+"/kdc.conf")
	a.run("", "kdb5_util", "create", "-s", "-r", "CORP.EXAMPLE", "-P", "the key of the database")
	for _, query := range []string{
		"addprinc -randkey HTTP/" + gatewayName, "addprinc -randkey cifs/" + gatewayName, "ktadd -k " + a.keytab() + " HTTP/" + gatewayName,
		"addprinc -pw Secret-1 helpdesk", "addprinc -pw Secret-1 nobody", "addprinc -pw Secret-1 operator",
	} {
		a.run("", "kadmin.local", "-q", query)
	}
	a.serve()
	return a
}

func (a *authority) keytab() string { return filepath.Join(a.folder, "gateway.keytab") }

func (a *authority) write(name, text string) {
	a.t.Helper()
	require.NoError(a.t, os.WriteFile(filepath.Join(a.folder, name), []byte(text), 0o600))
}

// run runs a program to its end.
func (a *authority) run(input, program string, args ...string) string {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Env, command.Stdin = a.env, strings.NewReader(input)
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	require.NoError(a.t, command.Run(), "%s %q: %s", program, args, &said)
	return said.String()
}

// serve starts the KDC and returns when it answers.
func (a *authority) serve() {
	a.t.Helper()
	command := exec.Command("krb5kdc", "-n")
	command.Env = a.env
	said, err := command.StderrPipe()
	require.NoError(a.t, err)
	require.NoError(a.t, command.Start())
	lines, ended := make(chan string), make(chan struct{})
	go func() {
		defer close(ended)
		defer close(lines)
		for scanner := bufio.NewScanner(said); scanner.Scan(); {
			if strings.Contains(scanner.Text(), "commencing operation") {
				lines <- scanner.Text()
			}
		}
	}()
	a.t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
		_ = command.Wait() // it was killed
	})
	select {
	case _, ok := <-lines:
		require.True(a.t, ok, "the KDC stopped")
	case <-time.After(patience):
		a.t.Fatal("the KDC did not start")
	}
}

// signIn gets a person's ticket, as Windows does at logon.
func (a *authority) signIn(name string) {
	a.t.Helper()
	a.run("Secret-1\n", "kinit", name)
}

// curl returns the output of curl for a call with the person's ticket, followed by the status.
func (a *authority) curl(s *runningSandbox, path string, args ...string) string {
	a.t.Helper()
	return a.curlAt("", s, path, args...)
}

// curlAt is [authority.curl] with a clock that is off by the given time.
func (a *authority) curlAt(off string, s *runningSandbox, path string, args ...string) string {
	a.t.Helper()
	_, port, found := strings.Cut(strings.TrimPrefix(s.url, "https://"), ":")
	require.True(a.t, found)
	address := gatewayName + ":" + port + ":127.0.0.1"
	all := []string{"-sS", "-k", "-i", "--negotiate", "-u", ":", "--resolve", address}
	all = append(all, args...)
	all = append(all, "https://"+gatewayName+":"+port+path)
	if off != "" {
		return a.run("", "faketime", append([]string{"-f", off, "curl"}, all...)...)
	}
	return a.run("", "curl", all...)
}

func (a *authority) startGateway(args ...string) *runningSandbox {
	a.t.Helper()
	command(a.t, "tls", "selfsigned", "--name", gatewayName, "--out", a.folder)
	return startSandbox(a.t, append([]string{
		"--token", "t", "--set", "signIn.mode=form+kerberos", "--set", "signIn.keytab=" + a.keytab(),
		"--set", "tls.certificateFile=" + a.folder + "/gw.pem", "--set", "tls.keyFile=" + a.folder + "/gw.key",
	}, args...)...)
}

// TestARealAuthority: curl can call and sign in with tickets of an MIT Kerberos KDC, which contain no groups.
func TestARealAuthority(t *testing.T) {
	a := startAuthority(t)
	s := a.startGateway("--set", "signIn.bindings=ifSent")
	a.signIn("helpdesk")
	answer := a.curl(s, "/api/WhoAmI")
	assert.Contains(t, answer, `"name":"helpdesk"`)
	assert.Regexp(t, `(?i)www-authenticate: Negotiate [A-Za-z0-9+/]{40}`, answer, "the gateway proves itself, and curl takes it")
	changed := a.curl(s, "/api/ADUser/lweber/Disable", "-X", "PUT")
	assert.Contains(t, changed, `"output"`)
	assert.NotContains(t, changed, `"error":{`)

	jar := filepath.Join(a.folder, "cookies")
	page := a.curl(s, "/ui/signin/kerberos?next=/ui/people", "-L", "-b", jar, "-c", jar)
	assert.Contains(t, page, `<p><b>helpdesk</b>`)

	for name, c := range map[string]struct{ said, sentence string }{
		"another service":   {a.curl(s, "/api/WhoAmI", "--service-name", "cifs"), "for another service"},
		"ten minutes ahead": {a.curlAt("+10m", s, "/api/WhoAmI"), "more than five minutes"},
	} {
		assert.Contains(t, c.said, " 401", name)
		assert.Contains(t, c.said, c.sentence, name)
	}
	a.signIn("nobody")
	nobody := a.curl(s, "/api/WhoAmI")
	assert.Contains(t, nobody, "may not log on", "the domain has no such account")

	a.signIn("operator")
	assert.Contains(t, a.curl(s, "/api/WhoAmI"), `"name":"operator"`)
	a.run("", "kadmin.local", "-q", "ktadd -k "+filepath.Join(a.folder, "newer.keytab")+" HTTP/"+gatewayName)
	a.signIn("operator") // drops the earlier ticket
	assert.Contains(t, a.curl(s, "/api/WhoAmI"), "for another service")
	assert.Contains(t, s.log.String(), "the key was changed", "the log says what to do")
}

// TestTicketsMustBeBound: a client that does not bind its ticket to the connection is refused by default.
func TestTicketsMustBeBound(t *testing.T) {
	a := startAuthority(t)
	s := a.startGateway()
	a.signIn("helpdesk")
	answer := a.curl(s, "/api/WhoAmI")
	if bound := strings.Contains(answer, `"name":"helpdesk"`); bound {
		return // a newer curl binds the ticket
	}
	assert.Contains(t, answer, "for another connection")
	assert.Contains(t, s.log.String(), "channel bindings")
}
