package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBenchMeasuresASandbox(t *testing.T) {
	code, stdout, stderr := runCommand(t, "bench", "--time", "1ms", "--sessions", "1,2", "--json")
	require.Zero(t, code, stderr)
	var report benchReport
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	assert.Equal(t, "sandbox, scripts run in the built-in engine", report.Gateway)
	assert.Positive(t, report.Start)
	require.Len(t, report.Measurements, 2*3*2)
	for i, m := range report.Measurements {
		assert.Equal(t, []string{"read", "write", "list"}[i/2%3], m.Request)
		assert.Equal(t, i/6+1, m.Sessions)
		assert.Equal(t, m.Sessions*(1+3*(i%2)), m.Clients)
		assert.GreaterOrEqual(t, m.Requests, m.Clients)
		assert.Positive(t, m.Bytes)
		assert.LessOrEqual(t, m.P50, m.P99)
		assert.LessOrEqual(t, m.P99, m.Longest)
		require.NotNil(t, m.Parts, m.Request)
		assert.Positive(t, m.Parts.Session)
	}

	code, stdout, stderr = runCommand(t, "bench", "--time", "1ms", "--sessions", "1")
	require.Zero(t, code, stderr)
	assert.Regexp(t, `(?m)^ready after \d+ ms$`, stdout)
	assert.Regexp(t, `(?m)^ +1 +1 +write( +[0-9.]+){9}$`, stdout)
}

// TestBenchOnlyReadsARunningGateway: bench sends a running gateway only reads, because it
// may be in production.
func TestBenchOnlyReadsARunningGateway(t *testing.T) {
	s := startSandbox(t, "--token", "bench=user:read,ops:read", "--token", "plain=user:read")
	target, err := url.Parse(s.url)
	require.NoError(t, err)
	var mu sync.Mutex
	asked := map[string]int{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Method+" "+r.URL.Path]++
		mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	run := func(token string, more ...string) (code int, report benchReport, stderr string) {
		file := filepath.Join(t.TempDir(), "token")
		require.NoError(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
		args := append([]string{"bench", "--json", "--time", "1ms", "--sessions", "1,2", "--url", front.URL + "/",
			"--token-file", file}, more...)
		code, stdout, stderr := runCommand(t, args...)
		if code == 0 {
			require.NoError(t, json.Unmarshal([]byte(stdout), &report))
		}
		return code, report, stderr
	}
	code, report, stderr := run("bench", "--user", "aschmidt", "--ou", "OU=Staff,OU=Corp,DC=corp,DC=example")
	require.Zero(t, code, stderr)
	require.Len(t, report.Measurements, 4)
	for _, m := range report.Measurements {
		assert.NotNil(t, m.Parts)
		assert.Zero(t, m.Sessions)
	}
	for request := range asked {
		assert.Contains(t, []string{"GET /metrics", "GET /api/ADUser/aschmidt/Details",
			"GET /api/ADUser/ListUsers"}, request)
	}

	code, report, stderr = run("plain", "--user", "aschmidt")
	require.Zero(t, code, stderr)
	require.Len(t, report.Measurements, 2)
	assert.Nil(t, report.Measurements[0].Parts, "the metrics are not for everybody")

	code, _, stderr = run("bench", "--user", "nobody")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "/api/ADUser/nobody/Details is answered with 404")
	assert.NotContains(t, stderr, "Bearer")
}

func TestBenchFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--sessions", "0"}, "--sessions takes numbers from 1 to 64"},
		{[]string{"--user", "x"}, "can only be used with --url"},
		{[]string{"--url", "http://127.0.0.1:1"}, "--url needs --token-file and --user"},
		{[]string{"--url", "http://127.0.0.1:1", "--user", "x", "--token-file", filepath.Join(t.TempDir(), "absent")}, "--token-file: open"},
		{[]string{"--set", "sandbox.tokens=[{value: some-token-of-mine}]"}, "its own token"},
	} {
		code, _, stderr := runCommand(t, append([]string{"bench"}, c.args...)...)
		assert.NotZero(t, code, c.args)
		assert.Contains(t, stderr, c.says)
	}
}
