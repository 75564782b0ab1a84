package layout

import (
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// circles counts the files in the largest reference cycle of each package, without tests. A file refers to
// another file if it uses a name, a method or a field that the other file declares.
func circles(t *testing.T, all []source) map[string]size {
	listed := list(t)
	imports := importer.ForCompiler(sharedFiles, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(listed[path].export)
	})
	counted := map[string]size{}
	for dir, files := range byPackage(all, listed) {
		circle := largestCircle(references(t, dir, files, imports))
		counted[dir] = size{len(circle), circle}
	}
	return counted
}

// A listed package is described by the go command.
type listed struct {
	export string   // built on this system
	files  []string // files that are built on this system
}

// list returns all packages that are built, by path.
func list(t *testing.T) map[string]listed {
	t.Helper()
	const format = "{{.ImportPath}}\t{{.Export}}\t{{join .GoFiles \" \"}}"
	command := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", format, "./...")
	command.Dir = filepath.Join("..", "..")
	command.Stderr = os.Stderr
	out, err := command.Output()
	require.NoError(t, err)
	packages := map[string]listed{}
	for line := range strings.Lines(string(out)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Len(t, columns, 3, line)
		packages[columns[0]] = listed{columns[1], strings.Fields(columns[2])}
	}
	return packages
}

// byPackage groups the files that are built on this system by folder.
func byPackage(all []source, packages map[string]listed) map[string][]*ast.File {
	grouped := map[string][]*ast.File{}
	for _, s := range all {
		if slices.Contains(packages[module+s.dir].files, filepath.Base(s.path)) {
			grouped[s.dir] = append(grouped[s.dir], s.file)
		}
	}
	return grouped
}

// graph holds the files that each file refers to, by name.
type graph map[string]map[string]bool

// references returns the references between the files of a package.
func references(t *testing.T, dir string, files []*ast.File, imports types.Importer) graph {
	t.Helper()
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	checked, err := (&types.Config{Importer: imports}).Check(module+dir, sharedFiles, files, info)
	require.NoError(t, err)
	name := func(at token.Pos) string { return filepath.Base(sharedFiles.Position(at).Filename) }
	found := graph{}
	for used, object := range info.Uses {
		if object.Pkg() != checked || !object.Pos().IsValid() {
			continue
		}
		from, to := name(used.Pos()), name(object.Pos())
		if found[from] == nil {
			found[from] = map[string]bool{}
		}
		found[from][to] = true
	}
	return found
}

// largestCircle returns the largest set of files in which every file can be reached from
// every other, sorted. It returns nil if there is no cycle.
func largestCircle(g graph) (largest []string) {
	reached := map[string]map[string]bool{}
	for from := range g {
		seen := map[string]bool{}
		var visit func(string)
		visit = func(file string) {
			for next := range g[file] {
				if next != file && !seen[next] {
					seen[next] = true
					visit(next)
				}
			}
		}
		visit(from)
		reached[from] = seen
	}
	for _, file := range slices.Sorted(maps.Keys(reached)) {
		var circle []string
		for other := range reached[file] {
			if reached[other][file] {
				circle = append(circle, other)
			}
		}
		if len(circle) > len(largest) {
			largest = circle
		}
	}
	slices.Sort(largest)
	return largest
}
