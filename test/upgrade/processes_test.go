// Package upgrade runs two versions of the product one after another and side by side, as in an upgrade. It
// replaces a single gateway, or the gateways of a cluster with their nodes, with gateways of the other
// version for the same simulated domain, while clients keep making calls. `make upgrade-test` builds the
// older version and runs the tests. The package does not cover clusters that shared a store before the log
// was introduced, because these are migrated (TestAnOldClusterMigrates in test/fleet).
package upgrade

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/test/freeport"
	"adgateway/test/systemtest"
)

// patience is the time limit of every wait. If a gateway loses the store during a change, the changed object
// becomes free again after writeTimeout, one minute and settleDelay.
const (
	patience     = 3 * time.Minute
	writeTimeout = 20 * time.Second
	settleDelay  = 5 * time.Second
)

// version holds the two executables of a version.
type version struct{ name, folder string }

func (v *version) gateway() string { return filepath.Join(v.folder, "adgateway") }
func (v *version) engine() string  { return filepath.Join(v.folder, "adgateway-engine") }

// process is a process that runs until it is stopped.
type process struct {
	t       *testing.T
	name    string
	log     *systemtest.LogBuffer
	command *exec.Cmd
	ended   chan struct{}
}

// start starts a process, and waits until its log contains a text.
func start(t *testing.T, name, until, executable string, args ...string) *process {
	t.Helper()
	p := &process{t: t, name: name, log: &systemtest.LogBuffer{}, command: exec.Command(executable, args...),
		ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = p.log, p.log
	require.NoError(t, p.command.Start(), name)
	go func() { defer close(p.ended); _ = p.command.Wait() }()
	t.Cleanup(p.kill)
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), until) || p.over() }, patience,
		20*time.Millisecond, "%s", name)
	require.False(t, p.over(), "%s ended: %s", name, p.log.String())
	return p
}

func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// kill kills the process, unless it has ended.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.ended
}

// stop ends the process gracefully.
func (p *process) stop() {
	p.t.Helper()
	require.NoError(p.t, p.command.Process.Signal(os.Interrupt))
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Errorf("%s does not end: %s", p.name, p.log.String())
		p.kill()
	}
}

// member is a gateway, with the node of its host if it is in a cluster. Both are replaced with those of
// another version.
type member struct {
	name, settings string // file
	url            string
	process, node  *process // node is nil for a single gateway
	version        atomic.Pointer[version]
}

// fleet is a single gateway, or a cluster of three, for one domain.
type fleet struct {
	t        *testing.T
	folder   string
	domain   string // address
	gateways []*member
	client   *http.Client
}

// newFleet starts a domain, and prepares gateways of one version. The clients use token.
func newFleet(t *testing.T, v *version, members int) (f *fleet, token string) {
	f = &fleet{t: t, folder: t.TempDir(),
		client: &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}}
	f.domain = freeport.Addresses(t, 1)[0]
	start(t, "the domain", "ticket", v.gateway(), "sandbox", "domain", "--listen", f.domain, "--ticket-file",
		filepath.Join(f.folder, "ticket"))
	const ports = 4
	addresses := freeport.Addresses(t, ports*members)
	for i := range members {
		name, own := fmt.Sprintf("gw%d", i+1), addresses[ports*i:]
		text := fmt.Sprintf("http:\n  listen: %s\n  writeTimeout: %s\nstore:\n  file: state.db\naudit:\n"+
			"  file: audit.jsonl\nauth:\n  store: credentials.json\n", own[0], writeTimeout)
		if members > 1 {
			text += fmt.Sprintf("cluster:\n  listen: %s\n  settleDelay: %s\nengine:\n  listen: %s\n  cluster: %s\n"+
				"sandbox:\n  account: %s\n", own[1], settleDelay, own[2], own[3], name)
		}
		f.gateways = append(f.gateways, &member{name: name, url: "http://" + own[0], settings: f.write(name, text)})
	}
	return f, strings.TrimSpace(f.command(v, "token", "create", "load", "--scope", "*", "--config",
		f.gateways[0].settings))
}

// newCluster starts a cluster of three gateways. The first gateway creates the cluster, and
// the others join with the commands that it prints.
func newCluster(t *testing.T, v *version) (f *fleet, token string) {
	const members = 3
	f, token = newFleet(t, v, members)
	first := f.gateways[0]
	args := []string{"cluster", "init", "--config", first.settings, "--name", "test"}
	for _, g := range f.gateways {
		text, err := os.ReadFile(g.settings)
		require.NoError(t, err)
		_, address, found := strings.Cut(string(text), "  cluster: ")
		require.True(t, found)
		address, _, _ = strings.Cut(address, "\n")
		args = append(args, "--gateway", g.name+"="+address)
	}
	made := f.command(v, args...)
	f.startNode(first, v)
	f.startGateway(first, v)
	for _, g := range f.gateways[1:] {
		join := regexp.MustCompile(`adgateway (cluster join .*--gateway ` + g.name + ` .*)`).FindStringSubmatch(made)
		require.NotNil(t, join, made)
		f.command(v, append(strings.Fields(join[1]), "--config", g.settings)...)
		f.startNode(g, v)
	}
	for _, g := range f.gateways[1:] { // they wait for the log that all nodes create
		f.startGateway(g, v)
	}
	f.whole()
	return f, token
}

// write writes the settings of a gateway into its own folder, and returns the path of the file.
func (f *fleet) write(name, text string) string {
	own := filepath.Join(f.folder, name)
	require.NoError(f.t, os.Mkdir(own, 0o700))
	path := filepath.Join(own, "adgateway.yaml")
	require.NoError(f.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// startNode starts the node of a gateway's host.
func (f *fleet) startNode(g *member, v *version) {
	f.t.Helper()
	g.node = start(f.t, "the node of "+g.name, "", v.engine(), "run", "--config", g.settings)
}

// startGateway starts a gateway, and waits until it is ready for changes.
func (f *fleet) startGateway(g *member, v *version) {
	f.t.Helper()
	g.version.Store(v)
	g.process = start(f.t, g.name, "listening on", v.gateway(), "sandbox", "--config", g.settings,
		"--domain", f.domain, "--ticket-file", filepath.Join(f.folder, "ticket"), "--gateway-name", g.name)
	f.until(g.name+" is ready", func() bool {
		response, err := f.client.Get(g.url + "/readyz?lane=changes")
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	})
}

// replace replaces a gateway and its node with those of another version, and waits until the
// cluster is whole again, as the manual requires.
func (f *fleet) replace(g *member, v *version) {
	f.t.Helper()
	g.process.stop()
	if g.node != nil {
		g.node.stop()
		f.startNode(g, v)
	}
	f.startGateway(g, v)
	f.whole()
}

// whole waits until no gateway reports a problem with the cluster. A single gateway is always whole.
func (f *fleet) whole() {
	f.t.Helper()
	for _, g := range f.gateways {
		if g.node == nil {
			continue
		}
		f.until("the cluster is whole for "+g.name, func() bool {
			var state struct{ Degraded bool }
			shown := f.command(g.version.Load(), "cluster", "status", "--json", "--config", g.settings)
			require.NoError(f.t, json.Unmarshal([]byte(shown), &state))
			return !state.Degraded
		})
	}
}

// until polls until a condition is true.
func (f *fleet) until(what string, is func() bool) {
	f.t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(50 * time.Millisecond) {
		require.True(f.t, time.Now().Before(end), "waiting until %s", what)
	}
}

// command runs a command of a version, and returns its output.
func (f *fleet) command(v *version, args ...string) string {
	f.t.Helper()
	command := exec.CommandContext(f.t.Context(), v.gateway(), args...)
	var problem strings.Builder
	command.Stderr = &problem
	out, err := command.Output()
	require.NoError(f.t, err, "%s: %s %s%s", v.name, strings.Join(args, " "), out, &problem)
	return string(out)
}
