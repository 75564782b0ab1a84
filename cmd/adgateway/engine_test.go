package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The test binary is the command, too, when it is told to be an engine: the
// sandbox starts its own executable.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "engine" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func TestEngineIsThePowerShellOfAProcess(t *testing.T) {
	for name, c := range map[string]struct {
		args, input, stdout string
		code                int
	}{
		"a line":        {"-NoProfile -Command -", "1 + 1\n", "2\n", 0},
		"an exit code":  {"-Command -", "exit 9\n", "", 9},
		"no modules":    {"-Command -", "(Get-Module -ListAvailable | Where-Object { $_.Name -like 'A*' }).Count\n", "0\n", 0},
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

func TestSandboxOnProcesses(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0") // else every process takes a second to end
	s := startSandbox(t, "--processes", "--token", "t")
	status, body := s.get("/api/ADUser/aschmidt/Details", "Bearer t")
	assert.Equal(t, http.StatusOK, status, body)
	assert.Zero(t, s.stop(), "it ends cleanly: %s", s.log)
	_, err := http.Get(s.url)
	require.Error(t, err)
}
