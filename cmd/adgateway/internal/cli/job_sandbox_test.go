package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/config"
	"adgateway/test/freeport"
	"adgateway/test/systemtest"
)

const jobOU = "OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"

// callSandbox points the commands at a sandbox.
func callSandbox(t *testing.T, s *runningSandbox, token string) {
	t.Helper()
	t.Setenv(config.URLVariable, s.url)
	t.Setenv(config.TokenVariable, token)
}

// ofJob runs a job command and returns the record that it prints.
func ofJob(t *testing.T, code exitCode, args ...string) (record struct {
	ID, State   string
	Done, Total int
	Separator   string
}) {
	t.Helper()
	got, stdout, stderr := runCommand(t, append(append([]string{"job"}, args...), "--json")...)
	require.Equal(t, int(code), got, "%q: %s%s", args, stdout, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &record), stdout)
	return record
}

// A list from a spreadsheet is submitted to a real gateway and followed, and its result is fetched.
func TestJobsOfAGateway(t *testing.T) {
	s := startSandbox(t, "--token", "job-token")
	callSandbox(t, s, "job-token")
	people := list(t, "people.csv", "\ufeffUsername;FirstName;LastName;OUPath;Id;After\r\n"+
		"jb1;Max;\"Müller; \"\"M\"\"\";"+jobOU+";a;\r\n;;;;;\r\njb2;Anna;Groß;"+jobOU+";b;a\r\n")

	code, stdout, _ := runCommand(t, "job", "submit", list(t, "bad.csv", "Username;City\njb1;x\n;y\n"),
		"--operation", "user.create")
	assert.Equal(t, int(codeMisuse), code)
	assert.Contains(t, stdout, "the list is rejected")
	assert.Regexp(t, `(?m)^  line 3, .*Username`, stdout)
	code, _, stderr := runCommand(t, "job", "submit", list(t, "ansi.csv", "Username\nM\xfcller\n"),
		"--operation", "user.create")
	assert.Equal(t, int(codeMisuse), code)
	assert.Contains(t, stderr, "line 2, character 2: this is not UTF-8")

	checked := ofJob(t, codeDone, "submit", people, "--operation", "user.create", "--validate", "--watch")
	assert.Equal(t, "ready", checked.State)
	tried := ofJob(t, codeDone, "submit", people, "--operation", "user.create", "--dry-run", "--watch")
	assert.Equal(t, []any{"ready", 2, ";"}, []any{tried.State, tried.Total, tried.Separator})
	ran := ofJob(t, codeDone, "start", tried.ID, "--watch")
	assert.Equal(t, []any{"done", 2}, []any{ran.State, ran.Done})
	code, stdout, _ = runCommand(t, "job", "result", tried.ID)
	assert.Zero(t, code)
	assert.Regexp(t, "^\ufeffUsername;FirstName;LastName;OUPath;Id;After;State;Code;Message;ChangeId;Guid\r\n"+
		`jb1;Max;"Müller; ""M""";`+jobOU+`;a;;done;;[^;]+;ch_[^;]+;[-0-9a-f]{36}`+"\r\n"+`jb2;Anna;Groß;`+jobOU+`;b;a;done;;`, stdout)

	passwords := filepath.Join(t.TempDir(), "passwords.csv")
	reset := list(t, "reset.csv", "Username\njb1\njb2\n")
	assert.Equal(t, "rejected", ofJob(t, codeMisuse, "submit", reset, "--operation", "user.resetPassword").State,
		"nobody could read the passwords")
	ofJob(t, codeDone, "submit", reset, "--operation", "user.resetPassword", "--passwords-to", passwords)
	text, err := os.ReadFile(passwords)
	require.NoError(t, err)
	assert.Regexp(t, `^Username,State,Code,Message,ChangeId,Guid,Password\r\njb1,done,,[^,]*,ch_[^,]+,[^,]+,.{8,}\r\njb2,done,`, string(text))

	mixed := ofJob(t, codeSomeFailed, "submit", list(t, "mixed.ndjson", `{"parameters":{"Username":"jb1","City":"Rome"}}`+"\n"+`{"parameters":{"Username":"jb-none","City":"Rome"}}`+"\n"),
		"--operation", "user.update", "--watch")
	ofJob(t, codeSomeFailed, "retry", mixed.ID, "--watch")
	drifted := ofJob(t, codeSomeFailed, "undo", tried.ID, "--watch")
	assert.Zero(t, drifted.Done, "accounts that were changed since are not removed")
	status, _ := s.get("/api/ADUser/jb1/Details", "Bearer job-token")
	assert.Equal(t, 200, status)

	fresh := ofJob(t, codeDone, "submit",
		list(t, "fresh.csv", "Username;OUPath\r\njb3;"+jobOU+"\r\njb4;"+jobOU+"\r\n"),
		"--operation", "user.create", "--watch")
	undone := ofJob(t, codeDone, "undo", fresh.ID, "--watch")
	assert.Equal(t, []any{"done", 2}, []any{undone.State, undone.Done})
	status, _ = s.get("/api/ADUser/jb3/Details", "Bearer job-token")
	assert.Equal(t, 404, status)

	later := list(t, "later.csv", "Username;OUPath\r\njb5;"+jobOU+"\r\n")
	held := ofJob(t, codeDone, "submit", later, "--operation", "user.create", "--not-before",
		"2099-01-01T00:00:00Z")
	assert.Equal(t, "held", held.State)
	assert.Equal(t, "cancelled", ofJob(t, codeDone, "cancel", held.ID).State)
	code, stdout, _ = runCommand(t, "job", "list", "--state", "cancelled")
	assert.Zero(t, code)
	assert.Contains(t, stdout, held.ID)
}

// A client that follows a job sees it end even if the gateway restarts in between.
func TestJobIsWatchedThroughARestart(t *testing.T) {
	listen := freeport.Addresses(t, 1)[0]
	start := func(folder string) *runningSandbox {
		return startSandbox(t, "--listen", listen, "--token", "job-token", "--set",
			"store.file="+filepath.Join(folder, "store.db"))
	}
	folder := t.TempDir()
	s := start(folder)
	callSandbox(t, s, "job-token")
	var items strings.Builder
	const total = 80
	for i := range total {
		fmt.Fprintf(&items, `{"parameters":{"Username":"aschmidt","City":"City %d"}}`+"\n", i)
	}
	submitted := ofJob(t, codeDone, "submit", list(t, "cities.ndjson", items.String()), "--operation",
		"user.update", "--on-unknown", "continue")
	ended := make(chan int, 1)
	var stdout, stderr systemtest.LogBuffer
	go func() { ended <- Run(t.Context(), []string{"job", "watch", submitted.ID}, &stdout, &stderr) }()
	under := regexp.MustCompile(fmt.Sprintf(`\d+ of %d `, total))
	require.Eventually(t, func() bool { return under.MatchString(stderr.String()) }, patience, time.Millisecond)
	require.Zero(t, s.stop())
	start(folder)
	select {
	case code := <-ended:
		assert.Contains(t, []int{int(codeDone), int(codeSomeUnknown)}, code, "%s%s", stdout.String(),
			stderr.String())
	case <-time.After(patience):
		t.Fatal("watching does not end")
	}
	assert.Contains(t, stdout.String(), fmt.Sprintf("done, %d of %d  100 %%", total, total))
}
