package layout

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	update = flag.Bool("update", false, "lower the exceptions in testdata to what is counted now")
	raise  = flag.Bool("raise", false, "with -update: also raise exceptions and add new ones")
)

// A limit is the largest allowed size. The exceptions are listed with their sizes in testdata/NAME.txt.
type limit struct {
	name  string
	most  int
	what  string // the counted thing
	count func(t *testing.T, all []source) map[string]size
}

// A size is the size of a file, function or type, with the places at which to reduce it.
type size struct {
	n  int
	at []string // nil if the name is enough
}

var limits = []limit{
	{"files", 600, "lines", fileLines},
	{"functions", 80, "lines", functionLines},
	{"columns", 0, "lines with more than 110 characters", wideLines},
	{"structs", 20, "fields", structFields},
	{"methods", 40, "methods", methods},
	{"spread", 4, "files with methods", methodFiles},
	{"circles", 12, "files that refer to each other in a circle", circles},
}

// TestSizes checks the limits. A list of exceptions may only shrink.
func TestSizes(t *testing.T) {
	all := sources(t)
	for _, l := range limits {
		t.Run(l.name, func(t *testing.T) {
			counted := l.count(t, all)
			file := filepath.Join("testdata", l.name+".txt")
			listed := exceptions(t, file)
			if *update {
				listed = l.updated(listed, counted, *raise)
				writeExceptions(t, file, listed)
			}
			for _, complaint := range l.compare(listed, counted) {
				assert.Fail(t, complaint)
			}
		})
	}
}

// compare compares the counted sizes with the limit and its exceptions.
func (l limit) compare(listed map[string]int, counted map[string]size) (complaints []string) {
	for name, s := range counted {
		allowed, excepted := listed[name]
		if !excepted {
			allowed = l.most
		}
		if s.n > allowed {
			complaint := fmt.Sprintf("%s: %d %s, may be %d", name, s.n, l.what, allowed)
			if s.at != nil {
				complaint += " (" + strings.Join(s.at, ", ") + ")"
			}
			complaints = append(complaints, complaint)
		}
	}
	for name, n := range listed {
		now, wrong := counted[name].n, ""
		switch {
		case now <= l.most:
			wrong = "the exception is not needed"
		case now < n:
			wrong = fmt.Sprintf("the exception says %d", n)
		default:
			continue
		}
		complaints = append(complaints,
			fmt.Sprintf("%s: %d %s, %s; run go test ./test/layout -update", name, now, l.what, wrong))
	}
	slices.Sort(complaints)
	return complaints
}

// updated returns the exceptions after an update. Unless raised is true, no exception is added or grows.
func (l limit) updated(listed map[string]int, counted map[string]size, raised bool) map[string]int {
	now := map[string]int{}
	for name, s := range counted {
		before, excepted := listed[name]
		switch {
		case s.n <= l.most:
		case raised || excepted && s.n <= before:
			now[name] = s.n
		case excepted:
			now[name] = before
		}
	}
	return now
}

// exceptions reads lines with a number and a name.
func exceptions(t *testing.T, file string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	listed := map[string]int{}
	for line := range strings.Lines(string(text)) {
		number, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(number)
		require.NoError(t, err, "%s: %s", file, line)
		require.NotContains(t, listed, name, file)
		listed[name] = n
	}
	return listed
}

// writeExceptions writes exceptions in the form that exceptions reads. It removes the file if there are none.
func writeExceptions(t *testing.T, file string, listed map[string]int) {
	t.Helper()
	if len(listed) == 0 {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
		}
		return
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		fmt.Fprintf(&b, "%d %s\n", listed[name], name)
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
}

// fileLines counts the lines of each file.
func fileLines(_ *testing.T, all []source) map[string]size {
	counted := map[string]size{}
	for _, s := range all {
		counted[s.path] = size{n: strings.Count(string(s.text), "\n")}
	}
	return counted
}

// functionLines counts the lines of each function, including its first and last line.
func functionLines(_ *testing.T, all []source) map[string]size {
	counted := map[string]size{}
	for _, s := range all {
		for _, declaration := range s.file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok {
				name := s.path + " " + functionName(f)
				n := s.line(f.End()) - s.line(f.Pos()) + 1
				counted[name] = size{n: max(n, counted[name].n)} // several may be called init or _
			}
		}
	}
	return counted
}

// functionName returns the name of a function, preceded by the type of its receiver.
func functionName(f *ast.FuncDecl) string {
	if receiver := receiverType(f); receiver != "" {
		return receiver + "." + f.Name.Name
	}
	return f.Name.Name
}

// receiverType returns the name of the receiver's type, or "" for a function without a receiver.
func receiverType(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	e := f.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// widest is the largest number of characters in a line. A tab counts as one.
const widest = 110

// wideLines counts the lines of each file that are too wide. Rows of tables may be wide, and
// the text of raw strings does not count.
func wideLines(_ *testing.T, all []source) map[string]size {
	counted := map[string]size{}
	for _, s := range all {
		wide := false
		for line := range strings.Lines(string(s.text)) {
			wide = wide || len(line) > widest
		}
		if !wide {
			continue
		}
		tables, raw := s.tables(), s.rawStrings()
		var at []string
		number := 0
		for line := range strings.Lines(string(s.text)) {
			number++
			width := utf8.RuneCountInString(strings.TrimRight(line, "\r\n")) - raw[number]
			if width > widest && !tables[number] {
				at = append(at, "line "+strconv.Itoa(number))
			}
		}
		counted[s.path] = size{len(at), at}
	}
	return counted
}

// tables returns the lines that contain elements of slices, arrays and maps, one element per line. It
// excludes the bodies of functions in them.
func (s source) tables() map[int]bool {
	lines := map[int]bool{}
	inside := func(from, to token.Pos, is bool) {
		for line := s.line(from) + 1; line < s.line(to); line++ {
			lines[line] = is
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CompositeLit:
			switch x.Type.(type) {
			case *ast.ArrayType, *ast.MapType:
				inside(x.Lbrace, x.Rbrace, true)
			}
		case *ast.FuncLit:
			inside(x.Body.Lbrace, x.Body.Rbrace, false)
		}
		return true
	})
	return lines
}

// rawStrings counts the characters inside raw strings, by line.
func (s source) rawStrings() map[int]int {
	lines := map[int]int{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING || literal.Value[0] != '`' {
			return true
		}
		number := s.line(literal.Pos())
		for line := range strings.Lines(literal.Value) {
			lines[number] += utf8.RuneCountInString(strings.TrimRight(line, "\r\n"))
			number++
		}
		return true
	})
	return lines
}

// structFields counts the fields of each named struct. Structs of settings and table rows are not limited.
func structFields(_ *testing.T, all []source) map[string]size {
	counted := map[string]size{}
	for _, s := range all {
		if s.dir == "gateway/config" || s.dir == "gateway/ops" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if fields, ok := spec.Type.(*ast.StructType); ok {
				name := s.dir + "." + spec.Name.Name
				counted[name] = size{n: max(fields.Fields.NumFields(), counted[name].n)}
			}
			return true
		})
	}
	return counted
}

// methods counts the methods of each type. Methods in tests are counted separately.
func methods(_ *testing.T, all []source) map[string]size {
	counted := map[string]size{}
	for name, files := range methodsByFile(all) {
		for _, n := range files {
			counted[name] = size{n: counted[name].n + n}
		}
	}
	return counted
}

// methodFiles counts the files with methods of a type.
func methodFiles(_ *testing.T, all []source) map[string]size {
	counted := map[string]size{}
	for name, files := range methodsByFile(all) {
		counted[name] = size{len(files), slices.Sorted(maps.Keys(files))}
	}
	return counted
}

// methodsByFile counts the methods of each type by file.
func methodsByFile(all []source) map[string]map[string]int {
	counted := map[string]map[string]int{}
	for _, s := range all {
		for _, declaration := range s.file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			name := s.dir + "." + receiverType(f)
			if s.test() {
				name += " in tests"
			}
			if counted[name] == nil {
				counted[name] = map[string]int{}
			}
			counted[name][filepath.Base(s.path)]++
		}
	}
	return counted
}
