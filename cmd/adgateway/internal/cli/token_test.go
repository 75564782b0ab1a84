package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/program"
)

// command runs a command that must succeed and returns its standard output, trimmed.
func command(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := runCommand(t, args...)
	require.Zero(t, code, "%s: %s", args, stderr)
	return strings.TrimSpace(stdout)
}

// typed runs a user command with a line on standard input.
func typed(t *testing.T, line string, args ...string) error {
	t.Helper()
	c := userCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetIn(strings.NewReader(line + "\n"))
	c.SetOut(&bytes.Buffer{})
	c.SetErr(&bytes.Buffer{})
	c.SetArgs(append(args, "--password-stdin"))
	return c.ExecuteContext(t.Context())
}

const sales = "OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"

// closed is an output that nobody reads, such as that of "adgateway ... | head -1".
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestATokenIsInItsFileIfNobodyReadsTheOutput: the account cannot be printed, but the token is in its file.
func TestATokenIsInItsFileIfNobodyReadsTheOutput(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "portal.token")
	c := tokenCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetOut(closed{})
	c.SetErr(closed{})
	store := filepath.Join(folder, "credentials.json")
	c.SetArgs([]string{"create", "portal", "--store", store, "--scope", "user:read", "--out", file})
	assert.Error(t, c.ExecuteContext(t.Context()))
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotEmpty(t, strings.TrimSpace(string(written)))
}

// A token is created, used, changed, rotated and removed while a sandbox runs.
func TestTokenLifecycle(t *testing.T) {
	folder := t.TempDir()
	store := "--store=" + filepath.Join(folder, "credentials.json")
	file := filepath.Join(folder, "adgateway.yaml")
	require.NoError(t, os.WriteFile(file, []byte("auth:\n  store: credentials.json\n"), 0o600))
	token := command(t, "token", "create", "portal", store, "--scope", "user:read,user:delete", "--ou", sales,
		"--max-deletions", "1", "--network", "127.0.0.0/8,::1")
	require.NoError(t, typed(t, "Corr3ct:Horse", "add", "anna", store, "--scope", "ou:read"))

	s := startSandbox(t, "--config", file)
	status, body := s.get("/api/ADUser/ListUsers?ShowFields=username", "Bearer "+token)
	require.Equal(t, http.StatusOK, status, body)
	var list struct{ Result []struct{ Username string } }
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	require.Greater(t, len(list.Result), 2)

	_, body = s.get("/api/ADUser/Administrator/Details", "Bearer "+token)
	assert.Contains(t, body, "The user 'Administrator' was not found within the limits of this credential.")
	_, body = s.get("/api/ADUser/ListUsers?OUPath=OU=x,DC=corp,DC=example", "Bearer "+token)
	assert.Contains(t, body, `"code":"limit"`)
	assert.Contains(t, body, "OUPath 'OU=x,DC=corp,DC=example': The object lies outside the OUs that the caller is limited to. The token 'portal' is limited to the OU '"+sales+"'.")
	assert.NotContains(t, body, "CN=", "objects outside the limits are not revealed")
	status, body = s.get("/api/OU/All", "Bearer "+token)
	assert.Equal(t, http.StatusForbidden, status)
	assert.Contains(t, body, "ou:read")

	deleted := 0
	for _, user := range list.Result[:2] {
		status, body = s.ask(http.MethodDelete, "/api/ADUser/"+user.Username, "Bearer "+token)
		if status == http.StatusOK {
			deleted++
		}
	}
	assert.Equal(t, 1, deleted)
	assert.Equal(t, http.StatusTooManyRequests, status)
	assert.Regexp(t, `may remove 1 object an hour and has 0 left\. It may remove more from 20\d\d-`, body)

	assert.Contains(t, command(t, "token", "show", "portal", store), "1 deletion/h\n")
	second := command(t, "token", "rotate", "portal", "--config", file, "--grace", "1h")
	s.eventually("/api/ADUser/aschmidt/Exists", "Bearer "+second, http.StatusOK)
	status, _ = s.get("/api/ADUser/aschmidt/Exists", "Bearer "+token)
	assert.Equal(t, http.StatusOK, status, "the old token is in its grace period")
	status, _ = s.ask(http.MethodDelete, "/api/ADUser/"+list.Result[2].Username, "Bearer "+second)
	assert.Equal(t, http.StatusTooManyRequests, status, "a rotation does not reset the counters")
	assert.Contains(t, command(t, "token", "show", "portal", store), ", ends ")
	assert.Contains(t, command(t, "token", "set", "portal", store, "--max-deletions", "2"), sales, "what no flag names stays the same")
	require.Eventually(t, func() bool {
		status, _ := s.ask(http.MethodDelete, "/api/ADUser/"+list.Result[2].Username, "Bearer "+second)
		return status == http.StatusOK
	}, patience, 10*time.Millisecond, "the running sandbox applies the new limit")
	third := command(t, "token", "rotate", "portal", store)
	s.eventually("/api/ADUser/aschmidt/Exists", "Bearer "+third, http.StatusOK)
	status, _ = s.get("/api/ADUser/aschmidt/Exists", "Bearer "+second)
	assert.Equal(t, http.StatusUnauthorized, status)

	anna := func(password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte("Anna:"+password))
	}
	status, _ = s.get("/api/OU/All", anna("Corr3ct:Horse"))
	assert.Equal(t, http.StatusOK, status)
	require.NoError(t, typed(t, "Another:Horse", "passwd", "anna", store))
	s.eventually("/api/OU/All", anna("Another:Horse"), http.StatusOK)
	for range 5 {
		status, _ = s.get("/api/OU/All", anna("wrong"))
		assert.Equal(t, http.StatusUnauthorized, status)
	}
	status, _ = s.get("/api/OU/All", anna("Another:Horse"))
	assert.Equal(t, http.StatusOK, status, "where the password was right lately, others do not lock it out at once")
	for tries := 0; status != http.StatusTooManyRequests && tries < 100; tries++ {
		status, _ = s.get("/api/OU/All", anna("wrong"))
	}
	status, body = s.get("/api/OU/All", anna("Another:Horse"))
	assert.Equal(t, http.StatusTooManyRequests, status, body)

	assert.Equal(t, "token 'portal' is revoked", command(t, "token", "revoke", "portal", store))
	s.eventually("/api/ADUser/aschmidt/Exists", "Bearer "+third, http.StatusUnauthorized)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "credentials.json"), []byte("{"), 0o600))
	s.eventually("/readyz", "", http.StatusServiceUnavailable)
	assert.Zero(t, s.stop())
	for _, secret := range []string{token, second, third, "Corr3ct:Horse", "Another:Horse"} {
		assert.NotContains(t, s.log.String(), secret)
	}
}

// The limits of a token count affected objects, not calls. These include the objects below an OU that is
// moved or renamed, and the records of a zone that is removed.
func TestTheBlastRadiusOfAToken(t *testing.T) {
	store := "--store=" + filepath.Join(t.TempDir(), "credentials.json")
	token := "Bearer " + command(t, "token", "create", "portal", store, "--scope", "*", "--max-changes", "8", "--max-deletions", "20")
	assert.Contains(t, command(t, "token", "show", "portal", store), "8 changes/h")
	s := startSandbox(t, "--set", "auth.store="+strings.TrimPrefix(store, "--store="))
	const move, staff = "/api/OU/Move?OUDestinationPath=OU=Empty,OU=Corp,DC=corp,DC=example&OUPath=", "OU=Staff,OU=Corp,DC=corp,DC=example"
	for _, c := range []struct {
		method, path string
		status       int
		says         string
	}{
		{http.MethodPut, move + staff, http.StatusTooManyRequests, `Moving the OU '` + staff + `' would affect it and \d+ objects below it\. The token 'portal' may disable, rename, move or take out of groups 8 objects an hour and has 8 left`},
		{http.MethodPut, "/api/OU/Rename?OUNewName=Owned&OUPath=" + staff, http.StatusTooManyRequests, "Renaming the OU"},
		{http.MethodDelete, "/api/DnsReverseLookupZone/10.0.0.0/8", http.StatusTooManyRequests, `would remove it with 40 records\. The token 'portal' may remove 20 objects an hour`},
		{http.MethodPut, "/api/ADUser/aschmidt/Disable", http.StatusOK, ""},
		{http.MethodPut, "/api/OU/Rename?OUNewName=Renamed&OUPath=OU=Empty,OU=Corp,DC=corp,DC=example", http.StatusOK, ""},
		{http.MethodDelete, "/api/ADUser/aschmidt/Group/VPN%20Users", http.StatusOK, ""},
		{http.MethodPut, "/api/OU/Move?OUDestinationPath=OU=Corp,DC=corp,DC=example&OUPath=" + sales, http.StatusTooManyRequests, "below it"},
	} {
		status, body := s.ask(c.method, strings.ReplaceAll(c.path, " ", "%20"), token)
		assert.Equal(t, c.status, status, "%s: %s", c.path, body)
		assert.Regexp(t, c.says, body)
	}
	assert.Zero(t, s.stop())
}

// While the credential file is broken, a running gateway rejects all accounts in it and
// reports why. The sandbox's own tokens are not in that file.
func TestBrokenCredentialFileRejectsEveryone(t *testing.T) {
	const own, path = "Bearer own-token", "/api/ADUser/aschmidt/Exists"
	file := filepath.Join(t.TempDir(), "credentials.json")
	token := "Bearer " + command(t, "token", "create", "portal", "--store="+file, "--scope", "*")
	s := startSandbox(t, "--set", "auth.store="+file, "--token", "own-token")
	good, err := os.ReadFile(file)
	require.NoError(t, err)
	s.eventually(path, token, http.StatusOK)

	require.NoError(t, os.WriteFile(file, good[:len(good)/2], 0o600))
	s.eventually(path, token, http.StatusServiceUnavailable)
	_, body := s.get(path, token)
	assert.Contains(t, body, `"code":"unavailable"`)
	assert.Contains(t, body, "credentials cannot be read")
	assert.NotContains(t, body, file)
	status, _ := s.get(path, own)
	assert.Equal(t, http.StatusOK, status)
	status, body = s.get("/readyz", token)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, body, `{"name":"credentials","ok":false}`, "anonymous callers see no reasons")
	_, body = s.get("/readyz", own)
	assert.Contains(t, body, "nobody is let in")
	assert.Contains(t, body, file+":")
	assert.Contains(t, s.log.String(), file+":")

	require.NoError(t, os.WriteFile(file, good, 0o600))
	s.eventually(path, token, http.StatusOK)
	s.eventually("/readyz", "", http.StatusOK)
	assert.Zero(t, s.stop())
}

// eventually waits until a request returns the status.
func (s *runningSandbox) eventually(path, credential string, status int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		got, _ := s.get(path, credential)
		return got == status
	}, patience, 10*time.Millisecond, "%s: %d", path, status)
}

func TestListAndRemoveAccounts(t *testing.T) {
	store := "--store=" + filepath.Join(t.TempDir(), "credentials.json")
	code, stdout, details := runCommand(t, "token", "create", "a", store, "--scope", "*", "--expires", "2099-12-31", "--zone", "corp.example", "--rate", "10/s")
	require.Zero(t, code)
	assert.Regexp(t, regexp.MustCompile(`^adgw_\w{49}\n$`), stdout, "standard output has nothing but the token")
	assert.Contains(t, details, "expires   2099-12-3")
	command(t, "token", "create", "b", store, "--scope", "dns:read", "--expires", "never", "--certificate-subject", "CN=b,O=Example")
	require.NoError(t, typed(t, "Corr3ct:Horse", "add", "anna", store, "--scope", "*"))

	table := command(t, "token", "list", store)
	assert.Regexp(t, `(?m)^a +\* +corp\.example; 10/s +2099-12-3\S+ +never, or within the last minute$`, table)
	assert.NotContains(t, table, "anna")
	assert.NotContains(t, table, "(soon)")
	command(t, "token", "set", "a", store, "--expires", "13d")
	assert.Regexp(t, `(?m)^a .* \(soon\) +never, or within the last minute$`, command(t, "token", "list", store))
	assert.Contains(t, command(t, "user", "list", store), "anna")
	assert.Contains(t, command(t, "token", "show", "B", store), "CN=b,O=Example")
	var list []map[string]any
	text := command(t, "token", "list", "--json", store)
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	require.Len(t, list, 2)
	assert.Equal(t, "certificate", list[1]["kind"])
	assert.NotContains(t, text, "sha256")
	assert.NotContains(t, command(t, "user", "show", "anna", "--json", store), "argon2")

	code, _, stderr := runCommand(t, "token", "revoke", "a", "c", store)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "there is no token 'c'")
	assert.Contains(t, command(t, "token", "list", store), "10/s", "all are revoked or none")
	command(t, "token", "revoke", "a", "b", store)
	command(t, "user", "remove", "anna", store)
}

func TestAccountCommandsReportEveryMistake(t *testing.T) {
	folder := t.TempDir()
	store := "--store=" + filepath.Join(folder, "credentials.json")
	command(t, "token", "create", "portal", store, "--scope", "*")
	broken := filepath.Join(folder, "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte("{\n \"version\": 1,\n \"tokens\": [{\"nme\": 1}]\n}"), 0o600))
	exposed := filepath.Join(folder, "exposed.json")
	require.NoError(t, os.WriteFile(exposed, []byte("{\"version\":1}"), 0o600))
	require.NoError(t, os.Chmod(exposed, 0o666))
	past := filepath.Join(folder, "past.json")
	require.NoError(t, os.WriteFile(past, []byte(`{"version":1,"tokens":[{"id":"F5uhnEAoo8m","name":"old","created":"2020-01-01T00:00:00Z",`+
		`"secrets":[{"sha256":"`+strings.Repeat("ab", 32)+`","created":"2020-01-01T00:00:00Z"}],"scopes":["*"],"expires":"2020-02-01T00:00:00Z"}]}`), 0o600))
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"everything": {[]string{"token", "create", "a b", store, "--scope", "user:reed", "--ou", "OU=", "--zone", "a b", "--network", "10.0.0.5/8",
			"--rate", "3", "--expires", "2020-01-01", "--dialect", "old", "--group", "CN=a,", "--certificate-subject", "pipeline"}, []string{
			`"a b" is not a valid name`, `"user:reed" (did you mean user:read?)`, "known are dns:read", `the OU "OU="`, `the zone "a b"`, "did you mean 10.0.0.0/8?",
			`"3" is not a rate`, "is in the past", `"old" is neither`, `the group "CN=a,"`, `"pipeline" does not name a client certificate`}},
		"no name":        {[]string{"token", "create", "", store, "--scope", "*"}, []string{"the name is empty"}},
		"no user's name": {[]string{"user", "add", "", store, "--scope", "*"}, []string{"the name is empty"}},
		"no scope":       {[]string{"token", "create", "a", store}, []string{"at least one scope"}},
		"no end":         {[]string{"token", "create", "a", store, "--scope", "*", "--expires", "soon"}, []string{`"soon" is not a valid expiry`, "90d"}},
		"negative":       {[]string{"token", "create", "a", store, "--scope", "*", "--max-deletions", "-1"}, []string{"-1 is not a number of deletions per hour"}},
		"name is taken":  {[]string{"token", "create", "PORTAL", store, "--scope", "*"}, []string{"there is another token of this name"}},
		"unknown":        {[]string{"token", "show", "portl", store}, []string{"did you mean 'portal'?"}},
		"unknown rotate": {[]string{"token", "rotate", "x", store}, []string{"there is no token 'x'"}},
		"no grace":       {[]string{"token", "rotate", "portal", "--grace", "-1d", store}, []string{"--grace", "90d, 12h or 30m"}},
		"expired rotate": {[]string{"token", "rotate", "old", "--store", past}, []string{"'old' expired at 2020-02-01T00:00:00Z, and so would the new token: set a new expiry with --expires, such as 90d"}},
		"no terminal":    {[]string{"user", "passwd", "portal", store}, []string{"--password-stdin"}},
		"no store":       {[]string{"token", "list", "--store", filepath.Join(folder, "none.json")}, []string{"none.json", "adgateway token create"}},
		"broken store":   {[]string{"token", "create", "a", "--store", broken, "--scope", "*"}, []string{broken + ":3:", `"nme"`}},
		"exposed store":  {[]string{"token", "list", "--store", exposed}, []string{"chmod 600 " + exposed}},
		"no settings":    {[]string{"token", "list", "--config", "no-such.yaml"}, []string{"no-such.yaml"}},
		"start":          {[]string{"sandbox", "--set", "auth.store=" + broken}, []string{"credentials:", broken + ":3:"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runCommand(t, c.args...)
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout)
			for _, text := range c.says {
				assert.Contains(t, stderr, text)
			}
		})
	}
	for line, says := range map[string]string{"short": "at least 12 characters", "Corr3ct\x00Horse-1": "without control characters", strings.Repeat("x", 2000): "at most 1024", "": "contains no password"} {
		assert.ErrorContains(t, typed(t, line, "add", "anna", store, "--scope", "*"), says)
	}
	assert.ErrorContains(t, typed(t, "Grüße-aus-K\xf6ln", "add", "anna", store, "--scope", "*"), "not in UTF-8")
	assert.ErrorContains(t, typed(t, "Corr3ct:Horse", "passwd", "anna", store), "there is no user 'anna'")
	assert.Contains(t, command(t, "token", "list", store), "portal")
}

func TestSetChangesOnlyNamedRights(t *testing.T) {
	store := "--store=" + filepath.Join(t.TempDir(), "credentials.json")
	command(t, "token", "create", "portal", store, "--scope", "user:read", "--ou", sales, "--zone", "corp.example", "--rate", "10/s")
	for _, c := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"--scope", "dns:read", "--clear", "ou"}, 0, []string{"dns:read", "corp.example", "10/s"}},
		{[]string{"--clear", "zone,rate,expires"}, 0, []string{"never"}},
		{nil, 1, []string{"nothing to change"}},
		{[]string{"--clear", "zones"}, 1, []string{"did you mean zone?"}},
		{[]string{"--clear", "ou", "--ou", sales}, 1, []string{"contradict"}},
		{[]string{"--scope", "dns:raed", "--network", "here"}, 1, []string{"dns:raed", "here"}},
		{[]string{"--clear", "scope"}, 1, []string{"scope"}},
		{[]string{"--expires", "soon"}, 1, []string{"90d"}},
	} {
		code, stdout, stderr := runCommand(t, append([]string{"token", "set", "portal", store}, c.args...)...)
		assert.Equal(t, c.code, code, "%s: %s", c.args, stderr)
		for _, text := range c.says {
			assert.Contains(t, stdout+stderr, text, c.args)
		}
	}
	var portal struct{ Limits, Quota, Expires any }
	require.NoError(t, json.Unmarshal([]byte(command(t, "token", "show", "portal", store, "--json")), &portal))
	assert.Nil(t, portal.Limits)
	assert.Nil(t, portal.Quota)
	assert.Nil(t, portal.Expires)
}

func TestStoreFlagWorksWithBrokenSettings(t *testing.T) {
	folder := t.TempDir()
	file, store := filepath.Join(folder, "adgateway.yaml"), filepath.Join(folder, "credentials.json")
	command(t, "token", "create", "portal", "--store", store, "--scope", "*")
	require.NoError(t, os.WriteFile(file, []byte("nonsense: 1\n"), 0o600))
	code, _, stderr := runCommand(t, "token", "revoke", "portal", "--config", file)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "--store")
	assert.Contains(t, stderr, "nonsense")
	command(t, "token", "revoke", "portal", "--store", store)
}

func TestCredentialFileIsNextToARelativeSettingsFile(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("conf", 0o700))
	file := filepath.Join("conf", program.FileName)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	code, _, stderr := runCommand(t, "token", "create", "ci", "--config", file, "--scope", "user:read")
	require.Zero(t, code, stderr)
	assert.FileExists(t, filepath.Join("conf", "credentials.json"))
}
