package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
)

// TestFileHandlesThatEnd: while idle connections use up all file handles of the process, a client that is
// already connected still gets answers, and every change is audited. When the idle connections close, new
// clients are served.
func TestFileHandlesThatEnd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("handles are limited by ulimit and counted in /proc")
	}
	const handles = 64
	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	gateway := exec.CommandContext(t.Context(), "sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, handles), self,
		"command", "sandbox", "--listen", "127.0.0.1:0", "--token", "t", "--set", "audit.file="+file)
	output, err := gateway.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, gateway.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	require.True(t, found, line)

	describe := func(client *http.Client, text string) (int, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url+"/api/ADUser/aschmidt",
			strings.NewReader(`{"Description":"`+text+`"}`))
		require.NoError(t, err)
		request.Header.Set("Auth-Token", "Bearer t")
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, response.Body) // otherwise the connection is not reused
		return response.StatusCode, errors.Join(err, response.Body.Close())
	}
	connected := &http.Client{Transport: &http.Transport{}, Timeout: patience}
	defer connected.CloseIdleConnections()
	status, err := describe(connected, "before")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)

	open := func() int {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", gateway.Process.Pid))
		require.NoError(t, err)
		return len(entries)
	}
	var idle []net.Conn
	for range 2 * handles { // the system queues connections that the process cannot accept
		connection, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), patience)
		require.NoError(t, err)
		idle = append(idle, connection)
	}
	require.Eventually(t, func() bool { return open() >= handles }, patience, 10*time.Millisecond)
	status, err = describe(connected, "while")
	require.NoError(t, err)
	assert.Contains(t, []int{http.StatusOK, http.StatusServiceUnavailable}, status)
	for _, connection := range idle {
		require.NoError(t, connection.Close())
	}
	after := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	require.Eventually(t, func() bool {
		status, err := describe(after, "after")
		return err == nil && status == http.StatusOK
	}, patience, 50*time.Millisecond)

	require.NoError(t, gateway.Process.Kill())
	_ = gateway.Wait() // it was killed
	report, err := audit.Verify(audit.Check{File: file})
	require.NoError(t, err)
	assert.Empty(t, report.Faults)
	assert.Empty(t, report.Running)
}
