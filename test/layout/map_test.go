package layout

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/manual"
)

// unmapped matches the packages that the manual's map does not list separately from their parents.
var unmapped = regexp.MustCompile(
	`/internal/|^gateway/(atomicfile|every|filefault|nearest)$|^gateway/schema/|^test/|test$`)

// TestManualMapsThePackages compares the manual's tree of packages with the folders, in both directions.
func TestManualMapsThePackages(t *testing.T) {
	_, section, found := strings.Cut(manual.Text(t, "develop"), "## Packages\n")
	require.True(t, found)
	block := regexp.MustCompile("(?s)```text\n(.*?)```").FindStringSubmatch(section)
	require.NotNil(t, block)
	mapped := map[string]bool{}
	var parents []string
	line := regexp.MustCompile(`^( *)(\S+(?: {2}[a-z]+)*)  +\S`)
	for row := range strings.Lines(block[1]) {
		if strings.TrimSpace(row) == "" {
			continue
		}
		m := line.FindStringSubmatch(row)
		if m == nil { // a name without a description
			m = []string{"", row[:len(row)-len(strings.TrimLeft(row, " "))], strings.TrimSpace(row)}
		}
		depth := len(m[1]) / 4
		require.LessOrEqual(t, depth, len(parents), "%s", row)
		for _, name := range strings.Fields(m[2]) {
			parents = append(parents[:depth], strings.TrimSuffix(name, "/..."))
			mapped[path.Join(parents...)] = true
		}
	}
	for folder := range mapped {
		_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(folder)))
		assert.NoError(t, err, "the page maps %s", folder)
	}
	for _, s := range sources(t) {
		if !s.test() && !unmapped.MatchString(s.dir) {
			assert.True(t, mapped[s.dir], "the page's map lacks %s", s.dir)
		}
	}
}

// TestManualNamesFilesThatExist: every file and folder named by the pages for developers exists, and declares
// the names that the page attributes to it, either as "`Do` in `gateway/call/do.go`" or in a row with the
// file in one cell and the names in the next.
func TestManualNamesFilesThatExist(t *testing.T) {
	files := regexp.MustCompile("`((?:cmd|gateway|ps|scripts|test|winsvc)/[^`\\s]+)`")
	inProse := regexp.MustCompile("`([A-Za-z]+)`\\s+in\\s+`([a-z/_]+\\.go)`")
	inTable := regexp.MustCompile("(?m)\\| `([a-z/_]+\\.go)` \\| ((?:`[A-Za-z]+`(?:, )?)+) \\|$")
	named, declared := 0, 0
	for _, page := range []string{"develop", "develop-find", "develop-add", "develop-make"} {
		text := manual.Text(t, page)
		for _, m := range files.FindAllStringSubmatch(text, -1) {
			found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(m[1])))
			require.NoError(t, err)
			assert.NotEmpty(t, found, "%s names %s", page, m[1])
			named++
		}
		declares := func(file, names string) {
			code, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
			require.NoError(t, err, page)
			for _, name := range regexp.MustCompile("[A-Za-z]+").FindAllString(names, -1) {
				declaration := regexp.MustCompile(`(?m)^(?:func(?: \([^)]*\))?|type|var|const) ` + name + `\b`)
				assert.True(t, declaration.Match(code), "%s: %s does not declare %s", page, file, name)
				declared++
			}
		}
		for _, m := range inProse.FindAllStringSubmatch(text, -1) {
			declares(m[2], m[1])
		}
		for _, m := range inTable.FindAllStringSubmatch(text, -1) {
			declares(m[1], m[2])
		}
	}
	assert.Greater(t, named, 70)
	assert.Greater(t, declared, 30)
}

// TestTestsThatAreNamedExist: every test and benchmark named by the manual or the Makefile exists.
func TestTestsThatAreNamedExist(t *testing.T) {
	var tests strings.Builder
	for _, s := range sources(t) {
		if s.test() {
			tests.Write(s.text)
		}
	}
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	require.NoError(t, err)
	for _, page := range append(manual.Pages(t), manual.Page{Path: "Makefile", Text: string(makefile)}) {
		text := strings.ReplaceAll(page.Text, ".TestGoFiles", "") // a field of go list
		names := regexp.MustCompile(`\b(?:Test|Benchmark)[A-Z][A-Za-z]+`).FindAllString(text, -1)
		if page.Path == "Makefile" || page.Path == manual.Folder+"/security.md" {
			require.NotEmpty(t, names, page.Path)
		}
		for _, name := range names {
			assert.Contains(t, tests.String(), "\nfunc "+name+"(", "%s names it", page.Path)
		}
	}
}

// TestEveryPromiseHasATest: each promise in the manual names the tests of that promise.
func TestEveryPromiseHasATest(t *testing.T) {
	promises := 0
	for _, page := range manual.Pages(t) {
		if page.Path != manual.Folder+"/security.md" {
			continue
		}
		_, table, found := strings.Cut(page.Text, "| test |\n")
		require.True(t, found)
		for line := range strings.Lines(table) {
			if !strings.HasPrefix(line, "|") {
				break
			}
			if !strings.HasPrefix(line, "|---") {
				promises++
				assert.Regexp(t, "\\| `Test[A-Za-z]+`(?:, `Test[A-Za-z]+`)* \\|\n$", line)
			}
		}
	}
	assert.Greater(t, promises, 40)
}

// variable returns the value of a variable of the Makefile.
func variable(t *testing.T, makefile, name string) string {
	t.Helper()
	_, after, found := strings.Cut(makefile, "\n"+name+" :=")
	require.True(t, found, name)
	value, _, _ := strings.Cut(strings.ReplaceAll(after, "\\\n", ""), "\n")
	return strings.TrimSpace(value)
}

// TestEachShareIsTriedWhole: `make thorough` runs exactly the packages whose tests try a share of their cases
// in `make test`. The tests that `make test` skips are in these packages, or in packages that `make race`
// runs.
func TestEachShareIsTriedWhole(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	require.NoError(t, err)
	variable := func(name string) string { return variable(t, string(makefile), name) }
	var shares []string
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			if spec.Path.Value == `"adgateway/test/thorough"` && !slices.Contains(shares, "./"+s.dir) {
				shares = append(shares, "./"+s.dir)
			}
		}
	}
	assert.ElementsMatch(t, shares, strings.Fields(variable("SHARES")))
	deep := append(shares, strings.Fields(variable("RACE"))...)
	for _, name := range strings.Split(variable("LONG"), "|") {
		homes := 0
		for _, s := range sources(t) {
			if strings.Contains(string(s.text), "\nfunc "+name+"(") {
				homes++
				assert.True(t, slices.ContainsFunc(deep, func(pkg string) bool {
					below, tree := strings.CutSuffix(pkg, "/...")
					return pkg == "./"+s.dir || tree && strings.HasPrefix("./"+s.dir+"/", below+"/")
				}), "%s in %s", name, s.dir)
			}
		}
		assert.Positive(t, homes, "there is no %s", name)
	}
	for _, name := range strings.Split(variable("SEQUENTIAL"), "|") {
		assert.NotContains(t, strings.Split(variable("LONG"), "|"), name, "no part of make deep runs it")
	}
}

// TestNothingIsLeftOutWithItsPackage: `make test` does not build the packages of LATER, all of whose
// tests are LONG.
func TestNothingIsLeftOutWithItsPackage(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	require.NoError(t, err)
	later := strings.Fields(variable(t, string(makefile), "LATER"))
	long := strings.Split(variable(t, string(makefile), "LONG"), "|")
	test := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	tests := map[string]int{}
	for _, s := range sources(t) {
		if !s.test() || !slices.Contains(later, "./"+s.dir) {
			continue
		}
		for _, found := range test.FindAllStringSubmatch(string(s.text), -1) {
			if found[1] != "TestMain" {
				tests["./"+s.dir]++
				assert.Contains(t, long, found[1], s.path)
			}
		}
	}
	assert.Len(t, tests, len(later), "%v", tests)
}

// TestPackagesApartAreRunByTheirTargets: `make test` does not build the packages of APART. Each of their
// tests is skipped without what a target gives it, and is named by this target, which the skip names.
func TestPackagesApartAreRunByTheirTargets(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	require.NoError(t, err)
	asks := regexp.MustCompile(`t\.Skip\(".*run 'make ([a-z-]+)[ ']`)
	test := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	for _, dir := range strings.Fields(variable(t, string(makefile), "APART")) {
		var text strings.Builder
		for _, s := range sources(t) {
			if s.test() && "./"+s.dir == dir {
				text.Write(s.text)
			}
		}
		target := asks.FindStringSubmatch(text.String())
		require.NotNil(t, target, "no test of %s names its target", dir)
		_, recipe, found := strings.Cut(string(makefile), "\n"+target[1]+": ")
		require.True(t, found, "there is no target %s", target[1])
		recipe, _, _ = strings.Cut(recipe, "\n\n")
		if script := regexp.MustCompile(`\./test/\w+\.sh`).FindString(recipe); script != "" {
			more, err := os.ReadFile(filepath.Join("..", "..", script))
			require.NoError(t, err)
			recipe += string(more)
		}
		assert.Contains(t, recipe, dir)
		for _, found := range test.FindAllStringSubmatch(text.String(), -1) {
			assert.Contains(t, recipe, found[1], "make %s does not run it", target[1])
		}
	}
}

// TestKerberosTestsAreRunWhole: the tests that `make test` leaves to `make kerberos-test` are in the
// package that it runs, and in no other.
func TestKerberosTestsAreRunWhole(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	require.NoError(t, err)
	_, names, found := strings.Cut(string(makefile), "\nKERBEROS :=")
	require.True(t, found)
	names, _, _ = strings.Cut(names, "\n")
	for _, name := range strings.Split(strings.TrimSpace(names), "|") {
		var homes []string
		for _, s := range sources(t) {
			if strings.Contains(string(s.text), "\nfunc "+name+"(") {
				homes = append(homes, "./"+s.dir)
			}
		}
		require.Len(t, homes, 1, "%s is skipped in every package", name)
		assert.Contains(t, string(makefile), homes[0]+" -run '^($(KERBEROS))$$'", name)
	}
}
