package engine

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// Engine contains the state shared by sessions. It is safe for concurrent use.
type Engine struct {
	opts    Options
	modules map[string]*Module // by lower-case name
	sigs    sync.Map           // *Command -> *signature
	dotless bool               // i and I are different letters in the culture
}

// NewEngine returns an engine. The modules must not be modified afterwards.
func NewEngine(o Options) *Engine {
	o.Limits = o.Limits.withDefaults()
	if o.Version == "" {
		o.Version = "7.4.0"
	}
	e := &Engine{opts: o, modules: map[string]*Module{}}
	culture := lower(e.culture())
	e.dotless = strings.HasPrefix(culture, "tr") || strings.HasPrefix(culture, "az")
	for _, m := range o.Modules {
		e.modules[lower(m.Name)] = m
	}
	return e
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	pick := func(v, def int64) int64 {
		if v == 0 {
			return def
		}
		return v
	}
	return Limits{
		Steps:         pick(l.Steps, d.Steps),
		CallDepth:     int(pick(int64(l.CallDepth), int64(d.CallDepth))),
		PipelineDepth: int(pick(int64(l.PipelineDepth), int64(d.PipelineDepth))),
		OutputBytes:   pick(l.OutputBytes, d.OutputBytes),
		ValueBytes:    min(pick(l.ValueBytes, d.ValueBytes), int64(dotnet.MaxStringLength)),
		AllocBytes:    pick(l.AllocBytes, d.AllocBytes),
		HeapBytes:     pick(l.HeapBytes, d.HeapBytes),
		WallTime:      time.Duration(pick(int64(l.WallTime), int64(d.WallTime))),
	}
}

// Session is the state of one PowerShell process: global variables, functions, imported
// modules, $Error, the console. It is not safe for concurrent use. While Run is running,
// only code that Run calls may call methods of the session.
type Session struct {
	engine   *Engine
	limits   Limits
	ctx      context.Context
	meter    meter
	global   *scope
	args     argumentStack
	imported map[string]*Module
	commands map[string]*command
	types    map[string]*dotnet.Type // of the modules
	named    map[string]*dotnet.Type // cache of look-ups, by the name as written
	envVars  map[string]string

	errorList *dotnet.List
	ok        bool // $?
	inTry     int
	running   running
	catching  []*dotnet.ErrorRecord
	spare     spare

	stdin  *lineReader
	stdout io.Writer
	stderr io.Writer
}

// running is the state of the code that is currently running.
type running struct {
	nested   int            // depth of running blocks, including blocks of ForEach-Object
	current  *scope         // the innermost running scope outside modules
	watching []*dotnet.List // lists of -ErrorVariable that also receive each error
}

// NewSession opens a session on a console. A session holds no resources and need
// not be closed.
func (e *Engine) NewSession(console Console) *Session {
	s := &Session{
		engine: e, limits: e.opts.Limits, ctx: context.Background(), ok: true,
		imported: map[string]*Module{}, commands: map[string]*command{}, types: map[string]*dotnet.Type{},
		named:   map[string]*dotnet.Type{},
		envVars: map[string]string{}, global: &scope{}, errorList: &dotnet.List{Type: dotnet.TArrayList},
	}
	for name, value := range e.opts.Env {
		s.envVars[lower(name)] = value
	}
	in := console.Stdin
	if in == nil {
		in = eofReader{}
	}
	s.stdin = &lineReader{s: s, in: bufio.NewReaderSize(in, 64<<10)}
	s.stdout = &meteredWriter{s: s, w: orDiscard(console.Stdout)}
	s.stderr = &meteredWriter{s: s, w: orDiscard(console.Stderr)}
	consoleType := dotnet.NewConsole(s.stdin, s.stdout, s.stderr)
	s.types["console"], s.types["system.console"] = consoleType, consoleType
	s.running.current = s.global
	s.defineAutomatic()
	return s
}

type eofReader struct{}

func (eofReader) Read([]byte) (int, error) { return 0, io.EOF }

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// Run runs a text in the session's global scope until it ends, fails or ctx is done. name is the
// name of the text in errors, and empty for a line of input. A script that waits for a line of input
// notices that ctx is done only when Stdin returns, so the caller must close Stdin after cancelling.
//
// The error is a [*ParseError], [*ThrownError], [*ExitError], [*LimitError], [*DefectError] or the
// error of Streams.Output. Errors that did not end the run have been passed to Streams.Error.
func (s *Session) Run(ctx context.Context, name, text string, to Streams) error {
	code, err := s.engine.compile(name, text)
	if err != nil {
		return err
	}
	return s.run(ctx, code, to)
}

// RunLine is like Run, for a line of the host's input. The line's own text may use the aliases of [Options],
// but scripts and functions that it calls may not.
func (s *Session) RunLine(ctx context.Context, text string, to Streams) error {
	code, err := s.engine.compileLine(text)
	if err != nil {
		return err
	}
	return s.run(ctx, code, to)
}

func (s *Session) run(ctx context.Context, code *blockCode, to Streams) error {
	release := s.begin(ctx)
	defer release()
	f := &frame{s: s, scope: s.global, streams: &to}
	out := &outputSink{to: to.Output}
	err := f.runMain(code, out)
	return s.result(f, err)
}

// begin prepares the session for a run and returns the function that ends it.
func (s *Session) begin(ctx context.Context) func() {
	oldCtx, oldTry, oldCatch, oldNested := s.ctx, s.inTry, s.catching, s.running.nested
	s.ctx, s.inTry, s.catching, s.running.nested = ctx, 0, nil, 0
	s.meter.stop.Store(ctx.Err() != nil)
	detach := context.AfterFunc(ctx, func() { s.meter.stop.Store(true) })
	s.resetMeter()
	return func() {
		detach()
		s.pauseMeter()
		s.ctx, s.inTry, s.catching, s.running.nested = oldCtx, oldTry, oldCatch, oldNested
	}
}

// result converts the error that ended a run to one documented for Run.
func (s *Session) result(f *frame, err error) error {
	err = limitOf(err, nil)
	if refused, ok := err.(*dotnet.Refused); ok {
		s.ok = false
		s.addError(refused.Record)
		return &ThrownError{Record: refused.Record, Refused: true}
	}
	if pe := asPS(err); pe != nil {
		s.ok = false
		s.addError(pe.rec)
		return &ThrownError{Record: pe.rec, Thrown: pe.thrown}
	}
	if isFlow(err) {
		return nil
	}
	return err
}

// ParseError is a text that the parser rejected, with at least one error.
type ParseError struct{ Errors []*syntax.Error }

func (e *ParseError) Error() string {
	errs := make([]error, len(e.Errors))
	for i, x := range e.Errors {
		errs[i] = x
	}
	return errors.Join(errs...).Error()
}

// Incomplete reports whether more text could make the text valid.
func (e *ParseError) Incomplete() bool { return e.Errors[0].Incomplete }

// Succeeded reports whether the last statement succeeded ($?). If it did not, a host exits
// with 1 at the end of its input.
func (s *Session) Succeeded() bool { return s.ok }

// SetVariable sets a global variable.
func (s *Session) SetVariable(name string, value any) {
	s.global.set(intern(name), name, value)
}
