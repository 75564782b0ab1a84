package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/ps/sandbox"
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

	mu      sync.Mutex
	control *control // nil while there is no connection
	world   string   // id of the world
	fault   error    // reason why there is no connection
}

// control is one control connection.
type control struct {
	conn    net.Conn
	wire    *wire
	world   string
	answers chan *frame
	done    chan struct{} // closed when the connection has ended

	asking sync.Mutex    // held from a question until its answer
	wanted atomic.Uint64 // id of the current question; answers to earlier ones are dropped
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

const (
	askWait   = 10 * time.Second       // time limit for an answer
	linkPause = 200 * time.Millisecond // between two attempts to connect
)

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

// connect opens a control connection.
func (l *Link) connect(ctx context.Context) error {
	o := l.options
	c, err := openControl(ctx, o.Address, "ticket", o.Secret,
		ticket{Version: o.Version, Gateway: o.Gateway, Account: o.Account, Clock: o.Clock})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = err
	if err == nil {
		l.control, l.world = c, c.world
	}
	return err
}

// openControl connects and presents a ticket.
func openControl(
	ctx context.Context, address, kind string, secret func() (string, error), t ticket,
) (*control, error) {
	var err error
	if t.Secret, err = secret(); err != nil {
		return nil, err
	}
	t.Protocol = protocol
	dialer := net.Dialer{Timeout: dialWait}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w at %s (%w)", ErrNoDomain, address, err)
	}
	c := &control{conn: conn, wire: newWire(conn), answers: make(chan *frame, 1), done: make(chan struct{})}
	answer, err := c.present(kind, t)
	if err == nil && answer.F != "granted" {
		switch answer.Name {
		case refusedSecret:
			err = fmt.Errorf("%w: %s", ErrTicket, answer.Text)
		case refusedProtocol:
			err = fmt.Errorf("%w: %s; start both from the same executable", ErrProtocol, answer.Text)
		default:
			err = errors.New(answer.Text)
		}
	}
	if err != nil {
		_ = conn.Close() // the failure has already been reported
		return nil, err
	}
	c.world = answer.Key
	go c.read()
	return c, nil
}

// present sends the ticket and returns the first answer.
func (c *control) present(kind string, t ticket) (*frame, error) {
	if err := c.conn.SetDeadline(time.Now().Add(dialWait)); err != nil {
		return nil, err
	}
	err := c.wire.send(&frame{F: kind, Ticket: &t})
	var answer *frame
	if err == nil {
		answer, err = c.wire.read(controlBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("%w at %s: what listens there does not speak its protocol (%w)", ErrNoDomain,
			c.conn.RemoteAddr(), err)
	}
	return answer, c.conn.SetDeadline(time.Time{})
}

// read passes answers on until the connection ends.
func (c *control) read() {
	defer close(c.done)
	defer c.conn.Close()
	for {
		f, err := c.wire.read(MaxFrame)
		if err != nil {
			return
		}
		if f.ID != c.wanted.Load() {
			continue // the sender did not wait
		}
		select {
		case c.answers <- f:
		default: // an answer has already arrived
			return
		}
	}
}

// ask sends a frame and returns the answer.
func (c *control) ask(ctx context.Context, f *frame) (*frame, error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	silence := time.AfterFunc(askWait, func() { _ = c.conn.Close() })
	defer silence.Stop()
	f.ID = c.wanted.Add(1)
	select {
	case <-c.answers: // an answer to a question whose sender has left
	default:
	}
	if err := c.wire.send(f); err != nil {
		return nil, fmt.Errorf("%w any more (%w)", ErrNoDomain, err)
	}
	select {
	case answer := <-c.answers:
		return answer, nil
	case <-c.done:
		return nil, fmt.Errorf("%w any more", ErrNoDomain)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Run reconnects whenever the connection is lost, until ctx ends.
func (l *Link) Run(ctx context.Context) {
	for {
		l.mu.Lock()
		c, world := l.control, l.world
		l.mu.Unlock()
		if c != nil {
			select {
			case <-ctx.Done():
				return
			case <-c.done:
			}
			l.options.Log(true, "the connection to the simulated domain at "+l.options.Address+
				" was lost; the gateway is not ready until there is one again")
			l.mu.Lock()
			l.control, l.fault = nil, fmt.Errorf("%w at %s any more", ErrNoDomain, l.options.Address)
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

// Close closes the control connection. It must be called after Run has returned.
func (l *Link) Close() error {
	l.mu.Lock()
	c := l.control
	l.mu.Unlock()
	if c == nil {
		return nil
	}
	err := c.conn.Close()
	<-c.done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// ask sends a frame to the domain and returns its answer.
func (l *Link) ask(ctx context.Context, f *frame) (*frame, error) {
	l.mu.Lock()
	c, fault := l.control, l.fault
	l.mu.Unlock()
	if c == nil {
		return nil, fault
	}
	return c.ask(ctx, f)
}

var _ Issuer = (*Link)(nil)

// IssueKey implements [Issuer].
func (l *Link) IssueKey() ([]string, error) {
	key, err := l.key()
	return variables(l.options.Address, key), err
}

func (l *Link) key() (string, error) {
	answer, err := l.ask(context.Background(), &frame{F: "issue"})
	if err != nil {
		return "", err
	}
	return answer.Key, nil
}

// Dial is [sandbox.World.Dial] over the link.
func (l *Link) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	answer, err := l.ask(ctx, &frame{F: "reach", Name: address})
	if err != nil {
		return nil, err
	}
	if !answer.OK {
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
	}
	client, server := net.Pipe()
	return client, server.Close()
}

// Example is [sandbox.World.Example] over the link. It is empty if the domain does not answer.
func (l *Link) Example(ctx context.Context) sandbox.Example {
	answer, err := l.ask(ctx, &frame{F: "example"})
	if err != nil {
		return sandbox.Example{}
	}
	return sandbox.Example{User: answer.Name, Zone: answer.Text}
}

// LogOn is [sandbox.World.LogOn] over the link.
func (l *Link) LogOn(ctx context.Context, name, password string) (*sandbox.Account, error) {
	return l.person(ctx, &frame{F: "logon", Name: name, Text: password})
}

// Lookup is [sandbox.World.Lookup] over the link.
func (l *Link) Lookup(ctx context.Context, name string) (*sandbox.Account, error) {
	return l.person(ctx, &frame{F: "lookup", Name: name})
}

// Account is [sandbox.World.Account] over the link.
func (l *Link) Account(ctx context.Context, sid string) (*sandbox.Account, error) {
	return l.person(ctx, &frame{F: "account", Name: sid})
}

func (l *Link) person(ctx context.Context, f *frame) (*sandbox.Account, error) {
	answer, err := l.ask(ctx, f)
	switch {
	case err != nil:
		return nil, err
	case answer.Person != nil:
		return answer.Person, nil
	}
	if known := logonErrors[answer.Name]; known != nil {
		return nil, known
	}
	return nil, errors.New(answer.Text)
}

// Starter returns a Starter of simulated PowerShell processes inside this process. Their
// commands run in the domain.
func (l *Link) Starter() session.Starter { return linkStarter{l} }

type linkStarter struct{ l *Link }

// StartProcess starts a process that ends with its connection to the domain.
func (s linkStarter) StartProcess(
	command string, args ...string,
) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	key, err := s.l.key()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	client, err := Dial(context.Background(), s.l.options.Address, key, sandbox.Declarations())
	if err != nil {
		return nil, nil, nil, nil, err
	}
	waiter, stdin, stdout, stderr, err := sandbox.StarterOn(client.Culture(),
		client.Modules()...).StartProcess(command, args...)
	if err != nil {
		return nil, nil, nil, nil, errors.Join(err, client.Close())
	}
	p := linkedProcess{waiter.(killer), client}
	go func() {
		<-client.Done()
		_ = p.killer.Kill() // never fails
	}()
	go func() {
		_ = p.Wait() // the session itself asks how the process ended
		_ = client.Close()
	}()
	return p, stdin, stdout, stderr, nil
}

type killer interface {
	session.Waiter
	Kill() error
}

// linkedProcess is a simulated process with a connection.
type linkedProcess struct {
	killer
	client *Client
}

// Kill also ends the connection, and with it a command that waits for an answer.
func (p linkedProcess) Kill() error {
	p.client.cancel()
	return p.killer.Kill()
}
