package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/node"
	"adgateway/gateway/authn"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config/configtest"
	"adgateway/gateway/credentials"
	"adgateway/gateway/identity"
	"adgateway/ps"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
	"adgateway/test/failing"
	"adgateway/test/systemtest"
)

// processVariable is the environment variable with the plan of a gateway or node. The test
// binary runs as that process if the variable is set.
const processVariable = "TEST_FLEET"

const (
	token  = "fleet-token"
	frugal = "fleet-frugal-token" // token of a caller that may disable few accounts
	secret = "fleet-ticket"       // secret of the domain
)

// plan is the description of a process in its environment.
type plan struct {
	Settings string // the settings file
	Name     string
	Listen   string // address of a gateway for clients; empty if the process is a node
	Domain   string // address of a gateway's domain
	// the credentials file of a single gateway; empty if the gateway accepts only the constant token
	Accounts string
	Clock    string // a file with the offset of a gateway's wall clock; empty if the clock is right
}

func TestMain(m *testing.M) {
	text := os.Getenv(processVariable)
	if text == "" {
		systemtest.Main(m)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() { // the process ends with the test, even if the test is killed
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	var p plan
	err := json.Unmarshal([]byte(text), &p)
	switch {
	case err != nil:
	case p.Listen == "":
		args := []string{"run", "--config=" + p.Settings}
		if code := node.Run(ctx, "test", args, os.Stdout, os.Stderr); code != 0 {
			err = fmt.Errorf("it ends with code %d", code)
		}
	default:
		err = runGateway(ctx, &p)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, p.Name, err)
		os.Exit(1)
	}
}

// runGateway runs a gateway until ctx ends.
func runGateway(ctx context.Context, p *plan) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	link, err := p.connect(ctx)
	if err != nil {
		return err
	}
	linked, unlink := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { link.Run(linked) })
	for again := true; again && err == nil; {
		again, err = serveOnce(ctx, p, link)
	}
	unlink()
	running.Wait()
	return errors.Join(err, link.Close())
}

// connect connects to the domain, and retries while the domain is unreachable.
func (p *plan) connect(ctx context.Context) (link *remote.Link, err error) {
	address := p.Domain
	if !strings.HasPrefix(address, "127.") {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		go forward(listener, address) // until the process ends
		address = listener.Addr().String()
	}
	options := remote.LinkOptions{
		Address: address, Secret: func() (string, error) { return secret, nil },
		Gateway: p.Name, Account: "gmsa-" + p.Name + "$",
	}
	for {
		if link, err = remote.Connect(ctx, options); err == nil || ctx.Err() != nil {
			return link, err
		}
		failing.Pause(ctx, 100*time.Millisecond)
	}
}

// serveOnce runs a gateway until ctx ends, or until the gateway must be rebuilt.
func serveOnce(ctx context.Context, p *plan, link *remote.Link) (again bool, err error) {
	text, err := os.ReadFile(p.Settings)
	if err != nil {
		return false, err
	}
	o := app.Options{
		Log: logrus.New(), Engine: "sandbox", Dial: link.Dial,
		Session: func(ps.Lane) session.Config { return session.Config{Starter: link.Starter()} },
	}
	o.Log.SetOutput(os.Stderr)
	if o.Settings, err = configtest.Load(p.Settings, text, nil); err != nil {
		return false, err
	}
	folder := trust.Folder{Path: o.Settings.Store.ClusterFolder()}
	switch o.Identity, err = folder.Identity(); {
	case err == nil:
		o.Folder = folder
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	ctx, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	if err := p.letIn(ctx, &o, &running); err != nil {
		return false, err
	}
	if p.Clock != "" {
		o.Clock.Wall = p.wall
		o.Now = p.wall
	}
	listener, err := net.Listen("tcp", p.Listen)
	if err != nil {
		return false, err
	}
	stack, err := app.New(ctx, o)
	if err != nil {
		return false, errors.Join(err, listener.Close())
	}
	var grown atomic.Bool
	running.Go(func() {
		select {
		case <-stack.Grown():
			grown.Store(true)
			end()
		case <-ctx.Done():
		}
	})
	err = stack.Gateway.Run(ctx, listener)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return grown.Load(), errors.Join(err, stack.Close(closing))
}

// letIn sets the credentials that a gateway accepts.
func (p *plan) letIn(ctx context.Context, o *app.Options, running *sync.WaitGroup) error {
	if p.Accounts == "" {
		static := authn.NewStatic(authn.Header{})
		o.Auth = static
		all := []identity.Scope{identity.All}
		limit := budget
		return errors.Join(
			static.AddToken(token, &identity.Principal{Name: "fleet", Scopes: all}),
			static.AddToken(frugal, &identity.Principal{
				Name: "frugal", Scopes: all, Quota: &identity.Quota{ChangesPerHour: &limit},
			}))
	}
	options := authn.StoreOptions{File: authn.File{Path: p.Accounts}}
	if o.Identity != nil {
		o.Shared = credentials.New(credentials.Options{
			Copy: p.Accounts + ".shared", StaleMax: o.Settings.Auth.StaleMax, Problem: func(string, error) {},
		})
		options.Shared = o.Shared
	}
	store, err := authn.OpenStore(options)
	if err != nil {
		return err
	}
	o.Auth = store
	running.Go(func() { store.Run(ctx) })
	return nil
}

// wall returns the time of a gateway's wall clock.
func (p *plan) wall() time.Time {
	text, err := os.ReadFile(p.Clock)
	if err != nil {
		return time.Now()
	}
	ahead, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		panic(err)
	}
	return time.Now().Add(ahead)
}

// process is a gateway or a node that can be killed and started again.
type process struct {
	t         testing.TB
	plan      plan
	log       *systemtest.LogBuffer
	namespace string // its network namespace; empty means the test's

	mu      sync.Mutex
	command *exec.Cmd // nil if the process is not running
	ended   chan struct{}
	wanted  bool // the process should be running
	ends    bool // the process is expected to end by itself
	frozen  []span
}

// span is a period. Without an end, the period is still open.
type span struct{ from, to time.Time }

// start starts the process.
func (p *process) start() {
	p.t.Helper()
	text, err := json.Marshal(p.plan)
	require.NoError(p.t, err)
	self, err := os.Executable()
	require.NoError(p.t, err)
	command := exec.Command(self)
	if p.namespace != "" {
		command = exec.Command("ip", "netns", "exec", p.namespace, self) // ip replaces itself by the process
	}
	command.Env = append(os.Environ(), processVariable+"="+string(text), "GORACE=atexit_sleep_ms=0")
	command.Stdout, command.Stderr = p.log, p.log
	_, err = command.StdinPipe() // the pipe closes when this process ends
	require.NoError(p.t, err)
	require.NoError(p.t, command.Start())
	ended := make(chan struct{})
	p.mu.Lock()
	p.command, p.ended, p.wanted = command, ended, true
	p.mu.Unlock()
	go func() {
		err := command.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		defer close(ended)
		if p.wanted && !p.ends {
			p.t.Errorf("%s ended by itself: %v\n%s", p.plan.Name, err, p.log.String())
		}
		p.command = nil
	}()
}

// kill kills the process, and waits until it has ended.
func (p *process) kill() {
	p.mu.Lock()
	command, ended := p.command, p.ended
	p.wanted = false
	if command != nil {
		_ = command.Process.Signal(syscall.SIGKILL) // it may have ended
	}
	p.mu.Unlock()
	if command != nil {
		<-ended
	}
}

// stop ends the process gracefully, and waits until it has ended.
func (p *process) stop() {
	p.mu.Lock()
	command, ended := p.command, p.ended
	p.wanted = false
	if command != nil {
		_ = command.Process.Signal(syscall.SIGTERM) // it may have ended
	}
	p.mu.Unlock()
	if command != nil {
		<-ended
	}
}

// freeze suspends the process, or resumes it. It does nothing if the process is not running.
func (p *process) freeze(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.command == nil {
		return
	}
	if on {
		p.frozen = append(p.frozen, span{from: time.Now()})
		_ = failing.Freeze(p.command.Process.Pid, true) // it may have ended
		return
	}
	_ = failing.Freeze(p.command.Process.Pid, false) // it may have ended
	if n := len(p.frozen); n > 0 && p.frozen[n-1].to.IsZero() {
		p.frozen[n-1].to = time.Now()
	}
}

// wasFrozen reports whether the process was frozen at any moment between from and to.
func (p *process) wasFrozen(from, to time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.frozen, func(s span) bool {
		return s.from.Before(to) && (s.to.IsZero() || s.to.After(from))
	})
}

// patience is the time for which a test waits for an event that must happen. The product does not promise
// that it happens within this time.
const patience = systemtest.Patience

// await waits until done returns true.
func await(t testing.TB, message string, done func() bool) {
	t.Helper()
	require.Eventually(t, done, patience, 50*time.Millisecond, message)
}

// refused starts a process that is expected to end by itself, and returns its output.
func (p *process) refused() string {
	p.t.Helper()
	p.mu.Lock()
	p.ends = true
	p.mu.Unlock()
	p.start()
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	select {
	case <-ended:
	case <-time.After(patience):
		require.Fail(p.t, "it runs", "%s\n%s", p.plan.Name, p.log.String())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ends = false
	return p.log.String()
}
