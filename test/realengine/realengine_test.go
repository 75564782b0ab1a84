// Package realengine tests the scripts and the session protocol on a real PowerShell, and compares the
// modules for a real PowerShell with the cmdlets of the sandbox.
package realengine

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/proxies"
	"adgateway/ps/session"
	"adgateway/scripts"
	"adgateway/test/conformance"
	"adgateway/test/systemtest"
)

// powerShellVariable is the environment variable with the path or name of a
// PowerShell.
const powerShellVariable = "POWERSHELL"

// TestRealPowerShell tests the project on a real PowerShell without a domain. It uses the PowerShell in the
// variable POWERSHELL or, if that is not set, pwsh or powershell.exe. The test binary is self-contained, so
// "go test -c ./test/realengine" builds a binary for another machine.
func TestRealPowerShell(t *testing.T) {
	engine := os.Getenv(powerShellVariable)
	for _, name := range []string{"pwsh", "powershell"} {
		if _, err := proxies.Locate(name); engine == "" && err == nil {
			engine = name
		}
	}
	if engine == "" {
		t.Skip("no PowerShell is installed: install PowerShell 7, or set POWERSHELL to the path of one")
	}
	path, err := proxies.Locate(engine)
	require.NoError(t, err)
	t.Logf("the PowerShell is %s", path)
	onPowerShell(t, path, 1)
	t.Run("client", func(t *testing.T) { clientCases(t, path) })
}

// TestRealPowerShellSuite runs the same tests on the stand-in, so that the tests themselves are checked on
// machines without PowerShell. The stand-in implements the modules' commands in Go
// (TestContractThroughProxies runs the text of the modules). This test uses only some transcripts and
// operations, because other tests run all of them on the stand-in.
func TestRealPowerShellSuite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is started by a shell script")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "pwsh")
	text := "#!/bin/sh\nexport " + systemtest.EngineVariable + "=1 GORACE=atexit_sleep_ms=0\nexec '" + self +
		"' \"$@\"\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
	onPowerShell(t, path, 8)
}

// onPowerShell runs all tests on a PowerShell, with every every-th transcript and operation.
func onPowerShell(t *testing.T, path string, every int) {
	t.Run("transcripts", func(t *testing.T) { transcriptsOf(t, path, every) })
	t.Run("module", func(t *testing.T) { modulesAreOurs(t, path) })
	t.Run("texts", func(t *testing.T) { textsParse(t, path, every > 1) })
	t.Run("faults", func(t *testing.T) { faultsOf(t, path) })
	t.Run("hostile", func(t *testing.T) { textsArrive(t, path, every > 1) })
	t.Run("contract", func(t *testing.T) {
		sameAnswers(t, every, func(t testing.TB,
			world *sandbox.World) session.Starter {
			return powerShell(t, path, world)
		})
	})
}

// powerShell returns a starter of processes that use a world.
func powerShell(t testing.TB, path string, world *sandbox.World) session.Starter {
	t.Helper()
	starter, err := proxies.NewStarter(serverOf(t, world), path, described(t), "")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, starter.Close()) })
	return starter
}

// sessionWith starts a session of the DNS lane with additional scripts.
func sessionWith(t *testing.T, starter session.Starter, more ...ps.Source) *session.Session {
	t.Helper()
	s, err := session.Start(t.Context(), session.Config{Starter: starter, Boot: session.Boot{
		Prelude: scripts.Prelude(ps.DNS), Scripts: append(scripts.Sources(ps.DNS), more...),
		Module: scripts.Modules[ps.DNS],
	}})
	require.NoError(t, err)
	t.Cleanup(s.Kill)
	return s
}

// ask runs a script and returns its records.
func ask(t *testing.T, s *session.Session, script string, args ps.Args) ([]map[string]any, error) {
	t.Helper()
	var records []map[string]any
	_, err := s.Run(t.Context(), ps.Request{Script: script, Args: args, Limit: systemtest.Patience,
		Records: func(batch json.RawMessage) error {
			var part []map[string]any
			err := json.Unmarshal(batch, &part)
			records = append(records, part...)
			return err
		}})
	return records, err
}

// modulesAreOurs checks that the commands come from the sandbox, even where the real modules are
// installed.
func modulesAreOurs(t *testing.T, path string) {
	s := sessionWith(t, powerShell(t, path, stillWorld(t)), ps.Source{Name: "Test-GatewayModule", Text: `[CmdletBinding()]
param()
[ordered]@{ path = [string](Get-Module -Name 'DnsServer').Path; version = [string]$PSVersionTable.PSVersion }
`})
	records, err := ask(t, s, "Test-GatewayModule", nil)
	require.NoError(t, err)
	require.Len(t, records, 1)
	t.Logf("PowerShell %s, module %q", records[0]["version"], records[0]["path"])
	if records[0]["path"] != "" { // the stand-in's modules are not files
		assert.Contains(t, records[0]["path"], "adgateway-modules-")
	}
	require.NoError(t, s.Close(t.Context()))
}

// parseScript parses a text and looks for syntax that Windows PowerShell does
// not have.
const parseScript = `[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Text)
$block = [scriptblock]::Create($Text)
$later = 0
if ($null -ne $block.Ast) {
    $later = @($block.Ast.FindAll({
        param($node)
        $type = $node.GetType().Name
        @('TernaryExpressionAst', 'PipelineChainAst') -contains $type -or
        @('QuestionQuestion', 'QuestionQuestionEquals') -contains [string]$node.Operator -or
        $node.NullConditional -eq $true
    }, $true)).Length
}
[ordered]@{ later = [int]$later; looked = [bool]($null -ne $block.Ast) }
`

// standInParseScript parses a text on the stand-in, which has no syntax trees.
const standInParseScript = `[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Text)
$null = [scriptblock]::Create($Text)
[ordered]@{ later = 0; looked = $false }
`

// textsParse checks that all scripts and modules parse without errors and use no syntax of
// PowerShell 7. The stand-in cannot parse the lines that compile the modules' types.
func textsParse(t *testing.T, path string, standIn bool) {
	parser := parseScript
	if standIn {
		parser = standInParseScript
	}
	s := sessionWith(t, powerShell(t, path, stillWorld(t)), ps.Source{Name: "Test-GatewayText", Text: parser})
	texts := map[string]string{}
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		texts["prelude of "+string(lane)] = scripts.Prelude(lane).Text
		for _, script := range scripts.Sources(lane) {
			texts[script.Name] = script.Text
		}
	}
	modules, err := proxies.Modules(described(t))
	require.NoError(t, err)
	for _, m := range modules {
		if texts[m.Name+".psm1"] = m.Script(); standIn {
			texts[m.Name+".psm1"] = m.Text()
		}
		texts[m.Name+".psd1"] = m.Manifest()
	}
	looked := 0
	for name, text := range texts {
		records, err := ask(t, s, "Test-GatewayText", ps.Args{"Text": ps.Text(text)})
		if assert.NoError(t, err, name) && assert.Len(t, records, 1) {
			assert.Zero(t, records[0]["later"], "%s has what only PowerShell 7 knows", name)
			if records[0]["looked"] == true {
				looked++
			}
		}
	}
	_, err = ask(t, s, "Test-GatewayText", ps.Args{"Text": ps.Text("function {")})
	require.Error(t, err, "a text with an error parses")
	if looked == 0 {
		t.Log("this engine shows no syntax trees: what only PowerShell 7 knows was looked for by its parser alone")
	}
	require.NoError(t, s.Close(t.Context()))
}

// recordedOn is the prefix of the PowerShell versions for which the transcripts are valid.
const recordedOn = "7."

// transcriptsOf checks that the output of a process for the recorded inputs is equal to the recording. If the
// recording is from another version, it only logs the differences.
func transcriptsOf(t *testing.T, path string, every int) {
	var file struct {
		Cases []struct {
			Name                  string
			Args                  []string
			Stdin, Stdout, Stderr string
			Exit                  int
		}
	}
	require.NoError(t, conformance.Read("session", &file))
	version, _, _ := playedBack(t, path, []string{"-NoProfile", "-NonInteractive", "-Command", "-"},
		"[string]$PSVersionTable.PSVersion\n")
	isRecorded := strings.HasPrefix(version, recordedOn) && runtime.GOOS != "windows"
	matched := 0
	for i, c := range file.Cases {
		if i%every != 0 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			stdout, stderr, code := playedBack(t, path, c.Args, c.Stdin)
			same := c.Stdout == stdout && c.Exit == code && (c.Stderr == "") == (stderr == "")
			switch {
			case same:
				matched++
			case isRecorded && standInSays[c.Name] == "":
				assert.Equal(t, c.Stdout, stdout)
				assert.Equal(t, c.Exit, code)
				assert.Equal(t, c.Stderr, stderr)
			default:
				t.Logf("differs from the recording (%s): exit %d, want %d\nstdout %q\n  want %q\nstderr %q",
					standInSays[c.Name], code, c.Exit, stdout, c.Stdout, stderr)
			}
		})
	}
	t.Logf("PowerShell %s: %d of %d transcripts are as recorded", strings.TrimSpace(version), matched,
		(len(file.Cases)+every-1)/every)
	assert.Positive(t, matched)
}

// standInSays lists the transcripts for which the stand-in's output differs. The reasons are
// in ps/sandbox/testdata/session_outside.txt.
var standInSays = map[string]string{
	"a non-terminating error goes on with the same line": "Get-Item",
	"preference Stop abandons the rest of the line":      "Get-Item",
	"$Error grows and clears":                            "Get-Item",
	"an alias wins over a function of the same name":     "aliases",
	"a native program shares stdin unless redirected":    "native programs",
}

// playedBack runs a process with the given input and returns its output, with LF line endings.
func playedBack(t *testing.T, path string, args []string, input string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), "TERM=dumb", "NO_COLOR=1", "POWERSHELL_TELEMETRY_OPTOUT=1",
		"POWERSHELL_UPDATECHECK=Off")
	cmd.WaitDelay = systemtest.Patience
	var out, errs strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	deadline := time.AfterFunc(systemtest.Patience, func() { _ = cmd.Process.Kill() })
	defer deadline.Stop()
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		require.NoError(t, err)
	}
	unix := func(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
	return unix(out.String()), unix(errs.String()), code
}
