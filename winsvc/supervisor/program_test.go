package supervisor_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/winsvc/events"
	"adgateway/winsvc/supervisor"
)

// The tests start the test program in different roles. Its first argument selects the role.
const (
	asParent = "a-parent" // the other arguments are the gateway's address, the node's address and a folder
	asChild  = "a-child"  // followed by a name, an address and a folder
	asDeaf   = "a-deaf-child"
)

// stopWait is the time limit for children that are expected to stop.
const stopWait = 2 * time.Minute

func TestMain(m *testing.M) {
	role := ""
	if len(os.Args) > 1 {
		role = os.Args[1]
	}
	switch role {
	case asParent:
		os.Exit(runParent(os.Args[2], os.Args[3], os.Args[4]))
	case asChild:
		os.Exit(runChild(os.Args[2], os.Args[3], os.Args[4]))
	case asDeaf:
		_, _ = listen("deaf", os.Args[3])
		select {}
	case asMeasured:
		fmt.Fprintln(os.Stderr, runMeasured(os.Args[2], os.Args[3], os.Args[4]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// children returns the options of a supervisor whose children run this program.
func children(gateway, node, folder string) supervisor.Options {
	role, self := asChild, os.Args[0]
	if _, err := os.Stat(filepath.Join(folder, "deaf")); err == nil {
		role = asDeaf
	}
	return supervisor.Options{
		Gateway: supervisor.Child{Command: []string{self, role, "gateway", gateway, folder}, StopWait: stopWait},
		Node:    supervisor.Child{Command: []string{self, role, "node", node, folder}, StopWait: stopWait},
		Delays:  []time.Duration{time.Millisecond},
	}
}

// runParent runs the process of a service.
func runParent(gateway, node, folder string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := children(gateway, node, folder)
	o.Output, o.Log = os.Stderr, logrus.New()
	s, started, err := supervisor.Start(ctx, o)
	if err == nil {
		fmt.Fprintln(os.Stderr, "parent: "+started)
		err = s.Serve(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "parent:", err)
		return 1
	}
	return 0
}

// server answers each connection with a name and the id of its process, and panics on request.
type server struct {
	listener net.Listener
	clients  sync.WaitGroup
}

func listen(name, address string) (*server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &server{listener: l}
	go func() {
		for {
			connection, err := l.Accept()
			if err != nil {
				return
			}
			s.clients.Go(func() { converse(name, connection) })
		}
	}()
	return s, nil
}

func converse(name string, connection net.Conn) {
	defer func() { _ = connection.Close() }()
	_, _ = fmt.Fprintln(connection, name, os.Getpid())
	for lines := bufio.NewScanner(connection); lines.Scan(); {
		if lines.Text() == "panic" {
			panic("as the test wants")
		}
	}
}

// runChild runs a gateway or a node that serves until its last client has disconnected.
// Files in the folder change its behavior.
func runChild(name, address, folder string) int {
	prepare := func(_ context.Context, write events.Write) (func(context.Context) error, string, error) {
		if fails(filepath.Join(folder, name+".fails")) {
			return nil, "", errors.New("the settings are wrong")
		}
		s, err := listen(name, address)
		if err != nil {
			return nil, "", err
		}
		if name == "gateway" {
			write(events.AuditEnd, "It has 42 lines.")
			hangup := make(chan os.Signal, 1)
			signal.Notify(hangup, syscall.SIGHUP)
			go func() {
				for range hangup {
					fmt.Fprintln(os.Stderr, "gateway: settings read")
				}
			}()
		}
		fmt.Println("no message")
		return func(ctx context.Context) error {
			<-ctx.Done()
			fmt.Fprintln(os.Stderr, name+": stopping")
			s.clients.Wait()
			if _, err := os.Stat(filepath.Join(folder, name+".cut")); err == nil {
				return errors.New("2 requests were cut off")
			}
			fmt.Fprintln(os.Stderr, name+": stopped")
			return nil
		}, name + " listens", nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // as main does
	defer stop()
	return supervisor.RunChild(ctx, os.Stdin, os.Stdout, prepare, os.Exit)
}

// fails removes a letter from the file and reports whether the file contained one.
func fails(file string) bool {
	text, err := os.ReadFile(file)
	if err != nil || len(text) == 0 {
		return false
	}
	return os.WriteFile(file, text[1:], 0o600) == nil
}

// feed is a writer that collects lines, and on which a test can wait.
type feed struct {
	mu    sync.Mutex
	text  strings.Builder
	grown chan struct{} // has a value when there are new lines
}

func newFeed() *feed { return &feed{grown: make(chan struct{}, 1)} }

func (f *feed) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case f.grown <- struct{}{}:
	default:
	}
	return f.text.Write(p)
}

func (f *feed) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.String()
}

// await waits until the text has appeared the given number of times.
func (f *feed) await(t *testing.T, text string, times int) {
	t.Helper()
	for strings.Count(f.String(), text) < times {
		select {
		case <-f.grown:
		case <-time.After(hang):
			t.Fatalf("%q does not come; there is:\n%s", text, f)
		}
	}
}

var _ io.Writer = (*feed)(nil)
