package output

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/jobclient"
	"adgateway/gateway/authn"
	"adgateway/gateway/visible"
)

// TestTextsCannotControlATerminal: values are printed without control characters, in their
// own cells and lines.
func TestTextsCannotControlATerminal(t *testing.T) {
	const hostile = "a\x1b[31m\u009b0m\u202e\u200b\tb\nc\rd"
	const shown = `a\u001b[31m\u009b0m\u202e\u200b\u0009b\u000ac\u000dd`
	var out bytes.Buffer
	printed := func(lines int) string {
		t.Helper()
		text := out.String()
		assert.Contains(t, text, shown)
		assert.Equal(t, lines, strings.Count(text, "\n"), text)
		for _, r := range text {
			require.True(t, r == '\n' || !visible.Hidden(r), "%U", r)
		}
		out.Reset()
		return text
	}
	job := jobclient.Job{ID: "jb_1", Name: hostile, Caller: hostile, State: "done"}
	require.NoError(t, Jobs(&out, []jobclient.Job{job}, false))
	printed(2)
	job.Problems = []jobclient.Problem{{Line: 1, ID: hostile, Message: "wrong"}}
	require.NoError(t, Job(&out, &job))
	printed(3)
	account := Account{Name: hostile, Rights: authn.Rights{Scopes: []string{"dns:read"}}}
	require.NoError(t, Accounts(&out, []Account{account}, time.Now()))
	printed(2)
	require.NoError(t, account.Text(&out, time.Now()))
	printed(5)
	require.NoError(t, JSON(visible.Writer(&out), map[string]string{"name": hostile}))
	text := out.String()
	assert.NotContains(t, text, "\u202e")
	var back map[string]string
	require.NoError(t, json.Unmarshal([]byte(text), &back))
	assert.Equal(t, hostile, back["name"], "it means the same")
}
