package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/node"
	"adgateway/gateway/auth"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config/configtest"
	"adgateway/ps"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
	"adgateway/test/systemtest"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"
)

// processVariable has the plan of the gateway or the node that the test binary is.
const processVariable = "TEST_FLEET"

const (
	token  = "fleet-token"
	secret = "fleet-ticket" // of the domain
)

// plan is what a process is told by its environment.
type plan struct {
	Settings string // file
	Name     string
	Listen   string // of a gateway, for clients; empty: it is a node
	Domain   string // of a gateway
}

func TestMain(m *testing.M) {
	text := os.Getenv(processVariable)
	if text == "" {
		systemtest.Main(m)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() { // ends with the test, whatever ends that
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
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	text, err := os.ReadFile(p.Settings)
	if err != nil {
		return err
	}
	settings, err := configtest.Load(p.Settings, text, nil)
	if err != nil {
		return err
	}
	folder := trust.Folder{Path: settings.Store.ClusterFolder()}
	identity, err := folder.Identity()
	if err != nil {
		return err
	}
	log := logrus.New()
	log.SetOutput(os.Stderr)
	log.SetLevel(logrus.InfoLevel)
	link, err := remote.Connect(ctx, remote.LinkOptions{
		Address: p.Domain, Secret: func() (string, error) { return secret, nil },
		Gateway: p.Name, Account: "gmsa-" + p.Name + "$",
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", p.Listen)
	if err != nil {
		return errors.Join(err, link.Close())
	}
	static := auth.NewStatic(auth.Header{})
	all := &auth.Principal{Name: "fleet", Scopes: []auth.Scope{auth.All}}
	if err := static.AddToken(token, all); err != nil {
		return errors.Join(err, listener.Close(), link.Close())
	}
	var running sync.WaitGroup
	running.Go(func() { link.Run(ctx) })
	err = systemtest.ServeOn(ctx, app.Options{
		Settings: settings, Folder: folder, Identity: identity,
		Auth: static, Log: log, Engine: "sandbox", Dial: link.Dial,
		Session: func(ps.Lane) session.Config { return session.Config{Starter: link.Starter()} },
	}, listener, func(net.Addr) {})
	stop()
	running.Wait()
	return errors.Join(err, link.Close())
}

// process is a gateway or a node that can be killed and started again.
type process struct {
	t    testing.TB
	plan plan
	log  *systemtest.LogBuffer

	mu      sync.Mutex
	command *exec.Cmd // nil: it does not run
	ended   chan struct{}
	wanted  bool // to run
}

// start starts the process.
func (p *process) start() {
	p.t.Helper()
	text, err := json.Marshal(p.plan)
	require.NoError(p.t, err)
	self, err := os.Executable()
	require.NoError(p.t, err)
	command := exec.Command(self)
	command.Env = append(os.Environ(), processVariable+"="+string(text), "GORACE=atexit_sleep_ms=0")
	command.Stdout, command.Stderr = p.log, p.log
	_, err = command.StdinPipe() // which ends with this process
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
		if p.wanted {
			p.t.Errorf("%s ended by itself: %v\n%s", p.plan.Name, err, p.log.String())
		}
		p.command = nil
	}()
}

// kill ends the process, and waits until it has ended.
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

// patience is how long a test waits for what must come; it is no promise.
const patience = systemtest.Patience

// await waits until something is so.
func await(t testing.TB, message string, done func() bool) {
	t.Helper()
	require.Eventually(t, done, patience, 50*time.Millisecond, message)
}
