package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/node"
	"adgateway/test/freeport"
)

const limit = 3 * time.Minute

// asNode is the variable that makes the test program a node.
const asNode = "TEST_ENGINE_NODE"

func TestMain(m *testing.M) {
	if os.Getenv(asNode) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := node.Run(ctx, "test", os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = node.Run(ctx, "1.2.3", args, &out, &errs)
	return code, out.String(), errs.String()
}

// runTo is run with one place for all output.
func runTo(ctx context.Context, output io.Writer, args ...string) {
	node.Run(ctx, "test", args, output, output)
}

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "adgateway.yaml")
	require.NoError(t, os.WriteFile(file, []byte("cluster:\n  name: corp\nengine:\n  node: n1\n  listen: 127.0.0.1:4222\n  store: data\n"), 0o600))
	empty := filepath.Join(dir, "empty.yaml")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"version":           {[]string{"version"}, 0, "adgateway-engine 1.2.3 (nats-server 2.", ""},
		"check":             {[]string{"check", "--config", file}, 0, `node n1 of cluster "corp" listens on 127.0.0.1:4222, keeps its data in ` + filepath.Join(dir, "data"), ""},
		"checks":            {[]string{"doctor", "--list"}, 0, "engine.store", ""},
		"checks, as JSON":   {[]string{"doctor", "--list", "--json"}, 0, `"check": "store"`, ""},
		"doctor, no node":   {[]string{"doctor", "--config", empty}, 2, "set engine.node to a name such as n1", ""},
		"configuration":     {[]string{"config", "--config", file}, 0, "sync_interval: always", ""},
		"no node":           {[]string{"check", "--config", empty}, 1, "", "set engine.node to a name such as n1"},
		"a wrong setting":   {[]string{"run", "--config", file, "--set", "engine.listen=:4222"}, 1, "", "there is no engine.certificate"},
		"an unknown one":    {[]string{"run", "--config", file, "--set", "engine.sync=no"}, 1, "", "unknown setting"},
		"a wrong flag":      {[]string{"run", "--nonsense"}, 2, "", "See 'adgateway-engine run --help'"},
		"a wrong command":   {[]string{"nonsense"}, 2, "", "unknown command"},
		"service, mistyped": {[]string{"service", "nonsense"}, 2, "", "unknown command"},
		"service":           {[]string{"service"}, 0, "uninstall", ""},
		"a new file":        {[]string{"init", "--config", filepath.Join(dir, "new.yaml")}, 0, "created " + filepath.Join(dir, "new.yaml"), ""},
		"an old file":       {[]string{"init", "--config", file}, 1, "", "--force overwrites it"},
		"no file":           {[]string{"check", "--config", filepath.Join(dir, "none.yaml")}, 1, "", "create it with 'adgateway-engine init"},
		"help":              {nil, 0, "Available Commands", ""},
	} {
		code, stdout, stderr := run(t.Context(), c.args...)
		assert.Equal(t, c.code, code, name)
		assert.Contains(t, stdout, c.stdout, name)
		assert.Contains(t, stderr, c.stderr, name)
	}
}

// TestServiceElsewhere: away from Windows the commands say what to use instead.
func TestServiceElsewhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("there is a service manager")
		return
	}
	for _, command := range []string{"install", "uninstall", "start", "stop", "restart", "status"} {
		code, _, stderr := run(t.Context(), "service", command)
		assert.Equal(t, 1, code, command)
		assert.Contains(t, stderr, "ExecStart=/usr/local/bin/adgateway-engine run --config /etc/adgateway-engine/adgateway.yaml", command)
	}
}

// TestDoctor examines this computer beside a node that runs.
func TestDoctor(t *testing.T) {
	dir, addresses := t.TempDir(), freeport.Addresses(t, 2)
	file := filepath.Join(dir, "adgateway.yaml")
	text := fmt.Sprintf("engine:\n  node: n1\n  listen: %s\n  monitor: %s\n  store: data\n  maxStore: 1GiB\n", addresses[0], addresses[1])
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
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
	assert.Contains(t, before["store"], "warning "+filepath.Join(dir, "data"), "the folder is not there yet")
	assert.Contains(t, before["listeners"], "warning")

	p := launch(ctx, t, file)
	defer p.kill()
	p.await(ctx, t)
	with := found()
	assert.Contains(t, with["settings"], "ok node n1")
	assert.Equal(t, "ok engine.listen "+addresses[0], with["listeners"])
	assert.Contains(t, with["store"], "ok ")
	assert.Contains(t, with["volume"], "ok ")
	assert.Contains(t, with["peers"], "skipped")
	_, stdout, _ := run(ctx, "doctor", "--config", file)
	assert.Regexp(t, `\n\d+ ok, \d+ warnings, 0 failures, \d+ skipped\n$`, stdout)
}

// TestRunUntilToldToStop: a node logs beside the log of a gateway with the same settings.
func TestRunUntilToldToStop(t *testing.T) {
	dir, address := t.TempDir(), freeport.Addresses(t, 1)[0]
	file := filepath.Join(dir, "adgateway.yaml")
	require.NoError(t, os.WriteFile(file, []byte("log:\n  file: gw.log\nengine:\n  node: n1\n  listen: "+address+"\n  store: data\n"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan string, 1)
	go func() {
		code, _, stderr := run(ctx, "run", "--config", file)
		ended <- fmt.Sprint(code, stderr)
	}()
	log := func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "gw-engine.log")) // not there at first
		return string(text)
	}
	require.Eventually(t, func() bool { return strings.Contains(log(), "the node is ready") }, limit, 10*time.Millisecond)
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
