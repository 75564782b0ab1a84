// Package upgrade runs two versions of the product side by side, as an upgrade does: nodes
// of the engine and gateways of one cluster, over one simulated domain, are replaced by those
// of the other version one by one, while clients go on. `make upgrade-test` builds the older
// version, and runs it.
package upgrade

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/test/freeport"
	"adgateway/test/systemtest"

	"github.com/stretchr/testify/require"
)

// patience bounds every wait. What a gateway was changing that lost the store is free again
// after writeTimeout, a minute and settleDelay.
const (
	patience     = 3 * time.Minute
	writeTimeout = 20 * time.Second
	settleDelay  = 5 * time.Second
)

// version is the two executables of a version.
type version struct{ name, folder string }

func (v *version) gateway() string { return filepath.Join(v.folder, "adgateway") }
func (v *version) engine() string  { return filepath.Join(v.folder, "adgateway-engine") }

// process is one that runs until it is stopped.
type process struct {
	t       *testing.T
	name    string
	log     *systemtest.LogBuffer
	command *exec.Cmd
	ended   chan struct{}
}

// start starts a process, and waits until its log has a text.
func start(t *testing.T, name, until, executable string, args ...string) *process {
	t.Helper()
	p := &process{t: t, name: name, log: &systemtest.LogBuffer{}, command: exec.Command(executable, args...), ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = p.log, p.log
	require.NoError(t, p.command.Start(), name)
	go func() { defer close(p.ended); _ = p.command.Wait() }()
	t.Cleanup(p.kill)
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), until) || p.over() }, patience, 20*time.Millisecond, "%s", name)
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

// kill ends the process at once, unless it has ended.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.ended
}

// stop lets the process end in order.
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

// member is a gateway or a node, which is replaced by that of another version.
type member struct {
	name, settings string // file
	url            string // of a gateway
	process        *process
	version        atomic.Pointer[version]
}

// fleet is three nodes and three gateways over one domain.
type fleet struct {
	t        *testing.T
	folder   string
	domain   string   // address
	shows    *version // whose commands show how the nodes are
	nodes    []*member
	gateways []*member
	client   *http.Client
}

const members = 3

// newFleet starts all of it in one version; the commands of another one show how the nodes
// are. token is that of the clients.
func newFleet(t *testing.T, v, shows *version) (f *fleet, token string) {
	f = &fleet{t: t, shows: shows, folder: t.TempDir(), client: &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}}
	clients, routes := freeport.Addresses(t, members), freeport.Addresses(t, members)
	for i := range members {
		name := fmt.Sprintf("n%d", i+1)
		var peers []string
		for k, route := range routes {
			if k != i {
				peers = append(peers, route)
			}
		}
		f.nodes = append(f.nodes, &member{name: name, settings: f.write(name, fmt.Sprintf("cluster:\n  name: test\nengine:\n  node: %s\n  listen: %s\n  cluster: %s\n  peers: [%s]\n  store: %s\n",
			name, clients[i], routes[i], strings.Join(peers, ", "), filepath.Join(f.folder, name)))})
	}
	f.startNodes(v)
	f.domain = freeport.Addresses(t, 1)[0]
	start(t, "the domain", "ticket", v.gateway(), "sandbox", "domain", "--listen", f.domain, "--ticket-file", filepath.Join(f.folder, "ticket"))
	for i, address := range freeport.Addresses(t, members) {
		name := fmt.Sprintf("gw%d", i+1)
		own := filepath.Join(f.folder, name)
		require.NoError(t, os.Mkdir(own, 0o700))
		f.gateways = append(f.gateways, &member{name: name, url: "http://" + address, settings: f.write(name, fmt.Sprintf(
			"http:\n  listen: %s\n  writeTimeout: %s\nstore:\n  file: %s\naudit:\n  file: %s\n  witness: 1s\nauth:\n  store: %s\n  shared: true\ncluster:\n  name: test\n  gateway: %s\n  settleDelay: %s\n  servers: [nats://%s]\n  keyFile: %s\n",
			address, writeTimeout, filepath.Join(own, "state.db"), filepath.Join(own, "audit.jsonl"), filepath.Join(own, "credentials.json"), name, settleDelay,
			strings.Join(clients, ", nats://"), filepath.Join(f.folder, "cluster.key")))})
	}
	f.command(v, "cluster", "init", "--config", f.gateways[0].settings)
	token = strings.TrimSpace(f.command(v, "token", "create", "load", "--scope", "*", "--config", f.gateways[0].settings))
	for _, g := range f.gateways {
		f.startGateway(g, v)
	}
	return f, token
}

// write writes the settings of a gateway or a node, and returns the file.
func (f *fleet) write(name, text string) string {
	path := filepath.Join(f.folder, name+".yaml")
	require.NoError(f.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// startNodes starts all nodes, which wait for each other.
func (f *fleet) startNodes(v *version) {
	for _, n := range f.nodes {
		n.version.Store(v)
		n.process = start(f.t, n.name, "", v.engine(), "run", "--config", n.settings)
	}
	for _, n := range f.nodes {
		f.ready(n)
	}
}

// ready waits until a node is.
func (f *fleet) ready(n *member) {
	f.t.Helper()
	f.until(n.name+" is ready", func() bool { return strings.Contains(n.process.log.String(), "the node is ready") })
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

// replaceGateway lets a gateway of another version take the place of one.
func (f *fleet) replaceGateway(g *member, v *version) {
	f.t.Helper()
	g.process.stop()
	f.startGateway(g, v)
}

// replaceNode lets a node of another version take the place of one, and waits until all
// nodes are current again, as the manual says.
func (f *fleet) replaceNode(n *member, v *version) {
	f.t.Helper()
	n.process.stop()
	n.version.Store(v)
	n.process = start(f.t, n.name, "", v.engine(), "run", "--config", n.settings)
	f.ready(n)
	f.until(n.name+" is current", func() bool {
		var status struct {
			Nodes []struct{ Name, State string }
		}
		require.NoError(f.t, json.Unmarshal([]byte(f.command(f.shows, "cluster", "status", "--json", "--config", f.gateways[0].settings)), &status))
		current := 0
		for _, n := range status.Nodes {
			if n.State == "current" {
				current++
			}
		}
		return current == members
	})
}

// until waits for something, by asking again and again.
func (f *fleet) until(what string, is func() bool) {
	f.t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(50 * time.Millisecond) {
		require.True(f.t, time.Now().Before(end), "waiting until %s", what)
	}
}

// command runs a command of a version, and returns what it prints.
func (f *fleet) command(v *version, args ...string) string {
	f.t.Helper()
	command := exec.CommandContext(f.t.Context(), v.gateway(), args...)
	var problem strings.Builder
	command.Stderr = &problem
	out, err := command.Output()
	require.NoError(f.t, err, "%s: %s %s%s", v.name, strings.Join(args, " "), out, &problem)
	return string(out)
}
