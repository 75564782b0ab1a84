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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A number is that of a fact (E43, E17a), of a section (D.2) or of an open
// question (#4); numbers of the part about Windows PowerShell 5.1 are stored
// with their prefix.
const (
	factNumber  = `(?:N?[A-HPRSX][0-9]+[a-z]?|[A-H]\.[0-9])`
	factNumbers = factNumber + `(?:(?:, ?|/| and |-)` + factNumber + `)*`
	oldNumber   = `[IK][0-9]+`
	oldNumbers  = oldNumber + `(?:(?:, ?|/| and |-)` + oldNumber + `)*`
)

// citations are the forms in which a text cites facts. The last two are those
// of tables of tests and probes, where the word would stand in every row.
var citations = []struct {
	pattern *regexp.Regexp
	prefix  string
	file    *regexp.Regexp // nil: all
}{
	{regexp.MustCompile(`\b[Ff]acts (` + factNumbers + `)`), "", nil},
	{regexp.MustCompile(`\b[Ff]acts-5\.1 (` + oldNumbers + `)`), "5.1 ", nil},
	{regexp.MustCompile(`\((` + factNumbers + `)\)`), "", regexp.MustCompile(`^ps/sandbox/.*\.go$`)},
	{regexp.MustCompile(`"(` + factNumber + `|#[0-9]+)"`), "", regexp.MustCompile(`^cmd/adgateway/internal/doctor/live/.*\.go$`)},
}

// TestFactsResolve holds FACTS.md against the code in both directions: every
// citation names a fact that exists, and every fact is cited, by the code or by
// another fact.
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
		if !strings.Contains(number, ".") { // a section stands for the facts that it holds
			assert.True(t, cited[number], "FACTS.md has %s, which nothing cites", number)
		}
	}
	t.Logf("%d citations of %d facts and sections", total, len(facts))
}

// readFacts reads FACTS.md: the row of each number, the heading of each section.
func readFacts(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("FACTS.md")
	require.NoError(t, err)
	row := regexp.MustCompile(`^\| (#[0-9]+|N?[A-IKPRSX][0-9]+[a-z]?) \| (.*)$`)
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

// citedIn lists the numbers that a text cites; a range such as E36-E39 is all
// facts in it. Comments may break a citation at the end of a line.
func citedIn(path, text string) []string {
	joined := regexp.MustCompile(`\n\s*(?://|#|\*)\s*`).ReplaceAllString(text, " ")
	var numbers []string
	for _, form := range citations {
		if form.file != nil && !form.file.MatchString(path) {
			continue
		}
		for _, m := range form.pattern.FindAllStringSubmatch(joined, -1) {
			for _, number := range expand(m[1]) {
				numbers = append(numbers, form.prefix+number)
			}
		}
	}
	return numbers
}

func expand(list string) []string {
	single := regexp.MustCompile(`#[0-9]+|N?[A-Z]\.?[0-9]+[a-z]?`)
	between := regexp.MustCompile(`(N?[A-Z])([0-9]+)-N?[A-Z]([0-9]+)`)
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

// eachText calls visit with every text of the project but FACTS.md, by its
// path from the root.
func eachText(t *testing.T, visit func(path, text string)) {
	t.Helper()
	kinds := []string{".go", ".ps1", ".psm1", ".cs", ".md", ".txt", ".json"}
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if len(name) > 2 && name[0] == '.' || name == "node_modules" || name == "bin" || name == "dist" || name == "fuzz" {
				return fs.SkipDir
			}
			return nil
		}
		if name == "FACTS.md" || name == "facts_test.go" || !slices.Contains(kinds, filepath.Ext(name)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
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
