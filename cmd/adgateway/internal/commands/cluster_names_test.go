package commands

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adgateway/gateway/engine/enginetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestANameIsGivenAtOneSite: as long as two domain controllers do not know of each other's
// changes, a name that a gateway of one site has given is not given by one of the other. As
// soon as they do, the controller's own rule decides (many W11, W25).
func TestANameIsGivenAtOneSite(t *testing.T) {
	dir := t.TempDir()
	ticket, orders := filepath.Join(dir, "ticket"), filepath.Join(dir, "orders")
	domain, _ := startProcess(t, "the domain corp.example listens on ", "sandbox", "domain", "--listen", "127.0.0.1:0", "--ticket-file", ticket, "--orders-file", orders, "--log-level", "error")
	order := func(args ...string) {
		code, _, stderr := runCommand(t, append([]string{"sandbox", "order", "--domain", domain, "--orders-file", orders}, args...)...)
		require.Zero(t, code, stderr)
	}
	_, files := clusterSettings(t, enginetest.Start(t, 1), "gw1", "gw2")
	for i, site := range []string{"rome", "oslo"} {
		text, err := os.ReadFile(files[i])
		require.NoError(t, err)
		changed := strings.Replace(string(text), "cluster:\n", "cluster:\n  site: "+site+"\n", 1)
		changed += fmt.Sprintf("servers:\n  controllers: [dc%d.corp.example]\n", i+1)
		require.NoError(t, os.WriteFile(files[i], []byte(changed), 0o600))
	}
	command(t, "cluster", "init", "--config="+files[0])
	token := command(t, "token", "create", "terraform", "--config="+files[0], "--scope", "group:read,group:write")
	var gateways []*runningSandbox
	for i, name := range []string{"gw1", "gw2"} {
		gateways = append(gateways, startSandbox(t, "--config="+files[i], "--domain", domain, "--ticket-file", ticket, "--gateway-name", name, "--log-level", "error"))
	}
	send := func(gateway int, method, path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), method, gateways[gateway].url+path, nil)
		require.NoError(t, err)
		request.Header.Set("Auth-Token", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		var answer struct{ Error struct{ Code string } }
		require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
		return response.StatusCode, answer.Error.Code
	}
	for i := range gateways {
		require.Eventually(t, func() bool {
			status, _ := send(i, http.MethodGet, "/readyz?lane=changes")
			return status == http.StatusOK
		}, patience, 10*time.Millisecond)
	}
	const group = "/api/ADGroups/anna/Security?GroupScope=Global"

	order("cut", "dc1.corp.example", "dc2.corp.example")
	status, code := send(0, http.MethodPost, group)
	require.Equal(t, http.StatusCreated, status, code)
	status, code = send(1, http.MethodPost, group)
	assert.Equal(t, http.StatusConflict, status)
	assert.Equal(t, "name_pending", code)
	order("heal", "dc1.corp.example", "dc2.corp.example")
	require.Eventually(t, func() bool {
		status, code = send(1, http.MethodPost, group)
		return status == http.StatusConflict && code == "conflict"
	}, patience, 10*time.Millisecond)
}
