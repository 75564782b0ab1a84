package scripts

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adgateway/ps/cmdlets"
	"adgateway/ps/syntax"
	"adgateway/test/conformance"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite testdata/unrecorded.txt and declarations.json")

// A feature is one use of .NET or the language in a text: a member, an operator or a
// built-in command, with the shapes of its operands or arguments.
type feature struct {
	name   string
	shapes []string
}

func (f feature) key() string { return f.name + " " + strings.Join(f.shapes, ", ") }

// anyValue is the shape of a value whose type is not visible in the text.
const anyValue = "value"

// shape describes an operand by its type, as far as the type is visible in the text.
func shape(e syntax.Node) string {
	switch e := e.(type) {
	case nil:
		return "nothing"
	case *syntax.Number:
		return "number"
	case *syntax.String, *syntax.ExpandString:
		return "text"
	case *syntax.Cast:
		return "[" + bareName(e.Type) + "]"
	case *syntax.TypeExpr:
		return "type"
	case *syntax.ArrayLiteral, *syntax.ArrayExpr:
		return "array"
	case *syntax.Hash:
		return "table"
	case *syntax.ScriptBlockExpr:
		return "block"
	case *syntax.Variable:
		switch strings.ToLower(e.Name) {
		case "true", "false":
			return "[bool]"
		case "null":
			return "null"
		}
	case *syntax.Member:
		if t, ok := e.Target.(*syntax.TypeExpr); ok && e.Static {
			return "of [" + bareName(t.Type) + "]"
		}
	case *syntax.Unary:
		if e.Op == syntax.Not {
			return "[bool]"
		}
	case *syntax.Binary:
		switch e.Op {
		case syntax.Add, syntax.Sub, syntax.Mul, syntax.Div, syntax.Mod, syntax.BitAnd, syntax.BitOr, syntax.ShiftRight, syntax.Join, syntax.Replace:
		default:
			return "[bool]"
		}
	case *syntax.Paren:
		if inner := sole(e); inner != nil && inner != syntax.Expr(e) {
			return shape(inner)
		}
	}
	return anyValue
}

func shapes(list []syntax.Expr) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = shape(e)
	}
	return out
}

// properties returns the names of the properties in the tables, in lower case.
func properties() map[string]bool {
	known := map[string]bool{}
	for _, t := range cmdlets.Types() {
		for _, m := range t.Members {
			if !m.Method {
				known[strings.ToLower(m.Name)] = true
			}
		}
	}
	return known
}

// features calls do for each feature of a text, with its node.
func features(script *syntax.Script, known map[string]bool, do func(feature, syntax.Node)) {
	add := func(n syntax.Node, name string, shapes ...string) { do(feature{strings.ToLower(name), shapes}, n) }
	member := func(n syntax.Node, target, name syntax.Expr, static bool, args []syntax.Expr, call bool) {
		written, ok := literal(name)
		t, isType := target.(*syntax.TypeExpr)
		switch {
		case !ok:
		case static && isType && call:
			add(n, "["+bareName(t.Type)+"]::"+written+"()", shapes(args)...)
		case static && isType:
			add(n, "["+bareName(t.Type)+"]::"+written)
		case call:
			add(n, "."+written+"()", shapes(args)...)
		case known[strings.ToLower(written)]:
			add(n, "."+written)
		}
	}
	syntax.Walk(script, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Member:
			member(n, n.Target, n.Name, n.Static, nil, false)
		case *syntax.Invoke:
			member(n, n.Target, n.Name, n.Static, n.Args, true)
		case *syntax.Binary:
			name := n.Op.String()
			if n.Exact {
				name = "-c" + name[1:]
			}
			if t, ok := n.Right.(*syntax.TypeExpr); ok {
				add(n, name+" ["+bareName(t.Type)+"]", shape(n.Left))
				break
			}
			add(n, name, shape(n.Left), shape(n.Right))
		case *syntax.Unary:
			add(n, [...]string{"-not", "-bnot", "++", "--"}[n.Op], shape(n.Operand))
		case *syntax.Cast:
			add(n, "cast ["+bareName(n.Type)+"]", shape(n.Operand))
		case *syntax.Command:
			command(n, add)
		}
		return true
	})
}

// command adds a built-in command once for each of its arguments.
func command(n *syntax.Command, add func(syntax.Node, string, ...string)) {
	name := commandName(n)
	if full, ok := cmdlets.AliasTarget(name); ok {
		name = full
	}
	if builtins()[strings.ToLower(name)] == nil {
		return
	}
	for i := 0; i < len(n.Args); i++ {
		switch arg := n.Args[i].(type) {
		case *syntax.CommandParam:
			value := "switch"
			if arg.Value != nil {
				value = shape(arg.Value)
			} else if i+1 < len(n.Args) {
				if next, ok := n.Args[i+1].(syntax.Expr); ok {
					value = shape(next)
					i++
				}
			}
			add(n, name+" -"+arg.Name, value)
		case syntax.Expr:
			add(n, name, shape(arg))
		}
	}
	if len(n.Args) == 0 {
		add(n, name)
	}
}

// covers reports whether the recorded feature f demonstrates used. That is the case if their shapes are the
// same, except where one of the two texts does not show the type.
func (f feature) covers(used feature) bool {
	if len(f.shapes) != len(used.shapes) {
		return false
	}
	for i, have := range f.shapes {
		if want := used.shapes[i]; have != want && have != anyValue && want != anyValue {
			return false
		}
	}
	return true
}

// recorded lists the features in the recordings by name. It skips texts that the parser refuses.
func recorded(t *testing.T, known map[string]bool) map[string][]feature {
	t.Helper()
	var language struct{ Cases []struct{ Source string } }
	var members struct{ Cases []struct{ Line string } }
	var sessions struct{ Cases []struct{ Stdin string } }
	require.NoError(t, conformance.Read("language", &language))
	require.NoError(t, conformance.Read("members", &members))
	require.NoError(t, conformance.Read("session", &sessions))
	var texts []string
	for _, c := range language.Cases {
		texts = append(texts, c.Source)
	}
	for _, c := range members.Cases {
		texts = append(texts, c.Line)
	}
	for _, c := range sessions.Cases {
		texts = append(texts, strings.Split(c.Stdin, "\n")...)
	}
	out := map[string][]feature{}
	for _, text := range texts {
		script, errs := syntax.Parse("", text)
		if len(errs) > 0 {
			continue
		}
		features(script, known, func(f feature, _ syntax.Node) { out[f.name] = append(out[f.name], f) })
	}
	return out
}

// running returns the texts that the sessions of the gateway and of the doctor run.
func running(t *testing.T) map[string]string {
	t.Helper()
	const decoded = "([scriptblock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('eA=='))))"
	// as in ps/session
	out := map[string]string{"boot line": ". " + decoded +
		"; Set-Item -LiteralPath 'function:global:Get-X' -Value " + decoded}
	for name, text := range shipped(t) {
		if strings.HasSuffix(name, ".ps1") {
			out[name] = text
		}
	}
	return out
}

// TestUsesAreRecorded: every use of .NET or the language in a script is in a recording of a
// real engine, or is listed in testdata/unrecorded.txt with the expression to be recorded. A
// new use fails the test until it is listed.
func TestUsesAreRecorded(t *testing.T) {
	known := properties()
	have := recorded(t, known)
	missing := map[string]string{} // by key: the place and the expression
	texts := running(t)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		script, errs := syntax.Parse(name, texts[name])
		require.Empty(t, errs, name)
		features(script, known, func(f feature, n syntax.Node) {
			if !slices.ContainsFunc(have[f.name], func(r feature) bool { return r.covers(f) }) &&
				missing[f.key()] == "" {
				missing[f.key()] = name + "\t" + strings.Join(strings.Fields(script.Slice(n.Extent())), " ")
			}
		})
	}
	path := filepath.Join("testdata", "unrecorded.txt")
	if *update {
		var text strings.Builder
		text.WriteString("# What scripts use and no recording of a real engine shows, by operands: the use, a " +
			"script, the line to record.\n")
		for _, key := range slices.Sorted(maps.Keys(missing)) {
			text.WriteString(key + "\t" + missing[key] + "\n")
		}
		require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o644))
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	listed := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if key, _, ok := strings.Cut(line, "\t"); ok {
			listed[key] = true
			assert.Contains(t, missing, key,
				"recorded or no longer used: go test ./scripts -run TestUsesAreRecorded -update")
		}
	}
	for key, where := range missing {
		assert.True(t, listed[key], "no recording shows %s (%s): use a form that is recorded, or list it with "+
			"-update", key, where)
	}
}
