package cli

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The commands show and verify the changes that a sandbox was asked to make, and they detect an altered byte.
func TestAuditCommands(t *testing.T) {
	folder := t.TempDir()
	file, key, settings := filepath.Join(folder, "audit.jsonl"), filepath.Join(folder,
		"key"), filepath.Join(folder, "s.yaml")
	require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("k", 40)+"\n"), 0o600))
	require.NoError(t, os.WriteFile(settings, []byte("audit:\n  file: "+file+"\n  keyFile: "+key+"\n"), 0o600))
	s := startSandbox(t, "--token", "t", "--token", "reader=user:read", "--config", settings)
	for token, status := range map[string]int{"t": http.StatusOK, "reader": http.StatusForbidden} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.url+"/api/ADUser/aschmidt",
			strings.NewReader("City=Bonn"))
		require.NoError(t, err)
		request.Header = http.Header{"Auth-Token": {"Bearer " + token},
			"Content-Type": {"application/x-www-form-urlencoded"}}
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, status, response.StatusCode)
	}
	require.Zero(t, s.stop(), s.log)

	code, stdout, stderr := runCommand(t, "audit", "verify", "--config", settings)
	require.Zero(t, code, stdout+stderr)
	assert.Contains(t, stdout, "OK: every line is as it was written, as far as that was checked")
	assert.Contains(t, stdout, "chained with a key, compared with the anchor")
	assert.Contains(t, stdout, "not checked: lines after the last entry of the anchor")
	_, end, _ := strings.Cut(stdout, "end: ")
	end, _, _ = strings.Cut(end, "\n")
	assert.Contains(t, s.log.String(), `msg="audit log closed" file=`+file)
	assert.Contains(t, s.log.String(), "hash="+end[strings.Index(end, ":")+1:], "the log has the end")
	code, stdout, _ = runCommand(t, "audit", "verify", "--config", settings, "--last", end)
	require.Zero(t, code, stdout)
	assert.NotContains(t, stdout, "not checked:")
	code, stdout, _ = runCommand(t, "audit", "verify", "--file", file, "--key-file", key)
	require.Zero(t, code, stdout)
	assert.Contains(t, stdout, "not checked: neither an anchor (audit.anchorFile) nor an end from elsewhere "+
		"(--last)")
	code, stdout, _ = runCommand(t, "audit", "show", "--config", settings, "--operation", "user.*", "--since",
		"7d")
	require.Zero(t, code)
	assert.Regexp(t, `token 1 +127\.0\.0\.1 +user\.update +done +200 +CN=Anna Schmidt,`, stdout)
	assert.Regexp(t, `token 2 +127\.0\.0\.1 +user\.update +refused +403 forbidden +Username=aschmidt`, stdout)
	code, stdout, _ = runCommand(t, "audit", "show", "--config", settings, "--json", "--target", "anna schmidt")
	require.Zero(t, code)
	assert.Equal(t, 2, strings.Count(stdout, `"hash":"`), stdout)

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, bytes.Replace(text, []byte(`"Bonn"`), []byte(`"Rome"`), 1), 0o600))
	code, stdout, _ = runCommand(t, "audit", "verify", "--config", settings)
	assert.Equal(t, 1, code)
	assert.Contains(t, stdout, "FAULT "+file+":")
	assert.Contains(t, stdout, "was altered")

	require.NoError(t, os.WriteFile(file, text, 0o600))
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Remove(file+".head"))
	code, stdout, _ = runCommand(t, "audit", "verify", "--config", settings)
	assert.Equal(t, 1, code)
	assert.Contains(t, stdout, "are missing at the end", "the anchor finds that all was removed")
	require.NoError(t, os.WriteFile(file, text, 0o600))

	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"switched off": {[]string{"verify", "--set", "audit.file=off"}, "--file"},
		"missing file": {[]string{"verify", "--file", filepath.Join(folder, "no", "such")}, "audit.file (--file): "},
		"without key":  {[]string{"verify", "--file", file}, "written with a key"},
		"short key":    {[]string{"verify", "--file", file, "--key-file", settings + "x"}, "audit.keyFile: "},
		"bad end":      {[]string{"verify", "--file", file, "--last", "x"}, "NUMBER:HASH"},
		"bad time":     {[]string{"show", "--file", file, "--since", "yesterday"}, `"yesterday" is not a time`},
		"bad outcome":  {[]string{"show", "--file", file, "--outcome", "failed"}, `there is no outcome "failed"; use one of done, none, partial, unknown, refused, interrupted, running`},
		"bad pattern":  {[]string{"show", "--file", file, "--operation", "["}, `"[" is not a pattern of operations`},
	} {
		code, _, stderr := runCommand(t, append([]string{"audit"}, c.args...)...)
		assert.Equal(t, 1, code, name)
		assert.Contains(t, stderr, c.says, name)
	}
}
