package reference_test

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/release/clients"
	pages "adgateway/gateway/manual"
	"adgateway/gateway/ops"
	"adgateway/ps/sandbox"
	"adgateway/test/manual"
	"adgateway/test/reference"
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
	assert.Len(t, files, len(texts), "a page whose operations are gone")
}

// recorded returns the pages by name. It makes the sample of each operation at a sandbox.
func recorded(t *testing.T) map[string]string {
	t.Helper()
	functions := map[string]string{}
	all, err := clients.Functions(ops.Table())
	require.NoError(t, err)
	for _, f := range all {
		for _, set := range f.Sets {
			functions[set.Op.ID] = f.Name()
		}
	}
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	rows := map[string][]reference.Row{}
	for _, op := range ops.Table() {
		row := reference.Row{Op: op, Function: functions[op.ID]}
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
	texts := map[string]string{}
	for page, operations := range rows {
		texts[page] = reference.Page(operations)
	}
	return texts
}
