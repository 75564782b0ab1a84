package contract

import (
	"encoding/csv"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestEveryListInEveryForm: each list has the same records as JSON, CSV and NDJSON, with the same
// members in the same order, and the document describes the forms.
func TestEveryListInEveryForm(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "jobs.rate=0")
	d := loadDocument(s, "/openapi.json")
	s.OK(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt",
		Params: map[string]any{"City": "Köln"}}, http.StatusOK)
	job := s.Do(systemtest.Call{
		Method: http.MethodPost, Path: "/api/Jobs?Operation=user.update",
		Raw:     strings.NewReader("UserName,City\naschmidt,Rome\n"),
		Headers: map[string]string{"Content-Type": "text/csv"},
	})
	require.Equal(t, http.StatusAccepted, job.Status, "%s", job.Body)
	id := job.Envelope.Result[0]["id"].(string)
	require.Eventually(t, func() bool { return s.Get("/api/Jobs/" + id).Envelope.Result[0]["state"] == "done" },
		systemtest.Patience, 10*time.Millisecond)
	ofLocal := map[string]map[string]any{"job.items": {ops.JobIDParam: id}}
	for _, op := range ops.Table() {
		if op.Forms() == nil {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			params := op.Sample
			if op.Local {
				params = ofLocal[op.ID]
			} else {
				s.Prepare(op)
				defer s.Undo(op)
			}
			for _, token := range []string{systemtest.AllToken, systemtest.ClassicToken} {
				call := systemtest.CallFor(op, maps.Clone(params)).As(token)
				asked := func(media string) systemtest.Answer {
					call.Headers = map[string]string{"Accept": media}
					a := s.Do(call)
					require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
					return a
				}
				var envelope struct{ Result []json.RawMessage }
				require.NoError(t, json.Unmarshal(asked(ops.MediaJSON).Body, &envelope))
				var lines []json.RawMessage
				for line := range strings.Lines(string(asked(ops.MediaNDJSON).Body)) {
					lines = append(lines, json.RawMessage(strings.TrimSuffix(line, "\n")))
				}
				assert.Equal(t, envelope.Result, lines)
				rows, err := csv.NewReader(strings.NewReader(string(asked(ops.MediaCSV).Body))).ReadAll()
				require.NoError(t, err)
				require.Len(t, rows, len(lines)+1)
				for i, line := range lines {
					assert.Equal(t, cells(t, rows[0], line), rows[i+1])
				}
			}
			call := systemtest.CallFor(op, maps.Clone(params))
			call.Headers = map[string]string{"Accept": "application/pdf"}
			d.holds(t, op, s.Rejects(call, http.StatusNotAcceptable, "not_acceptable"))
			success := d.document.Paths.Find(op.Path).GetOperation(op.Method).Responses.Status(http.StatusOK).Value
			assert.ElementsMatch(t, op.Forms(), slices.Collect(maps.Keys(success.Content)))
		})
	}
}

// cells returns the cells in which a record must be shown. The test fails if a member of the record has no
// column, or if the members are in another order than the columns.
func cells(t *testing.T, names []string, record json.RawMessage) (row []string) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(record)))
	_, err := decoder.Token()
	require.NoError(t, err)
	for at := 0; decoder.More(); at++ {
		name, err := decoder.Token()
		require.NoError(t, err)
		for at < len(names) && names[at] != name { // a member that the record lacks
			row, at = append(row, ""), at+1
		}
		require.Less(t, at, len(names), "%s is not a column, or not in order", name)
		var value json.RawMessage
		require.NoError(t, decoder.Decode(&value))
		row = append(row, cell(t, value))
	}
	return append(row, make([]string, len(names)-len(row))...)
}

// cell returns the cell in which a value must be shown.
func cell(t *testing.T, value json.RawMessage) string {
	t.Helper()
	text := string(value)
	switch value[0] {
	case 'n':
		return ""
	case '"':
		require.NoError(t, json.Unmarshal(value, &text))
	}
	if text != "" && strings.Contains("=+-@\t\r", text[:1]) {
		text = "'" + text
	}
	return strings.ReplaceAll(text, "\r\n", "\n")
}
