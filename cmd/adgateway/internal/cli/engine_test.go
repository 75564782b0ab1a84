package cli

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The sandbox starts its own executable as the engine of sessions, and the examples of the
// manual call adgateway. The test binary stands in for both.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "engine" {
		os.Exit(Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == "command" {
		os.Exit(Run(context.Background(), os.Args[2:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func TestEngineCommand(t *testing.T) {
	for name, c := range map[string]struct {
		args, input, stdout string
		code                int
	}{
		"a line":        {"-NoProfile -Command -", "1 + 1\n", "2\n", 0},
		"an exit code":  {"-Command -", "exit 9\n", "", 9},
		"no modules":    {"-Command -", "@(Get-Module -ListAvailable -Name 'A*').Count\n", "0\n", 0},
		"bad arguments": {"-File x.ps1", "", "", 64},
		"no arguments":  {"", "", "", 64},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			self, err := os.Executable()
			require.NoError(t, err)
			cmd := exec.CommandContext(ctx, self, append([]string{"engine"}, strings.Fields(c.args)...)...)
			cmd.Stdin = strings.NewReader(c.input)
			stdout, err := cmd.Output()
			assert.Equal(t, c.stdout, string(stdout))
			assert.Equal(t, c.code, cmd.ProcessState.ExitCode(), "%v", err)
		})
	}
}

// The engine stands in for a real PowerShell. It is found by its path, receives the modules and its key, and
// works on the sandbox. Responses name it as the engine.
func TestSandboxOnAPowerShell(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	self, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "pwsh")
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	require.NoError(t, os.WriteFile(path,
		[]byte("#!/bin/sh\ntest -f \"$PSModulePath/ActiveDirectory/ActiveDirectory.psd1\" || exit 9\nexec '"+self+
			"' engine \"$@\"\n"), 0o700))
	t.Setenv("TMPDIR", t.TempDir())
	s := startSandbox(t, "--engine", path, "--token", "t")
	assert.Equal(t, path, s.engine)
	status, body := s.get("/api/ADUser/aschmidt/Details", "Bearer t")
	assert.Equal(t, http.StatusOK, status, body)
	response, err := http.Get(s.url + "/readyz")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, "sandbox on pwsh", response.Header.Get("X-Engine"))
	assert.Zero(t, s.stop(), "it stops cleanly: %s", s.log)
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	assert.Empty(t, left, "the modules are removed")
}

func TestSandboxOnProcesses(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise every process takes a second to exit
	s := startSandbox(t, "--processes", "--token", "t")
	status, body := s.get("/api/ADUser/aschmidt/Details", "Bearer t")
	assert.Equal(t, http.StatusOK, status, body)
	assert.Zero(t, s.stop(), "it stops cleanly: %s", s.log)
	_, err := http.Get(s.url)
	require.Error(t, err)
}
