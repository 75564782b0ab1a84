package supervisor_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/freeport"
	"adgateway/winsvc/events"
	"adgateway/winsvc/supervisor"
)

// hang is the time after which a test gives up.
const hang = 3 * time.Minute

// service is a supervisor with its children.
type service struct {
	t             *testing.T
	gateway, node string // addresses
	folder        string
	options       supervisor.Options
	output, log   *feed
	events        *feed
	supervisor    *supervisor.Supervisor
	started       string
	stop          func() error // stops it and returns the result of Serve
}

func prepared(t *testing.T) *service {
	addresses := freeport.Addresses(t, 2)
	s := &service{t: t, gateway: addresses[0], node: addresses[1], folder: t.TempDir()}
	s.output, s.log, s.events = newFeed(), newFeed(), newFeed()
	s.options = children(s.gateway, s.node, s.folder)
	s.options.Output = s.output
	log := logrus.New()
	log.SetOutput(s.log)
	s.options.Log = log
	s.options.Event = func(e events.Event, text string) { fmt.Fprintln(s.events, e.Name+": "+text) }
	return s
}

func (s *service) start() error {
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	if s.supervisor, s.started, err = supervisor.Start(ctx, s.options); err != nil {
		cancel()
		return err
	}
	served := make(chan error, 1)
	go func() { served <- s.supervisor.Serve(ctx) }()
	stopped := false
	s.stop = func() error {
		stopped = true
		cancel()
		select {
		case err := <-served:
			return err
		case <-time.After(hang):
			s.t.Fatal("it does not stop")
			return nil
		}
	}
	s.t.Cleanup(func() {
		if !stopped {
			_ = s.stop()
		}
	})
	return nil
}

func running(t *testing.T) *service {
	s := prepared(t)
	require.NoError(t, s.start())
	s.log.await(t, "node listens", 1)
	return s
}

func (s *service) file(name, text string) {
	require.NoError(s.t, os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o600))
}

// address returns the address of a child.
func (s *service) address(name string) string {
	return map[string]string{"gateway": s.gateway, "node": s.node}[name]
}

// client is a connection to a child.
type client struct {
	net.Conn
	pid int
}

// dial connects to a child, which must be listening.
func dial(t *testing.T, address string) *client {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	line, err := bufio.NewReader(connection).ReadString('\n')
	require.NoError(t, err)
	c, name := &client{Conn: connection}, ""
	_, err = fmt.Sscan(line, &name, &c.pid)
	require.NoError(t, err)
	return c
}

func pidOf(t *testing.T, address string) int {
	t.Helper()
	c := dial(t, address)
	require.NoError(t, c.Close())
	return c.pid
}

// awaitEnd waits until the process at the other end has ended.
func (c *client) awaitEnd(t *testing.T) {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(hang)))
	_, err := io.Copy(io.Discard, c)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the process does not end")
}

func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	require.NoError(t, err)
	require.NoError(t, p.Kill())
}

func TestAChildThatEndsStartsAgainAndTheOtherRunsOn(t *testing.T) {
	for name, other := range map[string]string{"gateway": "node", "node": "gateway"} {
		t.Run(name, func(t *testing.T) {
			s := running(t)
			assert.Equal(t, "gateway listens", s.started)
			first, spared := pidOf(t, s.address(name)), pidOf(t, s.address(other))
			kill(t, first)
			s.events.await(t, "process_started: The process of the "+name+" has started again: "+name+" listens\n", 1)
			ended := "process_ended: A process has ended by itself, and starts again in 1ms: " + name + ": "
			assert.Contains(t, s.events.String(), ended)
			second := dial(t, s.address(name))
			assert.NotEqual(t, first, second.pid)

			_, err := fmt.Fprintln(second, "panic")
			require.NoError(t, err)
			s.events.await(t, "process_started: ", 2)
			assert.Contains(t, s.output.String(), "panic: as the test wants", "the trace is in the output")
			assert.Equal(t, spared, pidOf(t, s.address(other)))
			assert.NoError(t, s.stop())
		})
	}
}

func TestAChildThatFailsThreeTimesStartsAgain(t *testing.T) {
	for name, other := range map[string]string{"gateway": "node", "node": "gateway"} {
		t.Run(name, func(t *testing.T) {
			s := prepared(t)
			s.options.Delays = []time.Duration{time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond}
			require.NoError(t, s.start())
			s.log.await(t, "node listens", 1)
			first, spared := pidOf(t, s.address(name)), pidOf(t, s.address(other))
			s.file(name+".fails", "xxx")
			kill(t, first)
			s.events.await(t, "process_started: ", 1)
			reason := name + ": the settings are wrong\n"
			assert.Contains(t, s.events.String(), "starts again in 2ms: "+reason+
				"process_ended: A process has ended by itself, and starts again in 3ms: "+reason+
				"process_ended: A process has ended by itself, and starts again in 3ms: "+reason)
			assert.Equal(t, 4, strings.Count(s.events.String(), "process_ended: "))
			assert.Equal(t, spared, pidOf(t, s.address(other)))
			assert.NotEqual(t, first, pidOf(t, s.address(name)))
		})
	}
}

func TestAGatewayThatCannotStartEndsTheStart(t *testing.T) {
	s := prepared(t)
	s.file("gateway.fails", "x")
	assert.EqualError(t, s.start(), "gateway: the settings are wrong")
	assert.Empty(t, s.events.String(), "the service manager is told")
	s.assertFree()

	s = prepared(t)
	s.options.Gateway.Command = []string{filepath.Join(s.folder, "no program")}
	assert.ErrorContains(t, s.start(), "no program")
	s.assertFree()

	s = prepared(t)
	s.options.Gateway.Command = []string{os.Args[0], "-test.run=^$"}
	assert.EqualError(t, s.start(), "gateway: it has ended with exit code 0, although nobody stopped it")
	s.assertFree()
}

// The gateway starts even without its node, because it can use other nodes.
func TestANodeThatCannotStartIsStartedAgain(t *testing.T) {
	s := prepared(t)
	s.file("node.fails", "xx")
	require.NoError(t, s.start())
	s.events.await(t, "process_started: The process of the node has started again: node listens", 1)
	assert.Equal(t, 2, strings.Count(s.events.String(), "process_ended: "))
	assert.Equal(t, 1, strings.Count(s.log.String(), "gateway listens"))
}

// assertFree asserts that nobody listens at the addresses.
func (s *service) assertFree() {
	s.t.Helper()
	for _, address := range []string{s.gateway, s.node} {
		l, err := net.Listen("tcp", address)
		if assert.NoError(s.t, err) {
			assert.NoError(s.t, l.Close())
		}
	}
}

// awaitFree waits until no process listens on the addresses. A process may close its listener only at its
// very end.
func (s *service) awaitFree() {
	s.t.Helper()
	for _, address := range []string{s.gateway, s.node} {
		require.Eventually(s.t, func() bool {
			l, err := net.Listen("tcp", address)
			return err == nil && l.Close() == nil
		}, hang, 10*time.Millisecond)
	}
}

func TestTheGatewayStopsBeforeTheNode(t *testing.T) {
	s := running(t)
	busy := dial(t, s.gateway)
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	s.output.await(t, "gateway: stopping\n", 1)
	assert.NotZero(t, pidOf(t, s.node), "a gateway that finishes its requests has its node")
	require.NoError(t, busy.Close())
	assert.NoError(t, <-stopped)
	output := strings.ReplaceAll(s.output.String(), "no message\n", "")
	assert.Equal(t, "gateway: stopping\ngateway: stopped\nnode: stopping\nnode: stopped\n", output)
	assert.Equal(t, "audit_end: It has 42 lines.\n", s.events.String())
	s.assertFree()
}

func TestWhatAStopWasLike(t *testing.T) {
	s := prepared(t)
	s.file("gateway.cut", "")
	s.options.Node.StopWait = time.Millisecond // the client stays connected for longer
	require.NoError(t, s.start())
	s.log.await(t, "node listens", 1)
	held := dial(t, s.node)
	assert.EqualError(t, s.stop(),
		"gateway: 2 requests were cut off\nnode: it had not stopped after 1ms, and was killed")
	held.awaitEnd(t)
	s.awaitFree()
}

// program is the process of a service, started as a separate program.
type program struct {
	*service
	command *exec.Cmd
	stderr  *feed
}

func newProgram(t *testing.T) *program {
	return &program{service: prepared(t), stderr: newFeed()}
}

func (p *program) start() {
	p.command = exec.Command(os.Args[0], asParent, p.gateway, p.node, p.folder)
	p.command.Stderr = p.stderr
	require.NoError(p.t, p.command.Start())
	p.t.Cleanup(func() {
		_ = p.command.Process.Kill()
		_ = p.command.Wait()
	})
}

func TestAKilledParentTakesItsChildrenWithIt(t *testing.T) {
	p := newProgram(t)
	p.start()
	p.stderr.await(t, "parent: gateway listens\n", 1)
	p.stderr.await(t, "node listens", 1)
	gateway, node := dial(t, p.gateway), dial(t, p.node)
	kill(t, p.command.Process.Pid)
	gateway.awaitEnd(t)
	node.awaitEnd(t)
	p.awaitFree()
}

// Windows ends children that do not notice the end of their parent.
func TestAKilledParentTakesHungChildrenWithIt(t *testing.T) {
	if runtime.GOOS != "windows" {
		t.Skip("there are no job objects")
	}
	p := newProgram(t)
	p.file("deaf", "")
	p.start()
	var clients []*client
	for _, address := range []string{p.gateway, p.node} {
		require.Eventually(t, func() bool {
			c, err := net.Dial("tcp", address)
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		}, hang, 10*time.Millisecond)
		clients = append(clients, dial(t, address))
	}
	kill(t, p.command.Process.Pid)
	for _, c := range clients {
		c.awaitEnd(t)
	}
	p.awaitFree()
}

// A service manager sends its signal to every process of a service, and a terminal to every
// process that it runs.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send signals there")
	}
	p := newProgram(t)
	p.start()
	p.stderr.await(t, "parent: gateway listens\n", 1)
	p.stderr.await(t, "node listens", 1)
	require.NoError(t, p.command.Process.Signal(syscall.SIGHUP))
	p.stderr.await(t, "gateway: settings read\n", 1)
	busy, node := dial(t, p.gateway), pidOf(t, p.node)
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		for _, pid := range []int{busy.pid, node, p.command.Process.Pid} {
			process, err := os.FindProcess(pid)
			require.NoError(t, err)
			require.NoError(t, process.Signal(signal))
		}
	}
	p.stderr.await(t, "gateway: stopping\n", 1)
	assert.Equal(t, node, pidOf(t, p.node), "the node runs on until the gateway has stopped")
	require.NoError(t, busy.Close())
	assert.NoError(t, p.command.Wait(), "exit code 0")
	assert.Regexp(t, `(?s)gateway: stopping\n.*gateway: stopped\n.*node: stopping\n.*node: stopped\n`, p.stderr)
}

// The service manager restarts a service that ends with an exit code other than 0.
func TestTheExitCodeOfAServiceThatCannotStart(t *testing.T) {
	p := newProgram(t)
	p.file("gateway.fails", "x")
	p.start()
	var exit *exec.ExitError
	require.ErrorAs(t, p.command.Wait(), &exit)
	assert.Equal(t, 1, exit.ExitCode())
	assert.Contains(t, p.stderr.String(), "parent: gateway: the settings are wrong\n")
	p.assertFree()
}
