package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/freeport"
)

// startProcess starts a command in a separate process, which runs until the test ends or
// stop is called. It returns the rest of its first output line after a prefix.
func startProcess(t *testing.T, prefix string, args ...string) (after string, stop func()) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	process := exec.CommandContext(t.Context(), self, append([]string{"command"}, args...)...)
	output, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	ended := false
	stop = func() {
		if !ended {
			ended = true
			_ = process.Process.Kill() // nohup ignores an interrupt
			_ = process.Wait()         // the error reports how it ended
		}
	}
	t.Cleanup(stop)
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	after, found := strings.CutPrefix(strings.TrimSpace(line), prefix)
	require.True(t, found, line)
	return after, stop
}

// sendTo sends a call with the token of these tests and returns the status and the records.
func sendTo(t *testing.T, method, url, body string) (int, []map[string]any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Auth-Token", "Bearer t")
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Timeout: time.Minute}).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	var e struct{ Result []map[string]any }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&e))
	return response.StatusCode, e.Result
}

func TestGatewaysOverOneDomain(t *testing.T) {
	dir := t.TempDir()
	ticket, orders := filepath.Join(dir, "ticket"), filepath.Join(dir, "orders")
	address, stop := startProcess(t, "the domain corp.example listens on ", "sandbox", "domain", "--listen",
		"127.0.0.1:0", "--ticket-file", ticket, "--orders-file", orders, "--log-level", "error")
	for _, file := range []string{ticket, orders} {
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	order := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := runCommand(t,
			append([]string{"sandbox", "order", "--domain", address, "--orders-file", orders}, args...)...)
		require.Zero(t, code, stderr)
		return stdout
	}
	var urls []string
	for _, name := range []string{"gw1", "gw2"} {
		url, _ := startProcess(t, "listening on ", "sandbox", "--domain", address, "--ticket-file", ticket,
			"--gateway-name", name,
			"--listen", "127.0.0.1:0", "--token", "t", "--log-level", "error")
		urls = append(urls, url)
	}
	ready := func(want int) func() bool {
		return func() bool {
			return !slices.ContainsFunc(urls, func(url string) bool {
				status, _ := sendTo(t, http.MethodGet, url+"/readyz", "")
				return status != want
			})
		}
	}
	require.Eventually(t, ready(http.StatusOK), 3*time.Minute, 10*time.Millisecond)
	status, _ := sendTo(t, http.MethodPut, urls[0]+"/api/ADUser/aschmidt", `{"City":"Ravenna"}`)
	require.Equal(t, http.StatusOK, status)
	_, records := sendTo(t, http.MethodGet, urls[1]+"/api/ADUser/aschmidt/Details", "")
	assert.Equal(t, "Ravenna", records[0]["city"])
	var writes []sandbox.Write
	require.NoError(t, json.Unmarshal([]byte(order("writes")), &writes))
	require.Len(t, writes, 1)
	assert.True(t, strings.HasPrefix(writes[0].Writer, "gw1#"), writes[0].Writer)
	assert.Contains(t, order("gateways"), `"gw2"`)
	order("stop", "dc2")
	order("slow", "dc1", "1ms")
	assert.NotContains(t, order("digest"), "dc2.corp.example")
	assert.Contains(t, order("find", "dc1", "(sAMAccountName=aschmidt)", "l"), "Ravenna")
	order("start", "dc2")
	order("cut", "dc1", "dc2")
	order("heal", "dc1", "dc2")
	order("separate", "gw1", "dc1")
	order("join", "gw1", "dc1")
	order("lag", "1s")
	assert.Contains(t, order("drop", "gw1"), `"dropped"`)

	stop()
	require.Eventually(t, ready(http.StatusServiceUnavailable), 3*time.Minute, 10*time.Millisecond)
	startProcess(t, "the domain corp.example listens on ", "sandbox", "domain", "--listen", address,
		"--ticket-file", ticket, "--log-level", "error")
	require.Eventually(t, ready(http.StatusOK), 3*time.Minute, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		status, records = sendTo(t, http.MethodGet, urls[1]+"/api/ADUser/aschmidt/Details", "")
		return status == http.StatusOK
	}, 3*time.Minute, 10*time.Millisecond)
	assert.NotEqual(t, "Ravenna", records[0]["city"], "the domain is a fresh one")
}

func TestADomainTakesItsFilesAway(t *testing.T) {
	ticket := filepath.Join(t.TempDir(), "ticket")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, in := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, []string{"sandbox", "domain", "--listen", "127.0.0.1:0", "--ticket-file", ticket}, in,
			io.Discard)
	}()
	_, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	_, err = os.Stat(ticket)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	cancel()
	assert.Zero(t, <-ended)
	_, err = os.Stat(ticket)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestDomainsThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	ticket := filepath.Join(dir, "ticket")
	require.NoError(t, os.WriteFile(ticket, []byte("guessed\n"), 0o600))
	nowhere := freeport.Addresses(t, 1)[0]
	real := filepath.Join(dir, "real")
	address, _ := startProcess(t, "the domain corp.example listens on ", "sandbox", "domain", "--listen",
		"127.0.0.1:0", "--ticket-file", real, "--log-level", "error")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"sandbox", "--domain", nowhere, "--ticket-file", ticket}, "start one with 'adgateway sandbox domain --listen " + nowhere},
		{[]string{"sandbox", "--domain", address, "--ticket-file", ticket}, "must be the file that the domain at " + address + " has written"},
		{[]string{"sandbox", "--domain", address, "--ticket-file", filepath.Join(dir, "none")}, "none does not exist"},
		{[]string{"sandbox", "--domain", address}, "needs --ticket-file"},
		{[]string{"sandbox", "--ticket-file", ticket}, "of use with --domain"},
		{[]string{"sandbox", "--domain", address, "--ticket-file", real, "--gateway-name", "a b"}, "cannot be the name of a gateway"},
		{[]string{"sandbox", "--domain", address, "--ticket-file", real, "--users", "5"}, "sandbox.generatedUsers describes the domain, which is another process"},
		{[]string{"sandbox", "domain", "--ticket-file", ticket + "2", "--listen", "0.0.0.0:0"}, "on a loopback address only"},
		{[]string{"sandbox", "domain", "--ticket-file", ticket + "2", "--listen", address}, "--listen: "},
		{[]string{"sandbox", "domain"}, "--ticket-file is missing"},
		{[]string{"sandbox", "domain", "--ticket-file", filepath.Join(dir, "no", "ticket"), "--listen", "127.0.0.1:0"}, "--ticket-file: "},
		{[]string{"sandbox", "order", "digest"}, "--orders-file is missing"},
		{[]string{"sandbox", "order", "--domain", nowhere, "--orders-file", ticket, "digest"}, "--orders-file " + ticket},
		{[]string{"sandbox", "order", "--domain", address, "--orders-file", real, "digest"}, "--orders-file must be the file"},
		{[]string{"sandbox", "order", "--domain", address, "--orders-file", real, "explode"}, "is no order"},
		{[]string{"sandbox", "order", "--domain", address, "--orders-file", real, "stop"}, "is no order with all that it needs"},
	} {
		code, _, stderr := runCommand(t, c.args...)
		assert.Equal(t, 1, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
	}
}
