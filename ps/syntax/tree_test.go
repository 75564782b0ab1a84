package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parse(t testing.TB, text string) *Script {
	t.Helper()
	script, errs := Parse("", text)
	require.Empty(t, errs)
	return script
}

// short writes a node as nested lists, for use in tables.
func short(n Node) string {
	var b strings.Builder
	shortTo(&b, n)
	return b.String()
}

func shortTo(b *strings.Builder, n Node) {
	name := strings.TrimPrefix(fmt.Sprintf("%T", n), "*syntax.")
	list := func(parts ...any) {
		b.WriteString("(" + name)
		for _, part := range parts {
			b.WriteByte(' ')
			if text, ok := part.(string); ok {
				b.WriteString(text)
			} else {
				shortTo(b, part.(Node))
			}
		}
	}
	quote := func(q Quote) string { return [...]string{"w", "'", "d"}[q] }
	var parts []any
	switch n := n.(type) {
	case *Script, *ScriptBlock, *Block, *Pipeline, *ExprElement:
		// Layers with only one child are omitted.
		var all []Node
		children(n, func(c Node) { all = append(all, c) })
		if len(all) == 1 {
			shortTo(b, all[0])
			return
		}
	case *Number:
		fmt.Fprintf(b, "%T:%v", n.Value, n.Value)
		return
	case *String:
		fmt.Fprintf(b, "%s%q", quote(n.Quote), n.Value)
		return
	case *Variable:
		b.WriteString([...]string{"$", "@"}[b2i(n.Splat)])
		if n.Scope != "" {
			b.WriteString(n.Scope + ":")
		}
		b.WriteString(n.Name)
		return
	case *TypeName:
		b.WriteString("[" + n.String() + "]")
		return
	case *ExpandString:
		name = quote(n.Quote)
	case *Binary:
		name = n.Op.String()
		if n.Exact {
			name = "c" + name
		}
	case *Unary:
		name = [...]string{"-not", "-bnot", "post++", "post--"}[n.Op]
	case *Command:
		name = [...]string{"call", "call&", "call."}[n.Operator]
	case *CommandParam:
		name = "-" + n.Name
	case *Member:
		name = [...]string{".", "::"}[b2i(n.Static)]
	case *Invoke:
		name = [...]string{".()", "::()"}[b2i(n.Static)]
	case *FunctionDef:
		parts = append(parts, n.Name)
	case *Flow:
		name = [...]string{"return", "throw", "exit", "break", "continue"}[n.Kind]
	case *NamedArg:
		parts = append(parts, n.Name)
	}
	children(n, func(c Node) { parts = append(parts, c) })
	list(parts...)
	b.WriteByte(')')
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]any{
		"0": int32(0), "2147483647": int32(2147483647), "2147483648": int64(2147483648), "-2147483648": int32(-2147483648),
		"9223372036854775807": int64(9223372036854775807), "-5": int32(-5), "–5": int32(-5),
		"0x1F": int32(31), "0X1f": int32(31), "0x7FFFFFFF": int32(2147483647), "0x80000000": int32(-2147483648), "0xFFFFFFFF": int32(-1),
		"0x100000000": int64(4294967296), "0x0000000000000001": int32(1), "-0x10": int32(-16), "0x1d": int32(29),
	} {
		script := parse(t, text)
		require.Len(t, script.Block.Body.Statements, 1, text)
		e, ok := script.Block.Body.Statements[0].(*Pipeline).Elements[0].(*ExprElement)
		require.True(t, ok, text)
		n, ok := e.Expr.(*Number)
		require.True(t, ok, text)
		assert.Equal(t, want, n.Value, text)
		assert.Equal(t, text, n.Text)
	}
	for _, text := range []string{"5abc", "0x", "0xg", "1e", "1.5.5", "5KBx", "30d", "1.5"} {
		assert.Equal(t, `(call w"f" w"`+text+`")`, short(parse(t, "f "+text)), text)
	}
}

// The trees have the right shape: precedence, modes, quotes.
func TestTrees(t *testing.T) {
	for _, c := range [][2]string{
		// operators
		{"1 + 2 * 3", "(+ int32:1 (* int32:2 int32:3))"},
		{"1 - 2 - 3", "(- (- int32:1 int32:2) int32:3)"},
		{"1 -2", "(- int32:1 int32:2)"},
		{"1 - -2", "(- int32:1 int32:-2)"},
		{"1,2 + 3", "(+ (ArrayLiteral int32:1 int32:2) int32:3)"},
		{",1,2", "(ArrayLiteral (ArrayLiteral int32:1) int32:2)"},
		{"$a -eq 1 -and $b -ne 2 -or $c", "(-or (-and (-eq $a int32:1) (-ne $b int32:2)) $c)"},
		{"$a -band 1 -eq 2", "(-band $a (-eq int32:1 int32:2))"},
		{"-not $a -eq $b", "(-eq (-not $a) $b)"},
		{"[int]'5' + 1", `(+ (Cast [int] '"5") int32:1)`},
		{"[string][char]65", "(Cast [string] (Cast [char] int32:65))"},
		{"$x = $y += 1", "(Assignment $x (Assignment $y int32:1))"},
		{"5 –eq 5", "(-eq int32:5 int32:5)"},
		{"1\u00a0-eq\u00851", "(-eq int32:1 int32:1)"},
		{"$x -is [int] -and $y", "(-and (-is $x (TypeExpr [int])) $y)"},

		// members
		{"$x.a.b", `(. (. $x w"a") w"b")`},
		{"$x.a(1, 2)[3]", `(Index (.() $x w"a" int32:1 int32:2) int32:3)`},
		{"$x.end", `(. $x w"end")`},
		{"$x.\n  a", `(. $x w"a")`},
		{"[int]::MaxValue", `(:: (TypeExpr [int]) w"MaxValue")`},
		{"[a.b+c]::new()", `(::() (TypeExpr [a.b+c]) w"new")`},
		{"[List[int[]]]::new(1)", `(::() (TypeExpr [List[int[]]]) w"new" int32:1)`},
		{"$a[1, 2]", "(Index $a (ArrayLiteral int32:1 int32:2))"},
		{"$a [1]", ""},

		// argument mode
		{"f a b-c 5 5x -5 $x.y", `(call w"f" w"a" w"b-c" int32:5 w"5x" w"-5" (. $x w"y"))`},
		{"f a,b , c", `(call w"f" (ArrayLiteral w"a" w"b" w"c"))`},
		{"f -a:1 -b 2 -c: 3 -s", `(call w"f" (-a int32:1) (-b) int32:2 (-c int32:3) (-s))`},
		{"f a#b #c", `(call w"f" w"a#b")`},
		{"f C:\\x\\*.txt http://a.b/c?d=e", `(call w"f" w"C:\\x\\*.txt" w"http://a.b/c?d=e")`},
		{"f @p @(1) @{a=1} {b} (c)", `(call w"f" @p (ArrayExpr int32:1) (Hash (HashEntry w"a" int32:1)) (ScriptBlockExpr (call w"b")) (Paren (call w"c")))`},
		{"f if 1.5 1..4", `(call w"f" w"if" w"1.5" w"1..4")`},
		{"f [int] [x]::y", `(call w"f" w"[int]" w"[x]::y")`},
		{"f \"a b\"c", `(call w"f" d"a b" w"c")`},
		{"& $x 1; . {2}; & 'a b'", `(Block (call& $x int32:1) (call. (ScriptBlockExpr int32:2)) (call& '"a b"))`},
		{"$x=f|g", `(Assignment $x (Pipeline (call w"f") (call w"g")))`},
		{"1,2,3 |\n  f { $_ } |\n  g", `(Pipeline (ArrayLiteral int32:1 int32:2 int32:3) (call w"f" (ScriptBlockExpr $_)) (call w"g"))`},
		{"Größe-Ändern ßé", `(call w"Größe-Ändern" w"ßé")`},
		{"param -x", `(call w"param" (-x))`},

		// strings
		{"'it''s ‘q’ ’'", ""},
		{"'it''s'", `'"it's"`},
		{"‘curly’", `'"curly"`},
		{"'a‘’b'", `'"a’b"`},
		{`“say “”hi””„`, `d"say ”hi”"`},
		{`"$env:x $x::y $_ $$"`, `(d $env:x d" " $x d"::y " $_ d" " $$)`},
		{`"$ $( ) 5$ $-"`, `(d d"$ " (SubExpr (Block)) d" 5$ $-")`},
		{"\"`$x `\"`` `n`z\"", "d\"$x \\\"` \\nz\""},
		{`"$(f ""a ""b)"`, ""},
		{`"$(f "a" 'b')"`, `(d (SubExpr (call w"f" d"a" '"b")))`},

		// variables

		// statements
		{"if(1){2}elseif(3){4}else{5}", "(If (IfClause int32:1 int32:2) (IfClause int32:3 int32:4) int32:5)"},
		{"if(1){2}\n\nelse{3}", "(If (IfClause int32:1 int32:2) int32:3)"},
		{"foreach($x in 1,2){$x}", "(ForEach $x (ArrayLiteral int32:1 int32:2) $x)"},
		{"for($i=0;$i -lt 3;$i++){1}", "(For (Assignment $i int32:0) (-lt $i int32:3) (post++ $i) int32:1)"},
		{"for(;;){break}", "(For (break))"},
		{"do{1}until(2)", "(DoLoop int32:1 int32:2)"},
		{"[CmdletBinding()]param([Parameter(Mandatory,Position=0)][ValidateSet('a')][string]$x)1", ""},
		{"return; return 1; throw 'x'; exit 3", `(Block (return) (return int32:1) (throw '"x") (exit int32:3))`},
	} {
		if c[1] == "" {
			continue
		}
		t.Run(c[0], func(t *testing.T) { assert.Equal(t, c[1], short(parse(t, c[0]))) })
	}
}

func TestSpans(t *testing.T) {
	text := "# é😀\r\nfunction Get-X {\n\t[CmdletBinding()]\n\tparam([string] $A = 'é')\n" +
		"\t\"😀$($A.Length)\" + \"$(\"x\" + $A)\"\n}"
	script := parse(t, text)
	slices := map[string]string{}
	positions := map[string][2]int{}
	Walk(script, func(n Node) bool {
		at := n.Extent()
		require.LessOrEqual(t, at.From.Offset, at.To.Offset)
		slices[short(n)] = script.Slice(at)
		positions[short(n)] = [2]int{at.From.Line, at.From.Column}
		return true
	})
	assert.Equal(t, "[string]", slices["[string]"])
	assert.Equal(t, "[CmdletBinding()]", slices["(Attribute [CmdletBinding])"])
	assert.Equal(t, "$A.Length", slices[`(. $A w"Length")`])
	assert.Equal(t, [2]int{5, 7}, positions[`(. $A w"Length")`], "an emoji is two columns")
	assert.Equal(t, `"x" + $A`, slices[`(+ d"x" $A)`], "a nested text has the places of the source")
	f := script.Block.Body.Statements[0].(*FunctionDef)
	assert.Equal(t, [2]int{2, 1}, [2]int{f.From.Line, f.From.Column})
	assert.Equal(t, "Get-X", script.Slice(f.NameSpan))
	assert.True(t, strings.HasPrefix(script.Slice(f.Body.Span), "\n\t[CmdletBinding()]"))
	assert.True(t, strings.HasSuffix(script.Slice(f.Body.Span), "\n"))
	assert.Equal(t, text, script.Slice(script.Extent()))
	assert.Equal(t, "[string] $A = 'é'", script.Slice(f.Body.Param.Params[0].Span))
}

func TestWalkStops(t *testing.T) {
	var seen []string
	Walk(parse(t, "f { g } (h)"), func(n Node) bool {
		if c, ok := n.(*Command); ok {
			seen = append(seen, c.Name.(*String).Value)
		}
		_, block := n.(*ScriptBlockExpr)
		return !block
	})
	assert.Equal(t, []string{"f", "h"}, seen)
	Walk(nil, func(Node) bool { t.Error("nothing to visit"); return true })
}

func TestPositionsOfAnyText(t *testing.T) {
	for _, text := range []string{"", "a\r\nb\rc\nd", strings.Repeat("é😀\xff\xed\xa0\x80x", 400),
		"\xed\xa0\x80\xed\xb0\x80", "😀\n" + strings.Repeat("ä", 700)} {
		p := newPositions(text)
		line, column := 1, 1
		for at := 0; at < len(text); {
			require.Equal(t, Pos{at, line, column}, p.at(at), "%q", text[:at])
			c, n := decode(text[at:])
			if c == '\n' || c == '\r' && !strings.HasPrefix(text[at+1:], "\n") {
				line, column = line+1, 1
			} else {
				column += width(c)
			}
			at += n
		}
	}
}
