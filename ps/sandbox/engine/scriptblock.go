package engine

import (
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

// block is like compile, for a text without a name. It puts off what can be put off, if the text is known to be
// valid.
func (e *Engine) block(text string) (*blockCode, error) {
	if e.opts.Checked == nil || !e.opts.Checked(text) {
		return e.compile("", text)
	}
	return compiled.getOrPut(codeKey{text: text}, newChecked), nil
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
	return c.whole(script)
}

// whole compiles a whole text.
func (c *compiler) whole(script *syntax.Script) (*blockCode, error) {
	code := c.scriptBlock(script.Block, "")
	return code, c.err()
}

// err returns the reasons to refuse the text, or nil.
func (c *compiler) err() error {
	if len(c.faults) > 0 {
		return &ParseError{Errors: c.faults}
	}
	return nil
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
