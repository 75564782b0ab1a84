// Package many kills, stops and cuts off gateways and nodes of their engine at any moment,
// while clients repeat their calls at whichever gateway answers. The gateways and the nodes
// are processes, which know each other by proxies in the test's only; the simulated domain
// lives there, too, so that its write log says what really happened.
package many

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/auth"
	"adgateway/gateway/config/configtest"
	"adgateway/gateway/engine"
	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/engine/stock"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
	"adgateway/test/freeport"
	"adgateway/test/systemtest"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// processVariable has the plan of a gateway or a node in whose process the test binary runs.
const processVariable = "TEST_MANY"

const (
	token  = "many-token"
	secret = "many-ticket" // of the domain
)

// plan is what a process is told by its environment.
type plan struct {
	Node *stock.Options // of a node

	Name, Listen, Domain string // of a gateway
	Settings             []string
	Clock                time.Duration // by which its clock is ahead
	Format               int           // the newest that it reads, as another version; 0: that of this one
	Ambush               bool          // calls may say where it ends
}

func TestMain(m *testing.M) {
	text := os.Getenv(processVariable)
	if text == "" {
		systemtest.Main(m)
		return
	}
	var p plan
	err := json.Unmarshal([]byte(text), &p)
	ctx, stop := context.WithCancel(context.Background())
	go func() { // ends with the test, whatever ends that
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if err == nil && p.Node != nil {
		err = runNode(ctx, *p.Node)
	} else if err == nil {
		err = runGateway(ctx, &p)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, p.Name, err)
		os.Exit(1)
	}
}

// runNode runs a node of the engine until ctx ends.
func runNode(ctx context.Context, o stock.Options) error {
	n, err := engine.Start(ctx, engine.Options{Options: o})
	if err != nil {
		return err
	}
	defer n.Close()
	fmt.Println("listening")
	<-ctx.Done()
	return nil
}

// runGateway runs a gateway until ctx ends.
func runGateway(ctx context.Context, p *plan) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	settings, err := configtest.Load("", nil, p.Settings)
	if err != nil {
		return err
	}
	log := logrus.New()
	log.SetOutput(os.Stderr)
	log.SetLevel(logrus.WarnLevel)
	link, err := remote.Connect(ctx, remote.LinkOptions{
		Address: p.Domain, Secret: func() (string, error) { return secret, nil }, Gateway: p.Name, Account: "gmsa-" + p.Name + "$", Clock: p.Clock,
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", p.Listen)
	if err != nil {
		return err
	}
	starter := session.Starter(link.Starter())
	if p.Ambush {
		var a ambush
		listener, starter = a.listen(listener), a.around(starter)
	}
	static := auth.NewStatic(auth.Header{})
	if err := static.AddToken(token, &auth.Principal{Name: "many", Scopes: []auth.Scope{auth.All}}); err != nil {
		return err
	}
	var running sync.WaitGroup
	running.Go(func() { link.Run(ctx) })
	err = systemtest.ServeOn(ctx, app.Options{
		Settings: settings, Auth: static, Log: log, Engine: "sandbox", Dial: link.Dial,
		Format:  p.Format,
		Now:     func() time.Time { return time.Now().Add(p.Clock) },
		Session: func(ps.Lane) session.Config { return session.Config{Starter: starter} },
	}, listener, func(net.Addr) { fmt.Println("listening") })
	stop()
	running.Wait()
	if closed := link.Close(); err == nil {
		err = closed
	}
	return err
}

// process is a gateway or a node that can be killed and started again.
type process struct {
	t    testing.TB
	plan plan
	log  *systemtest.LogBuffer

	mu      sync.Mutex
	command *exec.Cmd
	input   io.Closer
}

// start starts the process and waits until it listens.
func (p *process) start() error {
	text, err := json.Marshal(p.plan)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.Command(self)
	if slow := systemtest.Number(p.t, "SYNC_MS", 0); slow > 0 {
		command = slowly(self, slow)
	}
	command.Env = append(os.Environ(), processVariable+"="+string(text))
	command.Stderr = p.log
	input, err := command.StdinPipe()
	if err != nil {
		return err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	p.mu.Lock()
	p.command, p.input = command, input
	p.mu.Unlock()
	late := time.AfterFunc(systemtest.Patience, func() { _ = command.Process.Signal(syscall.SIGQUIT) }) // its log says where it hangs
	defer late.Stop()
	line := make([]byte, len("listening"))
	if _, err := io.ReadFull(output, line); err != nil {
		_ = command.Wait()
		return fmt.Errorf("%s did not start: %s", p.plan.Name, p.log.String())
	}
	return nil
}

// slowly returns a command whose syncs take some milliseconds longer, by strace, as on a slow
// disk. It is killed like the program itself, which strace does not stand before (-D).
func slowly(program string, milliseconds int) *exec.Cmd {
	return exec.Command("strace", "-D", "-f", "-qq", "--seccomp-bpf", "-o", os.DevNull, "-e", "trace=fsync,fdatasync",
		"-e", fmt.Sprintf("inject=fsync,fdatasync:delay_exit=%d", milliseconds*1000), program)
}

// signal sends a signal; after SIGKILL it waits for the end.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	command := p.command
	p.mu.Unlock()
	if command == nil {
		return
	}
	_ = command.Process.Signal(s)
	if s == syscall.SIGKILL {
		_ = command.Wait() // killed processes have an error
	}
}

// fleet is three gateways and three nodes over one domain.
type fleet struct {
	t        testing.TB
	world    *sandbox.World
	writes   *sandbox.WriteLog
	folder   string // of the nodes' data and the gateways' files
	gateways []*process
	nodes    []*process
	between  *enginetest.Wires    // of the nodes
	wires    [][]*enginetest.Wire // of each gateway to the nodes
}

const members = 3

// newDomain returns a domain without any gateway, and its address.
func newDomain(t testing.TB) (f *fleet, address string) {
	f = &fleet{t: t, writes: &sandbox.WriteLog{}}
	var err error
	f.world, err = sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1, Writes: f.writes})
	require.NoError(t, err)
	domain, err := remote.NewDomain(remote.DomainOptions{World: f.world, Listen: "127.0.0.1:0", Ticket: secret})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, domain.Close()) })
	return f, domain.Address()
}

// startNodes starts the nodes of the engine, and returns where clients connect to them.
func (f *fleet) startNodes(t testing.TB) (clients []string) {
	f.folder = t.TempDir()
	clients, routes := freeport.Addresses(t, members), freeport.Addresses(t, members)
	var err error
	f.between, err = enginetest.NewWires(members)
	t.Cleanup(f.between.Close)
	require.NoError(t, err)
	for i := range members {
		name := fmt.Sprintf("n%d", i+1)
		f.between.To(i, routes[i])
		f.nodes = append(f.nodes, &process{t: t, log: &systemtest.LogBuffer{}, plan: plan{Name: name, Node: &stock.Options{
			Node: name, Cluster: "many", Listen: clients[i], ClusterListen: routes[i], Peers: f.between.Peers(i), Store: filepath.Join(f.folder, name), MaxStore: 4 << 30,
			Advertise: "127.0.0.1:1", // nobody listens: there is no way around the proxies
		}}})
	}
	t.Cleanup(func() { kill(f.nodes) })
	f.all(f.nodes)
	return clients
}

// kill ends processes.
func kill(processes []*process) {
	for _, p := range processes {
		p.signal(syscall.SIGKILL)
	}
}

// newFleet starts a fleet that ends with the test.
func newFleet(t testing.TB, settings ...string) *fleet {
	return newFleetOf(t, func(*plan) {}, settings...)
}

// newFleetOf is newFleet with other plans of the gateways.
func newFleetOf(t testing.TB, change func(*plan), settings ...string) *fleet {
	f, domain := newDomain(t)
	clients := f.startNodes(t)
	api := freeport.Addresses(t, members)
	keyFile := filepath.Join(f.folder, "cluster.key")
	for i := range members {
		name := fmt.Sprintf("gw%d", i+1)
		var servers []string
		var wires []*enginetest.Wire
		for _, client := range clients {
			wire, err := enginetest.NewClientWire(client)
			require.NoError(t, err)
			t.Cleanup(wire.Close)
			wires, servers = append(wires, wire), append(servers, "nats://"+wire.Address())
		}
		f.wires = append(f.wires, wires)
		f.gateways = append(f.gateways, &process{t: t, log: &systemtest.LogBuffer{}, plan: plan{Name: name, Listen: api[i], Domain: domain, Settings: append([]string{
			"cluster.name=many", "cluster.gateway=" + name, "cluster.servers=[" + strings.Join(servers, ", ") + "]", "cluster.keyFile=" + keyFile,
			"store.file=" + filepath.Join(f.folder, name+".db"), "audit.file=off",
		}, settings...)}})
	}
	t.Cleanup(func() { kill(f.gateways) })
	for _, p := range f.gateways {
		change(&p.plan)
	}
	f.makeStore()
	f.all(f.gateways)
	return f
}

// makeStore makes the store that the gateways share, as soon as the nodes have found each
// other.
func (f *fleet) makeStore() {
	f.t.Helper()
	settings, err := configtest.Load("", nil, f.gateways[0].plan.Settings)
	require.NoError(f.t, err)
	log := logrus.New()
	log.SetOutput(io.Discard)
	require.EventuallyWithT(f.t, func(c *assert.CollectT) {
		ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Second)
		defer cancel()
		_, err := app.CreateCluster(ctx, app.Options{Settings: settings, Log: log}, members)
		assert.NoError(c, err)
	}, systemtest.Patience, 50*time.Millisecond)
}

// all starts processes at once.
func (f *fleet) all(processes []*process) {
	f.t.Helper()
	var starting sync.WaitGroup
	errs := make([]error, len(processes))
	for i, p := range processes {
		starting.Go(func() { errs[i] = p.again(f.t.Context()) }) // its port may be in use for a moment
	}
	starting.Wait()
	for _, err := range errs {
		require.NoError(f.t, err)
	}
}

// again starts a process that was killed, which another instance may hinder for a moment.
func (p *process) again(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*systemtest.Patience)
	defer cancel()
	for {
		p.log.Reset()
		err := p.start()
		if err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}
