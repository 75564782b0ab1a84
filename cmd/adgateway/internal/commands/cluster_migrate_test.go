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
	migrate := []string{"cluster", "migrate", config, "--host", "gw1=h1.corp.example", "--host", "gw2=10.0.0.2"}
	code, _, stderr := runCommand(t, migrate...)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "stop the gateways of the cluster")
	g.stop()

	code, _, stderr = runCommand(t, "cluster", "migrate", config, "--host", "gw2=h2")
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "--host names no host of this gateway, 'gw1'")
	out := command(t, migrate...)
	assert.Regexp(t, `The mirror .*cluster-test-gw1.mirror goes up to change \d+ of the store, of 20`, out)
	assert.Regexp(t, `The cluster test is made of it: [1-9]\d* values, `, out)
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
	require.Len(t, list.Gateways, 2)
	assert.Equal(t, []string{"gw1"}, list.Joined())
	assert.Equal(t, []string{"gw1", "gw2"}, list.Nodes)
	assert.Equal(t, "10.0.0.2:7443 10.0.0.2:6222 10.0.0.2:4222",
		list.Gateways[1].HopAddress+" "+list.Gateways[1].NodeAddress+" "+list.Gateways[1].ClientAddress)
	there, err := keep.Holds(filepath.Join(own, "state.db"), "auth", "credentials")
	require.NoError(t, err)
	assert.True(t, there)
}
