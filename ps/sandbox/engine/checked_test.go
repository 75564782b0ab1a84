package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps"
	"adgateway/ps/syntax"
	"adgateway/scripts"
)

// TestACheckedTextRunsAsAnyOther: results, places of errors and texts of functions do not depend on whether a
// text is known to be valid.
func TestACheckedTextRunsAsAnyOther(t *testing.T) {
	const text = `# A prelude.
$first = 'before'

# Fails.
function Get-Boom {
    [CmdletBinding()]
    param([string] $What = 'ü')

    "$What$first"
    throw 'boom'
}
$between = Get-Command Get-Boom

function Get-Short { "$($between.ScriptBlock)".Length }

function Get-Outer {
    function Get-Inner { 'inner' }
    Get-Inner
}
function global:Get-Global {
    Get-Outer
}
`
	const line = `. ([scriptblock]::Create($text)); Set-Item -LiteralPath 'function:global:Get-Named' -Value ([scriptblock]::Create($named))
try { Get-Boom -What 'x' } catch { $_.InvocationInfo.ScriptLineNumber; $_.InvocationInfo.OffsetInLine; $_.InvocationInfo.Line }
Get-Short; Get-Global; Get-Boom -Wrong 1; Get-Named 7; Get-Named 'x'; "$((Get-Command Get-Named).ScriptBlock)"
1, 2 | ForEach-Object ([scriptblock]::Create($each))`
	run := func(valid func(string) bool) []string {
		s := NewEngine(Options{Checked: valid}).NewSession(Console{})
		// The texts differ between the runs, because compiled texts are shared by all engines.
		mark := "# " + t.Name()
		if valid != nil {
			mark = "# " + strings.ToLower(t.Name())
		}
		quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
		set := "$text = " + quote(mark+"\n"+text) + "; $named = " +
			quote(mark+"\nparam([int] $Number)\n$Number + 1\n") + "; $each = " + quote("$_ * 2 "+mark) + "\n"
		out := lines(t, s, set+line)
		for i := range out {
			out[i] = strings.ReplaceAll(out[i], mark, "#")
		}
		return out
	}
	want := run(nil)
	require.Greater(t, len(want), 10)
	asked := 0
	assert.Equal(t, want, run(func(string) bool { asked++; return true }))
	assert.Equal(t, 3, asked)
}

// TestAFunctionOfACheckedTextIsCompiledAtItsFirstCall: until then its body costs nothing.
func TestAFunctionOfACheckedTextIsCompiledAtItsFirstCall(t *testing.T) {
	const text = "\nfunction Get-Wrong {\n    ) (\n}\n'defined'\n"
	s := NewEngine(Options{Checked: func(string) bool { return true }}).NewSession(Console{})
	assert.Equal(t, []string{"defined"}, lines(t, s, ". ([scriptblock]::Create(\""+text+"\"))"))
	got := lines(t, s, "Get-Wrong")
	require.Len(t, got, 1)
	assert.Contains(t, got[0], "END: ")
}

// TestFunctionsOfThePreludesAreFound: the engine sees the functions of the preludes as the parser does.
func TestFunctionsOfThePreludesAreFound(t *testing.T) {
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		text := scripts.Prelude(lane).Text
		require.True(t, scripts.Loaded(text))
		script, errs := syntax.Parse("", text)
		require.Empty(t, errs)
		var want, found []part
		for _, statement := range script.Block.Body.Statements {
			if f, ok := statement.(*syntax.FunctionDef); ok && f.From.Line < f.To.Line {
				want = append(want, part{script.Source.Slice(f.Span), f.From.Line - 1, f.Name})
			}
		}
		for _, p := range partsOf(text) {
			if p.function != "" {
				found = append(found, p)
			}
		}
		assert.Greater(t, len(want), 100)
		assert.Equal(t, want, found)
	}
}
