package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	gopath "path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/ops"
	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/test/manual"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// example is a block of the manual below the line '<!-- example: NAME -->'. It may
// be followed by a block below '<!-- prints -->', which is its output, or
// '<!-- says -->', which is the sentences in its output.
type example struct {
	name, language, text string
	how, output          string // "prints" or "says"; empty if the page shows no output
	outputLanguage       string
}

var exampleBlocks = regexp.MustCompile("(?s)<!-- example: ([a-z ]+) -->\n```([a-z]+)\n(.*?)\n```\n(?:\n?[^\n<]*\n?\n<!-- (prints|says) -->\n```([a-z]+)\n(.*?)\n```)?")

func examples(t *testing.T, text string) []example {
	t.Helper()
	var all []example
	for _, match := range exampleBlocks.FindAllStringSubmatch(text, -1) {
		all = append(all, example{name: match[1], language: match[2], text: match[3], how: match[4], outputLanguage: match[5], output: match[6]})
	}
	require.Len(t, all, strings.Count(text, "\n<!-- example: "), "every example has a block")
	outputs := 0
	for _, e := range all {
		if e.how != "" {
			outputs++
		}
	}
	require.Equal(t, strings.Count(text, "\n<!-- prints -->\n")+strings.Count(text, "\n<!-- says -->\n"), outputs, "every output belongs to an example")
	return all
}

// variables are the example that those of all pages need.
const variables = "variables"

// Every example of the manual runs and prints what is shown, those of a page against one
// sandbox.
func TestManualExamplesRun(t *testing.T) {
	languages := map[string]int{}
	prefix := ""
	for _, e := range examples(t, manual.Text(t, "start")) {
		if e.name == variables {
			prefix = e.text + "\n"
		}
	}
	require.NotEmpty(t, prefix)
	for _, page := range manual.Pages(t) {
		all := examples(t, page.Text)
		for _, e := range all {
			languages[e.language]++
		}
		if len(all) > 0 {
			t.Run(gopath.Base(page.Path), func(t *testing.T) { runExamples(t, prefix, all) })
		}
	}
	for _, language := range []string{"sh", "python", "powershell", "yaml"} {
		assert.NotZero(t, languages[language], "an example for %s", language)
	}
}

func runExamples(t *testing.T, prefix string, all []example) {
	const token, first = "manual-token", "a token"
	dir := t.TempDir()
	for _, e := range all {
		if e.name == first { // created before the sandbox that uses it starts
			t.Run(first, func(t *testing.T) { runShell(t, dir, e.text, token) })
		}
	}
	args := []string{"--token", token}
	if store := filepath.Join(dir, "credentials.json"); fileExists(store) { // not created without a shell
		args = append(args, "--set", "auth.store="+store)
	}
	s := startSandbox(t, args...)
	for _, e := range all {
		if e.name == variables || e.name == first || e.name == relayExample {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			text := e.text
			if e.language == "sh" {
				text = prefix + text
			}
			text = strings.NewReplacer("http://127.0.0.1:8080", s.url, "<the token that was printed>", token).Replace(text)
			var stdout string
			switch e.language {
			case "sh":
				stdout = runShell(t, dir, text, token)
			case "python":
				stdout = runProgram(t, "python3", []string{"-"}, text, token)
			case "powershell":
				stdout = runPowerShell(t, text, token)
			case "yaml":
				stdout = runPlay(t, text, token)
			default:
				t.Fatalf("nothing runs %s", e.language)
			}
			e.compare(t, strings.ReplaceAll(stdout, s.url, "http://127.0.0.1:8080"))
		})
	}
}

// The checks of a gateway are in the table of checks.
func TestManualExplainsEveryCheck(t *testing.T) {
	s := startSandbox(t, "--token", "t")
	_, ready := s.get("/readyz", "Bearer t")
	checks := regexp.MustCompile(`"name":"(\w+)"`).FindAllStringSubmatch(ready, -1)
	require.NotEmpty(t, checks)
	for _, check := range checks {
		assert.Regexp(t, "(?m)^\\| [`a-zA-Z, ]*`"+check[1]+"`", manual.Text(t, "reference/checks"), "the check %s in the table of checks", check[1])
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// compare compares the output with what the page shows. IDs and times differ in
// every run.
func (e example) compare(t *testing.T, stdout string) {
	t.Helper()
	got, want := mask(strings.TrimSpace(stdout)), mask(strings.TrimSpace(e.output))
	switch {
	case e.how == "":
	case e.how == "says":
		var sentences []string
		for _, answer := range documents(t, got) {
			sentences = append(sentences, answer.(map[string]any)["output"].(string))
		}
		assert.Equal(t, want, strings.Join(sentences, "\n"))
	case e.outputLanguage == "json":
		assert.Equal(t, documents(t, want), documents(t, got))
	default:
		assert.Equal(t, want, got)
	}
}

func mask(text string) string {
	text = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).ReplaceAllString(text, "(id)")
	return regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.]+Z`).ReplaceAllString(text, "(time)")
}

func documents(t *testing.T, text string) []any {
	t.Helper()
	var all []any
	decoder := json.NewDecoder(strings.NewReader(text))
	for {
		var one any
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err, "%s", text)
		all = append(all, one)
	}
}

// runShell runs shell commands in a folder, with this command in the PATH as
// adgateway.
func runShell(t *testing.T, dir, text, token string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "adgateway"), []byte("#!/bin/sh\nexec '"+self+"' command \"$@\"\n"), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	if strings.Contains(text, "curl ") {
		needs(t, "curl")
	}
	t.Chdir(dir)
	return runProgram(t, "sh", []string{"-eu"}, text, token)
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
	cmd.Env = append(os.Environ(), "GATEWAY_TOKEN="+token)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	require.NoError(t, err, "%s%s", stdout, stderr.String())
	return string(stdout)
}

// startSleep is Start-Sleep, which says for how long it would wait.
const startSleep = `function Start-Sleep {
    [CmdletBinding()]
    param([int] $Seconds)
    Write-Output "waits $Seconds s"
}
`

// invokeRestMethod is Invoke-RestMethod as far as the examples use it: it returns
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

// runPowerShell runs a script on the sandbox's engine, with the Invoke-RestMethod
// above.
func runPowerShell(t *testing.T, text, token string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	set := func(name, kind string) *cmdlets.Param {
		return &cmdlets.Param{Name: name, Type: kind, PerSet: []cmdlets.InSet{{Set: cmdlets.AllSets, Position: -1}}}
	}
	send := &engine.Command{
		Decl: &cmdlets.Cmdlet{Name: "Send-Request", Module: "Web", Sets: []string{cmdlets.AllSets}, DefaultSet: cmdlets.AllSets, Params: []*cmdlets.Param{
			set("Body", "String"), set("ContentType", "String"), set("HeaderName", "String[]"), set("HeaderValue", "String[]"), set("Method", "String"), set("Uri", "String"),
		}},
		Class: "Microsoft.PowerShell.Commands.InvokeRestMethodCommand", Process: sendRequest,
	}
	eng := engine.NewEngine(engine.Options{
		Modules:  []*engine.Module{{Name: "Web", Version: "1.0", Commands: []*engine.Command{send}}},
		AutoLoad: true, Env: map[string]string{"GATEWAY_TOKEN": token},
	})
	session := eng.NewSession(engine.Console{})
	var printed []any
	streams := engine.Streams{
		Output: func(v any) error { printed = append(printed, v); return nil },
		Error:  func(rec *dotnet.ErrorRecord) { t.Errorf("%v", rec) },
	}
	require.NoError(t, session.Run(ctx, "prelude", invokeRestMethod+startSleep, streams))
	if imported := "Import-Module -Name " + clients.ModuleName + "\n"; strings.HasPrefix(text, imported) {
		text = clientModule(t) + strings.Replace(strings.TrimPrefix(text, imported), "Read-Host -AsSecureString -Prompt 'Token'", "[System.Net.NetworkCredential]::new('', $env:GATEWAY_TOKEN).SecurePassword", 1)
	}
	require.NoError(t, session.Run(ctx, "manual", text, streams))
	return formatOutput(printed)
}

// clientModule returns the functions of the PowerShell module, with what the engine lacks
// left out or put in other words.
func clientModule(t *testing.T) string {
	t.Helper()
	files, err := clients.Module(ops.Table(), "1.2.3")
	require.NoError(t, err)
	text, _, _ := strings.Cut(strings.ReplaceAll(string(files[clients.ModuleName+".psm1"]), "\r\n", "\n"), "\nExport-ModuleMember")
	text = regexp.MustCompile(`(?m)^ *\[(OutputType|System\.Net\.ServicePointManager).*\n`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`\[CmdletBinding\(SupportsShouldProcess.*\n *param\(`).ReplaceAllString(text, "[CmdletBinding()]\n    param([switch] $$WhatIf, [switch] $$Confirm,")
	return strings.NewReplacer(
		"$WhatIfPreference", "$WhatIf", "$PSCmdlet.ShouldProcess($target)", "$true", "$Problem.Exception.Response", "$null",
		"[System.Uri]::EscapeDataString($Text)", "$Text.Replace('%', '%25').Replace(' ', '%20').Replace('/', '%2F')",
	).Replace(text) + "\n"
}

func sendRequest(c *engine.Call) error {
	header := http.Header{}
	values := c.Strings("HeaderValue")
	for i, name := range c.Strings("HeaderName") {
		header.Set(name, values[i])
	}
	if kind := c.String("ContentType"); kind != "" {
		header.Set("Content-Type", kind)
	}
	status, body, err := send(c.Context(), c.String("Method"), c.String("Uri"), header, c.String("Body"))
	if err != nil {
		return err
	}
	if status >= http.StatusBadRequest {
		return c.Throw(&dotnet.ErrorRecord{
			Exception: dotnet.ExceptionNamed("System.Net.WebException", "The remote server returned an error: (%d).", status),
			ErrorID:   "WebCmdletWebResponseException", Category: dotnet.InvalidOperation, Details: body,
		})
	}
	return c.Write(dates.ReplaceAllString(body, "null"))
}

// dates are the dates in an answer. The engine refuses them in JSON, because Windows
// PowerShell and PowerShell 7 read them differently; no example shows one.
var dates = regexp.MustCompile(`"\d{4}-\d{2}-\d{2}T[0-9:.]+Z"`)

func send(ctx context.Context, method, url string, header http.Header, body string) (status int, answer string, err error) {
	request, err := http.NewRequestWithContext(ctx, strings.ToUpper(method), url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
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

// runPlay sends the requests of a play's tasks and prints a line for each. It does
// so twice, because playbooks are run repeatedly.
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
		text = strings.ReplaceAll(text, "{{ lookup('ansible.builtin.env', 'GATEWAY_TOKEN') }}", token)
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
