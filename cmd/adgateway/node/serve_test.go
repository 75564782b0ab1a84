package node

import (
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

func TestTheFolderOfTheStreamsIsForTheNodeAlone(t *testing.T) {
	store := filepath.Join(t.TempDir(), "data")
	require.NoError(t, restrictStore(store))
	assert.DirExists(t, store)
	require.NoError(t, os.MkdirAll(filepath.Join(store, "jetstream", "ADGW"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(store, "adgateway-engine.json"), nil, 0o644))
	require.NoError(t, restrictStore(store))
	info, err := os.Stat(filepath.Join(store, "jetstream", "ADGW"))
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}

	other := filepath.Join(store, "others.txt")
	require.NoError(t, os.WriteFile(other, nil, 0o644))
	before, err := os.Stat(other)
	require.NoError(t, err)
	require.ErrorContains(t, restrictStore(store), "contains other files, so its access rights were not changed")
	after, err := os.Stat(other)
	require.NoError(t, err)
	assert.Equal(t, before.Mode(), after.Mode())

	require.NoError(t, os.RemoveAll(store))
	require.NoError(t, os.WriteFile(store, nil, 0o600))
	assert.ErrorContains(t, restrictStore(store), "engine.store")
}

// The event log gets one entry for each change of the node's health.
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
