package cli

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
)

// killedComputers is how many computers a killed gateway has removed. Their records are much
// larger than the buffer of net/http.
const killedComputers = 60

// TestKilledAtTheAnswer: if a gateway is killed when its client receives the first or the
// last byte of the answer to a change, the audit log contains the outcome and every changed
// object. The gateways are separate processes. KILLS sets the number of kills (2 by default).
func TestKilledAtTheAnswer(t *testing.T) {
	kills := 2 // at the first byte and at the end
	if text := os.Getenv("KILLS"); text != "" {
		var err error
		kills, err = strconv.Atoi(text)
		require.NoError(t, err, "KILLS")
	}
	ldif := filepath.Join(t.TempDir(), "computers.ldif")
	var computers strings.Builder
	for i := range killedComputers {
		fmt.Fprintf(&computers, "dn: CN=killed%02d,DC=corp,DC=example\nchangetype: add\nobjectClass: computer\n"+
			"sAMAccountName: KILLED%02d$\nuserAccountControl: 4096\n\n", i, i)
	}
	require.NoError(t, os.WriteFile(ldif, []byte(computers.String()), 0o600))
	for i := range kills {
		killOnce(t, ldif, i%2 == 0)
	}
}

// killOnce kills a gateway at the first byte of the answer, or at its end.
func killOnce(t *testing.T, ldif string, first bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	self, err := os.Executable()
	require.NoError(t, err)
	gateway := exec.CommandContext(t.Context(), self, "command", "sandbox", "--listen", "127.0.0.1:0", "--token",
		"t", "--ldif", ldif,
		"--set", "limits.bulkDelete=100", "--set", "audit.file="+file)
	output, err := gateway.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, gateway.Start())
	lines := bufio.NewReader(output)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	require.True(t, found, line)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete,
		url+"/api/Computers/Remove?WildCard=killed*&OUPath=DC=corp,DC=example", nil)
	require.NoError(t, err)
	request.Header.Set("Auth-Token", "Bearer t")
	transport := &http.Transport{ReadBufferSize: 1 << 10}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	if !first {
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Greater(t, len(body), 20_000)
	}
	require.NoError(t, gateway.Process.Kill())
	_ = response.Body.Close()
	_ = gateway.Wait() // it was killed

	outcomes := 0
	require.NoError(t, audit.Read(file, nil, audit.Filter{Operation: "computer.deleteMany"},
		func(r *audit.Record) error {
			assert.Equal(t, "done", r.State())
			require.NotNil(t, r.Intent)
			require.NotNil(t, r.Outcome, "the answer left before its evidence was on disk")
			assert.Len(t, r.Outcome.Changes, killedComputers)
			assert.Equal(t, http.StatusOK, r.Outcome.Status)
			outcomes++
			return nil
		}))
	assert.Equal(t, 1, outcomes)
	report, err := audit.Verify(audit.Check{File: file})
	require.NoError(t, err)
	assert.Empty(t, report.Faults)
	assert.Empty(t, report.Running)
}
