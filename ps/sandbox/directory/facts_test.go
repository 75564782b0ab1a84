package directory

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFactsPage: FACTS.md and the tests name the same facts.
func TestFactsPage(t *testing.T) {
	page, err := os.ReadFile("FACTS.md")
	require.NoError(t, err)
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	files = append(files, "testdata/filters.txt")
	var tests strings.Builder
	for _, f := range files {
		if f == "facts_test.go" {
			continue
		}
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		tests.Write(b)
	}
	number := regexp.MustCompile(`\b[CDEFGHR][0-9]+[a-z]?\b`)
	cited := map[string]bool{}
	citation := regexp.MustCompile(`[Ff]acts ((?:[A-Z][0-9]+[a-z]?(?:, | |-)?)+)|\(((?:[A-Z][0-9]+[a-z]?(?:, )?)+)\)`)
	for _, m := range citation.FindAllStringSubmatch(tests.String(), -1) {
		text := m[1] + " " + m[2]
		for _, n := range number.FindAllString(text, -1) {
			cited[n] = true
		}
		if r := regexp.MustCompile(`([A-Z])([0-9])([0-9])-[A-Z]?[0-9]([0-9])`).FindStringSubmatch(text); r != nil {
			for d := r[3][0]; d <= r[4][0]; d++ {
				cited[r[1]+r[2]+string(d)] = true
			}
		}
		if r := regexp.MustCompile(`([A-Z])([0-9])-[A-Z]([0-9])`).FindStringSubmatch(text); r != nil {
			for d := r[2][0]; d <= r[3][0]; d++ {
				cited[r[1]+string(d)] = true
			}
		}
	}
	tested, _, ok := strings.Cut(string(page), "## Not simulated")
	require.True(t, ok)
	listed := map[string]bool{}
	for _, line := range strings.Split(tested, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, n := range number.FindAllString(cells[1], -1) {
			listed[n] = true
			assert.True(t, cited[n], "FACTS.md lists %s, which no test cites", n)
		}
		for _, name := range regexp.MustCompile(`\b(?:Test|Fuzz)\w+`).FindAllString(cells[3], -1) {
			assert.Contains(t, tests.String(), "func "+name+"(", "FACTS.md names a test that does not exist")
		}
	}
	for n := range cited {
		assert.True(t, listed[n], "a test cites %s, which FACTS.md does not list", n)
	}
	assert.Greater(t, len(listed), 60)
}
