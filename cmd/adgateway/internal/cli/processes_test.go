package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/test/freeport"
	"adgateway/winsvc"
)

// TestStopWaits: both processes have stopped before the service manager's time limit.
func TestStopWaits(t *testing.T) {
	for _, shutdown := range []time.Duration{0, time.Second, 15 * time.Second, time.Minute} {
		gateway, node := stopWaits(shutdown)
		assert.Less(t, gateway+node, winsvc.StopWait, shutdown)
		assert.GreaterOrEqual(t, node, time.Second, shutdown)
		if shutdown <= 15*time.Second {
			assert.Equal(t, shutdown+app.CloseWait, gateway)
		}
	}
}

// TestLinesOfProcesses: both processes get the settings of the command.
func TestLinesOfProcesses(t *testing.T) {
	root, _ := rootCommand()
	for name, try := range map[string]struct{ args, gateway []string }{
		"serve": {
			[]string{"serve", "--config", "a b.yaml", "--set", "http.listen=:1", "--set", "log.file=x", "--log-level", "debug"},
			[]string{"serve", "--child", "--config=a b.yaml", "--log-level=debug", "--set=http.listen=:1", "--set=log.file=x"},
		},
		"service": {[]string{"service", "run"}, []string{"service", "run", "--child"}},
	} {
		c, rest, err := root.Find(try.args)
		require.NoError(t, err, name)
		var line []string
		c.RunE = func(c *cobra.Command, _ []string) error { line = gatewayLine(c); return nil }
		require.NoError(t, c.ParseFlags(rest), name)
		require.NoError(t, c.RunE(c, nil), name)
		assert.Equal(t, try.gateway, line, name)
	}
	s := &config.Settings{}
	assert.Equal(t, []string{"run", "--child"}, nodeLine(&program.Flags{}, s))
	s.Log.File = "gw.log"
	assert.Equal(t, []string{"run", "--child", "--config=a.yaml", "--set=engine.listen=:1",
		"--set=log.file=gw.log"},
		nodeLine(&program.Flags{File: "a.yaml", Set: []string{"engine.listen=:1"}}, s))
	assert.Equal(t, "gw-service.log", beside(s.Log.File, "-service"))
	assert.Empty(t, beside("", "-service"))
}

// TestAGatewayOfACluster: a gateway that the commands make a member of a cluster needs the
// program of its node.
func TestAGatewayOfACluster(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "adgateway.yaml")
	hop := freeport.Addresses(t, 1)[0]
	require.NoError(t, os.WriteFile(file,
		[]byte("http:\n  listen: 127.0.0.1:0\ncluster:\n  listen: "+hop+"\nstore:\n  file: state.db\n"), 0o600))
	make := []string{"cluster", "init", "--config", file, "--name", "corp", "--gateway", "gw1=127.0.0.1",
		"--gateway", "gw2=127.0.0.2", "--gateway", "gw3=127.0.0.3:16222"}
	code, stdout, stderr := runCommand(t, make...)
	require.Zero(t, code, stderr)
	assert.Regexp(t, `--gateway gw2 --address `+regexp.QuoteMeta(hop)+` --authority [0-9a-f]{64} --secret [a-z0-9]+ --host 127\.0\.0\.2\n`, stdout)
	assert.Regexp(t, `--host 127\.0\.0\.3\n`, stdout)
	for _, port := range []string{`\d+`, "6222", "4222"} {
		assert.Regexp(t, `TCP `+port+` `, stdout)
	}
	code, _, stderr = runCommand(t, "serve", "--config", file, "--set", "powershell.path="+executable(t))
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "adgateway-engine")
	code, stdout, stderr = runCommand(t, "cluster", "alone", "--config", file)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, filepath.Join(dir, "cluster.old-"))

	for name, try := range map[string]struct {
		args []string
		text string
	}{
		"no name":  {[]string{"init"}, "--name is missing"},
		"no host":  {[]string{"init", "--name", "corp", "--gateway", "gw1"}, `"gw1" is not NAME=HOST`},
		"alone":    {[]string{"alone"}, "is alone already"},
		"the rest": {[]string{"leave", "--gateway", "gw2"}, "'adgateway cluster join'"},
		"of an earlier version": {[]string{"init", "--set", "cluster.name=corp", "--set", "cluster.gateway=gw1", "--set", "cluster.servers=nats://127.0.0.1:4222",
			"--name", "corp", "--gateway", "gw1=h1", "--gateway", "gw2=h2", "--gateway", "gw3=h3"}, "adgateway cluster migrate"},
	} {
		code, _, stderr := runCommand(t,
			append([]string{"cluster", try.args[0], "--config", file}, try.args[1:]...)...)
		assert.Equal(t, 1, code, name)
		assert.Contains(t, stderr, try.text, name)
	}
}
