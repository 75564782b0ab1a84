// Package mistakes makes common mistakes and checks how they are reported. Each row of the
// tables in testdata is a request to a sandbox or a command. The answer must name the
// mistake, the correction, and the page of the manual that explains it.
package mistakes

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/cli"
	"adgateway/gateway/manual"
)

var show = flag.Bool("show", false, "print what each mistake is answered with")

// sandbox is a gateway over the simulated domain, in this process.
type sandbox struct{ url string }

// startSandbox starts the sandbox with the tokens all and few, on a free port.
func startSandbox(t *testing.T) *sandbox {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(ctx, []string{"sandbox", "--listen",
			"127.0.0.1:0", "--token", "all=*", "--token", "few=user:read",
			"--user", "anna:pass=*", "--set", "pool.maxWait=3m",
			"--set", "pool.startTimeout=3m"}, writer, io.Discard)
		writer.Close()
	}()
	t.Cleanup(func() { cancel(); <-ended })
	scanner := bufio.NewScanner(reader)
	for scanner.Scan() {
		if address, ok := strings.CutPrefix(scanner.Text(), "listening on "); ok {
			go func() { _, _ = io.Copy(io.Discard, reader) }()
			return &sandbox{address}
		}
	}
	require.Fail(t, "the sandbox did not start")
	return nil
}

// answer is the response to a request.
type answer struct {
	status int
	header http.Header
	text   string
}

func (s *sandbox) send(t *testing.T, r request) answer {
	t.Helper()
	target, err := url.Parse(s.url)
	require.NoError(t, err)
	path, query, _ := strings.Cut(r.target, "?")
	target.Opaque, target.RawQuery = "//"+target.Host+path, query // unescaped
	q := &http.Request{Method: r.method, URL: target, Header: r.header, Host: target.Host}
	if r.body != "" {
		q.Body, q.ContentLength = io.NopCloser(strings.NewReader(r.body)), int64(len(r.body))
	}
	response, err := http.DefaultTransport.RoundTrip(q.WithContext(t.Context()))
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return answer{response.StatusCode, response.Header, string(text)}
}

// refusal is the error in an answer.
type refusal struct {
	Error struct {
		Code, Message string
		Details       []struct{ Field, Message string }
	}
}

// sentences returns all texts of an error, one sentence per line.
func (r refusal) sentences() string {
	all := []string{r.Error.Message}
	for _, d := range r.Error.Details {
		all = append(all, d.Field+" "+d.Message)
	}
	return strings.Join(all, "\n")
}

func TestAnswersToMistakesTeach(t *testing.T) {
	s := startSandbox(t)
	rows := 0
	files, err := filepath.Glob(filepath.Join("testdata", "http-*.txt"))
	require.NoError(t, err)
	for _, file := range files {
		for _, m := range readTable(t, file) {
			rows++
			t.Run(m.place, func(t *testing.T) { s.check(t, m) })
		}
	}
	assert.GreaterOrEqual(t, rows, 150)
}

// check sends the request of a row and checks its answer.
func (s *sandbox) check(t *testing.T, m *mistake) {
	for _, r := range m.before {
		got := s.send(t, r)
		require.Less(t, got.status, 300, "%s %s: %s", r.method, r.target, got.text)
	}
	got := s.send(t, m.request)
	said, code := got.text, ""
	var r refusal
	if json.Unmarshal([]byte(got.text), &r) == nil && r.Error.Code != "" {
		said, code = r.sentences(), r.Error.Code
	}
	if *show {
		fmt.Printf("%s\n  %s %.200s %.100q\n  %d %s\n  says: "+
			"%s\n", m.place, m.request.method, m.request.target, m.request.body,
			got.status, code, strings.ReplaceAll(said, "\n", "\n  says: "))
		return
	}
	assert.Equal(t, m.status, got.status, said)
	assert.Equal(t, m.code, code, said)
	m.holds(t, said)
	if m.code == "" {
		return
	}
	assert.Equal(t, `</manual/reference/errors#`+m.code+`>; rel="help"`, got.header.Get("Link"))
	assert.NotNil(t, manual.Row(page(t, "reference/errors"), m.code), "the manual explains the code")
}

// holds checks the text of an answer.
func (m *mistake) holds(t *testing.T, said string) {
	t.Helper()
	require.NotEmpty(t, m.says, "the row says nothing")
	for _, text := range m.says {
		assert.Contains(t, said, text)
	}
	for _, text := range m.never {
		assert.NotContains(t, said, text)
	}
	for _, library := range libraries {
		assert.NotContains(t, said, library, "an error of a library")
	}
}

// libraries lists prefixes of library errors, which mean nothing to a user.
var libraries = []string{"yaml: ", "json: ", "strconv.", "x509:", "tls:", "parsing " +
	"time", "asn1:", "invalid character", "unexpected end of JSON",
	"unexpected EOF", "pkcs12:", "parse \"", "unmarshal"}

func TestCommandsTeach(t *testing.T) {
	s := startSandbox(t)
	rows := 0
	files, err := filepath.Glob(filepath.Join("testdata", "cli-*.txt"))
	require.NoError(t, err)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	known := strings.NewReplacer("{url}", s.url, "{taken}", taken.Addr().String())
	for _, file := range files {
		for _, m := range readTable(t, file) {
			rows++
			t.Run(m.place, func(t *testing.T) { m.run(t, known) })
		}
	}
	assert.GreaterOrEqual(t, rows, 100)
}

// run runs the command of a row in a separate folder.
func (m *mistake) run(t *testing.T, known *strings.Replacer) {
	folder := t.TempDir()
	t.Chdir(folder)
	for name, lines := range m.files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(strings.Join(lines,
			"\n")+"\n"), 0o600))
	}
	args := make([]string, len(m.args))
	for i, arg := range m.args {
		args[i] = known.Replace(arg)
	}
	var out strings.Builder
	// stops a command that serves, which none should
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	code := cli.Run(ctx, args, &out, &out)
	said := strings.ReplaceAll(out.String(), folder+string(filepath.Separator), "")
	if *show {
		fmt.Printf("%s\n  adgateway %q\n  %d\n  says: "+
			"%s\n", m.place, args, code, strings.ReplaceAll(said, "\n", "\n  says: "))
		return
	}
	assert.Equal(t, m.status, code, said)
	m.holds(t, said)
	if m.help == "" {
		return
	}
	assert.Contains(t, said, "See 'adgateway "+m.help+"'.")
	var help strings.Builder
	assert.Zero(t, cli.Run(t.Context(), words(m.help), &help, &help), "the help that is named exists")
}

func page(t *testing.T, name string) manual.Page {
	t.Helper()
	page, ok := manual.Find(name)
	require.True(t, ok, name)
	return page
}
