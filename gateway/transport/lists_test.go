package transport

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/call"
	"adgateway/gateway/ops"
)

// TestRecordsAsRowsAndLines: records may contain any JSON and arrive in any pieces. A missing member becomes
// an empty cell.
func TestRecordsAsRowsAndLines(t *testing.T) {
	pieces := []string{
		`{"a":"x\u00fc\"","b":[1, 2],"c":{"d":null}}`, `,{"b":null,"a":-1.5},{"c":"\n"}`, "", `,{"a":{"b":` + "\n" + `[]},"c":true}`,
	}
	for form, want := range map[string]string{
		ops.MediaCSV: "a,b,c\r\n\"xü\"\"\",\"[1, 2]\",\"{\"\"d\"\":null}\"\r\n'-1.5,,\r\n,,\"'\r\n\"\r\n" +
			"\"{\"\"b\"\":\r\n[]}\",,true\r\n",
		ops.MediaNDJSON: `{"a":"x\u00fc\"","b":[1,2],"c":{"d":null}}` + "\n" + `{"b":null,"a":-1.5}` + "\n" +
			`{"c":"\n"}` + "\n" + `{"a":{"b":[]},"c":true}` + "\n",
		ops.MediaJSON: `{"result":[` + pieces[0] + pieces[1] + pieces[3] + `],"output":"o"}` + "\n",
	} {
		var body bytes.Buffer
		w := newListWriter(form, []string{"a", "b", "c"}, &body)
		require.NoError(t, w.begin())
		for _, piece := range pieces {
			require.NoError(t, w.add([]byte(piece)))
		}
		require.NoError(t, w.end(call.Answer{Output: "o"}))
		assert.Equal(t, want, body.String(), form)
	}
}

// TestLinksToTheNextPage: the link keeps the query, except for the cursor and the token.
func TestLinksToTheNextPage(t *testing.T) {
	for query, want := range map[string]string{
		"":                                "<?After=a%2Fb>",
		"Limit=2":                         "<?Limit=2&After=a%2Fb>",
		"Limit=2&after=x&AFTER=y&Count=":  "<?Limit=2&Count=&After=a%2Fb>",
		"auth-token=Bearer+secret&Text=a": "<?Text=a&After=a%2Fb>",
		"Auth%2DToken=secret&&Text":       "<?Text=&After=a%2Fb>",
		"Text=>\";a+%C3%BC":               "<?Text=%3E%22%3Ba+%C3%BC&After=a%2Fb>",
	} {
		assert.Equal(t, want+`; rel="next"`, nextLink(query, "a/b"), query)
	}
}
