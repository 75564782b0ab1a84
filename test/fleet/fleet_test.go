package fleet

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/remote"
	"adgateway/test/freeport"
	"adgateway/test/systemtest"
)

const (
	size    = 3 // hosts, each with a gateway and a node
	cluster = "fleet"
)

// host has a gateway and a node.
type host struct {
	name    string
	folder  string
	gateway *process
	node    *process

	// The address of the gateway for other gateways, and the addresses of the node for gateways and for other
	// nodes.
	hop, clients, routes string
}

func (h *host) store() string       { return filepath.Join(h.folder, "state.db") }
func (h *host) trust() trust.Folder { return trust.Folder{Path: filepath.Join(h.folder, "cluster")} }

// member returns the host's entry in the list of members.
func (h *host) member() trust.Member {
	ip, _, _ := net.SplitHostPort(h.hop) // newHost joined both parts, so this cannot fail
	return trust.Member{
		Name: h.name, Hosts: []string{ip},
		HopAddress: h.hop, ClientAddress: h.clients, NodeAddress: h.routes,
	}
}

// url returns the address of a path at the gateway.
func (h *host) url(path string) string { return "http://" + h.gateway.plan.Listen + path }

// fleet is a cluster that serves one domain.
type fleet struct {
	t      testing.TB
	world  *sandbox.World
	writes *sandbox.WriteLog
	hosts  []*host
	client *http.Client
	token  string

	network *network
}

// newFleet starts a cluster that is stopped at the end of the test. settings are lines for
// the settings files.
func newFleet(t testing.TB, settings ...string) *fleet {
	t.Helper()
	f := newHosts(t, settings...)
	for _, h := range f.hosts {
		h.node.start()
		h.gateway.start()
	}
	f.whole()
	return f
}

// newHosts returns the hosts of a cluster. Their processes are not running yet.
func newHosts(t testing.TB, settings ...string) *fleet {
	t.Helper()
	f := newDomain(t, settings...)
	f.found()
	return f
}

// newDomain returns hosts of one domain. Their gateways belong to no cluster, and their
// processes are not running yet.
func newDomain(t testing.TB, settings ...string) *fleet {
	t.Helper()
	return newDomainIn(t, &network{ips: slices.Repeat([]string{"127.0.0.1"}, size)}, settings...)
}

// newDomainIn is newDomain with the hosts in a network.
func newDomainIn(t testing.TB, n *network, settings ...string) *fleet {
	t.Helper()
	f := &fleet{
		t: t, token: token, writes: &sandbox.WriteLog{}, network: n,
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	var err error
	f.world, err = sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1, Writes: f.writes})
	require.NoError(t, err)
	domain, err := remote.NewDomain(remote.DomainOptions{World: f.world, Listen: "127.0.0.1:0", Ticket: secret})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, domain.Close()) })
	folder := t.TempDir()
	for i := range size {
		f.hosts = append(f.hosts, newHost(t, folder, i, n, n.domain(t, domain.Address()), settings))
	}
	t.Cleanup(func() {
		for _, h := range f.hosts {
			h.gateway.kill()
		}
		for _, h := range f.hosts {
			h.node.kill()
		}
		f.showLogs()
	})
	return f
}

// newHost returns a host whose processes are not running yet.
func newHost(t testing.TB, folder string, i int, n *network, domain string, settings []string) *host {
	t.Helper()
	name := fmt.Sprint("gw", i+1)
	h := &host{name: name, folder: filepath.Join(folder, name)}
	require.NoError(t, os.Mkdir(h.folder, 0o700))
	var at []string
	for _, port := range freeport.Ports(t, 4) {
		at = append(at, net.JoinHostPort(n.ips[i], strconv.Itoa(port)))
	}
	h.hop, h.clients, h.routes = at[0], at[1], at[2]
	file := filepath.Join(h.folder, "adgateway.yaml")
	lines := append([]string{
		fmt.Sprintf("store.file: %q", h.store()), "audit.file: off", fmt.Sprintf("cluster.listen: %q", h.hop),
		fmt.Sprintf("engine.listen: %q", h.clients), fmt.Sprintf("engine.cluster: %q", h.routes), "engine.maxStore: 4GiB",
	}, settings...)
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	newProcess := func(p plan) *process {
		return &process{t: t, log: &systemtest.LogBuffer{}, plan: p, namespace: n.namespace(i)}
	}
	h.gateway = newProcess(plan{Name: name, Settings: file, Listen: at[3], Domain: domain})
	h.node = newProcess(plan{Name: "node of " + name, Settings: file})
	return h
}

// found creates the cluster on the first host, and makes the other hosts join it.
func (f *fleet) found() {
	f.t.Helper()
	ctx, first := f.t.Context(), f.hosts[0]
	require.NoError(f.t, os.Mkdir(first.trust().Path, 0o700))
	require.NoError(f.t, keyring.CreateKeyFile(first.trust().SecretFile()))
	wrapper, err := keyring.KeyFile(first.trust().SecretFile())
	require.NoError(f.t, err)
	file, _, err := store.Open(store.Options{Path: first.store()})
	require.NoError(f.t, err)
	require.NoError(f.t, keyring.Create(ctx, file, wrapper))
	ring, err := keyring.Open(ctx, file, wrapper, store.Newest)
	require.NoError(f.t, err)
	register := trust.NewRegister(ring.Sealed(), file.Now)
	var others []trust.Member
	for _, h := range f.hosts[1:] {
		others = append(others, h.member())
	}
	identity, err := trust.Create(ctx, register, cluster, first.member(), first.trust(), others...)
	require.NoError(f.t, err)
	f.join(ctx, register, identity)
	at, err := file.Point()
	require.NoError(f.t, err)
	require.NoError(f.t, file.Close())
	require.NoError(f.t, first.trust().SetOrigin(at.Hash))
}

// join makes all hosts but the first join, before any gateway runs.
func (f *fleet) join(ctx context.Context, register *trust.Register, identity *trust.Identity) {
	f.t.Helper()
	text, err := os.ReadFile(f.hosts[0].trust().SecretFile())
	require.NoError(f.t, err)
	secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	require.NoError(f.t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(f.t, err)
	list := func() trust.Members {
		m, err := register.Members(ctx)
		require.NoError(f.t, err)
		return m
	}
	settings := identity.AllowJoins(identity.Server(list))
	admission := &trust.Admission{Register: register, Secret: secret}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = admission.Serve(ctx, tls.Server(conn, settings)) // Join reports the same error
		}
	})
	for _, h := range f.hosts[1:] {
		invitation, err := register.Invite(ctx, h.name)
		require.NoError(f.t, err)
		invitation.Address = listener.Addr().String()
		_, err = trust.Join(ctx, invitation, h.member(), h.trust())
		require.NoError(f.t, err)
	}
	require.NoError(f.t, listener.Close())
	serving.Wait()
	for _, h := range f.hosts {
		require.NoError(f.t, trust.SaveMembers(h.trust().MembersFile(), list(), nil))
	}
}

// ask sends a request to a gateway and returns the status, or 0 if no answer came.
func (f *fleet) ask(h *host, path string) int {
	ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url(path), nil)
	require.NoError(f.t, err)
	request.Header.Set("Auth-Token", "Bearer "+f.token)
	response, err := f.client.Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close() // only its status counts
	return response.StatusCode
}

// leader returns the host whose gateway leads, or nil if no gateway says so.
func (f *fleet) leader() *host {
	for _, h := range f.hosts {
		if f.ask(h, "/readyz?lane=leader") == http.StatusOK {
			return h
		}
	}
	return nil
}

// awaitLeader waits until a gateway leads, and returns its host. A single call of leader may find none,
// because a busy machine may not answer in time.
func (f *fleet) awaitLeader() *host {
	f.t.Helper()
	return f.awaitOther(nil)
}

// whole waits until every gateway can make changes, either itself or through the leader.
func (f *fleet) whole() {
	f.t.Helper()
	f.awaitLeader()
	for _, h := range f.hosts {
		await(f.t, h.name+" is not ready", func() bool {
			return f.ask(h, "/readyz?lane=changes") == http.StatusOK
		})
	}
}

// showLogs prints the output of the processes if the test failed.
func (f *fleet) showLogs() {
	if !f.t.Failed() {
		return
	}
	for _, h := range f.hosts {
		for _, p := range []*process{h.gateway, h.node} {
			f.t.Logf("%s:\n%.6000s", p.plan.Name, p.log.String())
		}
	}
}
