package cli

import (
	"bytes"
	"context"
	"fmt"
	"net"
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
	address := freeport.Addresses(t, 1)[0]
	a.configure(address)
	a.write("kdc.conf", fmt.Sprintf(`[kdcdefaults]
 kdc_listen = ""
 kdc_tcp_listen = %[1]s
[realms]
 CORP.EXAMPLE = {
  database_name = %[2]s/principals
  key_stash_file = %[2]s/stash
  acl_file = %[2]s/acl
 }
[logging]
 kdc = STDERR
`, address, a.folder))
	a.env = append(a.env, "KRB5_KDC_PROFILE="+a.folder+"/kdc.conf")
	a.run("", "kdb5_util", "create", "-s", "-r", "CORP.EXAMPLE", "-P", "the key of the database")
	for _, query := range []string{
		"addprinc -randkey HTTP/" + gatewayName, "addprinc -randkey cifs/" + gatewayName, "ktadd -k " + a.keytab() + " HTTP/" + gatewayName,
		"addprinc -randkey HTTP/" + localName, "ktadd -k " + a.keytab() + " HTTP/" + localName,
		"addprinc -pw Secret-1 helpdesk", "addprinc -pw Secret-1 nobody", "addprinc -pw Secret-1 operator",
	} {
		a.run("", "kadmin.local", "-q", query)
	}
	a.serve(address, "krb5kdc", "-n")
	return a
}

// configure writes the settings of clients of a KDC.
func (a *authority) configure(address string) {
	a.t.Helper()
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
  kdc = %[1]s
 }
[domain_realm]
 .corp.example = CORP.EXAMPLE
 .localhost = CORP.EXAMPLE
`, address, a.folder))
	a.env = append(os.Environ(), "KRB5_CONFIG="+a.folder+"/krb5.conf")
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

// serve starts a KDC and returns when it accepts connections at its address.
func (a *authority) serve(address, program string, args ...string) {
	a.t.Helper()
	command := exec.Command(program, args...)
	command.Env = a.env
	said := &lockedBuilder{}
	command.Stdout, command.Stderr = said, said
	_, err := command.StdinPipe() // samba ends with it
	require.NoError(a.t, err)
	require.NoError(a.t, command.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait() // it is killed
	}()
	a.t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
	})
	require.Eventually(a.t, func() bool {
		select {
		case <-ended:
			return true
		default:
		}
		connection, err := net.Dial("tcp", address)
		return err == nil && connection.Close() == nil
	}, patience, 50*time.Millisecond, "the KDC does not answer: %s", said)
	select {
	case <-ended:
		a.t.Fatalf("the KDC stopped: %s", said)
	default:
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
	all := a.calling(s, path, append([]string{"--negotiate", "-u", ":"}, args...)...)
	if off != "" {
		return a.run("", "faketime", append([]string{"-f", off, "curl"}, all...)...)
	}
	return a.run("", "curl", all...)
}

// curlPlain returns the output of curl for a call without a ticket.
func (a *authority) curlPlain(s *runningSandbox, path string, args ...string) string {
	a.t.Helper()
	return a.run("", "curl", a.calling(s, path, args...)...)
}

// calling returns the command-line arguments of curl for a call.
func (a *authority) calling(s *runningSandbox, path string, args ...string) []string {
	all := []string{"-sS", "-k", "-i", "--resolve", gatewayName + ":" + a.port(s) + ":127.0.0.1"}
	return append(append(all, args...), "https://"+gatewayName+":"+a.port(s)+path)
}

func (a *authority) port(s *runningSandbox) string {
	a.t.Helper()
	_, port, found := strings.Cut(strings.TrimPrefix(s.url, "https://"), ":")
	require.True(a.t, found)
	return port
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
		"six minutes ahead": {a.curlAt("+6m", s, "/api/WhoAmI"), "more than five minutes"},
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
