package cli

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/nacl/box"

	"adgateway/gateway/config"
)

// fakeJobs answers as a gateway with a single job, jb_1.
type fakeJobs struct {
	t       *testing.T
	url     string
	mu      sync.Mutex
	calls   []string
	media   string
	body    string
	query   url.Values
	refused int // status of every answer unless it is 0
	// records of the job; calls are answered with the first one, and the stream sends the others
	states    []string
	passwords map[string]string
	streamed  func() // called after the stream has sent its first event
}

// record returns the record of a job in an answer.
func record(state string, members ...string) string {
	return fmt.Sprintf(`{"id":"jb_1","name":"people.csv","mode":"run","caller":"me","state":%q,"created":"2027-01-31T10:00:00Z"%s}`, state, strings.Join(append([]string{""}, members...), ","))
}

func startFakeJobs(t *testing.T, states ...string) *fakeJobs {
	t.Helper()
	f := &fakeJobs{t: t, states: states}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	t.Setenv(config.URLVariable, f.url)
	t.Setenv(config.TokenVariable, "adgw_x")
	return f
}

func (f *fakeJobs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	f.calls = append(f.calls, r.Method+" "+r.URL.Path)
	assert.Equal(f.t, "Bearer adgw_x", r.Header.Get("Auth-Token"))
	switch {
	case f.refused != 0:
		w.WriteHeader(f.refused)
		fmt.Fprint(w, `{"output":"No.","result":[],"error":{"code":"some_code","message":"No."}}`)
	case strings.HasSuffix(r.URL.Path, "/Stream"):
		for _, state := range f.states[1:] {
			name := "progress"
			if state == f.states[len(f.states)-1] {
				name = "end"
			}
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, state)
		}
		if f.streamed != nil {
			w.(http.Flusher).Flush()
			f.streamed()
			<-r.Context().Done()
		}
	case strings.HasSuffix(r.URL.Path, "/Result"):
		f.result(w)
	default:
		if r.Method != http.MethodGet {
			f.query, f.media, f.body = r.URL.Query(), r.Header.Get("Content-Type"), string(body)
		}
		fmt.Fprintf(w, `{"output":"Done.","result":[%s],"next":"more"}`, f.states[0])
	}
}

// result writes one password per item, sealed with the key of the submission.
func (f *fakeJobs) result(w io.Writer) {
	fmt.Fprint(w, "Id,State,Sealed\r\n")
	for id, password := range f.passwords {
		public, err := base64.StdEncoding.DecodeString(f.query.Get("ResultKey"))
		assert.NoError(f.t, err)
		sealed, err := box.SealAnonymous(nil, []byte(password), (*[32]byte)(public), rand.Reader)
		assert.NoError(f.t, err)
		fmt.Fprintf(w, "%s,done,%s\r\n", id, base64.StdEncoding.EncodeToString(sealed))
	}
}

// list writes a list to submit.
func list(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestJobCodes(t *testing.T) {
	file := list(t, "people.csv", "UserLogonName\na\n")
	problems := `"problems":[{"line":2,"column":1,"id":"a","field":"UserLogonName","message":"is too long"}],"moreProblems":4`
	for name, c := range map[string]struct {
		args   string
		states []string
		code   exitCode
		says   []string
	}{
		"submitted":           {"submit", []string{record("running", `"total":9,"waiting":9`)}, codeDone, []string{"job jb_1 (people.csv): running, 0 of 9  0 %", "adgateway job watch jb_1"}},
		"rejected":            {"submit", []string{record("rejected", problems)}, codeMisuse, []string{"5 mistakes", "  line 2, column 1, item a, UserLogonName: is too long", "and 4 more", "--skip-invalid"}},
		"validated":           {"submit --validate", []string{record("ready", `"total":9,"waiting":9`)}, codeDone, []string{"adgateway job start jb_1 --watch"}},
		"watched":             {"submit --watch", []string{record("running"), record("running", `"total":9,"waiting":5`), record("done", `"total":9,"done":9`)}, codeDone, []string{"done, 9 of 9  100 %", "adgateway job undo jb_1 --dry-run"}},
		"watched, rejected":   {"submit --watch", []string{record("rejected", problems)}, codeMisuse, []string{"UserLogonName: is too long"}},
		"failed":              {"watch", []string{record("running"), record("done", `"total":9,"done":8,"failed":1`)}, codeSomeFailed, []string{"1 failed", "adgateway job retry jb_1 --watch", "adgateway job result jb_1"}},
		"unknown":             {"watch", []string{record("failed", `"total":9,"done":7,"failed":1,"unknown":1,"why":"unknown"`)}, codeSomeUnknown, []string{"adgateway job retry jb_1 --state unknown"}},
		"skipped":             {"watch", []string{record("done", `"total":9,"done":8,"skipped":1`)}, codeSomeFailed, []string{"1 skipped"}},
		"cancelled":           {"watch", []string{record("cancelled", `"total":9,"notRun":9`)}, codeSomeFailed, []string{"9 not run"}},
		"dry run of mistakes": {"watch", []string{record("ready", `"total":9,"done":8,"failed":1`)}, codeSomeFailed, []string{"1 failed"}},
		"paused":              {"pause", []string{record("paused", `"total":9,"waiting":9`)}, codeDone, []string{"adgateway job resume jb_1"}},
		"shown":               {"show", []string{record("failed", `"total":9,"failed":9`)}, codeDone, []string{"9 failed"}},
		"started":             {"start --watch", []string{record("running"), record("done", `"total":1,"done":1`)}, codeDone, []string{"1 of 1"}},
		"tried again":         {"retry --watch", []string{record("running"), record("done", `"total":1,"failed":1`)}, codeSomeFailed, []string{"1 of 1"}},
		"undone":              {"undo", []string{record("running")}, codeDone, []string{"adgateway job watch jb_1"}},
	} {
		t.Run(name, func(t *testing.T) {
			startFakeJobs(t, c.states...)
			args := append([]string{"job"}, strings.Fields(c.args)...)
			if args[1] == "submit" {
				args = append(args, file)
			} else {
				args = append(args, "jb_1")
			}
			code, stdout, stderr := runCommand(t, args...)
			assert.Equal(t, int(c.code), code, "%s%s", stdout, stderr)
			for _, text := range c.says {
				assert.Contains(t, stdout+stderr, text)
			}
			code, stdout, stderr = runCommand(t, append(args, "--json")...)
			assert.Equal(t, int(c.code), code)
			assert.Empty(t, stderr)
			var shown map[string]any
			require.NoError(t, json.Unmarshal([]byte(stdout), &shown), stdout)
			assert.Equal(t, "jb_1", shown["id"])
		})
	}
}

// A submission sends the unchanged list, its format, and every flag as a parameter.
func TestJobSubmitSends(t *testing.T) {
	f := startFakeJobs(t, record("running"))
	submit := func(stdin string, args ...string) {
		t.Helper()
		root, _ := rootCommand()
		root.SetIn(strings.NewReader(stdin))
		root.SetOut(io.Discard)
		root.SetArgs(append([]string{"job", "submit"}, args...))
		require.NoError(t, root.ExecuteContext(t.Context()))
	}
	for name, media := range map[string]string{"a.csv": "text/csv", "a.TSV": "text/csv", "a.txt": "text/csv",
		"a.ndjson": "application/x-ndjson", "a.jsonl": "application/x-ndjson", "a.json": "application/json"} {
		submit("", list(t, name, "\ufeffsome text"))
		assert.Equal(t, media, f.media, name)
		assert.Equal(t, "\ufeffsome text", f.body)
		assert.Equal(t, url.Values{"Name": {name}, "StopAfter": {"20"}}, f.query)
	}
	for text, media := range map[string]string{"A;B\n": "text/csv", "\ufeff{\"id\":1}\n": "application/x-ndjson",
		"{ \"items\" : []}": "application/json"} {
		submit(text, "-")
		assert.Equal(t, media, f.media, text)
		assert.Equal(t, url.Values{"StopAfter": {"20"}}, f.query)
	}
	submit("x", "-", "--format", "json", "--operation", "user.update", "--name", "n", "--dry-run",
		"--stop-after", "0", "--skip-invalid", "--on-unknown", "continue", "--not-before", "2027-01-31T22:00:00Z")
	assert.Equal(t, "application/json", f.media)
	assert.Equal(t, url.Values{"Operation": {"user.update"}, "Name": {"n"}, "Mode": {"dryRun"},
		"StopAfter": {"0"}, "SkipInvalid": {"true"}, "OnUnknown": {"continue"},
		"NotBefore": {"2027-01-31T22:00:00Z"}}, f.query)
	for _, c := range []struct {
		args  []string
		query url.Values
	}{
		{[]string{"retry", "jb_1", "--state", "failed,unknown", "--stop-after", "5"}, url.Values{"State": {"failed,unknown"}, "StopAfter": {"5"}}},
		{[]string{"undo", "jb_1", "--dry-run", "--fields", "city,office"}, url.Values{"DryRun": {"true"}, "Fields": {"city,office"}, "StopAfter": {"20"}}},
		{[]string{"cancel", "jb_1"}, url.Values{}},
	} {
		code, _, stderr := runCommand(t, append([]string{"job"}, c.args...)...)
		assert.Zero(t, code, stderr)
		assert.Equal(t, c.query, f.query)
	}
}

func TestJobMistakes(t *testing.T) {
	file := list(t, "a.csv", "A\n1\n")
	f := startFakeJobs(t, record("running"))
	f.refused = http.StatusNotFound
	for _, c := range []struct {
		args []string
		code exitCode
		says string
	}{
		{[]string{"submit"}, codeMisuse, "an argument is missing"},
		{[]string{"submit", file + ".gone"}, codeFailed, "a.csv.gone does not exist"},
		{[]string{"submit", list(t, "a.xlsx", "PK")}, codeFailed, "save a spreadsheet as"},
		{[]string{"submit", file, "--format", "xml"}, codeFailed, "csv, json, ndjson"},
		{[]string{"submit", file, "--dry-run", "--validate"}, codeFailed, "--dry-run and --validate"},
		{[]string{"submit", file}, codeFailed, "No. (some_code)"},
		{[]string{"show", "jb_2"}, codeFailed, "No. (some_code)"},
		{[]string{"show", "jb_2", "--url", "gateway"}, codeFailed, "is no address of a gateway"},
		{[]string{"show", "jb_2", "--url", "https://gw.corp.example:8443/API/"}, codeFailed, "the address of a gateway is without /api: write https://gw.corp.example:8443"},
		{[]string{"show", "jb_2", "--token-file", file + ".gone"}, codeFailed, "--token-file"},
		{[]string{"show", "jb_2", "--token-file", file}, codeFailed, "a token is missing"},
	} {
		code, stdout, stderr := runCommand(t, append([]string{"job"}, c.args...)...)
		assert.Equal(t, int(c.code), code, "%q: %s%s", c.args, stdout, stderr)
		assert.Contains(t, stderr, c.says, "%q", c.args)
	}
	f.refused = http.StatusBadRequest
	code, _, stderr := runCommand(t, "job", "submit", file)
	assert.Equal(t, int(codeMisuse), code, "a list that cannot be read is rejected, too")
	assert.Contains(t, stderr, "adgateway: No. (some_code)")
	t.Setenv(config.TokenVariable, "")
	code, _, stderr = runCommand(t, "job", "list")
	assert.Equal(t, int(codeFailed), code)
	assert.Contains(t, stderr, config.TokenVariable)
}

func TestJobList(t *testing.T) {
	startFakeJobs(t, record("done", `"total":10000,"failed":12`))
	code, stdout, stderr := runCommand(t, "job", "list", "--state", "done", "--limit", "1")
	require.Zero(t, code, stderr)
	assert.Regexp(t, `jb_1 +people.csv +me +2027-01-31 .* +done +10,000 of 10,000  100 %  12 failed\nThere are more`, stdout)
}

// Without --url and ADGATEWAY_URL, the command calls the gateway of the settings.
func TestJobFindsTheGatewayOfTheSettings(t *testing.T) {
	f := startFakeJobs(t, record("done"))
	t.Setenv(config.URLVariable, "")
	require.NoError(t, os.Unsetenv(config.URLVariable))
	address, err := url.Parse(f.url)
	require.NoError(t, err)
	for _, host := range []string{address.Host, ":" + address.Port()} {
		file := list(t, "adgateway.yaml", "http:\n  listen: '"+host+"'\n  allowUnencrypted: true\n")
		code, stdout, stderr := runCommand(t, "job", "show", "jb_1", "--config", file)
		assert.Zero(t, code, stderr)
		assert.Contains(t, stdout, "job jb_1")
	}
}

func TestJobInterrupted(t *testing.T) {
	f := startFakeJobs(t, record("running", `"total":9,"waiting":9`), record("running", `"total":9,"waiting":8`))
	ctx, cancel := context.WithCancel(t.Context())
	f.streamed = cancel
	passwords := filepath.Join(t.TempDir(), "passwords.csv")
	var stdout, stderr strings.Builder
	code := Run(ctx, []string{"job", "submit", list(t, "a.csv", "A\n1\n"), "--passwords-to", passwords}, &stdout,
		&stderr)
	assert.Equal(t, int(codeInterrupted), code)
	assert.Contains(t, stderr.String(), "The job continues. Follow it: adgateway job watch jb_1\n")
	assert.Contains(t, stderr.String(), "adgateway job result jb_1 --passwords-to "+passwords)

	// The passwords can be fetched later, because the key was kept.
	f.mu.Lock()
	f.states, f.streamed, f.passwords = []string{record("done", `"total":1,"done":1`)}, nil, map[string]string{"a": "pass,word"}
	f.mu.Unlock()
	code, _, problem := runCommand(t, "job", "result", "jb_1", "--passwords-to", passwords)
	require.Zero(t, code, problem)
	text, err := os.ReadFile(passwords)
	require.NoError(t, err)
	assert.Equal(t, "Id,State,Password\r\na,done,\"pass,word\"\r\n", string(text))
	assert.NoFileExists(t, passwords+".key")
}

func TestJobPasswords(t *testing.T) {
	file := list(t, "a.csv", "Id\na\n")
	folder := t.TempDir()
	f := startFakeJobs(t, record("running"), record("done", `"total":2,"done":1,"failed":1`))
	f.passwords = map[string]string{"a": "S3cret"}
	to := filepath.Join(folder, "passwords.csv")
	code, stdout, stderr := runCommand(t, "job", "submit", file, "--passwords-to", to)
	assert.Equal(t, int(codeSomeFailed), code, stderr)
	assert.NotContains(t, stdout+stderr, "S3cret")
	for _, name := range []string{to, to + ".key"} { // the key is there for a retry
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
	text, err := os.ReadFile(to)
	require.NoError(t, err)
	assert.Contains(t, string(text), "a,done,S3cret\r\n")

	calls := len(f.calls)
	for _, remove := range []string{"", to + ".key"} {
		if remove != "" {
			require.NoError(t, os.Remove(remove))
		}
		code, _, stderr = runCommand(t, "job", "submit", file, "--passwords-to", to)
		assert.Equal(t, int(codeFailed), code)
		assert.Contains(t, stderr, "already exists")
	}
	assert.Len(t, f.calls, calls, "nothing is submitted whose passwords could not be kept")

	for _, states := range []string{record("rejected"), ""} {
		to := filepath.Join(folder, "rejected.csv")
		f.states = []string{states}
		if states == "" {
			f.refused = http.StatusForbidden
		}
		code, _, _ = runCommand(t, "job", "submit", file, "--passwords-to", to)
		assert.NotZero(t, code)
		assert.NoFileExists(t, to)
		assert.NoFileExists(t, to+".key", "there is nothing to open")
	}
}

func TestJobResult(t *testing.T) {
	f := startFakeJobs(t, record("done"))
	code, stdout, stderr := runCommand(t, "job", "result", "jb_1")
	require.Zero(t, code, stderr)
	assert.Equal(t, "Id,State,Sealed\r\n", stdout)
	out := filepath.Join(t.TempDir(), "result.csv")
	code, stdout, stderr = runCommand(t, "job", "result", "jb_1", "--out", out)
	require.Zero(t, code, stderr)
	assert.Empty(t, stdout)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, "Id,State,Sealed\r\n", string(text))
	f.refused = http.StatusNotFound
	code, _, stderr = runCommand(t, "job", "result", "jb_1", "--out", out)
	assert.Equal(t, int(codeFailed), code)
	assert.Contains(t, stderr, "No.")
}
