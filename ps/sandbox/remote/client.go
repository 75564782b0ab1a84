package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"time"

	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Client is a connection to a [Server], with modules for one session. Only the goroutine of
// that session may use the modules.
type Client struct {
	conn    net.Conn
	wire    *wire
	modules []*engine.Module
	culture string
	decoder *decoder
	encoder *encoder

	frames chan *frame   // from the server
	done   chan struct{} // closed when the connection has ended

	ctx    context.Context // of the connection
	cancel func()          // ends ctx and with it the reading goroutine

	active *exchange // call that owns the connection; only the session's goroutine uses it

	mu       sync.Mutex
	released []uint64 // ids that are no longer referenced on this side
}

// errGone is returned after the connection has ended.
var errGone = errors.New("the connection to the server was lost")

// dialWait is the time limit for connecting and exchanging hello and welcome.
const dialWait = 10 * time.Second

// Dial connects with a key. When ctx ends, the connection closes and running calls fail.
// declared are the modules without command bodies: the declarations that the parameter
// binder needs, and the types that scripts may name.
func Dial(ctx context.Context, address, key string, declared []*engine.Module) (*Client, error) {
	dialer := net.Dialer{Timeout: dialWait}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &Client{conn: conn, wire: newWire(conn), frames: make(chan *frame), done: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(ctx)
	context.AfterFunc(c.ctx, func() { _ = conn.Close() })
	welcome, err := c.hello(key)
	if err != nil {
		c.cancel()
		return nil, fmt.Errorf("the server did not accept the key: %w", err)
	}
	c.declare(welcome, declared)
	go c.read()
	return c, nil
}

// hello presents the key and returns the server's welcome.
func (c *Client) hello(key string) (*frame, error) {
	if err := c.conn.SetDeadline(time.Now().Add(dialWait)); err != nil {
		return nil, err
	}
	if err := c.wire.send(&frame{F: "hello", Key: key}); err != nil {
		return nil, err
	}
	welcome, err := c.wire.read(MaxFrame)
	if err != nil {
		return nil, err
	}
	if welcome.F != "welcome" {
		return nil, fmt.Errorf("unexpected frame %q", welcome.F)
	}
	return welcome, c.conn.SetDeadline(time.Time{})
}

// Modules returns the server's modules that are declared here.
func (c *Client) Modules() []*engine.Module { return c.modules }

// Culture returns the culture of the server's messages.
func (c *Client) Culture() string { return c.culture }

// Done returns a channel that is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Close closes the connection and waits for the goroutine that reads from it. It may be
// called more than once.
func (c *Client) Close() error {
	c.cancel()
	err := c.conn.Close()
	<-c.done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// read passes frames to the call that waits for them.
func (c *Client) read() {
	defer close(c.done)
	for {
		f, err := c.wire.read(MaxFrame)
		if err != nil {
			return
		}
		select {
		case c.frames <- f:
		case <-c.ctx.Done():
			return
		}
	}
}

func (c *Client) declare(welcome *frame, declared []*engine.Module) {
	c.culture = welcome.Culture
	c.decoder = &decoder{types: map[string]*dotnet.Type{}, data: c.hold, object: c.objectOf}
	c.encoder = &encoder{id: func(v any) (uint64, bool) {
		o, ok := v.(*object)
		if !ok {
			return 0, false
		}
		return o.handle.id, true
	}}
	for _, info := range welcome.Modules {
		for _, m := range declared {
			if m.Name == info.Name {
				c.modules = append(c.modules, c.module(m, info))
			}
		}
	}
}

// module returns a declared module with commands that forward their calls.
func (c *Client) module(declared *engine.Module, info moduleInfo) *engine.Module {
	m := &engine.Module{Name: info.Name, Version: info.Version, GUID: declared.GUID}
	m.Types = append(m.Types, declared.Types...)
	for _, name := range info.Types {
		m.Types = append(m.Types, c.remoteType(name))
	}
	for _, t := range m.Types {
		c.decoder.types[strings.ToLower(t.Name)] = t
	}
	for _, command := range declared.Commands {
		m.Commands = append(m.Commands,
			&engine.Command{Decl: command.Decl, Class: command.Class, Process: c.forward})
	}
	return m
}

// A handle refers to data or an object on the server. Its id is released when the handle is
// garbage collected.
type handle struct{ id uint64 }

func (c *Client) hold(id uint64) any {
	h := &handle{id}
	runtime.AddCleanup(h, c.release, id)
	return h
}

func (c *Client) release(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.released = append(c.released, id)
}

// start sends the first frame of a call after the running call has ended.
func (c *Client) start(f *frame) error {
	if err := c.settle(); err != nil {
		return err
	}
	c.mu.Lock()
	f.Release, c.released = c.released, nil
	c.mu.Unlock()
	if err := c.wire.send(f); err != nil {
		return errGone
	}
	return nil
}

func (c *Client) next(ctx context.Context) (*frame, error) {
	select {
	case f := <-c.frames:
		return f, nil
	case <-c.done:
		return nil, errGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// An exchange is one call. Its frames come from the connection, or were put aside while
// another call needed the connection.
type exchange struct {
	call  *engine.Call
	aside []*frame
	over  bool // the last frame has arrived
}

// settle lets the running call end on the server and puts its frames aside, because another
// command of the pipeline starts a call. It answers the call's errors with "go on".
func (c *Client) settle() error {
	x := c.active
	for x != nil && !x.over {
		f, err := c.next(x.call.Context())
		if err != nil {
			return err
		}
		x.over = isLast(f)
		switch f.F {
		case "ask":
			ok, err := x.call.ShouldProcess(f.Text)
			if err == nil {
				err = c.wire.send(&frame{F: "answer", OK: ok})
			}
			if err != nil {
				return err
			}
		case "error":
			if err := c.wire.send(&frame{F: "answer", OK: true}); err != nil {
				return errGone
			}
			x.aside = append(x.aside, f)
		default:
			x.aside = append(x.aside, f)
		}
	}
	return nil
}

// isLast reports whether a frame ends a call.
func isLast(f *frame) bool { return f.F == "end" || f.F == "throw" || f.F == "defect" }

// of returns the next frame of a call, and whether the server waits for an answer.
func (c *Client) of(x *exchange) (f *frame, waits bool, err error) {
	if len(x.aside) > 0 {
		f, x.aside = x.aside[0], x.aside[1:]
		return f, false, nil
	}
	if f, err = c.next(x.call.Context()); err != nil {
		return nil, false, err
	}
	x.over = isLast(f)
	return f, f.F == "error" || f.F == "ask", nil
}

// forward is the body of every command. If an output fails, it stops the call and drops the
// remaining frames, so that both ends of the connection stay in step.
func (c *Client) forward(call *engine.Call) error {
	f := &frame{F: "call", Cmdlet: call.Name(), Set: call.Set()}
	for _, name := range call.BoundNames() {
		v, _ := call.Bound(name)
		text, err := c.encoder.encode(v)
		if err != nil {
			return call.Throw(dotnet.NewError(dotnet.ExceptionNamed("System.NotSupportedException", "-%s: %v", name,
				err),
				"ValueNotSupported", dotnet.InvalidArgument, nil))
		}
		f.Bound = append(f.Bound, boundValue{Name: name, Value: text})
	}
	if err := c.start(f); err != nil {
		return err
	}
	x := &exchange{call: call}
	outer := c.active
	c.active = x
	defer func() { c.active = outer }()
	var failed error // error of the first output that failed
	for {
		f, waits, err := c.of(x)
		if err != nil {
			return err
		}
		switch f.F {
		case "end":
			return failed
		case "throw", "defect":
			if failed != nil {
				return failed
			}
			return c.thrown(call, f)
		}
		if failed == nil {
			failed = c.output(call, f)
			if failed != nil && !x.over {
				err = c.wire.write(&frame{F: "stop"})
			}
		}
		if err == nil && waits {
			err = c.wire.write(&frame{F: "answer", OK: failed == nil && f.OK})
		}
		if err == nil {
			err = c.wire.out.Flush()
		}
		if err != nil {
			return errGone
		}
	}
}

// thrown returns the error that ended the call.
func (c *Client) thrown(call *engine.Call, f *frame) error {
	if f.F == "defect" {
		return errors.New(f.Text)
	}
	rec, err := c.recordOf(f)
	if err != nil {
		return err
	}
	return call.Throw(rec)
}

func (c *Client) recordOf(f *frame) (*dotnet.ErrorRecord, error) {
	v, err := c.decoder.decode(f.Record)
	if err != nil {
		return nil, err
	}
	rec, ok := v.(*dotnet.ErrorRecord)
	if !ok {
		return nil, fmt.Errorf("a %s frame without an error record", f.F)
	}
	return rec, nil
}

// output passes the content of a frame to the script and sets f.OK to the answer.
func (c *Client) output(call *engine.Call, f *frame) error {
	switch f.F {
	case "write":
		for _, raw := range f.Values {
			v, err := c.decoder.decode(raw)
			if err == nil {
				err = call.Write(v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	case "warning":
		return call.WriteWarning(f.Text)
	case "verbose":
		return call.WriteVerbose(f.Text)
	case "error":
		rec, err := c.recordOf(f)
		if err == nil {
			err = call.WriteError(rec)
		}
		f.OK = err == nil
		return err
	case "ask":
		var err error
		f.OK, err = call.ShouldProcess(f.Text)
		return err
	}
	return fmt.Errorf("unexpected frame %q", f.F)
}

// object is a proxy for an object on the server.
type object struct {
	c      *Client
	t      *dotnet.Type
	handle *handle
}

var _ dotnet.Object = (*object)(nil)

func (c *Client) objectOf(name string, id uint64) (any, error) {
	h, _ := c.hold(id).(*handle)
	return &object{c, c.decoder.typeNamed(name), h}, nil
}

// remoteType returns the type of such objects. Its constructor takes a string.
func (c *Client) remoteType(name string) *dotnet.Type {
	return dotnet.Define(dotnet.Class{Name: name, New: []dotnet.Member{
		dotnet.Constructor("string", func(_ any, args []any) (any, error) {
			return c.access(&frame{F: "new", Type: name}, args)
		}),
	}})
}

// Type returns the type of the object on the server.
func (o *object) Type() *dotnet.Type { return o.t }

// Member reads a property. ok is false if it cannot be read.
func (o *object) Member(name string) (any, bool) {
	v, err := o.c.access(&frame{F: "get", ID: o.handle.id, Name: name}, nil)
	return v, err == nil
}

// SetMember writes a property.
func (o *object) SetMember(name string, value any) error {
	_, err := o.c.access(&frame{F: "set", ID: o.handle.id, Name: name}, []any{value})
	return err
}

// Invoke calls a method.
func (o *object) Invoke(name string, args []any) (any, error) {
	return o.c.access(&frame{F: "invoke", ID: o.handle.id, Name: name}, args)
}

// access creates an object on the server, or accesses a member of one.
func (c *Client) access(f *frame, args []any) (any, error) {
	for _, arg := range args {
		text, err := c.encoder.encode(arg)
		if err != nil {
			return nil, dotnet.ExceptionNamed("System.NotSupportedException", "%v", err)
		}
		f.Bound = append(f.Bound, boundValue{Value: text})
	}
	if err := c.start(f); err != nil {
		return nil, err
	}
	answer, err := c.next(c.ctx)
	if err != nil {
		return nil, err
	}
	switch answer.F {
	case "end":
		if len(answer.Values) == 0 {
			return dotnet.Void, nil
		}
		return c.decoder.decode(answer.Values[0])
	case "throw":
		rec, err := c.recordOf(answer)
		if err != nil {
			return nil, err
		}
		if inner := rec.Exception.Inner; inner != nil { // the caller wraps it again
			return nil, inner
		}
		return nil, rec.Exception
	}
	if answer.Text == errNoMember.Error() {
		return nil, dotnet.ErrNoMethod
	}
	return nil, errors.New(answer.Text)
}
