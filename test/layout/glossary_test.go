package layout

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/manual"
)

// TestTheGlossaryIsShortAndUsed: the glossary has at most 15 words. Each is used on at least two other
// pages, and the name in its row is declared in the code.
func TestTheGlossaryIsShortAndUsed(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| ([a-z]+) \\| [^|]+ \\| `([a-z]+)\\.([A-Z][A-Za-z]+)`")
	text := manual.Text(t, "glossary")
	rows := row.FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, rows)
	assert.Len(t, rows, strings.Count(text, "\n|")-2, "a row that has no word or names no code")
	assert.LessOrEqual(t, len(rows), 15)
	for _, m := range rows {
		word, of, name := m[1], m[2], m[3]
		users := 0
		for _, page := range manual.Pages(t) {
			if !strings.HasSuffix(page.Path, "/glossary.md") && strings.Contains(strings.ToLower(page.Text), word) {
				users++
			}
		}
		assert.GreaterOrEqual(t, users, 2, "pages that use %s", word)
		declaration := regexp.MustCompile(`(?m)^(?:type |\t)` + name + `\s+\S`)
		declared := false
		for _, s := range sources(t) {
			declared = declared || !s.test() && s.file.Name.Name == of && declaration.Match(s.text)
		}
		assert.True(t, declared, "%s: no package %s declares %s", word, of, name)
	}
}
