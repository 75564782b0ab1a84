package story

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestFormatsOfAResult: Format decides, then Accept, and then the format of the list.
func TestFormatsOfAResult(t *testing.T) {
	const nothing, asCSV = "", "text/csv; charset=utf-8; header=present"
	const asLines = "application/x-ndjson; charset=utf-8"
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	ids := map[string]string{
		csvMedia: submitted(s, submit(csvMedia, "UserName,City\naschmidt,Paris\n", "Operation", "user.update")),
		asLines: submitted(s, submit(asLines, `{"parameters":{"UserName":"aschmidt","City":"Paris"}}`+"\n",
			"Operation", "user.update")),
	}
	for _, id := range ids {
		reached(s, id, "done")
	}
	for _, c := range []struct{ list, accept, format, want string }{
		{csvMedia, "", "", asCSV},
		{csvMedia, "*/*", "", asCSV},
		{csvMedia, "text/csv", "", asCSV},
		{csvMedia, "text/csv; charset=utf-8", "", asCSV},
		{csvMedia, "application/x-ndjson, text/csv", "", asCSV},
		{csvMedia, "application/x-ndjson", "", asLines},
		{csvMedia, "text/csv;q=0.1, application/x-ndjson", "", asLines},
		{csvMedia, "application/json", "", nothing},
		{csvMedia, "text/csv; header=absent", "", nothing},
		{csvMedia, "text/csv", "ndjson", nothing},
		{csvMedia, "application/x-ndjson", "ndjson", asLines},
		{asLines, "", "", asLines},
		{asLines, "text/csv", "", asCSV},
		{asLines, "*/*", "csv", asCSV},
	} {
		target := "/api/Jobs/" + ids[c.list] + "/Result"
		if c.format != "" {
			target += "?Format=" + c.format
		}
		r := get(t, s, target)
		r.Header.Set("Accept", c.accept)
		a := s.Send(r)
		if c.want == nothing {
			assert.Equal(t, http.StatusNotAcceptable, a.Status, "%v", c)
			assert.Equal(t, "not_acceptable", a.Envelope.Error.Code, "%v", c)
			continue
		}
		require.Equal(t, http.StatusOK, a.Status, "%v: %s", c, a.Body)
		assert.Equal(t, c.want, a.Header.Get("Content-Type"), "%v", c)
		assert.Equal(t, c.want == asCSV, strings.HasPrefix(string(a.Body), "UserName,") ||
			strings.HasPrefix(string(a.Body), "Id,"), "%v: %s", c, a.Body)
		assert.Equal(t, "Accept", a.Header.Get("Vary"))
	}
}
