package main

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"text/template/parse"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ui/frame"
)

// TestMembersOfAllTemplatesAreFound compares the names with those in the parsed templates.
func TestMembersOfAllTemplatesAreFound(t *testing.T) {
	t.Chdir("../..")
	found, err := templateMembers()
	require.NoError(t, err)
	assert.Subset(t, found, []string{"Version"}, "a template of cobra's, in a string")
	assert.Subset(t, found, []string{"Entries"}, "a method of the manual's layout")
	parsed := map[string]bool{}
	for _, pages := range frame.Templates() {
		for _, page := range pages {
			for _, each := range page.Templates() {
				if each.Tree != nil {
					addMembers(reflect.ValueOf(each.Tree.Root), parsed)
				}
			}
		}
	}
	require.Greater(t, len(parsed), 100)
	for name := range parsed {
		assert.Contains(t, found, name)
	}
}

// addMembers adds the names of fields and methods below a node of a template.
func addMembers(v reflect.Value, to map[string]bool) {
	switch node := v.Interface().(type) {
	case *parse.FieldNode:
		addAll(node.Ident, to)
		return
	case *parse.ChainNode:
		addAll(node.Field, to)
	case *parse.VariableNode:
		addAll(node.Ident[1:], to)
		return
	}
	v = reflect.Indirect(v)
	if v.Kind() == reflect.Interface {
		v = reflect.Indirect(v.Elem())
	}
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			addMembers(v.Index(i), to)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			branch := field.Anonymous && field.Type.Kind() == reflect.Struct
			if field.IsExported() && (branch || refersToNodes(field.Type)) && !v.Field(i).IsZero() {
				addMembers(v.Field(i), to)
			}
		}
	}
}

// refersToNodes reports whether the values of a type are nodes of a template or lists of them.
func refersToNodes(t reflect.Type) bool {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t.Implements(reflect.TypeFor[parse.Node]())
}

func addAll(names []string, to map[string]bool) {
	for _, name := range names {
		to[name] = true
	}
}

func TestStringsThatAreAddedAreOne(t *testing.T) {
	const source = "package p\nvar a, b = \"{{.One}} {{if\" +\n\t` .Two}}{{end}}`, \"three\"\n"
	assert.Equal(t, []string{"{{.One}} {{if .Two}}{{end}}", "three"}, stringsOf([]byte(source)))
}

// TestAnotherTextTemplateIsRefused: a release is not built with a version of Go that finds methods in
// another way. The error names the file that must be adapted.
func TestAnotherTextTemplateIsRefused(t *testing.T) {
	_, err := withNamedMethods([]byte("package template\n"), []string{"Name"})
	require.ErrorContains(t, err, "has 0 lines")
	assert.ErrorContains(t, err, "adapt cmd/release/methods.go")

	root, err := goTool(t.Context(), target{runtime.GOOS, runtime.GOARCH}, "env", "GOROOT")
	require.NoError(t, err)
	goroot := strings.TrimSpace(string(root))
	source, err := os.ReadFile(filepath.Join(goroot, "src", "text", "template", "exec.go"))
	require.NoError(t, err)
	changed, err := withNamedMethods(source, []string{"Name", "Title"})
	require.NoError(t, err)
	assert.NotContains(t, string(changed), "MethodByName(fieldName)")
	assert.Contains(t, string(changed), `v.MethodByName("Title")`)
}

// TestPagesOfARelease runs the tests of the pages and of the manual with what a release replaces.
func TestPagesOfARelease(t *testing.T) {
	if !*builds {
		t.Skip("it compiles the pages anew: make release-check")
	}
	t.Chdir("../..")
	host := target{runtime.GOOS, runtime.GOARCH}
	overlay, err := overlaid(t.Context(), host, t.TempDir())
	require.NoError(t, err)
	said, err := goTool(t.Context(), host, "test", "-count=1", "-vet=off", "-ldflags=-s -w", "-overlay", overlay,
		"./gateway/ui/...", "./gateway/manual/site", "./test/pages",
		"./scripts", "./ps/cmdlets", "./ps/sandbox/directory")
	require.NoError(t, err, "%s", said)
}
