package layout

import (
	"go/parser"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExceptionsOnlyShrink: a size that exceeds its exception is an error, and so is an exception that is too
// large or not needed. An update lowers exceptions, and raises them only on request.
func TestExceptionsOnlyShrink(t *testing.T) {
	l := limit{name: "tests", most: 10, what: "things"}
	listed := map[string]int{"grown": 12, "same": 12, "shrunk": 12, "small": 12, "gone": 12}
	counted := map[string]size{
		"grown": {13, []string{"a", "b"}}, "same": {n: 12}, "shrunk": {n: 11},
		"small": {n: 10}, "new": {n: 11}, "good": {n: 1},
	}
	complaints := strings.Join(l.compare(listed, counted), "\n")
	assert.Equal(t, `gone: 0 things, the exception is not needed; run go test ./test/layout -update
grown: 13 things, may be 12 (a, b)
new: 11 things, may be 10
shrunk: 11 things, the exception says 12; run go test ./test/layout -update
small: 10 things, the exception is not needed; run go test ./test/layout -update`, complaints)

	lowered := l.updated(listed, counted, false)
	assert.Equal(t, map[string]int{"grown": 12, "same": 12, "shrunk": 11}, lowered)
	assert.Len(t, l.compare(lowered, counted), 2, "what has grown is still refused")

	raised := l.updated(listed, counted, true)
	assert.Equal(t, map[string]int{"grown": 13, "same": 12, "shrunk": 11, "new": 11}, raised)
	assert.Empty(t, l.compare(raised, counted))
}

// TestSizesAreCounted counts the sizes in a file with known numbers.
func TestSizesAreCounted(t *testing.T) {
	long := strings.Repeat("x", widest)
	text := `package p

type (
	wide struct{ a, b int; c string; error }
	list[T any] []T
)

func (w *wide) one() {
	_ = []string{
		"` + long + `",
		func() string {
			return "` + long + `"
		}(),
	}
}

func (l list[T]) two() { _ = "` + long + `" } // ` + long + `

var raw = ` + "`" + long + "`" + `

func init() {}
`
	file, err := parser.ParseFile(sharedFiles, "p.go", text, parser.ParseComments)
	require.NoError(t, err)
	all := []source{{path: "d/p.go", dir: "d", file: file, text: []byte(text)}}

	assert.Equal(t, map[string]size{"d/p.go": {n: 21}}, fileLines(t, all))
	functions := map[string]size{"d/p.go wide.one": {n: 8}, "d/p.go list.two": {n: 1}, "d/p.go init": {n: 1}}
	assert.Equal(t, functions, functionLines(t, all))
	assert.Equal(t, map[string]size{"d/p.go": {2, []string{"line 12", "line 17"}}}, wideLines(t, all))
	assert.Equal(t, map[string]size{"d.wide": {n: 4}}, structFields(t, all))
	assert.Equal(t, map[string]size{"d.wide": {n: 1}, "d.list": {n: 1}}, methods(t, all))
	place := size{1, []string{"p.go"}}
	assert.Equal(t, map[string]size{"d.wide": place, "d.list": place}, methodFiles(t, all))
}

func TestTheLargestCircleIsFound(t *testing.T) {
	to := func(files ...string) map[string]bool {
		all := map[string]bool{}
		for _, file := range files {
			all[file] = true
		}
		return all
	}
	assert.Nil(t, largestCircle(graph{"a": to("a", "b"), "b": to("c")}))
	circle := largestCircle(graph{
		"a": to("b"), "b": to("c", "d"), "c": to("a"), "d": to("e"), "e": to("d"), "f": to("a"),
	})
	assert.Equal(t, []string{"a", "b", "c"}, circle)
}
