package commands

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/keep"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAClusterIsMigrated that a gateway has used: the command refuses while it runs, says what
// it takes over, and changes nothing when it is run again.
func TestAClusterIsMigrated(t *testing.T) {
	folder, files := clusterSettings(t, enginetest.Start(t, 1), "gw1")
	config := "--config=" + files[0]
	command(t, "cluster", "init", config)
	bearer := "Bearer " + command(t, "token", "create", "program", config, "--scope", "user:read,ops:read")
	g := startSandbox(t, config)
	g.eventually("/readyz?lane=changes", bearer, http.StatusOK)
	hosts := []string{"--gateway", "gw1=h1.corp.example", "--gateway", "gw2=10.0.0.2", "--gateway", "gw3=h3"}
	migrate := append([]string{"cluster", "migrate", config}, hosts...)
	code, _, stderr := runCommand(t, migrate...)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "stop the gateways of the cluster")
	g.stop()

	other := []string{"cluster", "migrate", config, "--gateway", "gw2=h2", "--gateway", "gw1=h1", "--gateway", "gw3=h3"}
	code, _, stderr = runCommand(t, other...)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "this gateway is gw1 (cluster.gateway), and gw2 is named first")
	out := command(t, migrate...)
	assert.Regexp(t, `The mirror .*cluster-test-gw1.mirror goes up to change \d+ of the store, of 20`, out)
	assert.Regexp(t, `The cluster test is made of it: [1-9]\d* values, `, out)
	assert.Contains(t, out, "adgateway cluster join --cluster test --gateway gw2 --address h1.corp.example:7443 ")
	out = command(t, migrate...)
	assert.Contains(t, out, "The cluster test was made of it before; nothing was changed.")
	var found struct {
		Sequence uint64
		Done     bool
	}
	require.NoError(t, json.Unmarshal([]byte(command(t, append(migrate, "--json")...)), &found))
	assert.NotZero(t, found.Sequence)
	assert.True(t, found.Done)

	own := filepath.Join(folder, "gw1")
	list, err := trust.LoadMembers(trust.Folder{Path: filepath.Join(own, "cluster")}.MembersFile())
	require.NoError(t, err)
	assert.Equal(t, []string{"gw1"}, list.Joined())
	assert.Equal(t, []string{"gw1", "gw2", "gw3"}, list.Nodes)
	assert.Equal(t, []string{"10.0.0.2:6222", "h3:6222"}, list.Routes("gw1"))
	origin, made, err := trust.Folder{Path: filepath.Join(own, "cluster")}.Origin()
	require.NoError(t, err)
	assert.True(t, made)
	assert.NotZero(t, origin)
	there, err := keep.Holds(filepath.Join(own, "state.db"), "auth", "credentials")
	require.NoError(t, err)
	assert.True(t, there)
}
