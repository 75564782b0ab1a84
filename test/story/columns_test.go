package story

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestACallNamesTheColumnsOfItsList: the call names the parameters of the columns. The result has the names
// and the cells of the list, even after a retry, and never a secret.
func TestACallNamesTheColumnsOfItsList(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	result := func(id string) string { return string(s.Send(get(t, s, "/api/Jobs/"+id+"/Result")).Body) }
	columns := []string{"Operation", "user.update", "Columns", "Username,,City,"}
	id := submitted(s, submit(csvMedia,
		"Wer;Notiz;Ort;NewPassword\nlweber;=1+1;Ulm;Tr0ub4dor&3\nnobody.here;b;Ulm;x\n",
		columns...))
	reached(s, id, "done")
	const head = "Wer;Notiz;Ort;State;Code;Message;ChangeId;Guid\r\n"
	first := result(id)
	assert.Contains(t, first, head+"lweber;=1+1;Ulm;done;")
	assert.Contains(t, first, "\r\nnobody.here;b;Ulm;failed;not_found;")
	assert.NotContains(t, first, "Tr0ub4dor")
	again := submitted(s, systemtest.Call{Method: http.MethodPost, Path: "/api/Jobs/" + id + "/Retry"})
	reached(s, again, "done")
	assert.Contains(t, result(again), head+"nobody.here;b;Ulm;failed;")

	data := append(columns, "FirstRow", "data")
	id = submitted(s, submit(csvMedia, "lweber;x;Rom;\naschmidt;;Rom;\n", data...))
	reached(s, id, "done")
	assert.Contains(t, result(id),
		"Username;Column 2;City;Column 4;State;Code;Message;ChangeId;Guid\r\nlweber;x;Rom;;done;")
	assert.Equal(t, "Rom", s.Get("/api/ADUser/aschmidt/Details").Envelope.Result[0]["city"])
	id = submitted(s, submit(csvMedia, "lweber;x;Rom\nlweber;;Ulm\n;y;Bonn\n", data...))
	problems := jobOf(s, id)["problems"].([]any)
	require.Len(t, problems, 1)
	assert.Equal(t, float64(3), problems[0].(map[string]any)["line"])
	assert.Equal(t, float64(1), problems[0].(map[string]any)["column"])

	for name, c := range map[string]struct {
		media, list, wrong string
		query              []string
	}{
		"not CSV":    {jsonLines, "{}", "lists in CSV", columns},
		"no names":   {csvMedia, "a,b\n", "Columns has to name the columns", []string{"FirstRow", "data"}},
		"twice":      {csvMedia, "a,b\n", "gives column 2 the name of an earlier column", []string{"Columns", "City,city"}},
		"too few":    {csvMedia, "a;b;c\n1;2;3\n", "the first row has 3 cells", []string{"Columns", "City"}},
		"wrong name": {csvMedia, "a\n1\n", "data", []string{"FirstRow", "dta"}},
	} {
		a := s.Do(submit(c.media, c.list, c.query...))
		assert.Equal(t, 400, a.Status, name)
		assert.Contains(t, string(a.Body), c.wrong, name)
	}
}
