package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/ps"
	"adgateway/ps/session"
	"adgateway/ps/session/sessiontest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheTemporaryFolderOfAGateway(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"TMPDIR", "TEMP", "TMP"} {
		t.Setenv(name, base)
	}
	const noProcess = 1<<31 - 1
	for name, stale := range map[string]bool{
		fmt.Sprintf("adgateway-%d-1234", noProcess):    true,
		fmt.Sprintf("adgateway-%d-1234", os.Getpid()):  true,
		fmt.Sprintf("adgateway-%d-1234", os.Getppid()): false,
		"adgateway-modules-1234":                       false,
		"adgateway-1234":                               false,
		fmt.Sprintf("adgateway-%d-notes", noProcess):   false,
		fmt.Sprintf("other-%d-1234", noProcess):        false,
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(base, name, "in it"), 0o700))
		folder, err := session.NewFolder()
		require.NoError(t, err)
		assert.Equal(t, stale, folder.Removed == 1, name)
		assert.Equal(t, !stale, exists(filepath.Join(base, name)), name)
		require.NoError(t, folder.Close())
		require.NoError(t, os.RemoveAll(filepath.Join(base, name)))
	}

	folder, err := session.NewFolder()
	require.NoError(t, err)
	info, err := os.Stat(folder.Name())
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder.Name(), "CoreFxPipe"), nil, 0o600))
	require.NoError(t, folder.Close())
	require.NoError(t, folder.Close())
	left, err := os.ReadDir(base)
	require.NoError(t, err)
	assert.Empty(t, left)

	for _, name := range []string{"TMPDIR", "TEMP", "TMP"} {
		t.Setenv(name, filepath.Join(base, "missing"))
	}
	_, err = session.NewFolder()
	require.ErrorContains(t, err, "temporary folder")
	folder = nil
	assert.Empty(t, folder.Name())
	require.NoError(t, folder.Close())
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestTheEnvironmentOfAProcess(t *testing.T) {
	t.Setenv("ADGATEWAY_SECRET", "hidden")
	t.Setenv("DOTNET_TieredPGO", "1")
	local := realProcess(t).(session.Local)
	local.Temp = t.TempDir()
	s := start(t, config(local))
	got := records(t, s, ps.Request{Script: "Get-GatewayVariables"})
	want := fmt.Sprintf(`{"NO_COLOR":"1","ADGATEWAY_SECRET":"","DOTNET_TieredPGO":"1","DOTNET_EnableDiagnostics":"0","TMPDIR":%[1]q,"TEMP":%[1]q,"TMP":%[1]q}`, local.Temp)
	assert.JSONEq(t, "["+want+"]", got)
}

// Output of a module cannot be mistaken for an answer, because the id of an answer cannot be guessed.
func TestTheIDsOfRequestsAreRandom(t *testing.T) {
	s := start(t, config(realProcess(t)))
	seen := map[string]bool{}
	for range 20 {
		id := records(t, s, ps.Request{Script: "Get-GatewayID"})
		assert.Regexp(t, `^\["[A-Z2-7]{26}"\]$`, id)
		assert.False(t, seen[id])
		seen[id] = true
	}
}

// A session runs its rehearsal before it is ready, for a limited time. A failed rehearsal
// does not keep the session from starting.
func TestASessionRehearses(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*sessiontest.Call, int)
		runs int
	}{
		{"quickly", func(c *sessiontest.Call, _ int) { c.Frame("records", `[{"a":"b"}]`); c.End() }, 40},
		{"slowly", func(c *sessiontest.Call, _ int) { time.Sleep(time.Second); c.End() }, 3},
		{"with an error", func(c *sessiontest.Call, n int) {
			if n == 2 {
				c.Frame("error", `{"message":"no","outcome":"none"}`)
				return
			}
			c.End()
		}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs := 0
				cfg := config(&sessiontest.Process{Scripts: map[string]func(*sessiontest.Call){
					"Test-Rehearsal": func(call *sessiontest.Call) { runs++; c.run(call, runs) },
				}})
				cfg.Rehearsal = "Test-Rehearsal"
				s, err := session.Start(t.Context(), cfg)
				require.NoError(t, err)
				assert.Equal(t, c.runs, runs)
				require.NoError(t, s.Close(t.Context()))
			})
		})
	}
}
