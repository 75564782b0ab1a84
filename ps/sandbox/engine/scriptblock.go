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
}

// Type is System.Management.Automation.ScriptBlock.
func (b *ScriptBlock) Type() *dotnet.Type { return dotnet.TScriptBlock }

// Text is the block's own text, without braces.
func (b *ScriptBlock) Text() string { return b.code.text() }

// Member reads a property; script blocks have none that scripts need.
func (b *ScriptBlock) Member(name string) (any, bool) {
	if lower(name) == "file" {
		return nil, true
	}
	return nil, false
}

// Invoke answers Invoke and InvokeReturnAsIs: the block runs in a child scope
// of the frame that called. Package dotnet calls it for callbacks too.
func (b *ScriptBlock) Invoke(name string, args []any) (any, error) {
	switch lower(name) {
	case "invoke", "invokereturnasis":
	case "tostring":
		return b.Text(), nil
	case "gettype":
		return dotnet.TScriptBlock, nil
	case "getnewclosure":
		return nil, runtimeError("NotSupported", dotnet.NotImplemented, nil, "GetNewClosure is not supported.")
	default:
		return nil, methodNotFound("System.Management.Automation.ScriptBlock", name)
	}
	f := b.s.current
	out := collector{f: f}
	if err := f.callBlock(b.code, args, &out, f.streams); err != nil {
		return nil, err
	}
	if lower(name) == "invoke" {
		return dotnet.NewCollection(out.items...), nil
	}
	return out.value(), nil
}

// InvokeOn runs the block in a scope of its own with $_ and $args set: the test
// of -split.
func (b *ScriptBlock) InvokeOn(underscore any, args ...any) (any, error) {
	f := b.s.current
	out := collector{f: f}
	stage, err := f.blockStage(b.code, args, &out, f.streams)
	if err != nil {
		return nil, err
	}
	stage.frame.scope.setUnder(underscore)
	if err := runAlone(stage); err != nil {
		return nil, err
	}
	return out.value(), nil
}

func methodNotFound(typeName, method string) *dotnet.ErrorRecord {
	return runtimeError("MethodNotFound", dotnet.InvalidOperation, method, "Method invocation failed because [%s] does not contain a method named '%s'.", typeName, method)
}

// newScriptBlock is [scriptblock]::Create(text).
func (s *Session) newScriptBlock(text string) (any, error) {
	code, err := s.engine.compile("", text)
	if err != nil {
		return nil, parseRecord(err)
	}
	return &ScriptBlock{s: s, code: code}, nil
}

// parseRecord is the error a script sees when a text it made does not parse.
func parseRecord(err error) error {
	faults, ok := err.(*ParseError)
	if !ok {
		return err
	}
	first := faults.Errors[0]
	inner := dotnet.NewException(exceptionType("System.Management.Automation.ParseException"), first.Error())
	inner.Props.Set("Errors", dotnet.NewArray(parseErrors(faults)...))
	outer := dotnet.NewException(exceptionType("System.Management.Automation.MethodInvocationException"),
		`Exception calling "Create" with "1" argument(s): "`+first.Error()+`"`)
	outer.Inner = inner
	return dotnet.NewError(outer, first.ID, dotnet.NotSpecified, nil)
}

// parseErrors are the members of ParseException.Errors.
func parseErrors(faults *ParseError) []any {
	var out []any
	for _, e := range faults.Errors {
		extent := dotnet.NewPSObject("StartLineNumber", int32(e.Pos.Line), "StartColumnNumber", int32(e.Pos.Column))
		out = append(out, dotnet.NewPSObject("ErrorId", e.ID, "Message", e.Message, "IncompleteInput", e.Incomplete, "Extent", extent))
	}
	return out
}

// codeCache keeps texts compiled, for all engines of the process: what a text
// becomes depends on nothing but the aliases it may use.
type codeCache struct {
	mu    sync.Mutex
	codes map[codeKey]*blockCode
	bytes int // of the texts
}

type codeKey struct {
	name, text string
	aliases    string // that the text may use, as one text
}

// codeCacheBytes bounds the texts kept compiled.
const codeCacheBytes = 16 << 20

var compiled = codeCache{codes: map[codeKey]*blockCode{}}

func (c *codeCache) get(key codeKey) *blockCode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.codes[key]
}

func (c *codeCache) put(key codeKey, code *blockCode) {
	size := len(key.name) + len(key.text)
	if size > codeCacheBytes/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes+size > codeCacheBytes {
		clear(c.codes)
		c.bytes = 0
	}
	if _, known := c.codes[key]; !known {
		c.codes[key] = code
		c.bytes += size
	}
}

// compile parses and compiles a text, or finds it compiled before.
func (e *Engine) compile(name, text string) (*blockCode, error) {
	return compileCached(codeKey{name: name, text: text}, nil)
}

// compileLine is compile for a line of the host's input: its own text may use
// the aliases of the options, what it calls may not.
func (e *Engine) compileLine(text string) (*blockCode, error) {
	return compileCached(codeKey{text: text, aliases: e.aliases}, e.opts.Aliases)
}

func compileCached(key codeKey, aliases map[string]string) (*blockCode, error) {
	if code := compiled.get(key); code != nil {
		return code, nil
	}
	code, err := compileText(key.name, key.text, aliases)
	if err != nil {
		return nil, err
	}
	compiled.put(key, code)
	return code, nil
}

// compileText parses and compiles a text.
func compileText(name, text string, aliases map[string]string) (*blockCode, error) {
	script, errs := syntax.Parse(name, text)
	if len(errs) > 0 {
		return nil, &ParseError{Errors: errs}
	}
	c := &compiler{src: script.Source, aliases: aliases}
	code := c.scriptBlock(script.Block, nil, "")
	if len(c.faults) > 0 {
		return nil, &ParseError{Errors: c.faults}
	}
	return code, nil
}

// runMain runs a whole text in the frame's own scope.
func (f *frame) runMain(code *blockCode, out sink) error {
	old := f.scope.call
	f.scope.call = &callInfo{s: f.s, at: code.place}
	defer func() { f.scope.call = old }()
	for _, part := range []stmtFn{code.begin, code.process, code.end} {
		if part == nil {
			continue
		}
		if err := part(f, out); err != nil {
			if err == flowReturn {
				continue
			}
			return err
		}
	}
	return nil
}

// inline runs a block on the frame itself, with $_ set: the blocks of
// ForEach-Object, Where-Object and the like.
func (f *frame) inline(code *blockCode, under any, out sink) error {
	s := f.s
	if s.nested >= s.limits.CallDepth {
		return &LimitError{Limit: "CallDepth", Line: code.place.line()}
	}
	s.nested++
	oldFrame := s.current
	s.current = f
	old, had := f.scope.setUnder(under)
	err := f.runParts(code, out)
	f.scope.restoreUnder(old, had)
	s.current = oldFrame
	s.nested--
	return err
}

func (f *frame) runParts(code *blockCode, out sink) error {
	if code.params != nil {
		return f.callBlock(code, nil, out, f.streams)
	}
	for _, part := range [...]stmtFn{code.begin, code.process, code.end} {
		if part == nil {
			continue
		}
		if err := part(f, out); err != nil && err != flowReturn {
			return err
		}
	}
	return nil
}

// inlineValue is inline with the output as one value.
func (f *frame) inlineValue(code *blockCode, under any) (any, error) {
	out := collector{f: f}
	if err := f.inline(code, under, &out); err != nil {
		return nil, err
	}
	return out.value(), nil
}

// blockStage is a block in a scope of its own with positional arguments.
func (f *frame) blockStage(code *blockCode, args []any, out sink, to *streams) (*blockStage, error) {
	inv := &invocation{f: f, sig: code.sig, at: code.place, streams: to}
	for _, arg := range args {
		inv.args = append(inv.args, argument{value: arg, hasValue: true, at: code.place})
	}
	return newBlockStage(inv, code, out, false, false)
}

// callBlock calls a block in a scope of its own with positional arguments.
func (f *frame) callBlock(code *blockCode, args []any, out sink, to *streams) error {
	stage, err := f.blockStage(code, args, out, to)
	if err != nil {
		return err
	}
	return runAlone(stage)
}
