package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/node"
	"adgateway/gateway/cluster/trust"
	"adgateway/test/freeport"
)

const limit = 3 * time.Minute

func run(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = node.Run(ctx, "1.2.3", args, &out, &errs)
	return code, out.String(), errs.String()
}

// runTo runs a command with a single writer for all output.
func runTo(ctx context.Context, output io.Writer, args ...string) {
	node.Run(ctx, "test", args, output, output)
}

// ofOneNode makes a cluster whose only node belongs to gw1, and returns the settings file of gw1.
func ofOneNode(t *testing.T, more string) (c *trusted, file string) {
	t.Helper()
	c = newRegister(t)
	at := freeport.Addresses(t, 2)
	self := trust.Member{Name: "gw1", ClientAddress: at[0], NodeAddress: at[1]}
	c.write(t, "gw1", fmt.Sprintf(
		"store:\n  file: state.db\nengine:\n  listen: %s\n  store: data\n  maxStore: 1GiB\n%s", at[0], more))
	var err error
	c.ids["gw1"], err = trust.Create(t.Context(), c.register, "corp", self, c.folder("gw1"))
	require.NoError(t, err)
	return c, c.settings("gw1")
}

// start runs a node until it is stopped.
func start(ctx context.Context, file string) (stop func(), log *lines) {
	ctx, cancel := context.WithCancel(ctx)
	log = &lines{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runTo(ctx, log, "run", "--config", file)
	}()
	return func() { cancel(); <-ended }, log
}

func TestCommands(t *testing.T) {
	c, file := ofOneNode(t, "")
	empty := filepath.Join(c.dir, "empty.yaml")
	require.NoError(t, os.WriteFile(empty, []byte("engine:\n  node: n1\n"), 0o600))
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"version":         {[]string{"version"}, 0, "adgateway-engine 1.2.3 (nats-server 2.", ""},
		"checks":          {[]string{"doctor", "--list"}, 0, "engine.store", ""},
		"checks, as JSON": {[]string{"doctor", "--list", "--json"}, 0, `"check": "store"`, ""},
		"doctor, no node": {[]string{"doctor", "--config", empty}, 2, "not in a cluster whose hosts have nodes", ""},
		"configuration":   {[]string{"config", "--config", file}, 0, "sync_interval: always", ""},
		"no node":         {[]string{"run", "--config", empty}, 1, "", "engine.node is a setting of an earlier version: 'adgateway cluster init'"},
		"a wrong setting": {[]string{"run", "--config", file, "--set", "engine.monitor=:8222"}, 1, "", "engine.monitor: :8222 can be reached by other machines"},
		"an unknown one":  {[]string{"run", "--config", file, "--set", "engine.sync=no"}, 1, "", "unknown setting"},
		"a wrong flag":    {[]string{"run", "--nonsense"}, 2, "", "See 'adgateway-engine run --help'"},
		"a wrong command": {[]string{"nonsense"}, 2, "", "unknown command"},
		"no file":         {[]string{"run", "--config", filepath.Join(c.dir, "none.yaml")}, 1, "", "create it with 'adgateway config init"},
		"help":            {nil, 0, "Available Commands", ""},
	} {
		code, stdout, stderr := run(t.Context(), c.args...)
		assert.Equal(t, c.code, code, name)
		assert.Contains(t, stdout, c.stdout, name)
		assert.Contains(t, stderr, c.stderr, name)
	}
}

// TestDoctor: the doctor of a running node reports the state of this computer.
func TestDoctor(t *testing.T) {
	monitor := freeport.Addresses(t, 1)[0]
	c, file := ofOneNode(t, "  monitor: "+monitor+"\n")
	data := filepath.Join(c.dir, "gw1", "data")
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	found := func() map[string]string {
		_, stdout, stderr := run(ctx, "doctor", "--json", "--config", file)
		var report struct {
			Results []struct{ Check, Status, Found string }
		}
		require.NoError(t, json.Unmarshal([]byte(stdout), &report), stderr)
		all := map[string]string{}
		for _, r := range report.Results {
			all[r.Check] = r.Status + " " + r.Found
		}
		return all
	}
	before := found()
	assert.Contains(t, before["store"], "warning "+data, "the folder is not there yet")
	assert.Contains(t, before["listeners"], "warning")

	stop, log := start(ctx, file)
	defer stop()
	require.Eventually(t, func() bool { return log.has("the node is ready") }, limit, 10*time.Millisecond)
	with := found()
	assert.Contains(t, with["settings"], "ok node gw1")
	assert.Contains(t, with["listeners"], "ok engine.listen ")
	assert.Contains(t, with["store"], "ok ")
	assert.Contains(t, with["volume"], "ok ")
	assert.Contains(t, with["peers"], "skipped")
	_, stdout, _ := run(ctx, "doctor", "--config", file)
	assert.Regexp(t, `\n\d+ ok, \d+ warnings, 0 failures, \d+ skipped\n$`, stdout)
}

// TestRunUntilToldToStop: a node writes its log next to the log of the gateway with the same settings.
func TestRunUntilToldToStop(t *testing.T) {
	c, file := ofOneNode(t, "log:\n  file: gw.log\n")
	self, _ := c.list().Find("gw1")
	address := self.ClientAddress
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan string, 1)
	go func() {
		code, _, stderr := run(ctx, "run", "--config", file)
		ended <- fmt.Sprint(code, stderr)
	}()
	log := func() string {
		text, _ := os.ReadFile(filepath.Join(c.dir, "gw1", "gw-engine.log")) // the file does not exist at first
		return string(text)
	}
	require.Eventually(t, func() bool { return strings.Contains(log(), "the node is ready") }, limit,
		10*time.Millisecond)
	code, _, stderr := run(t.Context(), "run", "--config", file, "--set", "engine.listen=127.0.0.1:-1")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "it takes HOST:PORT", "a random port is for tests only")
	code, _, stderr = run(t.Context(), "run", "--config", file)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, address+" cannot be used")
	cancel()
	select {
	case result := <-ended:
		assert.True(t, strings.HasPrefix(result, "0"), result)
	case <-time.After(limit):
		t.Fatal("the node does not stop")
	}
	assert.Contains(t, log(), "stopped")
}
