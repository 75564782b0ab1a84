package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/session"
)

// LinkOptions configure a [Link].
type LinkOptions struct {
	Address string
	Secret  func() (string, error) // returns the ticket's secret, which changes when the domain is restarted
	Gateway string
	Account string        // account whose connections the directory counts; empty means sandbox.ServiceAccount
	Clock   time.Duration // how far the domain's clock is ahead
	Version string        // of the program, for messages

	// Log receives a message when the domain is lost, and when it is available again. Nil discards them.
	Log func(problem bool, text string)
}

// Link is a gateway's end of a [Domain]. It provides the keys for the gateway's sessions,
// and the facts that the gateway itself needs. It is safe for concurrent use.
type Link struct {
	options LinkOptions

	mu     sync.Mutex
	joined *joined // nil while there is no connection
	world  string  // id of the world
	fault  error   // reason why there is no connection
}

// joined is the connection that shows the domain that the gateway runs.
type joined struct {
	conn   net.Conn
	ticket ticket
	guest  string        // id of the gateway
	done   chan struct{} // closed when the connection has ended
}

// Errors of Connect and of every call that needs the domain.
var (
	// ErrNoDomain means that no domain listens at the address, or that it has stopped.
	ErrNoDomain = errors.New("there is no simulated domain")
	// ErrTicket means that the domain does not accept the ticket.
	ErrTicket = errors.New("the simulated domain does not accept the ticket")
	// ErrProtocol means that the domain has a version that does not understand this one.
	ErrProtocol = errors.New("the simulated domain is of another version")
)

const linkPause = 200 * time.Millisecond // between two attempts to connect

// Connect connects to a domain. The caller must call Run, and Close.
func Connect(ctx context.Context, o LinkOptions) (*Link, error) {
	if o.Account == "" {
		o.Account = sandbox.ServiceAccount
	}
	if o.Log == nil {
		o.Log = func(bool, string) {}
	}
	l := &Link{options: o}
	if err := l.connect(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// connect joins the domain.
func (l *Link) connect(ctx context.Context) error {
	j, world, err := l.join(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = err
	if err == nil {
		l.joined, l.world = j, world
	}
	return err
}

func (l *Link) join(ctx context.Context) (j *joined, world string, err error) {
	o := l.options
	t := ticket{Version: o.Version, Gateway: o.Gateway, Account: o.Account, Clock: o.Clock}
	if t.Secret, err = o.Secret(); err != nil {
		return nil, "", err
	}
	conn, r, err := present(ctx, o.Address, question{ticket: t, Op: "join"})
	if err != nil {
		return nil, "", err
	}
	j = &joined{conn: conn, ticket: t, guest: r.Guest, done: make(chan struct{})}
	go func() {
		defer close(j.done)
		_, _ = io.Copy(io.Discard, conn) // until the connection ends, because the domain sends nothing more
		_ = conn.Close()
	}()
	return j, r.World, nil
}

// present opens a connection with a question, and returns the answer. The caller must close the connection.
func present(ctx context.Context, address string, q question) (net.Conn, *reply, error) {
	q.Protocol = protocol
	conn, err := dial(ctx, address)
	if err != nil {
		return nil, nil, fmt.Errorf("%w at %s (%w)", ErrNoDomain, address, err)
	}
	detach := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer detach()
	f, err := newWire(conn).first(conn, &frame{F: "question", Question: &q})
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%w at %s: it has not answered (%w)", ErrNoDomain, address, ctx.Err())
	case err != nil || f.Reply == nil:
		err = fmt.Errorf("%w at %s: what listens there does not speak its protocol or is of another version (%w)",
			ErrNoDomain, address, err)
	case f.Reply.Refused == refusedSecret:
		err = fmt.Errorf("%w: %s", ErrTicket, f.Reply.Text)
	case f.Reply.Refused == refusedProtocol:
		err = fmt.Errorf("%w: %s; start both from the same executable", ErrProtocol, f.Reply.Text)
	case logonErrors[f.Reply.Refused] != nil:
		err = logonErrors[f.Reply.Refused]
	case f.Reply.Refused != "":
		err = errors.New(f.Reply.Text)
	default:
		return conn, f.Reply, nil
	}
	_ = conn.Close() // the failure has already been reported
	return nil, nil, err
}

// ask asks a question over a connection of its own.
func ask(ctx context.Context, address string, q question) (*reply, error) {
	conn, r, err := present(ctx, address, q)
	if err != nil {
		return nil, err
	}
	return r, conn.Close()
}

// Run reconnects whenever the connection is lost, until ctx ends.
func (l *Link) Run(ctx context.Context) {
	for {
		l.mu.Lock()
		j, world := l.joined, l.world
		l.mu.Unlock()
		if j != nil {
			select {
			case <-ctx.Done():
				return
			case <-j.done:
			}
			l.options.Log(true, "the connection to the simulated domain at "+l.options.Address+
				" was lost; the gateway is not ready until there is one again")
			l.mu.Lock()
			l.joined, l.fault = nil, fmt.Errorf("%w at %s any more", ErrNoDomain, l.options.Address)
			l.mu.Unlock()
		}
		for l.connect(ctx) != nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(linkPause):
			}
		}
		l.mu.Lock()
		fresh := l.world != world
		l.mu.Unlock()
		if fresh {
			l.options.Log(true, "the simulated domain is back, but it was started again: what had been written to "+
				"it is gone")
		} else {
			l.options.Log(false, "the simulated domain is back, with all that was written to it")
		}
	}
}

// Fault returns the reason why the domain cannot be used, or nil if it can.
func (l *Link) Fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// Close leaves the domain. It must be called after Run has returned.
func (l *Link) Close() error {
	l.mu.Lock()
	j := l.joined
	l.mu.Unlock()
	if j == nil {
		return nil
	}
	err := j.conn.Close()
	<-j.done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// ask asks the domain.
func (l *Link) ask(ctx context.Context, q question) (*reply, error) {
	l.mu.Lock()
	j, fault := l.joined, l.fault
	l.mu.Unlock()
	if j == nil {
		return nil, fault
	}
	select {
	case <-j.done:
		return nil, fmt.Errorf("%w at %s any more", ErrNoDomain, l.options.Address)
	default:
	}
	q.ticket, q.Guest = j.ticket, j.guest
	return ask(ctx, l.options.Address, q)
}

var _ Issuer = (*Link)(nil)

// IssueKey implements [Issuer].
func (l *Link) IssueKey() ([]string, error) {
	key, err := l.key()
	return variables(l.options.Address, key), err
}

func (l *Link) key() (string, error) {
	r, err := l.ask(context.Background(), question{Op: "key"})
	if err != nil {
		return "", err
	}
	return r.Key, nil
}

// Dial is [sandbox.World.Dial] over the link.
func (l *Link) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	r, err := l.ask(ctx, question{Op: "reach", Name: address})
	if err != nil {
		return nil, err
	}
	if !r.OK {
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
	}
	client, server := net.Pipe()
	return client, server.Close()
}

// Example is [sandbox.World.Example] over the link. It is empty if the domain does not answer.
func (l *Link) Example(ctx context.Context) sandbox.Example {
	r, err := l.ask(ctx, question{Op: "example"})
	if err != nil || r.Example == nil {
		return sandbox.Example{}
	}
	return *r.Example
}

// LogOn is [sandbox.World.LogOn] over the link.
func (l *Link) LogOn(ctx context.Context, name, password string) (*sandbox.Account, error) {
	return l.person(ctx, question{Op: "logon", Name: name, Password: password})
}

// Lookup is [sandbox.World.Lookup] over the link.
func (l *Link) Lookup(ctx context.Context, name string) (*sandbox.Account, error) {
	return l.person(ctx, question{Op: "lookup", Name: name})
}

// Account is [sandbox.World.Account] over the link.
func (l *Link) Account(ctx context.Context, sid string) (*sandbox.Account, error) {
	return l.person(ctx, question{Op: "account", Name: sid})
}

func (l *Link) person(ctx context.Context, q question) (*sandbox.Account, error) {
	r, err := l.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.Person, nil
}

// Starter returns a Starter of simulated PowerShell processes inside this process. Their
// sessions run in the domain.
func (l *Link) Starter() session.Starter { return linkStarter{l} }

type linkStarter struct{ l *Link }

// StartProcess starts a process that ends with its connection to the domain.
func (s linkStarter) StartProcess(
	_ string, args ...string,
) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	key, err := s.l.key()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	start := &frame{F: "session", Key: key, PID: os.Getpid(), Args: args}
	waiter, stdin, stdout, stderr := sandbox.StartFunc(func(ctx context.Context, c engine.Console) int {
		code, err := relay(ctx, s.l.options.Address, start, c)
		if err != nil {
			_, _ = fmt.Fprintln(c.Stderr, err) // the process may have been killed
		}
		return code
	})
	return waiter, stdin, stdout, stderr, nil
}
