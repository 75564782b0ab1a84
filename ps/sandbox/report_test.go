package sandbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Each input is written to stdout and stderr as expected.
func TestWhatIsWritten(t *testing.T) {
	for _, c := range []struct{ input, stdout, stderr string }{
		{"1; 'a'; $null; ''; $true; 'b','c'", "1\na\n\nTrue\nb\nc\n", ""},
		{",@(1,2)", "1\n2\n", ""},
		// Consecutive objects share a table, unless there is text between them.
		{`ConvertFrom-Json '[{"n":1,"s":"ab"},{"n":200,"s":null}]'`, "\n  n s\n  - -\n  1 ab\n200\n\n", ""},
		{`ConvertFrom-Json '{"a":1}'; 'text'; ConvertFrom-Json '{"a":2}'`, "\na\n-\n1\n\ntext\n\na\n-\n2\n\n", ""},
		{`ConvertFrom-Json '{"a":1}'; ConvertFrom-Json '{"b":2}'`, "\na\n-\n1\n\n\nb\n-\n2\n\n", ""},
		{`ConvertFrom-Json '{"a":1,"b":2,"c":3,"d":4,"longer":"x"}'`, "\na      : 1\nb      : 2\nc      : 3\nd      : 4\nlonger : x\n\n", ""},
		{`ConvertFrom-Json '{"list":[1,"b"]}'`, "\nlist\n----\n{1, b}\n\n", ""},

		// Errors name the exception or the command.
		{"throw 'x'", "", "Exception: x\n"},
		{"throw [System.ArgumentException]::new('bad')", "", "Exception: bad\n"},
		{"$ErrorActionPreference = 'Stop'; 1/0; 'never'", "", "RuntimeException: Attempted to divide by zero.\n"},
		{"try { throw 'a' } catch { 'caught' }", "caught\n", ""},
		{"$null.Foo()", "", "InvalidOperation: You cannot call a method on a null-valued expression.\n"},
		{"function Get-X { [CmdletBinding()] param([int] $N) }\n\nGet-X -N abc", "",
			"Get-X: Cannot process argument transformation on parameter 'N'. Cannot convert value \"abc\" to type \"System.Int32\". Error: \"The input string 'abc' was not in a correct format.\"\n"},

		// Texts that cannot be parsed.
		{"1 2", "", "ParserError: \nLine |\n   1 |  1 2\n     |    ~\n     | Unexpected token '2' in expression or statement.\n"},
		{"if ($true) {\n  1 2\n}\n\n'next'", "next\n", "ParserError: \nLine |\n   2 |    1 2\n     |      ~\n     | Unexpected token '2' in expression or statement.\n"},
		{"class X { }", "", "ParserError: \nLine |\n   1 |  class X { }\n     |  ~\n     | Outside the script subset: the statement class; use an ordered dictionary, and functions.\n"},

		// The only alias.
		{"echo a", "a\n", ""},
	} {
		t.Run(c.input, func(t *testing.T) {
			stdout, stderr, _ := playback(t, hostStarter(), sessionArgs, c.input+"\n")
			assert.Equal(t, c.stdout, stdout)
			assert.Equal(t, c.stderr, stderr)
		})
	}
}
