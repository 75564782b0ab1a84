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

// lines runs a script and gives everything it emitted, one line each: output as
// text, other streams with a prefix, what ended it last.
func lines(t *testing.T, s *Session, script string) []string {
	out := []string{}
	add := func(prefix string) func(string) { return func(text string) { out = append(out, prefix+text) } }
	err := s.Run(t.Context(), "", script, Streams{
		Output:      func(v any) error { out = append(out, dotnet.ToText(v)); return nil },
		Error:       func(rec *dotnet.ErrorRecord) { out = append(out, "ERROR: "+rec.ErrorID+": "+rec.Error()) },
		Warning:     add("WARNING: "),
		Verbose:     add("VERBOSE: "),
		Debug:       add("DEBUG: "),
		Information: func(v any) { out = append(out, "INFORMATION: "+dotnet.ToText(v)) },
		Host:        func(text string, _ bool) { out = append(out, "HOST: "+text) },
	})
	var thrown *ThrownError
	switch {
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
			assert.Equal(t, test.want, strings.Join(lines(t, s, test.script), "|"))
		})
	}
}

// TestErrorFlow is about what errors do to the statements after them.
func TestErrorFlow(t *testing.T) {
	const boom = "function Get-Boom { [CmdletBinding()] param() 1/0; 'after' }; "
	runTable(t, map[string]scriptTest{
		"statement goes on":         {"1/0; 'after'", "ERROR: RuntimeException: Attempted to divide by zero.|after"},
		"in a function":             {boom + "Get-Boom", "ERROR: RuntimeException: Attempted to divide by zero.|after"},
		"in a function in a try":    {boom + "try { Get-Boom } catch { 'caught' }", "caught"},
		"in a loop":                 {"foreach ($i in 1..2) { 1/0; $i }", "ERROR: RuntimeException: Attempted to divide by zero.|1|ERROR: RuntimeException: Attempted to divide by zero.|2"},
		"action of a function":      {boom + "Get-Boom -ErrorAction SilentlyContinue", "after"},
		"action stop of a function": {boom + "Get-Boom -ErrorAction Stop; 'not here'", "THROWN: RuntimeException: Attempted to divide by zero."},
		"preference stop":           {"$ErrorActionPreference = 'Stop'; 1/0; 'not here'", "THROWN: RuntimeException: Attempted to divide by zero."},
		"preference silent":         {"$ErrorActionPreference = 'SilentlyContinue'; 1/0; 'here'; $Error.Count", "here|1"},
		"silent swallows a throw":   {"$ErrorActionPreference = 'SilentlyContinue'; throw 'x'; 'here'", "here"},
		"try within a silent one":   {"$ErrorActionPreference = 'SilentlyContinue'; try { throw 'x' } catch { \"caught $_\" }", "caught x"},
		"write-error in a try":      {"try { Write-Error 'soft'; 'on' } catch { 'caught' }", "ERROR: Microsoft.PowerShell.Commands.WriteErrorException: soft|on"},
		"write-error in a function": {"function Get-Soft { Write-Error 'soft' }; Get-Soft", "ERROR: Microsoft.PowerShell.Commands.WriteErrorException,Get-Soft: soft"},
		"throw without a value":     {"try { throw } catch { $_.FullyQualifiedErrorId }", "ScriptHalted"},
		"rethrow from a function":   {"function Get-It { try { throw 'in' } catch { throw } }; try { Get-It } catch { \"out $_\" }", "out in"},
		"finally after return":      {"function Get-It { try { return 1 } finally { 'f' } }; Get-It", "1|f"},
		"finally after exit":        {"try { exit 3 } finally { 'f' }", "f|END: exit 3"},
		"finally and the error":     {"try { try { throw 'x' } finally { 'f' } } catch { \"c $_\" }", "f|c x"},
		"error in a catch":          {"try { try { throw 'a' } catch { throw 'b' } } catch { \"$_\" }", "b"},
		"catch of the inner type":   {"try { [int]'x' } catch [System.FormatException] { 'format' } catch [System.InvalidCastException] { 'cast' }", "cast"},
		"no clause fits":            {"try { try { throw 'x' } catch [System.FormatException] { 'no' } } catch { 'outer' }", "outer"},
		"a failed pipeline":         {"try { 1..3 | ForEach-Object { if ($_ -eq 2) { throw 'two' }; $_ } } catch { \"c $_\" }; 'after'", "1|c two|after"},
		"a catch before the failure": {
			"function Get-Many { try { 1; 2 } catch { 'wrong' } finally { 'f' } }; try { Get-Many | ForEach-Object { throw 'down' } } catch { \"c $_\" }", "c down"},
		"error variable":            {"Write-Error 'a' -ErrorAction SilentlyContinue -ErrorVariable e; Write-Error 'b' -ErrorAction SilentlyContinue -ErrorVariable +e; $e.Count", "2"},
		"ignore":                    {"Write-Error 'a' -ErrorAction Ignore; $Error.Count", "0"},
		"question mark":             {"Write-Error 'a' -ErrorAction SilentlyContinue; $?; $?", "False|True"},
		"the newest error is first": {"$ErrorActionPreference = 'SilentlyContinue'; Write-Error 'a'; Write-Error 'b'; \"$($Error[0])\"; $Error.Clear(); $Error.Count", "b|0"},
		"position and stack": {
			"function Get-In { 1/0 }\nfunction Get-Out {\n  Get-In\n}\ntry { Get-Out } catch { $_.InvocationInfo.ScriptLineNumber; $_.ScriptStackTrace }",
			"1|at Get-In, <No file>: line 1\nat Get-Out, <No file>: line 3\nat <ScriptBlock>, <No file>: line 5"},
	})
}

// TestStreams is about redirection and the streams besides the output.
func TestStreams(t *testing.T) {
	runTable(t, map[string]scriptTest{
		"error into output":     {"(Write-Error 'x' 2>&1).Exception.Message; 'a'", "x|a"},
		"error into nothing":    {"Write-Error 'x' 2>$null; 'a'", "a"},
		"of a function":         {"function Get-Both { Write-Error 'e'; 'o'; Write-Warning 'w' }; $a = Get-Both 2>&1 3>$null; $a.Count; Get-Both *>$null", "2"},
		"of a block":            {"$a = & { Write-Warning 'w'; 1 } 3>&1; $a.Count; \"$($a[0])\"", "2|w"},
		"output into nothing":   {"'x' > $null; Write-Output 'y' 1>$null; 'z'", "z"},
		"warning":               {"Write-Warning 'w'; Write-Warning 'n' -WarningAction SilentlyContinue", "WARNING: w"},
		"warning preference":    {"$WarningPreference = 'SilentlyContinue'; Write-Warning 'w'; 1", "1"},
		"warning variable":      {"function Get-W { [CmdletBinding()] param() Write-Warning 'w' }; Get-W -WarningVariable w -WarningAction SilentlyContinue; \"$w\"", "w"},
		"verbose":               {"Write-Verbose 'n'; Write-Verbose 'v' -Verbose", "VERBOSE: v"},
		"verbose of a function": {"function Get-V { [CmdletBinding()] param() Write-Verbose 'v' }; Get-V; Get-V -Verbose", "VERBOSE: v"},
		"information":           {"Write-Information 'n'; Write-Information 'i' -InformationAction Continue; Write-Host 'h' 1", "INFORMATION: i|HOST: h 1"},
		"information variable":  {"Write-Information 'a' -InformationVariable iv; \"$iv\"", "a"},
		"out variable":          {"$null = Write-Output 1, 2 -OutVariable o; $o.Count", "2"},
		"pipeline variable":     {"1..2 | ForEach-Object -Process { $_ } -PipelineVariable p | ForEach-Object { \"$p$_\" }", "11|22"},
		"stop at a warning":     {"try { Write-Warning 'w' -WarningAction Stop } catch { $_.FullyQualifiedErrorId }", "ActionPreferenceStop,Microsoft.PowerShell.Commands.WriteWarningCommand"},
	})
}

// TestPipelines is about how commands in a pipeline work together.
func TestPipelines(t *testing.T) {
	const passed = "function Get-Passed { param([Parameter(ValueFromPipeline)]$V) begin { 'b' } process { \"p$V\" } end { 'e' } }; "
	runTable(t, map[string]scriptTest{
		"streaming":                   {"1..2 | ForEach-Object { \"a$_\"; Write-Host $_ } | ForEach-Object { \"b$_\" }", "ba1|HOST: 1|ba2|HOST: 2"},
		"first stops the ones before": {"1..5 | ForEach-Object { Write-Host $_; $_ } | Select-Object -First 2", "HOST: 1|1|HOST: 2|2"},
		"ends in order":               {passed + "1 | Get-Passed | Get-Passed", "b|pb|pp1|pe|e"},
		"nothing in":                  {passed + "@() | Get-Passed; $null | Get-Passed", "b|e|b|p|e"},
		"by property and alias":       {"function Get-N { param([Parameter(ValueFromPipelineByPropertyName)][Alias('Id')]$Name) process { $Name } }; [pscustomobject]@{ Id = 'x' } | Get-N", "x"},
		"an object that fits nothing": {"function Get-N { [CmdletBinding()] param([Parameter(ValueFromPipelineByPropertyName)]$Name) process { 'n' } }; [pscustomobject]@{ Other = 1 } | Get-N",
			"ERROR: InputObjectNotBound,Get-N: The input object cannot be bound to any parameters for the command either because the command does not take pipeline input or the input and its properties do not match any of the parameters that take pipeline input."},
		"script block for a property": {"function Get-N { [CmdletBinding()] param([Parameter(ValueFromPipelineByPropertyName)][string]$Name) process { $Name } }; 1, 2 | Get-N -Name { \"n$_\" }", "n1|n2"},
		"conversion for one object":   {"function Get-I { [CmdletBinding()] param([Parameter(ValueFromPipeline)][int]$N) process { $N } }; '1', 'x', '3' | Get-I 2>$null", "1|3"},
		"input":                       {"function Get-All { @($input).Count }; 1, 2, 3 | Get-All", "3"},
		"break leaves the loop":       {"foreach ($i in 1..3) { 1..3 | ForEach-Object { if ($_ -eq 2) { break }; \"$i$_\" } }; 'after'", "11|after"},
		"return leaves the block":     {"1..2 | ForEach-Object { if ($_ -eq 1) { return 'r' }; $_ }", "r|2"},
		"labels":                      {":out foreach ($i in 1..3) { while ($true) { if ($i -eq 2) { break out }; continue out } }; $i", "2"},
		"variables of the block":      {"1..3 | ForEach-Object { $sum += $_ }; $sum", "6"},
		"dot leaves variables":        {". { $v = 1 }; & { $w = 2 }; \"$v$w\"", "1"},
		"underscore comes back":       {"1 | ForEach-Object { 2 | ForEach-Object { $_ }; $_ }", "2|1"},
		"functions of inner scopes":   {"& { function Get-Inner { 1 } ; Get-Inner }; try { Get-Inner } catch { 'gone' }", "1|gone"},
		"global functions":            {"& { function global:Get-Inner { 1 } }; Get-Inner", "1"},
		"private variables":           {"$private:p = 1; function Get-P { \"[$p]\" }; Get-P; $p", "[]|1"},
		"read-only variables":         {"Set-Variable -Name r -Value 1 -Option ReadOnly; $r = 2; $r", "ERROR: VariableNotWritable: Cannot overwrite variable r because it is read-only or constant.|1"},
		"split by a block":            {"'a1b;c' -split { $_ -match '[0-9;]' } -join '|'; ('x,y,z' -split { $_ -eq ',' }, 2) -join '|'; ('ab' -split { $n = 5; $false }) + \"$n\"", "a|b|c|x|y,z|ab|"},
		"split by text and index":     {"'a-b', 'c-d' -split { $args[0][$args[1]] -eq '-' } -join '|'; ('abc' -split { param($t, $i) $i -eq 1 }) -join '|'", "a|b|c|d|a|c"},
		"split by a failing block":    {"try { 'ab' -split { throw 'no' } } catch { \"c $_\" }", "c no"},
		"collection methods":          {"(1..4).Where({ $_ % 2 }) -join ','; (1..3).ForEach('ToString') -join ','; ('a', 'b').ToUpper() -join ','", "1,3|1,2,3|A,B"},
	})
}

// testModule has commands that use every method of Call.
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
		return &cmdlets.Cmdlet{Name: name, Module: "Test", Sets: []string{cmdlets.AllSets}, DefaultSet: cmdlets.AllSets, Params: params, SupportsShouldProcess: true}
	}
	identity := param("Identity", "TestThing", cmdlets.InSet{Set: cmdlets.AllSets, Position: 0, Mandatory: true, ByValue: true})
	remove := decl("Remove-Thing", identity, param("Force", "SwitchParameter"))
	remove.PromptsByDefault, remove.ForceSkipsPrompt = true, true
	broken := errors.New("disk is full")
	return &Module{Name: "Test", Version: "1.2.0.0", Commands: []*Command{
		{Decl: decl("Get-Thing", identity, mode, param("Names", "String[]"), param("Deep", "SwitchParameter"), param("When", "DateTime")), Class: "Test.GetThing",
			Process: func(c *Call) error {
				switch c.String("Identity") {
				case "missing":
					return c.Throw(dotnet.NewError(dotnet.NewException(dotnet.TException, "no such thing"), "Thing:1", dotnet.ObjectNotFound, "missing"))
				case "soft":
					if err := c.WriteError(dotnet.NewError(dotnet.NewException(dotnet.TException, "soft"), "Thing:2", dotnet.InvalidData, nil)); err != nil {
						return err
					}
				case "broken":
					return broken
				}
				if err := c.WriteVerbose("looking"); err != nil {
					return err
				}
				when, has := c.Bound("When")
				return c.Write(strings.Join([]string{c.String("Identity"), c.String("Mode"), strings.Join(c.Strings("Names"), "+"), dotnet.ToText(c.Bool("Deep")), dotnet.ToText(has && when == nil)}, " "))
			},
			End: func(c *Call) error { return c.WriteWarning("end of " + c.Name()) }},
		{Decl: decl("Get-Origin", identity), Process: func(c *Call) error {
			return c.Write(c.String("Identity") + " " + dotnet.ToText(c.FromPipeline("identity")))
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

// TestCommands is about cmdlets written in Go.
func TestCommands(t *testing.T) {
	const end = "|WARNING: end of Get-Thing"
	tests := map[string]scriptTest{
		"parameters":             {"Get-Thing x -Mode slow -Names a, 5 -Deep", "x Slow a+5 True False" + end},
		"value by number":        {"Get-Thing x -Mode 1", "x Slow  False False" + end},
		"pipeline":               {"'a', 'b' | Get-Thing", "a   False False|b   False False" + end},
		"null is bound":          {"Get-Thing x -When $null", "x   False True" + end},
		"unknown value":          {"try { Get-Thing x -Mode Odd } catch { $_.FullyQualifiedErrorId; $_.CategoryInfo.Category }", "CannotConvertArgumentNoMessage,Test.GetThing|InvalidArgument"},
		"bad date":               {"try { Get-Thing x -When never } catch { $_.FullyQualifiedErrorId }", "CannotConvertArgumentNoMessage,Test.GetThing"},
		"null identity":          {"try { Get-Thing $null } catch { $_.FullyQualifiedErrorId }", "ParameterArgumentValidationErrorNullNotAllowed,Test.GetThing"},
		"terminating error":      {"Get-Thing missing; 'after'", "ERROR: Thing:1,Test.GetThing: no such thing|after"},
		"terminating and silent": {"Get-Thing missing -ErrorAction SilentlyContinue; 'after'", "ERROR: Thing:1,Test.GetThing: no such thing|after"},
		"caught":                 {"try { Get-Thing missing } catch { $_.CategoryInfo.Category; $_.CategoryInfo.Activity; $_.TargetObject; $_.InvocationInfo.MyCommand.Name }", "ObjectNotFound|Get-Thing|missing|Get-Thing"},
		"non-terminating error":  {"Get-Thing soft", "ERROR: Thing:2,Test.GetThing: soft|soft   False False" + end},
		"made terminating":       {"try { Get-Thing soft -ErrorAction Stop } catch { \"c $_\" }", "c soft"},
		"silent":                 {"Get-Thing soft -ErrorAction SilentlyContinue -ErrorVariable e -WarningAction SilentlyContinue; $e.Count", "soft   False False|1"},
		"verbose":                {"Get-Thing x -Verbose -WarningAction Ignore", "VERBOSE: looking|x   False False"},
		"defect":                 {"try { Get-Thing broken } catch { 'never' }", "END: Get-Thing: disk is full"},
		"prompt":                 {"try { Remove-Thing x } catch { $_.FullyQualifiedErrorId }", "InvalidOperation,Test.RemoveThing"},
		"confirm false":          {"Remove-Thing x -Confirm:$false", "removed x"},
		"confirm preference":     {"$ConfirmPreference = 'None'; Remove-Thing x", "removed x"},
		"what if":                {"Remove-Thing x -WhatIf", `HOST: What if: Performing the operation "Remove-Thing" on target "x".`},
		"what if preference":     {"$WhatIfPreference = $true; Remove-Thing x", `HOST: What if: Performing the operation "Remove-Thing" on target "x".`},
		"force":                  {"Remove-Thing x -Force; try { Remove-Thing x -Force:$false } catch { 'asked' }; try { Remove-Thing x -Force -Confirm } catch { 'asked too' }", "removed x|asked|asked too"},
		"force and what if":      {"$WhatIfPreference = $true; Remove-Thing x -Force", `HOST: What if: Performing the operation "Remove-Thing" on target "x".`},
		"from the pipeline":      {"Get-Origin a; 'a', 'b' | Get-Origin; 1 | Get-Origin -Identity { \"n$_\" }; 1 | Get-Origin b -ErrorAction SilentlyContinue", "a False|a True|b True|n1 True"},
		"module":                 {"(Get-Module -Name Test).Version.ToString(); (Get-Command Get-Thing).ModuleName; Test\\Get-Thing x -WarningAction Ignore", "1.2.0.0|Test|x   False False"},
		"a function wins":        {"function Get-Thing { 'mine' }; Get-Thing", "mine"},
	}
	for name, test := range tests {
		test.script = "Import-Module Test; " + test.script
		tests[name] = test
	}
	tests["not imported"] = scriptTest{"try { Get-Thing x } catch { $_.FullyQualifiedErrorId }", "CommandNotFoundException"}
	tests["no such module"] = scriptTest{"Import-Module Nope", "ERROR: Modules_ModuleNotFound,Microsoft.PowerShell.Commands.ImportModuleCommand: The specified module 'Nope' was not loaded because no valid module file was found in any module directory."}
	runTable(t, tests, testModule())
}

func TestAutoLoadAndAliases(t *testing.T) {
	s := NewEngine(Options{Modules: []*Module{testModule()}, AutoLoad: true, Aliases: map[string]string{"echo": "Write-Output"}}).NewSession(Console{})
	assert.Equal(t, []string{"x   False False"}, lines(t, s, "Get-Thing x -WarningAction Ignore"))
	var out []any
	to := Streams{Output: func(v any) error { out = append(out, v); return nil }}
	require.NoError(t, s.RunLine(t.Context(), "echo a", to))
	assert.Equal(t, []any{"a"}, out)
	require.NoError(t, s.Run(t.Context(), "", "$e = try { echo a } catch { 'refused' }; $e", to))
	assert.Equal(t, []any{"a", "refused"}, out)

	// The alias belongs to the line's own text: not to what it calls.
	for line, want := range map[string][]any{
		"& { echo b } | ForEach-Object { echo $_ }":                  {"b"},
		"try { Write-It } catch { 'refused' }":                       {"refused"},
		"try { & ([scriptblock]::Create('echo x')) } catch { 'no' }": {"no"},
		"'echo c' | Out-Null; try { & $block } catch { 'refused' }":  {"refused"},
	} {
		require.NoError(t, s.SetFunction("Write-It", "echo d"))
		require.NoError(t, s.Run(t.Context(), "", "$block = { echo e }", to))
		out = nil
		require.NoError(t, s.RunLine(t.Context(), line, to))
		assert.Equal(t, want, out, line)
	}
}

// TestConsole is about the streams of the process.
func TestConsole(t *testing.T) {
	var stdout, stderr strings.Builder
	s := NewEngine(Options{}).NewSession(Console{Stdin: strings.NewReader("one\r\ntwo\rthree\n\nlast"), Stdout: &stdout, Stderr: &stderr})
	line, err := s.ReadLine()
	require.NoError(t, err)
	assert.Equal(t, "one", line)
	assert.Equal(t, []string{"two|three||last|True"}, lines(t, s, "$l = foreach ($i in 1..5) { $x = [Console]::In.ReadLine(); if ($null -eq $x) { $true } else { $x } }; $l -join '|'"))
	assert.Empty(t, lines(t, s, "[Console]::Out.Write('o'); [Console]::Error.WriteLine('e'); $s = [Console]::OpenStandardOutput(); $s.Write([byte[]](65, 66), 0, 2); $s.Flush()"))
	assert.Equal(t, "oAB", stdout.String())
	assert.Equal(t, "e\n", strings.ReplaceAll(stderr.String(), "\r", ""))
	s = NewEngine(Options{}).NewSession(Console{Stdin: strings.NewReader("a\xe2\x80\nb\xff")})
	assert.Equal(t, []string{"a\ufffd|b\ufffd"}, lines(t, s, "[Console]::In.ReadLine() + '|' + [Console]::In.ReadLine()"))
}

// TestSessionsShareNothing runs two sessions of one engine.
func TestSessionsShareNothing(t *testing.T) {
	e := NewEngine(Options{Modules: []*Module{testModule()}})
	a, b := e.NewSession(Console{}), e.NewSession(Console{})
	lines(t, a, "Import-Module Test; $x = 1; function Get-X { 1 }; Write-Error 'x' -ErrorAction SilentlyContinue")
	assert.Equal(t, []string{"", "False", "False", "0"}, lines(t, b, "\"$x\"; [bool](Get-Command Get-X -ErrorAction Ignore); [bool](Get-Module); $Error.Count"))
}

func TestFormatOutput(t *testing.T) {
	s := NewEngine(Options{}).NewSession(Console{})
	for script, want := range map[string]string{
		"1, 'a', $null, ''":                         "1\na\n\n",
		"[pscustomobject]@{ a = 1; b = 'x' }":       "\na b\n- -\n1 x\n\n",
		"@{ k = 1 }":                                "\nName                           Value\n----                           -----\nk                              1\n\n",
		"[pscustomobject]@{ a=1;b=2;c=3;d=4;ee=5 }": "\na  : 1\nb  : 2\nc  : 3\nd  : 4\nee : 5\n\n",
	} {
		var items []any
		require.NoError(t, s.Run(t.Context(), "", script, Streams{Output: func(v any) error { items = append(items, v); return nil }}))
		assert.Equal(t, want, FormatOutput(items), script)
	}
}

// TestSetFunction defines a script as a function: its errors carry the name.
func TestSetFunction(t *testing.T) {
	s := NewEngine(Options{}).NewSession(Console{})
	require.NoError(t, s.SetFunction("Get-Thing", "[CmdletBinding()]\nparam([Parameter(Mandatory)][string]$Name)\n\"thing $Name\""))
	assert.Equal(t, []string{"thing x"}, lines(t, s, "Get-Thing -Name x"))
	assert.Equal(t, []string{"ERROR: MissingMandatoryParameter,Get-Thing: Cannot process command because of one or more missing mandatory parameters: Name."}, lines(t, s, "Get-Thing"))
	var parse *ParseError
	require.ErrorAs(t, s.SetFunction("Get-Bad", "if ("), &parse)
	assert.True(t, parse.Incomplete())
	s.SetVariable("v", int32(5))
	require.NoError(t, s.Run(t.Context(), "", "$v++", Streams{}))
	v, ok := s.Variable("V")
	assert.True(t, ok)
	assert.Equal(t, int32(6), v)
}
