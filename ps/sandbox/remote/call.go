package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// A connection serves a real PowerShell, whose functions call the sandbox. One goroutine reads its frames,
// and another runs its calls.
type connection struct {
	modules *moduleSet
	ctx     context.Context
	wire    *wire

	calls   chan *frame // for work
	answers chan *frame
	busy    atomic.Bool // a call is running

	kept map[uint64]any // data and objects by id; only work uses it
	last uint64
}

// read reads frames until the connection ends or a frame violates the protocol.
func (c *connection) read() {
	defer close(c.calls)
	for {
		f, err := c.wire.read(MaxFrame)
		if err != nil {
			return
		}
		switch f.F {
		case "call", "new", "get", "set", "invoke":
			if !c.busy.CompareAndSwap(false, true) {
				return
			}
			select {
			case c.calls <- f:
			case <-c.ctx.Done():
				return
			}
		case "answer":
			select {
			case c.answers <- f:
			default:
				return // an unsolicited answer
			}
		default:
			return
		}
	}
}

// work runs calls until the connection ends.
func (c *connection) work() {
	for {
		var f *frame
		var ok bool
		select {
		case f, ok = <-c.calls:
		case <-c.ctx.Done():
		}
		if !ok {
			return
		}
		for _, id := range f.Release {
			delete(c.kept, id)
		}
		last := c.run(f)
		c.busy.Store(false)
		if err := c.wire.send(last); err != nil {
			return
		}
	}
}

// run runs a call and returns its last frame.
func (c *connection) run(f *frame) *frame {
	values := make([]any, len(f.Bound))
	decoder := &decoder{types: c.modules.types, kept: c.kept}
	for i, b := range f.Bound {
		v, err := decoder.decode(b.Value)
		if err != nil {
			return &frame{F: "defect", Text: fmt.Sprintf("the value of %s: %v", b.Name, err)}
		}
		values[i] = v
	}
	if f.F != "call" {
		v, err := c.access(f, values)
		if err != nil {
			return c.failed(err)
		}
		if v == dotnet.Void {
			return &frame{F: "end"}
		}
		text, err := c.encoder().encode(v)
		if err != nil {
			return c.failed(err)
		}
		return &frame{F: "end", Values: []json.RawMessage{text}}
	}
	command := c.modules.commands[strings.ToLower(f.Cmdlet)]
	if command == nil {
		return &frame{F: "defect", Text: fmt.Sprintf("unknown command %.60q", f.Cmdlet)}
	}
	h := &host{c: c, f: f, name: command.Decl.Name, values: map[string]any{}}
	for i, b := range f.Bound {
		h.names = append(h.names, b.Name)
		h.values[strings.ToLower(b.Name)] = values[i]
	}
	if err := command.ProcessOn(h); err != nil {
		return c.failed(err)
	}
	return &frame{F: "end"}
}

// access creates an object that stays on the server, or reads, writes or calls a member of an object.
func (c *connection) access(f *frame, args []any) (any, error) {
	if f.F == "new" {
		t := c.modules.types[strings.ToLower(f.Type)]
		if !c.modules.remote[t] {
			return nil, fmt.Errorf("the server keeps no objects of type %.60q", f.Type)
		}
		return dotnet.NewFor(func() context.Context { return c.ctx }, t, args)
	}
	object, ok := c.kept[f.ID].(*dotnet.Instance)
	if !ok || !c.modules.remote[object.Type] {
		return nil, errors.New("the object is gone")
	}
	switch {
	case f.F == "get":
		v, found, err := dotnet.GetMember(object, f.Name)
		if err == nil && !found {
			err = errNoMember
		}
		return v, err
	case f.F == "set" && len(args) == 1:
		return nil, dotnet.SetMember(object, f.Name, args[0])
	case f.F == "invoke":
		if name := dotnet.MakeName(f.Name); !name.HasMethod(object) {
			return nil, errNoMember
		}
		return dotnet.CallMethod(object, f.Name, args)
	}
	return nil, errors.New("malformed frame")
}

var errNoMember = errors.New("no such member")

// failed returns the last frame of a call that failed with err.
func (c *connection) failed(err error) *frame {
	var thrown *thrownError
	switch rec := dotnet.AsRecord(err); {
	case errors.As(err, &thrown):
		return &frame{F: "throw", Record: thrown.record}
	case errors.Is(err, errStopped):
		return &frame{F: "end"}
	case rec != nil:
		text, failure := c.encoder().encode(rec)
		if failure == nil {
			return &frame{F: "throw", Record: text}
		}
		err = failure
	}
	return &frame{F: "defect", Text: err.Error()}
}

func (c *connection) encoder() *encoder {
	return &encoder{keep: func(v *dotnet.Instance) (uint64, bool) {
		whole := c.modules.remote[v.Type]
		c.last++
		c.kept[c.last] = v.Data
		if whole {
			c.kept[c.last] = v
		}
		return c.last, whole
	}}
}

// errStopped ends a command whose caller does not continue after an error.
var errStopped = errors.New("stopped by the caller")

// thrownError is the error that Throw returns and that the command must return.
type thrownError struct{ record json.RawMessage }

func (*thrownError) Error() string { return "a terminating error" }

// host is the engine.Host of one call.
type host struct {
	c      *connection
	f      *frame
	name   string
	names  []string
	values map[string]any // by lower-case name
}

var _ engine.Host = (*host)(nil)

func (h *host) Context() context.Context { return h.c.ctx }
func (h *host) Name() string             { return h.name }
func (h *host) Set() string              { return h.f.Set }
func (h *host) BoundNames() []string     { return h.names }

func (h *host) Bound(name string) (any, bool) {
	v, ok := h.values[strings.ToLower(name)]
	return v, ok
}

func (h *host) Write(v any) error {
	text, err := h.c.encoder().encode(v)
	if err != nil {
		return err
	}
	return h.tell(&frame{F: "write", Values: []json.RawMessage{text}})
}

// tell writes a frame that needs no answer. It is not flushed.
func (h *host) tell(f *frame) error {
	if err := h.c.ctx.Err(); err != nil {
		return err
	}
	return h.c.wire.write(f)
}

// ask sends a frame and returns the client's answer.
func (h *host) ask(f *frame) (bool, error) {
	if err := h.c.wire.send(f); err != nil {
		return false, err
	}
	select {
	case a := <-h.c.answers:
		return a.OK, nil
	case <-h.c.ctx.Done():
		return false, h.c.ctx.Err()
	}
}

func (h *host) WriteError(rec *dotnet.ErrorRecord) error {
	text, err := h.c.encoder().encode(rec)
	if err != nil {
		return err
	}
	goOn, err := h.ask(&frame{F: "error", Record: text})
	if err == nil && !goOn {
		err = errStopped
	}
	return err
}

func (h *host) WriteWarning(text string) error {
	return h.tell(&frame{F: "warning", Text: said(text)})
}

func (h *host) WriteVerbose(text string) error {
	return h.tell(&frame{F: "verbose", Text: said(text)})
}

func (h *host) Throw(rec *dotnet.ErrorRecord) error {
	text, err := h.c.encoder().encode(rec)
	if err != nil {
		return err
	}
	return &thrownError{text}
}

func (h *host) ShouldProcess(target string) (bool, error) {
	return h.ask(&frame{F: "ask", Text: said(target)})
}

// said returns text in the form that frames require: valid UTF-8, and marked.
func said(text string) string {
	return mark(strings.ToValidUTF8(text, "\uFFFD"))
}
