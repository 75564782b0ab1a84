package conformance

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/proxies"
)

//go:embed recorder.ps1
var recorderText string

// out is the output folder of "make conformance". POWERSHELL names the engine.
var out = flag.String("out", "", "write recordings of the engine POWERSHELL into this folder")

const (
	powerShellVariable = "POWERSHELL"
	patience           = time.Minute
)

// Types of the recordings. Their fields are in the order of the files.
type (
	languageFile struct {
		Engine  string         `json:"engine"`
		Culture string         `json:"culture"`
		Cases   []languageCase `json:"cases"`
	}
	languageCase struct {
		Group  string `json:"group"`
		Name   string `json:"name"`
		Source string `json:"source"`
		languageResult
	}
	languageResult struct {
		Output      *[]*value      `json:"output,omitempty"`
		Errors      []*errorRecord `json:"errors,omitempty"`
		Thrown      *errorRecord   `json:"thrown,omitempty"`
		ParseErrors []parseError   `json:"parseErrors,omitempty"`
	}
	value struct {
		Type  string `json:"type"`
		Value any    `json:"value"`
	}
	errorRecord struct {
		ID        string  `json:"fullyQualifiedErrorId"`
		Category  string  `json:"category"`
		Exception string  `json:"exception"`
		Inner     *string `json:"inner"`
		Message   string  `json:"message"`
		Line      int     `json:"line"`
		Column    int     `json:"column"`
	}
	parseError struct {
		ID         string `json:"id"`
		Message    string `json:"message"`
		Line       int    `json:"line"`
		Column     int    `json:"column"`
		Incomplete bool   `json:"incomplete"`
	}
	sessionFile struct {
		Engine string        `json:"engine"`
		Cases  []sessionCase `json:"cases"`
	}
	sessionCase struct {
		Name   string   `json:"name"`
		Args   []string `json:"args"`
		Stdin  string   `json:"stdin"`
		Stdout string   `json:"stdout"`
		Stderr string   `json:"stderr"`
		Exit   int      `json:"exit"`
	}
	bindingFile struct {
		Engine string        `json:"engine"`
		Calls  []bindingCall `json:"calls"`
	}
	bindingCall struct {
		Call     string   `json:"call"`
		Set      string   `json:"set,omitempty"`
		Bound    []string `json:"bound,omitempty"`
		Error    string   `json:"error,omitempty"`
		Category string   `json:"category,omitempty"`
		Message  string   `json:"message,omitempty"`
	}
)

// engine is the PowerShell that is recorded.
type engine struct{ path string }

var sessionArgs = []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text",
	"-ExecutionPolicy", "Bypass", "-Command", "-"}

// say runs a process with the given input and returns its output.
func (e engine) say(args []string, input string) (stdout, stderr string, code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.path, args...)
	cmd.Env = append(os.Environ(), "TERM=dumb", "NO_COLOR=1", "POWERSHELL_TELEMETRY_OPTOUT=1",
		"POWERSHELL_UPDATECHECK=Off")
	cmd.WaitDelay = patience
	var o, errs strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &o, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	return o.String(), errs.String(), code, err
}

// decoded returns an ASCII expression without line breaks that evaluates to a text.
func decoded(text string) string {
	return "[System.Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('" +
		base64.StdEncoding.EncodeToString([]byte(text)) + "'))"
}

// records runs lines after the recorder's text and returns the output lines that start with RECORD.
func (e engine) records(lines ...string) ([]json.RawMessage, error) {
	input := ". ([scriptblock]::Create(" + decoded(recorderText) + "))\n" + strings.Join(lines, "\n") + "\n"
	stdout, stderr, _, err := e.say(sessionArgs, input)
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	for line := range strings.Lines(stdout) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "RECORD "); ok {
			record, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, err
			}
			all = append(all, record)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("nothing was recorded; stderr: %.500s", stderr)
	}
	return all, nil
}

func (e engine) version() (string, error) {
	stdout, stderr, _, err := e.say(sessionArgs, "'PowerShell ' + $PSVersionTable.PSVersion\n")
	if err == nil && stdout == "" {
		err = fmt.Errorf("%s says nothing: %s", e.path, stderr)
	}
	return strings.TrimSpace(stdout), err
}

// language runs a source at the top level of its own process, so nothing around the source
// catches its errors.
func (e engine) language(source string) (languageResult, error) {
	records, err := e.records(
		"$ConformanceSource = "+decoded(source)+
			"; $ConformanceItems = [System.Collections.Generic.List[object]]::new(); $ConformanceState = 'parse'; "+
			"$ConformanceBlock = $null; $Error.Clear()",
		"$ConformanceBlock = [scriptblock]::Create($ConformanceSource)",
		"if ($null -ne $ConformanceBlock) { $ConformanceState = 'run'; & $ConformanceBlock 2>&1 | "+
			"ForEach-Object { $ConformanceItems.Add($_) }; $ConformanceState = 'done' }",
		"Set-StrictMode -Off; $ErrorActionPreference = 'Continue'; Write-ConformanceCase -State "+
			"$ConformanceState -Items $ConformanceItems.ToArray() -Last $Error[0]",
	)
	var r languageResult
	if err == nil {
		err = json.Unmarshal(records[0], &r)
	}
	return r, err
}

// recordedType returns the type with which the recording declares a parameter. Basic types are unchanged,
// types with listed values become strings, and all other types become objects.
func recordedType(p *cmdlets.Param) (name string, isList bool) {
	name = "object"
	switch p.Type {
	case "String", "String[]", "Int32", "UInt32", "Int64", "Byte", "UInt16", "DateTime", "TimeSpan", "Guid", "Hashtable", "SecureString", "PSCredential", "IPAddress", "IPAddress[]":
		name = p.Type
	case "Boolean":
		name = "Nullable[bool]"
	case "SwitchParameter":
		name = "switch"
	}
	if len(p.Values) > 0 && (name == "object" || strings.HasPrefix(name, "String")) {
		return "string" + strings.TrimPrefix(p.Type, strings.TrimSuffix(p.Type, "[]")), true
	}
	return name, false
}

// recordedForm is how the recording declares cmdlets.
var recordedForm = proxies.Form{Type: recordedType, Positional: true,
	Process: func(*cmdlets.Cmdlet) string { return bindingProcess }}

const bindingProcess = "        $global:ConformanceSet = $PSCmdlet.ParameterSetName\n" +
	"        $global:ConformanceBound = @($PSBoundParameters.Keys)\n"

// binding binds calls, all in one process.
func (e engine) binding(calls []string) ([]bindingCall, error) {
	lines := []string{"$secure = [System.Net.NetworkCredential]::new('', 'x').SecurePassword; $cred = " +
		"[pscredential]::new('u', $secure)"}
	declared := map[string]bool{}
	for _, call := range calls {
		name, _, _ := strings.Cut(call, " ")
		if decl, ok := cmdlets.Lookup(name); ok && !declared[name] {
			declared[name] = true
			lines = append(lines, ". ([scriptblock]::Create("+decoded(recordedForm.Function(decl))+"))")
		}
	}
	for _, call := range calls {
		lines = append(lines, "Test-ConformanceCall -Text ("+decoded(call)+")")
	}
	records, err := e.records(lines...)
	if err != nil {
		return nil, err
	}
	if len(records) != len(calls) {
		return nil, fmt.Errorf("%d of %d calls were recorded", len(records), len(calls))
	}
	result := make([]bindingCall, len(calls))
	for i, call := range calls {
		if err := json.Unmarshal(records[i], &result[i]); err != nil {
			return nil, err
		}
		result[i].Call = call
		slices.SortFunc(result[i].Bound,
			func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	}
	return result, nil
}

// record makes the three recordings with an engine.
func record(t *testing.T, e engine) (languageFile, sessionFile, bindingFile) {
	t.Helper()
	version, err := e.version()
	require.NoError(t, err)
	var language languageFile
	require.NoError(t, Read("language", &language))
	language.Engine = version
	kept := language.Cases[:0]
	for _, c := range language.Cases {
		c.languageResult, err = e.language(c.Source)
		if assert.NoError(t, err, "%s/%s", c.Group, c.Name) { // after a failure, still record the other cases
			kept = append(kept, c)
		}
	}
	language.Cases = kept
	var session sessionFile
	require.NoError(t, Read("session", &session))
	session.Engine = version
	taken := session.Cases[:0]
	for _, c := range session.Cases {
		c.Stdout, c.Stderr, c.Exit, err = e.say(c.Args, c.Stdin)
		if assert.NoError(t, err, c.Name) {
			taken = append(taken, c)
		}
	}
	session.Cases = taken
	var binding bindingFile
	require.NoError(t, Read("binding", &binding))
	var calls []string
	for _, c := range binding.Calls {
		calls = append(calls, c.Call)
	}
	binding.Engine = version
	binding.Calls, err = e.binding(calls)
	require.NoError(t, err)
	return language, session, binding
}

// differing returns the cases whose outputs differ from the stored recordings, with both outputs.
func differing(
	t *testing.T, language languageFile, session sessionFile, binding bindingFile,
) map[string]string {
	t.Helper()
	diff := map[string]string{}
	compare := func(name string, stored, now any) {
		if !reflect.DeepEqual(stored, now) {
			diff[name] = fmt.Sprintf("- %s\n+ %s", indented(t, stored, ""), indented(t, now, ""))
		}
	}
	var oldLanguage languageFile
	require.NoError(t, Read("language", &oldLanguage))
	stored := map[string]languageCase{}
	for _, c := range oldLanguage.Cases {
		stored[c.Group+"/"+c.Name] = c
	}
	for _, c := range language.Cases {
		compare("language: "+c.Group+"/"+c.Name, stored[c.Group+"/"+c.Name], c)
	}
	var oldSession sessionFile
	require.NoError(t, Read("session", &oldSession))
	transcripts := map[string]sessionCase{}
	for _, c := range oldSession.Cases {
		transcripts[c.Name] = c
	}
	for _, c := range session.Cases {
		compare("session: "+c.Name, transcripts[c.Name], c)
	}
	var oldBinding bindingFile
	require.NoError(t, Read("binding", &oldBinding))
	for i, c := range binding.Calls {
		compare("binding: "+c.Call, oldBinding.Calls[i], c)
	}
	return diff
}

func indented(t *testing.T, v any, indent string) string {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	require.NoError(t, encoder.Encode(v))
	return strings.TrimSpace(text.String())
}

// TestRecord records another engine and logs the differences from the stored recordings. Run it with "make
// conformance POWERSHELL=...".
func TestRecord(t *testing.T) {
	if *out == "" {
		t.Skip("run 'make conformance POWERSHELL=/path/of/a/PowerShell'")
	}
	path, err := proxies.Locate(os.Getenv(powerShellVariable))
	require.NoError(t, err)
	language, session, binding := record(t, engine{path: path})
	require.NoError(t, os.MkdirAll(*out, 0o750))
	for name, file := range map[string]any{"language": language, "session": session, "binding": binding} {
		require.NoError(t, os.WriteFile(filepath.Join(*out, name+".json"), []byte(indented(t, file, "  ")+"\n"),
			0o600))
	}
	diff := differing(t, language, session, binding)
	for _, name := range slices.Sorted(maps.Keys(diff)) {
		t.Logf("%s\n%s", name, diff[name])
	}
	t.Logf("%s: %d cases, %d differ from the stored recording; the new ones are in %s",
		language.Engine, len(language.Cases)+len(session.Cases)+len(binding.Calls), len(diff), *out)
}
