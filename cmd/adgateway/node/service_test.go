package node

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/winsvc/events"
)

// nodeFile writes the settings of a node into a folder.
func nodeFile(t *testing.T, dir, more string) string {
	t.Helper()
	file := filepath.Join(dir, "adgateway.yaml")
	require.NoError(t, os.WriteFile(file, []byte("engine:\n  node: n1\n  listen: 127.0.0.1:4222\n  store: data\n"+more), 0o600))
	return file
}

func TestTheFolderOfTheStreamsIsForTheNodeAlone(t *testing.T) {
	dir := t.TempDir()
	file, store := nodeFile(t, dir, ""), filepath.Join(dir, "data")
	restrict := func() string {
		t.Helper()
		var out bytes.Buffer
		require.NoError(t, restrictStore(&out, file))
		return out.String()
	}
	assert.Contains(t, restrict(), store+" (engine.store) is restricted to the service's account")
	assert.DirExists(t, store)
	require.NoError(t, os.MkdirAll(filepath.Join(store, "jetstream", "ADGW"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(store, "adgateway-engine.json"), nil, 0o644))
	assert.Contains(t, restrict(), "is restricted")
	info, err := os.Stat(filepath.Join(store, "jetstream", "ADGW"))
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}

	other := filepath.Join(store, "others.txt")
	require.NoError(t, os.WriteFile(other, nil, 0o644))
	before, err := os.Stat(other)
	require.NoError(t, err)
	assert.Contains(t, restrict(), "has other things in it, and its access rights are unchanged")
	after, err := os.Stat(other)
	require.NoError(t, err)
	assert.Equal(t, before.Mode(), after.Mode())

	require.NoError(t, os.RemoveAll(store))
	require.NoError(t, os.WriteFile(store, nil, 0o600))
	assert.ErrorContains(t, restrictStore(io.Discard, file), "engine.store")
}

func TestANodeIsNotInstalledWithBrokenSettings(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, checkNode(nodeFile(t, dir, ""), ""))
	assert.ErrorContains(t, checkNode(nodeFile(t, dir, "  peers: [n2:6222]\n"), ""), "a cluster has 3 or 5 nodes")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "adgateway.yaml"), nil, 0o600))
	assert.ErrorIs(t, checkNode(filepath.Join(dir, "adgateway.yaml"), ""), errNoNode, "a gateway's alone")
}

// The event log has one entry for each change of the node's health.
func TestTheEventLogHearsOfTheHealth(t *testing.T) {
	var told []string
	log := logrus.New()
	log.SetOutput(io.Discard)
	r := &running{log: log, write: func(e events.Event, text string) { told = append(told, e.Name+": "+text) }}
	ill, worse := errors.New("the disk is full"), errors.New("the disk is gone")
	trouble := ""
	for _, err := range []error{nil, ill, ill, worse, nil, nil} {
		trouble = r.health(trouble, err)
	}
	require.Len(t, told, 3)
	assert.Contains(t, told[0], "node_trouble: The node is not healthy: the disk is full.")
	assert.Contains(t, told[1], "the disk is gone")
	assert.Equal(t, "node_healthy: The node is healthy again.", told[2])
	r.write = nil
	assert.Equal(t, "the disk is full", r.health("", ill), "in the foreground there is no event log")
}
