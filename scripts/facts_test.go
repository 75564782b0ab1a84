package scripts_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A number identifies a fact (E43, E17a), a section (D.2) or an open question (#4). Numbers
// from the part about Windows PowerShell 5.1 are stored with their prefix.
const (
	factNumber  = `(?:N?[A-HJLPRSX][0-9]+[a-z]?|[A-H]\.[0-9])`
	factNumbers = factNumber + `(?:(?:, ?|/| and | to |-)` + factNumber + `)*`
	oldNumber   = `[IK][0-9]+`
	oldNumbers  = oldNumber + `(?:(?:, ?|/| and | to |-)` + oldNumber + `)*`
)

// column matches the second column of a table in a file of rows.
var column = regexp.MustCompile(`(?m)^[^|\n]+ \| ((?:` + factNumber + `|#[0-9]+)(?: (?:` + factNumber + `|#[0-9]+))*) \|`)

// citations contains the forms in which a text cites facts. Those of single files are used in tables, where
// otherwise every row would repeat the word "facts".
var citations = []struct {
	pattern *regexp.Regexp
	prefix  string
	file    *regexp.Regexp // nil means all files
}{
	{regexp.MustCompile(`\b[Ff]acts? (` + factNumbers + `)`), "", nil},
	{regexp.MustCompile(`\b[Ff]acts-5\.1 (` + oldNumbers + `)`), "5.1 ", nil},
	{regexp.MustCompile(`\((` + factNumbers + `)\)`), "", regexp.MustCompile(`^ps/sandbox/.*\.go$`)},
	{regexp.MustCompile(`"(` + factNumber + `|#[0-9]+)"`), "", regexp.MustCompile(`^cmd/adgateway/internal/doctor/live/.*\.go$`)},
	{column, "", regexp.MustCompile(`^cmd/adgateway/internal/doctor/live/probes\.txt$|^gateway/call/meanings\.txt$`)},
}

// strays match text in the form of a citation. If one remains after the citations in
// [citations] are removed, it cites a page that does not exist here.
var strays = []*regexp.Regexp{
	regexp.MustCompile(`\b[a-z][a-z0-9-]* N?[A-Z][0-9]{1,3}[a-z]?\b`),
	regexp.MustCompile(`\((?:[a-z-]+ )?N?[A-Z][0-9]{1,3}[a-z]?(?:(?:, ?|/| and | to |-)N?[A-Z]?[0-9.]+[a-z]?)*\)`),
	regexp.MustCompile(`\([a-z-]+ [0-9]{1,2}\.[0-9]{1,2}(?:, ?[A-Z]?[0-9.]+)*\)`),
}

// TestNoOtherPageIsCited: every text in the form of a citation of a fact is one of the forms in citations.
func TestNoOtherPageIsCited(t *testing.T) {
	t.Parallel()
	eachText(t, func(path, text string) {
		for _, stray := range straysIn(path, text) {
			assert.Fail(t, "a citation that does not resolve", "%s: %q; facts are cited as `facts E43`", path, stray)
		}
	})
}

func TestStraysAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"// done in one batch (other W2): the":        {"other W2", "(other W2)"},
		"// done in one\n// batch (other\n// W2, W3)": {"other W2", "(other W2, W3)"},
		"# as other E8 has it":                        {"other E8"},
		"the codes (other 7.3)":                       {"(other 7.3)"},
		"no users (E22)":                              {"(E22)"},
		"as facts E43 has it (facts E36-E39, X5)":     nil,
		"written so (facts-5.1 K6, I73)":              nil,
	} {
		assert.Equal(t, want, straysIn("gateway/x.go", text), "%s", text)
	}
}

// straysIn lists the citations in a text that have none of the forms in [citations].
func straysIn(path, text string) (found []string) {
	if strings.Contains(path, "testdata/") || strings.Contains(path, "test/conformance/") ||
		strings.HasSuffix(path, "/FACTS.md") {
		return nil
	}
	text = joined(text)
	for _, form := range citations {
		if form.file == nil || form.file.MatchString(path) {
			text = form.pattern.ReplaceAllString(text, "")
		}
	}
	for _, form := range strays {
		found = append(found, form.FindAllString(text, -1)...)
	}
	return found
}

// joined returns the text with each comment that spans several lines joined to one line.
func joined(text string) string {
	return regexp.MustCompile(`\n\s*(?://|#|\*)\s*`).ReplaceAllString(text, " ")
}

// TestFactsResolve: every citation names a fact that exists in FACTS.md, and every fact is
// cited by the code or by another fact.
func TestFactsResolve(t *testing.T) {
	t.Parallel()
	facts := readFacts(t)
	cited := map[string]bool{}
	total := 0
	eachText(t, func(path, text string) {
		for _, number := range citedIn(path, text) {
			cited[number] = true
			total++
			_, known := facts[number]
			assert.True(t, known, "%s cites %s, which FACTS.md does not have", path, number)
		}
	})
	inner := regexp.MustCompile(`\b` + factNumber + `\b|\b` + oldNumber + `\b`)
	for number, text := range facts {
		for _, other := range inner.FindAllString(text, -1) {
			if strings.HasPrefix(number, "5.1 ") && regexp.MustCompile(`^`+oldNumber+`$`).MatchString(other) {
				other = "5.1 " + other
			}
			if _, known := facts[other]; known && other != number {
				cited[other] = true
			}
		}
	}
	for _, number := range slices.Sorted(maps.Keys(facts)) {
		if !strings.Contains(number, ".") { // a section represents the facts that it contains
			assert.True(t, cited[number], "FACTS.md has %s, which nothing cites", number)
		}
	}
	t.Logf("%d citations of %d facts and sections", total, len(facts))
}

// readFacts reads FACTS.md and returns the row of each number and the heading of each section.
func readFacts(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("FACTS.md")
	require.NoError(t, err)
	row := regexp.MustCompile(`^\| (#[0-9]+|N?[A-LPRSX][0-9]+[a-z]?) \| (.*)$`)
	heading := regexp.MustCompile(`^### ([A-H]\.[0-9]) (.*)$`)
	facts := map[string]string{}
	for line := range strings.Lines(string(page)) {
		m := row.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			m = heading.FindStringSubmatch(strings.TrimSpace(line))
		}
		if m == nil {
			continue
		}
		number := m[1]
		if number[0] == 'I' || number[0] == 'K' {
			number = "5.1 " + number
		}
		_, twice := facts[number]
		assert.False(t, twice, "FACTS.md has %s twice", number)
		facts[number] = m[2]
	}
	require.NotEmpty(t, facts)
	return facts
}

// citedIn lists the numbers that a text cites. A range such as E36-E39 includes all facts in
// it. Comments may break a citation at the end of a line.
func citedIn(path, text string) []string {
	text = joined(text)
	var numbers []string
	for _, form := range citations {
		if form.file != nil && !form.file.MatchString(path) {
			continue
		}
		for _, m := range form.pattern.FindAllStringSubmatch(text, -1) {
			for _, number := range expand(m[1]) {
				numbers = append(numbers, form.prefix+number)
			}
		}
	}
	return numbers
}

func expand(list string) []string {
	single := regexp.MustCompile(`#[0-9]+|N?[A-Z]\.?[0-9]+[a-z]?`)
	between := regexp.MustCompile(`(N?[A-Z])([0-9]+)(?:-| to )N?[A-Z]([0-9]+)`)
	numbers := single.FindAllString(list, -1)
	for _, m := range between.FindAllStringSubmatch(list, -1) {
		first, _ := strconv.Atoi(m[2])
		last, _ := strconv.Atoi(m[3])
		for n := first + 1; n < last; n++ {
			numbers = append(numbers, m[1]+strconv.Itoa(n))
		}
	}
	return numbers
}

// eachText calls visit with the path and content of every text file of the project except scripts/FACTS.md.
func eachText(t *testing.T, visit func(path, text string)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if len(name) > 2 && name[0] == '.' || name == "node_modules" || name == "bin" || name == "dist" ||
				name == "fuzz" {
				return fs.SkipDir
			}
			return nil
		}
		if path == filepath.Join("..", "scripts", "FACTS.md") || name == "facts_test.go" ||
			!entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(text) {
			return err
		}
		relative, err := filepath.Rel("..", path)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(relative), string(text))
		return nil
	}))
}
