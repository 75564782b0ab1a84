package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/doctor"
	"adgateway/cmd/adgateway/internal/doctor/live"
	"adgateway/cmd/adgateway/internal/program"
)

// installation creates a settings file with a credential file next to it.
func installation(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), program.FileName)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	code, _, stderr := runCommand(t, "token", "create", "ci", "--config", file, "--scope", "user:read")
	require.Zero(t, code, stderr)
	return file
}

func TestDoctorExaminesTheSandbox(t *testing.T) {
	file := installation(t, "http:\n  listen: 127.0.0.1:0\n")
	code, stdout, stderr := runCommand(t, "doctor", "--sandbox", "--json", "--config", file, "--ou",
		"OU=Staff,DC=corp,DC=example")
	require.Empty(t, stderr)
	var report doctor.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	for _, name := range []string{"settings", "powershell", "language-mode", "modules", "data-channel",
		"domain-controllers", "adws", "ldap", "dns-server", "clock", "recycle-bin", "dns-rights", "port", "files",
		"credentials"} {
		at := slices.IndexFunc(report.Results, func(r doctor.Result) bool { return r.Check == name })
		require.GreaterOrEqual(t, at, 0, name)
		assert.Equal(t, doctor.OK, report.Results[at].Status, "%+v", report.Results[at])
	}
	assert.Equal(t, report.ExitCode(), code)
	assert.NotContains(t, stdout, "sha256", "reports contain no secrets")
}

func TestDoctorContinuesWithFaultySettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), program.FileName)
	require.NoError(t, os.WriteFile(file, []byte("http:\n  listn: x\n"), 0o600))
	code, stdout, _ := runCommand(t, "doctor", "--sandbox", "--config", file)
	assert.Equal(t, 2, code)
	assert.Contains(t, stdout, file+":2: unknown setting http.listn; did you mean http.listen?")
	assert.Contains(t, stdout, "ok       data-channel")
	code, _, stderr := runCommand(t, "doctor", "--live", "--sandbox", "--config", file, "--ou",
		"OU=S,DC=corp,DC=example", "--zone", "s.example")
	assert.Equal(t, 2, code, "--live does not run with settings that nobody intended")
	assert.Contains(t, stderr, "http.listn")
}

// A running gateway answers the doctor. For a gateway that has stopped, the doctor reads its last view.
func TestDoctorAsksARunningGateway(t *testing.T) {
	file := installation(t, "http:\n  listen: 127.0.0.1:0\n")
	asked := func() doctor.Result {
		_, stdout, _ := runCommand(t, "doctor", "--sandbox", "--json", "--config", file)
		var report doctor.Report
		require.NoError(t, json.Unmarshal([]byte(stdout), &report))
		at := slices.IndexFunc(report.Results, func(r doctor.Result) bool { return r.Check == "as-service" })
		require.GreaterOrEqual(t, at, 0)
		return report.Results[at]
	}
	result := asked()
	assert.Equal(t, doctor.Skipped, result.Status)
	assert.Contains(t, result.Found,
		"no gateway with these settings is running or has run; the checks below start sessions as ")

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	var stderr strings.Builder
	go func() { ended <- Run(ctx, []string{"sandbox", "--config", file}, io.Discard, &stderr) }()
	require.Eventually(t, func() bool { result = asked(); return result.Status != doctor.Skipped }, patience,
		time.Millisecond)
	assert.Equal(t, doctor.OK, result.Status, "%+v", result)
	assert.Regexp(t, `^report of the service, account .+; in PowerShell SANDBOX\\sandbox; .*directory: ActiveDirectory .*directory server dc1.corp.example; dns server`, result.Found)
	stop()
	assert.Zero(t, <-ended, "%s", &stderr)
	result = asked()
	assert.Equal(t, doctor.Warning, result.Status)
	assert.Equal(t, "not-running", result.Problems[0].Fault)
	assert.Contains(t, result.Found, "report of the service, account ", "what it saw last")
}

func TestDoctorLive(t *testing.T) {
	out := filepath.Join(t.TempDir(), "live.json")
	code, stdout, _ := runCommand(t, "doctor", "--live", "--sandbox", "--ou", "OU=Scratch,DC=corp,DC=example",
		"--zone", "scratch.corp.example", "--out", out)
	assert.Zero(t, code, stdout)
	assert.Contains(t, stdout, "Everything that was created has been removed.")
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	var report live.Report
	require.NoError(t, json.Unmarshal(text, &report))
	assert.Len(t, report.Findings, len(live.Probes()))
	assert.Equal(t, "sandbox", report.Engine)
	assert.Len(t, report.Checklist, len(live.Checklist()))
	assert.Equal(t, "<scratch OU>", report.OU)
	for _, name := range []string{"corp.example", "DC=corp", "scratch.corp"} {
		assert.NotContains(t, string(text)+stdout, name, "names are in the report only with --names")
	}
}

// Without a scratch OU and zone, the doctor runs no live probes. Its checks and the given answers fill in the
// checklist.
func TestDoctorWalksThroughTheCheckList(t *testing.T) {
	file := installation(t, "http:\n  listen: 127.0.0.1:0\n")
	answers := filepath.Join(t.TempDir(), "answers")
	require.NoError(t, os.WriteFile(answers, []byte("1 ok\n3 differs it stays down\n"), 0o600))
	filled := []string{"doctor", "--live", "--sandbox", "--config", file, "--answers", answers}
	code, stdout, stderr := runCommand(t, append(filled, "--json")...)
	assert.Equal(t, 1, code, stderr)
	var report live.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	assert.Empty(t, report.Findings)
	require.Len(t, report.Checklist, len(live.Checklist()))
	assert.Equal(t, live.AsExpected, report.Checklist[0].Status)
	assert.Equal(t, live.Differs, report.Checklist[2].Status)
	assert.Equal(t, "it stays down", report.Checklist[2].Found)
	assert.Equal(t, live.Open, report.Checklist[1].Status)
	assert.NotEmpty(t, report.Version)

	require.NoError(t, os.WriteFile(answers, []byte("1 perhaps\n"), 0o600))
	code, _, stderr = runCommand(t, filled...)
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "line 1: write a number")
}

func TestDoctorFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--live", "--zone", "z.example"}, "needs one --ou and one --zone"},
		{[]string{"--names"}, "can only be used with --live"},
		{[]string{"--live", "--sandbox", "--answers", "/none/such"}, "--answers"},
		{[]string{"--live", "--ou", "OU=a,DC=b", "--ou", "OU=c,DC=d", "--zone", "z.example"}, "one --ou"},
		{[]string{"--zone", "z.example"}, "can only be used with --live"},
		{[]string{"--live", "--sandbox", "--ou", "OU=Domain Controllers,DC=corp,DC=example", "--zone", "z.example"}, "is not empty"},
		{[]string{"--live", "--sandbox", "--ou", "OU=S,DC=corp,DC=example", "--zone", "z.example", "--out", t.TempDir()}, "--out"},
		{[]string{"--jason"}, "did you mean --json?"},
	} {
		code, _, stderr := runCommand(t, append([]string{"doctor"}, c.args...)...)
		assert.Equal(t, 2, code, c.args)
		assert.Contains(t, stderr, c.says)
	}
	code, stdout, _ := runCommand(t, "doctor", "--list")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "Install-WindowsFeature")
}
