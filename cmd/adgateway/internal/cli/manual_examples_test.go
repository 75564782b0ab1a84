package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"adgateway/test/freeport"
	"adgateway/test/manual"
	"adgateway/test/thorough"
)

// Every example of the manual runs and prints the answer shown. The examples of a page run in
// order against one sandbox, those in sh in one shell and those in PowerShell in one console. A plain
// run takes one page in three.
func TestManualExamplesRun(t *testing.T) {
	languages := map[string]int{}
	for _, page := range manual.Pages(t) {
		all := blocks(t, page)
		runs := false
		for _, b := range all {
			if b.example() {
				languages[b.language]++
				runs = true
			}
		}
		if runs && thorough.OneOf(3, page.Path) {
			t.Run(strings.TrimPrefix(page.Path, manual.Folder+"/"), func(t *testing.T) { runPage(t, all) })
		}
	}
	for _, language := range []string{"sh", "python", "powershell", "yaml"} {
		assert.NotZero(t, languages[language], "an example for %s", language)
	}
}

const pageToken = "manual-token"

// pageRun is the state that the blocks of a page share.
type pageRun struct {
	dir       string
	shell     *shell
	console   *console          // started by the first block that needs it
	addresses map[string]string // where the programs listen in this run
}

func runPage(t *testing.T, all []*block) {
	p := &pageRun{dir: t.TempDir(), addresses: map[string]string{}}
	ports := []string{"127.0.0.1:8080", "127.0.0.1:8081", "127.0.0.1:8082", "127.0.0.1:7300"}
	for i, address := range freeport.Addresses(t, len(ports)) {
		p.addresses[ports[i]] = address
	}
	if !slices.ContainsFunc(all, func(b *block) bool { return b.mark == secondConsole }) {
		s := startSandbox(t, "--token", pageToken)
		s.eventually("/readyz", "Bearer "+pageToken, http.StatusOK) // some blocks show that it is ready
		p.addresses[ports[0]] = strings.TrimPrefix(s.url, "http://")
	}
	if slices.ContainsFunc(all, func(b *block) bool { return b.example() && b.language == "sh" }) {
		p.shell = startShell(t, p.dir)
	}
	for _, b := range all {
		if b.mark == secondConsole {
			for line := range strings.Lines(b.text) {
				p.leaveRunning(t, strings.TrimSpace(line))
			}
		}
		if b.example() && !t.Run(fmt.Sprintf("line %d", b.line), func(t *testing.T) { p.run(t, b) }) {
			return // later blocks depend on this one
		}
	}
}

// run runs a block and compares its output.
func (p *pageRun) run(t *testing.T, b *block) {
	text := p.placed(b.text)
	var stdout string
	switch b.language {
	case "sh":
		stdout = p.shell.run(t, text)
	case "python":
		stdout = runProgram(t, "python3", []string{"-"}, text, pageToken)
	case "powershell":
		if p.console == nil {
			p.console = startConsole(t, pageToken)
		}
		stdout = p.console.run(t, text)
	case "yaml":
		stdout = runPlay(t, text, pageToken)
	default:
		t.Fatalf("nothing runs %s", b.language)
	}
	for printed, address := range p.addresses {
		stdout = strings.ReplaceAll(stdout, address, printed)
	}
	b.agree(t, stdout)
}

// placed replaces the addresses in a text by those of this run.
func (p *pageRun) placed(text string) string {
	for printed, address := range p.addresses {
		text = strings.ReplaceAll(text, printed, address)
	}
	return text
}

// leaveRunning starts a command, waits until it serves, and stops it when the test ends.
func (p *pageRun) leaveRunning(t *testing.T, line string) {
	needs(t, "sh")
	words := strings.Fields(p.placed(line))
	domain := slices.Contains(words, "domain")
	at := slices.Index(words, "--listen")
	if at < 0 {
		address := p.addresses["127.0.0.1:8080"]
		if domain {
			address = p.addresses["127.0.0.1:7300"]
		}
		at = len(words)
		words = append(words, "--listen", address)
	}
	address := words[at+1]
	require.Equal(t, []string{"adgateway", "sandbox"}, words[:2], "the harness knows how to wait for it")
	if !domain {
		words = append(words, "--token", pageToken)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), self, append([]string{"command"}, words[1:]...)...)
	command.Dir = p.dir
	log := &lockedBuilder{}
	command.Stdout, command.Stderr = log, log
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // it was killed
	})
	require.Eventually(t, func() bool {
		if domain {
			connection, err := net.Dial("tcp", address)
			if err == nil {
				_ = connection.Close()
			}
			return err == nil
		}
		status, _, err := send(t.Context(), http.MethodGet, "http://"+address+"/readyz", nil, "")
		return err == nil && status == http.StatusOK
	}, patience, 20*time.Millisecond, "%s: %v", line, log)
}

// shell is a shell that runs one block after another.
type shell struct {
	dir   string
	stdin io.WriteCloser
	out   *bufio.Reader
	err   *lockedBuilder
	kill  func() error
	count int
}

// startShell starts a shell in a folder, with this program in the PATH as adgateway and the
// sandbox's token in a variable.
func startShell(t *testing.T, dir string) *shell {
	t.Helper()
	needs(t, "sh")
	needs(t, "curl")
	self, err := os.Executable()
	require.NoError(t, err)
	programs := t.TempDir()
	script := "#!/bin/sh\nexec '" + self + "' command \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(programs, "adgateway"), []byte(script), 0o700))
	s := &shell{dir: programs, err: &lockedBuilder{}}
	command := exec.CommandContext(t.Context(), "sh", "-eu")
	command.Dir = dir
	command.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GORACE=atexit_sleep_ms=0", "token="+pageToken)
	command.Stderr = s.err
	s.stdin, err = command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	s.out = bufio.NewReader(out)
	require.NoError(t, command.Start())
	s.kill = command.Process.Kill
	return s
}

// run runs a block and returns its output.
func (s *shell) run(t *testing.T, text string) string {
	t.Helper()
	s.count++
	file := filepath.Join(s.dir, fmt.Sprint("block", s.count, ".sh"))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	end := fmt.Sprint("end of block ", s.count)
	timer := time.AfterFunc(patience, func() { _ = s.kill() })
	defer timer.Stop()
	_, err := fmt.Fprintf(s.stdin, ". '%s' </dev/null; echo; echo '%s'\n", file, end)
	require.NoError(t, err, "%v", s.err)
	var stdout strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		require.NoError(t, err, "the shell ended in\n%s\n%s%v", text, &stdout, s.err)
		if line == end+"\n" {
			return stdout.String()
		}
		stdout.WriteString(line)
	}
}

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed: this example of the manual was not run", program)
	}
}

func runProgram(t *testing.T, program string, args []string, stdin, token string) string {
	t.Helper()
	needs(t, program)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "ADGATEWAY_TOKEN="+token)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	require.NoError(t, err, "%s%s", stdout, stderr.String())
	return string(stdout)
}

// invokeRestMethod implements Invoke-RestMethod as far as the examples use it: it returns
// the parsed JSON of the response and throws if the status is an error.
const invokeRestMethod = `function Invoke-RestMethod {
    [CmdletBinding()]
    param([string] $Uri, [string] $Method = 'Get', [hashtable] $Headers, $Body, [string] $ContentType, [int] $TimeoutSec, [int] $MaximumRedirection, [switch] $UseBasicParsing)
    if ($Body -is [byte[]]) { $Body = [System.Text.Encoding]::UTF8.GetString($Body) }
    $names = @($Headers.Keys)
    $values = @(foreach ($name in $names) { $Headers[$name] })
    ConvertFrom-Json -InputObject (Send-Request -Uri $Uri -Method $Method -HeaderName $names -HeaderValue $values -Body $Body -ContentType $ContentType)
}
`

// dates matches the dates in an answer. The engine refuses them in JSON, because Windows
// PowerShell and PowerShell 7 parse them differently. No example shows one.
var dates = regexp.MustCompile(`"\d{4}-\d{2}-\d{2}T[0-9:.]+Z"`)

func send(
	ctx context.Context, method, url string, header http.Header, body string,
) (status int, answer string, err error) {
	response, answer, err := exchange(ctx, method, url, header, body)
	if err != nil {
		return 0, "", err
	}
	return response.StatusCode, answer, nil
}

// exchange sends a request and returns the response and its body.
func exchange(
	ctx context.Context, method, url string, header http.Header, body string,
) (*http.Response, string, error) {
	request, err := http.NewRequestWithContext(ctx, strings.ToUpper(method), url, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

// play is an Ansible play whose tasks call ansible.builtin.uri.
type play struct {
	Hosts string            `yaml:"hosts"`
	Facts bool              `yaml:"gather_facts"`
	Vars  map[string]string `yaml:"vars"`
	Tasks []task            `yaml:"tasks"`
}

type task struct {
	Name    string    `yaml:"name"`
	URI     uriModule `yaml:"ansible.builtin.uri"`
	Result  string    `yaml:"register"`
	When    string    `yaml:"when"`
	Changed string    `yaml:"changed_when"`
}

type uriModule struct {
	URL     string            `yaml:"url"`
	Method  string            `yaml:"method"`
	Headers map[string]string `yaml:"headers"`
	Format  string            `yaml:"body_format"`
	Body    map[string]any    `yaml:"body"`
	Status  []int             `yaml:"status_code"`
}

// runPlay sends the requests of a play's tasks and prints a line for each. It does so twice,
// because playbooks are run repeatedly.
func runPlay(t *testing.T, text, token string) string {
	t.Helper()
	var plays []play
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&plays))
	require.Len(t, plays, 1)
	var out strings.Builder
	for range 2 {
		results := map[string]int{}
		for _, task := range plays[0].Tasks {
			if task.When != "" && !holds(t, task.When, results) {
				fmt.Fprintf(&out, "%s: skipped\n", task.Name)
				continue
			}
			status := plays[0].request(t, task.URI, token)
			results[task.Result] = status
			word := "ok"
			if task.Changed != "" && holds(t, task.Changed, results) {
				word = "changed"
			}
			fmt.Fprintf(&out, "%s: %d %s\n", task.Name, status, word)
		}
	}
	return out.String()
}

// holds evaluates a condition on the status of an earlier task.
func holds(t *testing.T, condition string, results map[string]int) bool {
	t.Helper()
	if condition == "true" {
		return true
	}
	match := regexp.MustCompile(`^(\w+)\.status == (\d{3})$`).FindStringSubmatch(condition)
	require.NotNil(t, match, "the condition %q", condition)
	require.Contains(t, results, match[1], "the condition %q", condition)
	return fmt.Sprint(results[match[1]]) == match[2]
}

func (p *play) request(t *testing.T, uri uriModule, token string) (status int) {
	t.Helper()
	fill := func(text string) string {
		for name, value := range p.Vars {
			text = strings.ReplaceAll(text, "{{ "+name+" }}", value)
		}
		text = strings.ReplaceAll(text, "{{ lookup('ansible.builtin.env', 'ADGATEWAY_TOKEN') }}", token)
		require.NotContains(t, text, "{{", "only variables of the play are used")
		return text
	}
	header := http.Header{}
	for name, value := range uri.Headers {
		header.Set(name, fill(value))
	}
	body := ""
	if uri.Body != nil {
		require.Equal(t, "json", uri.Format)
		header.Set("Content-Type", "application/json")
		encoded, err := json.Marshal(uri.Body)
		require.NoError(t, err)
		body = string(encoded)
	}
	status, answer, err := send(t.Context(), uri.Method, fill(uri.URL), header, body)
	require.NoError(t, err)
	require.Contains(t, uri.Status, status, answer)
	return status
}
