package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine/dotnet"
)

// lines runs a script and returns everything that it emits, one item per line. Items of other streams than
// the output have a prefix, and the error that ended the script is last.
func lines(t *testing.T, s *Session, script string) []string {
	out := []string{}
	add := func(prefix string) func(string) { return func(text string) { out = append(out, prefix+text) } }
	err := s.Run(t.Context(), "", script, Streams{
		Output:  func(v any) error { out = append(out, dotnet.ToText(v)); return nil },
		Error:   func(rec *dotnet.ErrorRecord) { out = append(out, "ERROR: "+rec.ErrorID+": "+rec.Error()) },
		Warning: add("WARNING: "),
		Verbose: add("VERBOSE: "),
	})
	var thrown *ThrownError
	switch {
	case errors.As(err, &thrown) && thrown.Refused:
		out = append(out, "REFUSED: "+strings.TrimPrefix(thrown.Record.Error(), "Outside the script subset: "))
	case errors.As(err, &thrown):
		out = append(out, "THROWN: "+thrown.Record.ErrorID+": "+thrown.Record.Error())
	case err != nil:
		out = append(out, "END: "+err.Error())
	}
	return out
}

type scriptTest struct {
	script string
	want   string // lines joined by |
}

func runTable(t *testing.T, tests map[string]scriptTest, modules ...*Module) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := NewEngine(Options{Modules: modules}).NewSession(Console{})
			got := strings.Join(lines(t, s, test.script), "|")
			assert.Equal(t, test.want, got)
		})
	}
}

// TestErrorFlow: an error ends or skips the same statements as in PowerShell.
func TestErrorFlow(t *testing.T) {
	const boom = "function Get-Boom { [CmdletBinding()] param() 1/0; 'after' }; "
	runTable(t, map[string]scriptTest{
		"statement goes on":         {"1/0; 'after'", "ERROR: RuntimeException: Attempted to divide by zero.|after"},
		"in a function":             {boom + "Get-Boom", "ERROR: RuntimeException: Attempted to divide by zero.|after"},
		"in a function in a try":    {boom + "try { Get-Boom } catch { 'caught' }", "caught"},
		"action of a function":      {boom + "Get-Boom -ErrorAction SilentlyContinue", "after"},
		"action stop of a function": {boom + "Get-Boom -ErrorAction Stop; 'not here'", "THROWN: RuntimeException: Attempted to divide by zero."},
		"preference stop":           {"$ErrorActionPreference = 'Stop'; 1/0; 'not here'", "THROWN: RuntimeException: Attempted to divide by zero."},
		"preference silent":         {"$ErrorActionPreference = 'SilentlyContinue'; 1/0; 'here'; $Error.Count", "here|1"},
		"silent swallows a throw":   {"$ErrorActionPreference = 'SilentlyContinue'; throw 'x'; 'here'", "here"},
		"try within a silent one":   {"$ErrorActionPreference = 'SilentlyContinue'; try { throw 'x' } catch { \"caught $_\" }", "caught x"},
		"throw without a value":     {"try { throw } catch { $_.FullyQualifiedErrorId }", "ScriptHalted"},
		"rethrow from a function":   {"function Get-It { try { throw 'in' } catch { throw } }; try { Get-It } catch { \"out $_\" }", "out in"},
		"finally after return":      {"function Get-It { try { return 1 } finally { 'f' } }; Get-It", "1|f"},
		"finally after exit":        {"try { exit 3 } finally { 'f' }", "f|END: exit 3"},
		"finally and the error":     {"try { try { throw 'x' } finally { 'f' } } catch { \"c $_\" }", "f|c x"},
		"error in a catch":          {"try { try { throw 'a' } catch { throw 'b' } } catch { \"$_\" }", "b"},
		"a catch before the failure": {
			"function Get-Many { try { 1; 2 } catch { 'wrong' } finally { 'f' } }; try { Get-Many | ForEach-Object { throw 'down' } } catch { \"c $_\" }", "c down"},
		"position": {"function Get-In {\n  1/0 }\ntry { Get-In } catch { $_.InvocationInfo.ScriptLineNumber }", "2"},
	})
}

// TestStreams: redirection and the streams other than the output work as in PowerShell.
func TestStreams(t *testing.T) {
	runTable(t, map[string]scriptTest{})
}

// TestPipelines: commands in a pipeline work together as in PowerShell.
func TestPipelines(t *testing.T) {
	runTable(t, map[string]scriptTest{
		"dot leaves variables":      {". { $v = 1 }; & { $w = 2 }; \"$v$w\"", "1"},
		"underscore comes back":     {"1 | ForEach-Object { 2 | ForEach-Object { $_ }; $_ }", "2|1"},
		"functions of inner scopes": {"& { function Get-Inner { 1 } ; Get-Inner }; try { Get-Inner } catch { 'gone' }", "1|gone"},
		"global functions":          {"& { function global:Get-Inner { 1 } }; Get-Inner", "1"},
	})
}

// testModule returns a module whose commands use every method of Call.
func testModule() *Module {
	param := func(name, typ string, in ...cmdlets.InSet) *cmdlets.Param {
		if len(in) == 0 {
			in = []cmdlets.InSet{{Set: cmdlets.AllSets, Position: -1}}
		}
		return &cmdlets.Param{Name: name, Type: typ, PerSet: in}
	}
	mode := param("Mode", "TestMode")
	mode.Values, mode.Codes = []string{"Fast", "Slow"}, []int64{0, 1}
	decl := func(name string, params ...*cmdlets.Param) *cmdlets.Cmdlet {
		return &cmdlets.Cmdlet{Name: name, Module: "Test", Sets: []string{cmdlets.AllSets},
			DefaultSet: cmdlets.AllSets, Params: params, SupportsShouldProcess: true}
	}
	identity := param("Identity", "TestThing",
		cmdlets.InSet{Set: cmdlets.AllSets, Position: 0, Mandatory: true, ByValue: true})
	remove := decl("Remove-Thing", identity, param("Force", "SwitchParameter"))
	remove.PromptsByDefault, remove.ForceSkipsPrompt = true, true
	broken := errors.New("disk is full")
	return &Module{Name: "Test", Version: "1.2.0.0", Commands: []*Command{
		{Decl: decl("Get-Thing", identity, mode, param("Names", "String[]"), param("Deep", "SwitchParameter"), param("When", "DateTime")), Class: "Test.GetThing",
			Process: func(c *Call) error {
				switch c.String("Identity") {
				case "missing":
					return c.Throw(dotnet.NewError(dotnet.NewException(dotnet.TException, "no such thing"), "Thing:1",
						dotnet.ObjectNotFound, "missing"))
				case "soft":
					if err := c.WriteError(dotnet.NewError(dotnet.NewException(dotnet.TException, "soft"), "Thing:2",
						dotnet.InvalidData, nil)); err != nil {
						return err
					}
				case "broken":
					return broken
				}
				if err := c.WriteVerbose("looking"); err != nil {
					return err
				}
				when, has := c.Bound("When")
				return c.Write(strings.Join([]string{c.String("Identity"), c.String("Mode"),
					strings.Join(c.Strings("Names"), "+"), dotnet.ToText(c.Bool("Deep")), dotnet.ToText(has && when == nil)},
					" "))
			}},
		{Decl: remove, Class: "Test.RemoveThing", Process: func(c *Call) error {
			yes, err := c.ShouldProcess(c.String("Identity"))
			if err != nil || !yes {
				return err
			}
			return c.Write("removed " + c.String("Identity"))
		}},
	}}
}

// TestCommands: cmdlets written in Go bind, report and fail like real ones.
func TestCommands(t *testing.T) {
	tests := map[string]scriptTest{
		"parameters":             {"Get-Thing x -Mode slow -Names a, 5 -Deep", "x Slow a+5 True False"},
		"value by number":        {"Get-Thing x -Mode 1", "x Slow  False False"},
		"null is bound":          {"Get-Thing x -When $null", "x   False True"},
		"unknown value":          {"try { Get-Thing x -Mode Odd } catch { $_.FullyQualifiedErrorId; $_.CategoryInfo.Category }", "CannotConvertArgumentNoMessage,Test.GetThing|InvalidArgument"},
		"bad date":               {"try { Get-Thing x -When never } catch { $_.FullyQualifiedErrorId }", "REFUSED: the conversion of [string] to [datetime]."},
		"null identity":          {"try { Get-Thing $null } catch { $_.FullyQualifiedErrorId }", "ParameterArgumentValidationErrorNullNotAllowed,Test.GetThing"},
		"terminating error":      {"Get-Thing missing; 'after'", "ERROR: Thing:1,Test.GetThing: no such thing|after"},
		"terminating and silent": {"Get-Thing missing -ErrorAction SilentlyContinue; 'after'", "ERROR: Thing:1,Test.GetThing: no such thing|after"},
		"non-terminating error":  {"Get-Thing soft", "ERROR: Thing:2,Test.GetThing: soft|soft   False False"},
		"made terminating":       {"try { Get-Thing soft -ErrorAction Stop } catch { \"c $_\" }", "c soft"},
		"defect":                 {"try { Get-Thing broken } catch { 'never' }", "END: Get-Thing: disk is full"},
		"prompt":                 {"try { Remove-Thing x } catch { $_.FullyQualifiedErrorId }", "InvalidOperation,Test.RemoveThing"},
		"confirm false":          {"Remove-Thing x -Confirm:$false", "removed x"},
		"confirm preference":     {"$ConfirmPreference = 'None'; Remove-Thing x", "removed x"},
		"force":                  {"Remove-Thing x -Force; try { Remove-Thing x -Force:$false } catch { 'asked' }; try { Remove-Thing x -Force -Confirm } catch { 'asked too' }", "removed x|asked|asked too"},
		"a function wins":        {"function Get-Thing { 'mine' }; Get-Thing", "mine"},
	}
	for name, test := range tests {
		test.script = "Import-Module Test; " + test.script
		tests[name] = test
	}
	tests["not imported"] = scriptTest{"try { Get-Thing x } catch { $_.FullyQualifiedErrorId }",
		"CommandNotFoundException"}
	tests["no such module"] = scriptTest{"Import-Module Nope",
		"ERROR: Modules_ModuleNotFound,Microsoft.PowerShell.Commands.ImportModuleCommand: The specified module " +
			"'Nope' was not loaded because no valid module file was found in any module directory."}
	runTable(t, tests, testModule())
}

func TestAutoLoadAndAliases(t *testing.T) {
	s := NewEngine(Options{Modules: []*Module{testModule()}, AutoLoad: true,
		Aliases: map[string]string{"echo": "Write-Output"}}).NewSession(Console{})
	assert.Equal(t, []string{"x   False False"}, lines(t, s, "Get-Thing x -WarningAction Ignore"))
	var out []any
	to := Streams{Output: func(v any) error { out = append(out, v); return nil }}
	require.NoError(t, s.RunLine(t.Context(), "echo a", to))
	assert.Equal(t, []any{"a"}, out)
	var thrown *ThrownError
	require.ErrorAs(t, s.Run(t.Context(), "", "try { echo a } catch { 'caught' }", to), &thrown)
	assert.True(t, thrown.Refused)
	assert.Equal(t, []any{"a"}, out)

	// The alias is valid only in the line itself, not in the functions that it calls.
	require.NoError(t, s.SetFunction("Write-It", "echo d"))
	require.NoError(t, s.Run(t.Context(), "", "$block = { echo e }", to))
	out = nil
	require.NoError(t, s.RunLine(t.Context(), "& { echo b } | ForEach-Object { echo $_ }", to))
	assert.Equal(t, []any{"b"}, out)
	for _, line := range []string{"Write-It", "& ([scriptblock]::Create('echo x'))", "& $block"} {
		require.ErrorAs(t, s.RunLine(t.Context(), "try { "+line+" } catch { 'caught' }", to), &thrown)
		assert.True(t, thrown.Refused, line)
	}
	assert.Equal(t, []any{"b"}, out)
}

// TestConsole: scripts read and write the streams of the process.
func TestConsole(t *testing.T) {
	var stdout strings.Builder
	s := NewEngine(Options{}).NewSession(Console{Stdin: strings.NewReader("one\r\ntwo\rthree\n\nlast"),
		Stdout: &stdout})
	line, err := s.ReadLine()
	require.NoError(t, err)
	assert.Equal(t, "one", line)
	assert.Equal(t, []string{"two|three||last|True"},
		lines(t, s, "$l = foreach ($i in 1, 2, 3, 4, 5) { $x = [Console]::In.ReadLine(); if ($null -eq $x) { "+
			"$true } else { $x } }; $l -join '|'"))
	assert.Empty(t, lines(t, s, "$s = [Console]::OpenStandardOutput(); $s.Write([byte[]](65, 66), 0, 2); "+
		"$s.Flush()"))
	assert.Equal(t, "AB", stdout.String())
	s = NewEngine(Options{}).NewSession(Console{Stdin: strings.NewReader("a\xe2\x80\nb\xff")})
	assert.Equal(t, []string{"a\ufffd|b\ufffd"},
		lines(t, s, "[Console]::In.ReadLine() + '|' + [Console]::In.ReadLine()"))
}

// TestSessionsShareNothing: a variable of one session does not exist in another session of the same engine.
func TestSessionsShareNothing(t *testing.T) {
	e := NewEngine(Options{Modules: []*Module{testModule()}})
	a, b := e.NewSession(Console{}), e.NewSession(Console{})
	lines(t, a, "Import-Module Test; $x = 1; function Get-X { 1 }; 1/0")
	assert.Equal(t, []string{"", "False", "0", "CommandNotFoundException"},
		lines(t, b, "\"$x\"; [bool](Get-Module); $Error.Count; try { Get-X } catch { $_.FullyQualifiedErrorId }"))
}

// TestSetFunction: the errors of a script defined as a function contain its name.
func TestSetFunction(t *testing.T) {
	s := NewEngine(Options{}).NewSession(Console{})
	require.NoError(t, s.SetFunction("Get-Thing",
		"[CmdletBinding()]\nparam([Parameter(Mandatory)][string]$Name)\n\"thing $Name\""))
	assert.Equal(t, []string{"thing x"}, lines(t, s, "Get-Thing -Name x"))
	assert.Equal(t, []string{"ERROR: MissingMandatoryParameter,Get-Thing: Cannot process command because of " +
		"one or more missing mandatory parameters: Name."}, lines(t, s, "Get-Thing"))
	var parse *ParseError
	require.ErrorAs(t, s.SetFunction("Get-Bad", "if ("), &parse)
	assert.True(t, parse.Incomplete())
	s.SetVariable("v", int32(5))
	require.NoError(t, s.Run(t.Context(), "", "$v++", Streams{}))
	v, ok := s.Variable("V")
	assert.True(t, ok)
	assert.Equal(t, int32(6), v)
}

// TestPatternsInTurkish: in Turkish, i and I are different letters even if case is ignored,
// so a pattern that contains one of them is refused.
func TestPatternsInTurkish(t *testing.T) {
	for line, want := range map[string]string{
		"'file1' -clike 'fi*'; 'abc' -like 'A*'; 'S-1-5' -match '^S-[0-9]'; 'a-b' -replace '^.*-', ''": "True|True|True|b",
		"'FILE1' -like 'fi*'":      "REFUSED: the pattern 'fi*', which ignores case, in the culture tr-TR.",
		"'x' -match '^[a-z]$'":     "REFUSED: the pattern '^[a-z]$', which ignores case, in the culture tr-TR.",
		"'x' -notmatch 'I'":        "REFUSED: the pattern 'I', which ignores case, in the culture tr-TR.",
		"'x' -replace 'WIN32', ''": "REFUSED: the pattern 'WIN32', which ignores case, in the culture tr-TR.",
	} {
		s := NewEngine(Options{Culture: "tr-TR"}).NewSession(Console{})
		assert.Equal(t, want, strings.Join(lines(t, s, line), "|"), line)
	}
}
