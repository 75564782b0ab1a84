package cli

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/store"
)

// formerGateway returns the folder of a gateway of a cluster of an earlier version, and its
// settings file.
func formerGateway(t *testing.T) (folder, file string) {
	zipped, err := zip.OpenReader(filepath.FromSlash("../../../../gateway/cluster/migrate/testdata/old.zip"))
	require.NoError(t, err)
	folder = t.TempDir()
	require.NoError(t, os.CopyFS(folder, zipped))
	require.NoError(t, zipped.Close())
	file = filepath.Join(folder, "adgateway.yaml")
	text := fmt.Sprintf("cluster:\n  name: corp\n  gateway: gw1\n  servers: [\"nats://127.0.0.1:4222\"]\n"+
		"  keyFile: ring.key\nstore:\n  file: %q\n",
		filepath.Join(folder, "state.db"))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return folder, file
}

// TestAClusterIsMigrated: a gateway of an earlier cluster does not start before its
// migration. The command prints what it takes over, and changes nothing when it is run again.
func TestAClusterIsMigrated(t *testing.T) {
	folder, file := formerGateway(t)
	config := "--config=" + file
	code, _, stderr := runCommand(t, "sandbox", config, "--listen", "127.0.0.1:0", "--token", "t")
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "adgateway cluster migrate")
	code, _, stderr = runCommand(t, "cluster", "status", config)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "not in a cluster")

	other := []string{"cluster", "migrate", config, "--gateway", "gw2=h2", "--gateway", "gw1=h1", "--gateway",
		"gw3=h3"}
	code, _, stderr = runCommand(t, other...)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "this gateway is gw1 (cluster.gateway), and gw2 is named first")
	migrate := []string{"cluster", "migrate", config, "--gateway", "gw1=h1.corp.example", "--gateway",
		"gw2=10.0.0.2", "--gateway", "gw3=h3"}
	out := command(t, migrate...)
	assert.Regexp(t, `The mirror .*cluster-corp-gw1.mirror goes up to change \d+ of the store, of 20`, out)
	assert.Regexp(t, `The cluster corp was created from it: [1-9]\d* values, `, out)
	assert.Contains(t, out, "adgateway cluster join --cluster corp --gateway gw2 --address "+
		"h1.corp.example:7443 ")
	out = command(t, migrate...)
	assert.Contains(t, out, "The cluster corp was already created from it; nothing was changed.")
	var found struct {
		Sequence uint64
		Done     bool
	}
	require.NoError(t, json.Unmarshal([]byte(command(t, append(migrate, "--json")...)), &found))
	assert.NotZero(t, found.Sequence)
	assert.True(t, found.Done)

	made := trust.Folder{Path: filepath.Join(folder, "cluster")}
	list, err := trust.LoadMembers(made.MembersFile())
	require.NoError(t, err)
	assert.Equal(t, []string{"gw1"}, list.Joined())
	assert.Equal(t, []string{"gw1", "gw2", "gw3"}, list.Nodes)
	assert.Equal(t, []string{"10.0.0.2:6222", "h3:6222"}, list.Routes("gw1"))
	alone, err := made.Alone()
	require.NoError(t, err)
	assert.True(t, alone, "it goes on alone until the nodes serve")
	there, err := store.Holds(filepath.Join(folder, "state.db"), "auth", "credentials")
	require.NoError(t, err)
	assert.True(t, there)
}
