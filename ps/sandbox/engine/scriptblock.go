package engine

import (
	"strings"
	"sync"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// ScriptBlock is a script block value. It implements dotnet.Object.
type ScriptBlock struct {
	s    *Session
	code *blockCode
	home *module // module in which it was written; nil outside modules
}

// Type returns System.Management.Automation.ScriptBlock.
func (b *ScriptBlock) Type() *dotnet.Type { return dotnet.TScriptBlock }

// Text returns the block's own text, without braces.
func (b *ScriptBlock) Text() string { return b.code.text() }

// Member finds no property.
func (b *ScriptBlock) Member(string) (any, bool) { return nil, false }

// Invoke refuses all methods. Script blocks are called with &.
func (b *ScriptBlock) Invoke(name string, _ []any) (any, error) {
	return nil, dotnet.Refuse("the method %s of a script block", name)
}

// newScriptBlock implements [scriptblock]::Create(text).
func (s *Session) newScriptBlock(text string) (any, error) {
	code, err := s.engine.block(text)
	if err != nil {
		return nil, parseRecord(err)
	}
	return &ScriptBlock{s: s, code: code}, nil
}

// parseRecord returns the error of [scriptblock]::Create for a text that does not
// parse.
func parseRecord(err error) error {
	faults, ok := err.(*ParseError)
	if !ok {
		return err
	}
	first := faults.Errors[0]
	if first.Outside {
		return dotnet.Refuse("the text of a script block: %s", first.Error())
	}
	inner := dotnet.NewException(exceptionType("System.Management.Automation.ParseException"), first.Error())
	outer := dotnet.NewException(exceptionType("System.Management.Automation.MethodInvocationException"),
		`Exception calling "Create" with "1" argument(s): "`+first.Error()+`"`)
	outer.Inner = inner
	return dotnet.NewError(outer, "ParseException", dotnet.NotSpecified, nil)
}

// codeCache caches compiled texts. There is one cache for the process, not one for each engine:
// compiled code depends only on the text and its name (types that differ between sessions are
// looked up at run time), never changes, and all engines of a process run the same scripts.
type codeCache struct {
	mu    sync.Mutex
	codes map[codeKey]*blockCode
	bytes int // total size of the texts
}

type codeKey struct{ name, text string }

// codeCacheBytes limits the total size of the cached texts.
const codeCacheBytes = 16 << 20

var compiled = codeCache{codes: map[codeKey]*blockCode{}}

func (c *codeCache) get(key codeKey) *blockCode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.codes[key]
}

// getOrPut returns the code of a text. If there is none, it keeps the one that create returns.
func (c *codeCache) getOrPut(key codeKey, create func(text string) *blockCode) *blockCode {
	c.mu.Lock()
	defer c.mu.Unlock()
	if code := c.codes[key]; code != nil {
		return code
	}
	code := create(key.text)
	c.keep(key, code)
	return code
}

func (c *codeCache) put(key codeKey, code *blockCode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, code)
}

// keep is put under the lock.
func (c *codeCache) keep(key codeKey, code *blockCode) {
	size := len(key.name) + len(key.text)
	if size > codeCacheBytes/4 {
		return
	}
	if c.bytes+size > codeCacheBytes {
		clear(c.codes)
		c.bytes = 0
	}
	if _, known := c.codes[key]; !known {
		c.codes[key] = code
		c.bytes += size
	}
}

// compile parses and compiles a text, or returns its code from the cache.
func (e *Engine) compile(name, text string) (*blockCode, error) {
	key := codeKey{name: name, text: text}
	if code := compiled.get(key); code != nil {
		return code.ready()
	}
	code, err := compileText(name, text, nil)
	if err != nil {
		return nil, err
	}
	compiled.put(key, code)
	return code, nil
}

// block is like compile, for a text without a name. If the text is known to be valid, it is compiled at its
// first call.
func (e *Engine) block(text string) (*blockCode, error) {
	if e.opts.Checked == nil || !e.opts.Checked(text) {
		return e.compile("", text)
	}
	return compiled.getOrPut(codeKey{text: text}, newChecked), nil
}

// ready returns the code of a block, which it compiles if the block was to be compiled at its first call.
func (b *blockCode) ready() (*blockCode, error) {
	if b.later == nil {
		return b, nil
	}
	return b.later()
}

// newChecked returns the code of a text that is known to be valid ([Options.Checked]). It is compiled at its
// first call, and each of its functions at its own first call.
func newChecked(text string) *blockCode {
	src := &syntax.Source{Text: text}
	at := syntax.Span{To: syntax.Pos{Offset: len(text)}}
	later := func() (*blockCode, error) { return compileParts(text, &blockCode{src: src, at: at}) }
	return &blockCode{src: src, at: at, later: sync.OnceValues(later)}
}

// compileParts compiles a text to code, but for its functions.
func compileParts(text string, code *blockCode) (*blockCode, error) {
	parts := partsOf(text)
	if len(parts) == 1 {
		return compileText("", text, nil)
	}
	var statements []stmtFn
	for _, p := range parts {
		if p.function != "" {
			statements = append(statements, p.define())
			continue
		}
		script, errs := syntax.Parse("", p.text)
		if len(errs) > 0 {
			return nil, &ParseError{Errors: errs}
		}
		if script.Block.Param != nil || script.Block.Process {
			return compileText("", text, nil)
		}
		if len(script.Block.Body.Statements) == 0 {
			continue
		}
		c := &compiler{src: script.Source, lines: p.lines}
		own := c.scriptBlock(script.Block, "")
		if len(c.faults) > 0 {
			return nil, &ParseError{Errors: c.faults}
		}
		statements = append(statements, own.body)
		code.sig, code.vars = own.sig, code.vars+own.vars
	}
	if code.sig == nil { // functions only
		code.sig = (&compiler{src: code.src}).signature(code, "")
	}
	code.place = &place{src: code.src, at: code.at}
	code.body = func(f *frame, out sink) error {
		for _, run := range statements {
			if err := run(f, out); err != nil {
				return err
			}
		}
		return nil
	}
	return code, nil
}

// define returns the statement that defines a function. The function is compiled at its first call.
func (p part) define() stmtFn {
	name, scopeName := functionName(p.function)
	src := &syntax.Source{Text: p.text}
	later := func() (*blockCode, error) {
		script, errs := syntax.Parse("", p.text)
		if len(errs) > 0 {
			return nil, &ParseError{Errors: errs}
		}
		c := &compiler{src: src, lines: p.lines}
		code := c.scriptBlock(script.Block.Body.Statements[0].(*syntax.FunctionDef).Body, name)
		if len(c.faults) > 0 {
			return nil, &ParseError{Errors: c.faults}
		}
		return code, nil
	}
	body := syntax.Span{
		From: syntax.Pos{Offset: strings.IndexByte(p.text, '{') + 1}, To: syntax.Pos{Offset: len(p.text) - 1},
	}
	code := &blockCode{src: src, at: body, later: sync.OnceValues(later)}
	at := &place{src: src, at: syntax.Span{From: syntax.Pos{Line: p.lines + 1, Column: 1}}}
	return func(f *frame, _ sink) error {
		if err := f.step(at); err != nil {
			return err
		}
		f.s.defineFunction(f.scope, scopeName, &function{name: name, code: code, home: f.scope.script().home})
		return nil
	}
}

// compileLine is like compile, for a line of the host's input. The line may use the aliases of the options,
// but code that it calls may not. Lines are not cached, because the line that starts a session is long and
// different each time, and would soon displace all scripts.
func (e *Engine) compileLine(text string) (*blockCode, error) {
	return compileText("", text, e.opts.Aliases)
}

// compileText parses and compiles a text.
func compileText(name, text string, aliases map[string]string) (*blockCode, error) {
	script, errs := syntax.Parse(name, text)
	if len(errs) > 0 {
		return nil, &ParseError{Errors: errs}
	}
	c := &compiler{src: script.Source, aliases: aliases}
	code := c.scriptBlock(script.Block, "")
	if len(c.faults) > 0 {
		return nil, &ParseError{Errors: c.faults}
	}
	return code, nil
}

// runMain runs a whole text in the frame's own scope.
func (f *frame) runMain(code *blockCode, out sink) error {
	if err := code.body(f, out); err != flowReturn {
		return err
	}
	return nil
}

// inline runs the block of ForEach-Object on the frame itself, with $_ set.
func (f *frame) inline(code *blockCode, under any, out sink) error {
	code, err := code.ready()
	if err != nil {
		return err
	}
	if code.params != nil {
		return fail(dotnet.Refuse("a param block in the block of ForEach-Object"), code.place)
	}
	s := f.s
	if s.running.nested >= s.limits.CallDepth {
		return &LimitError{Limit: "CallDepth", Line: code.place.line()}
	}
	s.running.nested++
	old, had := f.scope.setUnder(under)
	err = code.body(f, out)
	f.scope.restoreUnder(old, had)
	s.running.nested--
	if err == flowReturn {
		return nil
	}
	return err
}
