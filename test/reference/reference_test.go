package reference

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/release/clients"
	pages "adgateway/gateway/manual"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps/sandbox"
	"adgateway/test/manual"
	"adgateway/test/systemtest"
)

var update = flag.Bool("update", false, "rewrite the pages of the operations")

func TestPagesOfOperationsAreUpToDate(t *testing.T) {
	texts := recorded(t)
	folder := filepath.Join(manual.Root(t), filepath.FromSlash(manual.Folder))
	for name, text := range texts {
		file := filepath.Join(folder, filepath.FromSlash(name)+".md")
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
		stored, err := os.ReadFile(file)
		require.NoError(t, err, "run make generate")
		assert.True(t, text == string(stored), "%s is not up to date: run make generate", name)
	}
	files, err := filepath.Glob(filepath.Join(folder, "reference", "operations-*.md"))
	require.NoError(t, err)
	assert.Len(t, files, len(texts)-2, "a page whose operations are gone")
}

// attributesOfTheSchema returns the names of all attributes, in lower case.
func attributesOfTheSchema(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(manual.Root(t), "ps", "sandbox", "directory", "schema.txt"))
	require.NoError(t, err)
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if name, _, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, "#") {
			known[strings.ToLower(name)] = true
		}
	}
	require.Greater(t, len(known), 100)
	return known
}

// refused returns the answers to the calls that cause errors, by code.
func refused(t *testing.T) map[schema.Code][]byte {
	t.Helper()
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "limits.bulkDelete=10",
		"http.requireGuard=[group:write]")
	answers := map[schema.Code][]byte{}
	for i := range Refusals {
		r := &Refusals[i]
		answer := r.Provoke(func(c systemtest.Call) systemtest.Answer { return s.Do(c) })
		require.NotNil(t, answer.Envelope.Error, "%s: %s", r.Code, answer.Body)
		assert.Equal(t, string(r.Code), answer.Envelope.Error.Code, "%s", answer.Body)
		assert.Equal(t, r.Code.Status(), answer.Status, r.Code)
		answers[r.Code] = answer.Body
	}
	return answers
}

// recorded returns the pages by name. It sends the sample of each operation to a sandbox.
func recorded(t *testing.T) map[string]string {
	t.Helper()
	functions, examples := map[string]string{}, map[string]string{}
	all, err := clients.Functions(ops.Table())
	require.NoError(t, err)
	for _, f := range all {
		for i := range f.Sets {
			set := &f.Sets[i]
			shown, err := f.Examples(set)
			require.NoError(t, err)
			require.NotEmpty(t, shown, set.Op.ID)
			functions[set.Op.ID], examples[set.Op.ID] = f.Name(), shown[0]
		}
	}
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	rows := map[string][]Row{}
	for _, op := range ops.Table() {
		row := Row{Op: op, Function: functions[op.ID]}
		if row.Function != "" {
			row.Call = examples[op.ID]
			assert.True(t, strings.HasPrefix(row.Call, row.Function), "%s: its help has no example: %q",
				row.Function, row.Call)
		}
		if op.Sample != nil && op.Protocol == nil {
			s.Prepare(op)
			answer := s.Do(systemtest.Sample(op))
			require.Less(t, answer.Status, http.StatusMultipleChoices, "%s: %s", op.ID, answer.Body)
			row.Answer, row.Status = answer.Body, answer.Status
			s.Undo(op)
		}
		page := pages.OperationPage(op.ID)
		rows[page] = append(rows[page], row)
	}
	texts := map[string]string{
		"reference/fields":         FieldsPage(attributesOfTheSchema(t)),
		"reference/error-examples": RefusalsPage(refused(t)),
	}
	for page, operations := range rows {
		texts[page] = Page(operations)
	}
	return texts
}
