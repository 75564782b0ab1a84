package bounds

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// declared returns the kinds of stored values, and the logs, that the gateway's packages declare.
func declared(t *testing.T) (kinds, logs map[string]string) {
	t.Helper()
	kinds, logs = map[string]string{}, map[string]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is {
				return true
			}
			of, is := spec.Type.(*ast.SelectorExpr)
			if !is || len(spec.Values) == 0 {
				return true
			}
			for _, value := range spec.Values {
				text, is := value.(*ast.BasicLit)
				if !is || text.Kind != token.STRING {
					continue
				}
				name, err := strconv.Unquote(text.Value)
				switch of.X.(*ast.Ident).Name + "." + of.Sel.Name {
				case "store.Kind":
					kinds[name] = path
				case "store.Log":
					logs[name] = path
				}
				assert.NoError(t, err)
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	return kinds, logs
}

// TestEverythingInTheStoreHasABound: each kind and each log in the store is bounded by exactly one
// row.
func TestEverythingInTheStoreHasABound(t *testing.T) {
	kinds, logs := declared(t)
	require.Contains(t, kinds, "jobspec")
	require.Contains(t, logs, "changes")
	rows := map[string]string{}
	for _, row := range Table() {
		for _, name := range append(append([]string{}, row.Kinds...), row.Logs...) {
			_, isKind := kinds[name]
			_, isLog := logs[name]
			assert.True(t, isKind || isLog, "%s: nothing in the store is called %s", row.Name, name)
		}
		for _, kind := range row.Kinds {
			assert.Empty(t, rows["kind "+kind], "%s has two rows", kind)
			rows["kind "+kind] = row.Name
		}
		for _, log := range row.Logs {
			assert.Empty(t, rows["log "+log], "%s has two rows", log)
			rows["log "+log] = row.Name
		}
	}
	for kind, path := range kinds {
		assert.NotEmpty(t, rows["kind "+kind], "the kind %s of %s has no bound: give it a row in bounds.Table",
			kind, path)
	}
	for log, path := range logs {
		assert.NotEmpty(t, rows["log "+log], "the log %s of %s has no bound: give it a row in bounds.Table", log,
			path)
	}
}

// TestRowsAreWhole: each row has its limits, what happens beyond them and how to make room.
func TestRowsAreWhole(t *testing.T) {
	names := map[string]bool{}
	for _, row := range Table() {
		assert.False(t, names[row.Name], row.Name)
		names[row.Name] = true
		assert.NotEmpty(t, row.What, row.Name)
		assert.NotEmpty(t, row.Answer, row.Name)
		assert.NotEmpty(t, row.Remove, row.Name)
		assert.NotEqual(t, "that of each caller", row.Each)
		if row.Setting() == "" && row.Own == 0 && row.Total == 0 {
			assert.NotEmpty(t, row.Each, row.Name)
			assert.NotEmpty(t, row.All, row.Name)
		}
	}
}

func TestWhatIsFullIsToldInSentences(t *testing.T) {
	full := &Full{Row: Jobs, Own: true, Used: 500 << 20, Most: 512 << 20}
	assert.Equal(t, "The credential has 500.0 MiB of 512.0 MiB for jobs, which is the quarter that one may "+
		"have (jobs.maxStored). "+
		"To make room: DELETE /api/Jobs/{JobId}/Record removes one that has ended.", full.Sentences())
}
