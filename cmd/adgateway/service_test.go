package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInstallingKeepsTheDataFromOthers(t *testing.T) {
	t.Setenv("ProgramData", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if os.Geteuid() == 0 && filepath.Dir(dataDir()) == "/etc" {
		t.Log("the data of this account is the machine's own: only a folder elsewhere is tried")
	} else {
		var out bytes.Buffer
		require.NoError(t, keepData(&out, dataDir()))
		assert.Contains(t, out.String(), dataDir()+" is for the service's account")
		assert.DirExists(t, dataDir())
	}

	elsewhere := t.TempDir()
	file := filepath.Join(elsewhere, "others.txt")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	before, err := os.Stat(file)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, keepData(&out, elsewhere))
	assert.Contains(t, out.String(), "must be able to write in "+elsewhere)
	after, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, before.Mode(), after.Mode(), "what is not the gateway's own is left alone")
}
