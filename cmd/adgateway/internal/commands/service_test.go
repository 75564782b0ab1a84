package commands

import (
	"bytes"
	"os"
	"os/exec"
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

func TestACrashIsWrittenDown(t *testing.T) {
	const logVariable = "ADGATEWAY_TEST_CRASH"
	if log := os.Getenv(logVariable); log != "" { // this is the process that crashes
		require.NoError(t, keepCrashes(log))
		done := make(chan struct{})
		go func() { defer close(done); panic("out of order") }()
		<-done
	}
	log := filepath.Join(t.TempDir(), "adgateway.log")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestACrashIsWrittenDown$")
	child.Env = append(os.Environ(), logVariable+"="+log)
	require.Error(t, child.Run())
	text, err := os.ReadFile(filepath.Join(filepath.Dir(log), "adgateway-crash.log"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "panic: out of order")
	require.NoError(t, keepCrashes(""))
}

// An upgrade is 'service install' without more.
func TestTheServiceKeepsItsSettingsFile(t *testing.T) {
	assert.Equal(t, `D:\gw\a b.yaml`, settingsOf([]string{"service", "run", "--config", `D:\gw\a b.yaml`}, "default"))
	for _, arguments := range [][]string{nil, {"service", "run"}, {"service", "run", "--config"}} {
		assert.Equal(t, "default", settingsOf(arguments, "default"))
	}
}
