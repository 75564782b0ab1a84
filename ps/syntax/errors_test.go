package syntax

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// errorCases are texts with the id, line and column of their first error. incomplete means that more text
// could make a text valid.
var errorCases = []struct {
	text, id     string
	line, column int
	incomplete   bool
}{
	{"'abc", "TerminatorExpectedAtEndOfString", 1, 1, true},
	{"f 'a' \"b $x", "TerminatorExpectedAtEndOfString", 1, 7, true},
	{"\"a $(1 + 2", "IncompleteDollarSubexpressionReference", 1, 4, true},
	{"${abc", "IncompleteDollarVariableReference", 1, 2, true},
	{"${}", "EmptyVariableReference", 1, 3, false},
	{"$x:", "InvalidVariableReferenceWithDrive", 1, 1, false},
	{"\"$x: y\"", "InvalidVariableReferenceWithDrive", 1, 2, false},
	{"@", "UnrecognizedToken", 1, 1, false},

	{"{ 1", "MissingEndCurlyBrace", 1, 1, true},
	{"function f {\n'a'\n", "MissingEndCurlyBrace", 1, 12, true},
	{"f { 1 # comment", "MissingEndCurlyBrace", 1, 3, true},
	{"@{ a = 1", "MissingEndCurlyBrace", 1, 3, true},
	{"@{ a = 1 ) ", "MissingEndCurlyBrace", 1, 3, true},
	{"@{ a = 1 ) 2", "MissingEndCurlyBrace", 1, 3, false},
	{"@{ a }", "MissingEqualsInHashLiteral", 1, 5, false},
	{"@{ a = }", "MissingStatementInHashLiteral", 1, 7, false},
	{"(", "ExpectedExpression", 1, 2, true},
	{"()", "ExpectedExpression", 1, 2, false},
	{"(1 + 2", "MissingEndParenthesisInExpression", 1, 7, true},
	{"(1 2)", "UnexpectedToken", 1, 4, false},
	{"$(1", "MissingEndParenthesisInSubexpression", 1, 4, true},
	{"@(1; 2", "MissingEndParenthesisInSubexpression", 1, 7, true},
	{"$x.m(1", "MissingEndParenthesisInMethodCall", 1, 7, true},
	{"$x.m(1,)", "MissingExpressionAfterToken", 1, 8, false},
	{"$x.", "MissingPropertyName", 1, 4, true},
	{"$x[", "MissingArrayIndexExpression", 1, 4, true},
	{"$x[1", "MissingEndSquareBracket", 1, 5, true},
	{"}", "UnexpectedToken", 1, 1, false},
	{"1; )", "UnexpectedToken", 1, 4, false},

	{"1 +", "ExpectedValueExpression", 1, 4, true},
	{"1 + \n", "ExpectedValueExpression", 1, 4, true},
	{"$x = ", "ExpectedValueExpression", 1, 5, true},
	{"-not", "MissingExpressionAfterOperator", 1, 5, true},
	{"1,", "MissingExpressionAfterToken", 1, 3, true},
	{"1 -foo 2", "UnexpectedToken", 1, 3, false},
	{"1 2", "UnexpectedToken", 1, 3, false},
	{"'a' 'b'", "UnexpectedToken", 1, 5, false},
	{"f a,", "MissingExpression", 1, 5, true},
	{"f , a", "MissingArgument", 1, 3, false},
	{"f -a:", "ParameterRequiresArgument", 1, 6, false},
	{"&", "MissingExpression", 1, 1, false},
	{"f |", "EmptyPipeElement", 1, 4, true},
	{"f | ; 1", "EmptyPipeElement", 1, 4, false},
	{"| f", "EmptyPipeElement", 1, 1, false},
	{"f | 1", "ExpressionsMustBeFirstInPipeline", 1, 5, false},

	{"if", "MissingOpenParenthesisInIfStatement", 1, 3, true},
	{"if ()", "IfStatementMissingCondition", 1, 5, false},
	{"if ($x", "MissingEndParenthesisAfterStatement", 1, 7, true},
	{"if ($x)", "MissingStatementBlock", 1, 7, true},
	{"if ($x) { } else", "MissingStatementBlockAfterElse", 1, 17, true},
	{"while", "MissingOpenParenthesisAfterKeyword", 1, 6, true},
	{"while ()", "MissingExpressionAfterKeyword", 1, 8, false},
	{"while ($x)", "MissingLoopStatement", 1, 11, true},
	{"do { }", "MissingWhileOrUntilInDoWhile", 1, 7, true},
	{"for (1) ", "MissingLoopStatement", 1, 8, true},
	{"for (;;", "MissingEndParenthesisAfterStatement", 1, 8, true},
	{"foreach", "MissingOpenParenthesisAfterKeyword", 1, 8, true},
	{"foreach (", "MissingVariableNameAfterForeach", 1, 10, true},
	{"foreach ($x", "MissingInInForeach", 1, 12, true},
	{"foreach ($x in", "MissingForeachExpression", 1, 15, true},
	{"foreach ($x in 1", "MissingEndParenthesisAfterForeach", 1, 17, true},
	{"foreach ($x in 1)", "MissingForeachStatement", 1, 18, true},
	{"switch", "PipelineValueRequired", 1, 7, true},
	{"switch (1", "MissingEndParenthesisInSwitchStatement", 1, 10, true},
	{"switch (1)", "MissingCurlyBraceInSwitchStatement", 1, 11, true},
	{"switch (1) {", "MissingSwitchConditionExpression", 1, 13, true},
	{"switch (1) { 1", "MissingSwitchStatementClause", 1, 15, true},
	{"switch (1) { 1 { }", "MissingEndCurlyBrace", 1, 12, true},
	{"function", "MissingNameAfterKeyword", 1, 9, true},
	{"function f", "MissingFunctionBody", 1, 11, true},
	{"[int] param($x)", "TypeNotAllowedBeforeParam", 1, 1, false},
	{"param([int] $x", "MissingEndParenthesisInFunctionParameterList", 1, 15, true},
	{"param($x, $X)", "DuplicateFormalParameter", 1, 11, false},
	{"try", "MissingTryStatementBlock", 1, 4, true},
	{"try { }", "MissingCatchOrFinally", 1, 8, true},
	{"try { } catch", "MissingCatchHandlerBlock", 1, 14, true},
	{"try { } finally", "MissingFinallyStatementBlock", 1, 16, true},

	{"[int", "EndSquareBracketExpectedAtEndOfAttribute", 1, 5, false},
	{"[", "MissingTypename", 1, 2, true},
	{"[List[", "MissingTypename", 1, 7, true},
	{"[Alias('a'", "MissingEndParenthesisInExpression", 1, 11, true},
	{"[Alias('a')", "EndSquareBracketExpectedAtEndOfAttribute", 1, 12, true},
	{"[Alias('a')]", "UnexpectedAttribute", 1, 1, true},

	{"1 = 2", "InvalidLeftHandSide", 1, 1, false},
	{"f() = 2", "ExpectedExpression", 1, 3, false},
	{"@{ a = 1; 'A' = 2 }", "DuplicateKeyInHashLiteral", 1, 11, false},
	{"[ordered] 5", "OrderedAttributeOnlyOnHashLiteralNode", 1, 1, false},
	{"$x = @p", "SplattingNotPermitted", 1, 6, false},
	{"f 1,@p", "SplattingNotPermittedInArgumentList", 1, 5, false},
	{"try { } finally { return }", "ControlLeavingFinally", 1, 19, false},
	{"try { } finally { break }", "ControlLeavingFinally", 1, 19, false},

	{"'é€😀'; 1 2", "UnexpectedToken", 1, 11, false},
	{"'a\nb'\r\n1\r2 3", "UnexpectedToken", 4, 3, false},
}

func TestErrors(t *testing.T) {
	for _, c := range errorCases {
		t.Run(c.text, func(t *testing.T) {
			script, errs := Parse("file.ps1", c.text)
			require.NotEmpty(t, errs)
			assert.Nil(t, script)
			e := errs[0]
			assert.Equal(t, c.id, e.ID, "%v", e)
			assert.Equal(t, [2]int{c.line, c.column}, [2]int{e.Pos.Line, e.Pos.Column}, "%v", e)
			assert.Equal(t, c.incomplete, e.Incomplete)
			assert.False(t, e.Outside)
			assert.Equal(t, "file.ps1", e.File)
			assert.NotContains(t, e.Message, "{0}")
			assert.NotEmpty(t, e.Message)
		})
	}
}

func TestAllErrorsAreReported(t *testing.T) {
	_, errs := Parse("", "1 2\n@{a=1;a=2}\n3 4\n$x = \"`e\"")
	var ids []string
	for _, e := range errs {
		ids = append(ids, fmt.Sprintf("%d %s", e.Pos.Line, e.ID))
	}
	assert.Equal(t, []string{"1 UnexpectedToken", "3 UnexpectedToken", "4 OutsideSubset"}, ids)

	_, errs = Parse("", strings.Repeat("1 2\n", 1000))
	assert.Len(t, errs, maxErrors)
}

// TestIncompleteLines: as long as lines of a function are missing, the first error is marked
// as incomplete, so a host that reads line by line continues to read.
func TestIncompleteLines(t *testing.T) {
	text := "function Get-Thing {\n    [CmdletBinding()]\n    param(\n        [Parameter(Mandatory)]\n" +
		"        [string] $Name\n    )\n" +
		"    if ($Name -eq\n        'x') {\n        @{\n            a = 'b\nc'\n        }\n    } else {\n" +
		"        \"$(\n1)\"\n    }\n    try {\n        1\n    }\n    catch {\n    }\n" +
		"    1 |\n        f\n}"
	lines := strings.Split(text, "\n")
	for n := 1; n < len(lines); n++ {
		_, errs := Parse("", strings.Join(lines[:n], "\n"))
		require.NotEmpty(t, errs, "%d lines", n)
		assert.True(t, errs[0].Incomplete, "%d lines: %v", n, errs[0])
	}
	_, errs := Parse("", text)
	assert.Empty(t, errs)
}

func TestDeepTextsAreRefused(t *testing.T) {
	repeat := strings.Repeat
	for name, text := range map[string]string{
		"parentheses":  repeat("(", 100_000),
		"closed ones":  repeat("(", 2_000) + "1" + repeat(")", 2_000),
		"blocks":       repeat("{", 100_000),
		"statements":   repeat("if(1){", 100_000),
		"sums":         "1" + repeat("+1", 100_000),
		"members":      "$x" + repeat(".a", 100_000),
		"indexes":      "$x" + repeat("[1]", 100_000),
		"casts":        repeat("[int]", 100_000) + "1",
		"nots":         repeat("-not ", 100_000) + "1",
		"commas":       repeat(",", 100_000) + "1",
		"strings":      repeat("\"$(", 2_000) + "1" + repeat(")\"", 2_000),
		"types":        repeat("[a", 100_000),
		"assignments":  repeat("$a=", 100_000) + "1",
		"elses":        repeat("if(1){}else{", 100_000),
		"functions":    repeat("function f{", 100_000),
		"hashes":       repeat("@{a=", 100_000),
		"method calls": repeat("$x.m(", 100_000),
		"arguments":    repeat("f $(", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			_, errs := Parse("", text)
			require.NotEmpty(t, errs)
			assert.Equal(t, IDTooDeep, errs[0].ID, "%v", errs[0])
		})
	}
	for name, text := range map[string]string{
		"parentheses": repeat("(", 100) + "1" + repeat(")", 100),
		"sums":        "1" + repeat("+1", 500),
		"long list":   "1" + repeat(",1", 50_000),
		"long script": repeat("$x = 1\n", 50_000),
		"long switch": "switch (1) {" + repeat("1 { }\n", 10_000) + "}",
	} {
		t.Run("allowed/"+name, func(t *testing.T) {
			_, errs := Parse("", text)
			assert.Empty(t, errs)
		})
	}
}

// TestTimeIsBounded: long texts, most of which a lexer with two modes could rescan many
// times, are parsed in time.
func TestTimeIsBounded(t *testing.T) {
	for _, piece := range []string{
		"$x$x", "\"$x!", "\"$xé", "[int]=", "2>&1]", ":a 2>&1", "<#>$null", "f $x.a.", "f $x[1]", "[int]", "`$(", "f a,b ", "a|", "{[a({", "@{a=", "\"\"$(", "-x", "#\n",
	} {
		t.Run(piece, func(t *testing.T) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				Parse("", strings.Repeat(piece, 40_000/len(piece)))
			}()
			select {
			case <-done:
			case <-time.After(3 * time.Minute):
				t.Fatal("it takes too long")
			}
		})
	}
}
