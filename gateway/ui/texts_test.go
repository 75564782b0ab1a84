package ui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	tree "text/template/parse"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
)

// keysInGo returns the keys of texts in the package's Go files.
func keysInGo(t *testing.T) (keys []string) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	below, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	names = append(names, below...)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || len(call.Args) == 0 {
				return true
			}
			function, is := call.Fun.(*ast.SelectorExpr)
			if !is || function.Sel.Name != "Of" && function.Sel.Name != "Count" {
				return true
			}
			if of, is := function.X.(*ast.Ident); !is || of.Name != "texts" {
				return true
			}
			if key, is := call.Args[0].(*ast.BasicLit); is {
				text, err := strconv.Unquote(key.Value)
				require.NoError(t, err)
				keys = append(keys, text)
				if function.Sel.Name == "Count" {
					keys = append(keys, text+".one")
				}
			}
			return true
		})
	}
	return keys
}

// keysInTemplates returns the keys of texts in the templates.
func keysInTemplates() (keys []string) {
	var walk func(node tree.Node)
	list := func(all *tree.ListNode) {
		if all != nil {
			for _, one := range all.Nodes {
				walk(one)
			}
		}
	}
	branch := func(b *tree.BranchNode) {
		walk(b.Pipe)
		list(b.List)
		list(b.ElseList)
	}
	walk = func(node tree.Node) {
		switch n := node.(type) {
		case *tree.ActionNode:
			walk(n.Pipe)
		case *tree.PipeNode:
			for _, command := range n.Cmds {
				walk(command)
			}
		case *tree.CommandNode:
			if name, is := n.Args[0].(*tree.IdentifierNode); is && name.Ident == "t" {
				if key, is := n.Args[1].(*tree.StringNode); is {
					keys = append(keys, key.Text)
				}
			}
			for _, one := range n.Args {
				walk(one)
			}
		case *tree.IfNode:
			branch(&n.BranchNode)
		case *tree.WithNode:
			branch(&n.BranchNode)
		case *tree.RangeNode:
			branch(&n.BranchNode)
		}
	}
	for _, page := range frame.Templates()[texts.English] {
		for _, one := range page.Templates() {
			if one.Tree != nil {
				list(one.Tree.Root)
			}
		}
	}
	return keys
}

func TestEveryTextIsInTheTable(t *testing.T) {
	keys := append(keysInGo(t), keysInTemplates()...)
	assert.Greater(t, len(keys), 100)
	for _, key := range keys {
		assert.True(t, texts.Has(key), key)
	}
	for _, scope := range identity.Scopes() {
		if what, verb, has := strings.Cut(string(scope), ":"); has {
			assert.True(t, texts.Has("right."+what) && texts.Has("right.verb."+verb), scope)
		}
	}
}

func TestEveryNamedValueHasAWord(t *testing.T) {
	for field, values := range map[string][]string{
		"zoneType": schema.ZoneTypes, "dynamicUpdate": schema.DynamicUpdates, "plan.undo": schema.Undoables, "check.state": {schema.CheckPassed, schema.CheckFailed, schema.NotChecked}, "job.state": jobstate.Jobs,
		"item.state": jobstate.Items,
	} {
		for _, value := range values {
			assert.True(t, texts.Has("word."+field+"."+value), "%s %s", field, value)
		}
	}
	for _, mode := range jobstate.Modes {
		assert.Contains(t, work.Modes, jobstate.Mode(mode))
	}
	assert.Equal(t, say.Word{Text: texts.Raw("new")}, say.WordOf("job.state", "new"), "of a newer API")
	assert.Equal(t, say.Word{}, say.WordOf("enabled", []any{true}))
	codes := []string{}
	for _, row := range say.Logons {
		codes = append(codes, row.Code)
	}
	for _, field := range schema.LogonState.Fields {
		if field.Name == "verdicts" {
			assert.ElementsMatch(t, field.Of[0].Enum, codes)
		}
	}
}
