package app

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// When the server stops, it kills an idle session that hangs. It does not report this as a failure, because a
// service manager would treat it as a crash. No process or file of the sessions remains.
func TestStoppingWithAHungSession(t *testing.T) {
	if _, err := exec.LookPath("kill"); err != nil {
		t.Skip("Windows has no command that stops a process without ending it")
	}
	t.Setenv("TMPDIR", t.TempDir())
	s := startServe(t)
	token := s.token()
	s.eventually("it is ready", func() bool { return len(s.failing(token)) == 0 })
	status, body := s.get("/api/ADUser/aschmidt/Details", token)
	require.Equal(t, http.StatusOK, status, body)
	folder := s.backend.folder.Name()
	require.DirExists(t, folder)
	pids, err := filepath.Glob(filepath.Join(s.dir, "*.pid"))
	require.NoError(t, err)
	stopped := 0
	for _, path := range pids {
		pid := strings.TrimSuffix(filepath.Base(path), ".pid")
		environment, err := os.ReadFile("/proc/" + pid + "/environ")
		if err == nil && len(environment) > 0 { // /proc exists, and the process has not ended
			assert.Contains(t, string(environment), "\x00TMPDIR="+folder+"\x00")
		}
		if exec.CommandContext(t.Context(), "kill", "-STOP", pid).Run() == nil { // otherwise the process has ended
			stopped++
		}
	}
	require.Positive(t, stopped)
	require.NoError(t, s.stop(), "%s", s.output)
	assert.Contains(t, s.output.String(), "a session had to be killed")
	assert.NoDirExists(t, folder)
}
