package engine

import (
	"maps"
	"slices"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

func importModule(inv *invocation, _ sink) error {
	s := inv.f.s
	for _, item := range dotnet.EnumerateAny(inv.get("Name")) {
		name := dotnet.ToText(item)
		if m := s.engine.modules[lower(name)]; m != nil {
			if err := s.importModule(m); err != nil {
				return err
			}
			continue
		}
		e := dotnet.NewException(exceptionType("System.IO.FileNotFoundException"),
			"The specified module '"+name+
				"' was not loaded because no valid module file was found in any module directory.")
		if err := inv.writeError(inv.qualify(dotnet.NewError(e, "Modules_ModuleNotFound",
			dotnet.ResourceUnavailable, name))); err != nil {
			return err
		}
	}
	return nil
}

func getModule(inv *invocation, out sink) error {
	from := inv.f.s.imported
	if inv.flag("ListAvailable") {
		from = inv.f.s.engine.modules
	}
	patterns := dotnet.EnumerateAny(inv.get("Name"))
	for _, key := range slices.Sorted(maps.Keys(from)) {
		m := from[key]
		if len(patterns) > 0 && !likeAny(m.Name, patterns) {
			continue
		}
		if err := out.write(moduleInfo(m)); err != nil {
			return err
		}
	}
	return nil
}

func likeAny(text string, patterns []any) bool {
	return slices.ContainsFunc(patterns, func(p any) bool { return dotnet.Like(text, dotnet.ToText(p), false) })
}

func moduleInfo(m *Module) any {
	info := dotnet.NewInstance(typeModuleInfo(), "Name", m.Name, "ModuleType", "Binary", "Version", nil)
	info.Text = m.Name
	if v, ok := dotnet.TryConvert(m.Version, dotnet.TVersion); ok && m.Version != "" {
		info.Props.Set("Version", v)
	}
	return info
}

// getCommand implements Get-Command, for functions only.
func getCommand(inv *invocation, out sink) error {
	name := dotnet.ToText(inv.get("Name"))
	fn := inv.f.scope.function(lower(name))
	if fn == nil {
		return dotnet.Refuse("Get-Command of %s, which is no function", name)
	}
	return out.write(&functionInfo{name: fn.name, block: &ScriptBlock{s: inv.f.s, code: fn.code}})
}

// setItem defines a function: Set-Item -LiteralPath function:global:NAME.
func setItem(inv *invocation, _ sink) error {
	path := dotnet.ToText(inv.get("LiteralPath"))
	drive, name, _ := strings.Cut(path, ":")
	block, ok := inv.get("Value").(*ScriptBlock)
	if !strings.EqualFold(drive, "function") || !ok {
		return dotnet.Refuse("Set-Item of anything but a function and its script block")
	}
	if err := inv.f.charge(600); err != nil {
		return err
	}
	name, scopeName := functionName(name)
	fn := &function{name: name, code: block.code.underName(name), home: inv.f.scope.script().home}
	inv.f.s.defineFunction(inv.f.scope, scopeName, fn)
	return nil
}

// module is a script module in a session. It has its own session state: its functions do not
// see the variables of their callers, unless these are global.
type module struct {
	root    *scope // variables of the module and its functions; its parent is the global scope
	current *scope // the innermost running scope of the module
	exports map[string]bool
}

// around returns the scope that surrounds a call of a module's function, or nil for a
// function outside modules. A call from another session state is inside any code of the
// module that is still running, such as a function earlier in the same pipeline.
func around(s *Session, home *module, caller *scope) *scope {
	switch {
	case caller.script().home == home:
		return caller
	case home == nil:
		return s.running.current
	}
	return home.current
}

// enter makes a scope the innermost of its session state until leave is called.
func enter(s *Session, sc *scope) (leave func()) {
	at := &s.running.current
	if home := sc.script().home; home != nil {
		at = &home.current
	}
	before := *at
	*at = sc
	return func() { *at = before }
}

// importScript runs the text of a module and makes its exported functions global.
func importScript(s *Session, m *Module) error {
	code, err := s.engine.compile(m.Name+".psm1", m.Script)
	if err != nil {
		return err
	}
	loaded := &module{exports: map[string]bool{}}
	loaded.root = &scope{parent: s.global, home: loaded}
	loaded.current = loaded.root
	f := &frame{s: s, scope: loaded.root, streams: &Streams{}}
	if err := f.runMain(code, dropper{}); err != nil {
		return err
	}
	for key, fn := range loaded.root.funcs {
		if loaded.exports[key] {
			s.global.setFunction(key, fn)
		}
	}
	return nil
}

// exportModuleMember implements Export-ModuleMember -Function.
func exportModuleMember(inv *invocation, _ sink) error {
	home := inv.f.scope.script().home
	if home == nil {
		return dotnet.Refuse("Export-ModuleMember outside a module")
	}
	for _, name := range dotnet.EnumerateAny(inv.get("Function")) {
		if text := dotnet.ToText(name); strings.ContainsAny(text, "*?[") {
			return dotnet.Refuse("Export-ModuleMember of a pattern")
		}
		home.exports[lower(dotnet.ToText(name))] = true
	}
	return nil
}

// keepErrors assigns the list of -ErrorVariable to the caller's variable.
func (st *blockStage) keepErrors() {
	if st.errors != nil {
		name := dotnet.ToText(st.inv.get("ErrorVariable"))
		st.inv.f.scope.set(intern(name), name, st.errors)
	}
}

// sessionState is the caller's $PSCmdlet.SessionState.
type sessionState struct{ caller *scope }

// callerVariables is the PSVariable of that SessionState.
type callerVariables struct{ caller *scope }

// Type returns SessionState.
func (o *sessionState) Type() *dotnet.Type { return typeSessionState() }

// Member reads PSVariable.
func (o *sessionState) Member(name string) (any, bool) {
	if lower(name) == "psvariable" {
		return &callerVariables{o.caller}, true
	}
	return nil, false
}

// Invoke refuses all methods.
func (o *sessionState) Invoke(name string, _ []any) (any, error) {
	return nil, dotnet.Refuse("the method %s of SessionState", name)
}

func (*sessionState) partial() {}

// Type returns PSVariableIntrinsics.
func (o *callerVariables) Type() *dotnet.Type { return typeVariables() }

// Member finds no property.
func (o *callerVariables) Member(string) (any, bool) { return nil, false }

// Invoke calls GetValue(name), which returns $null for an unknown variable.
func (o *callerVariables) Invoke(name string, args []any) (any, error) {
	if lower(name) != "getvalue" || len(args) != 1 {
		return nil, dotnet.Refuse("the method %s of PSVariableIntrinsics with %d arguments", name, len(args))
	}
	if v := o.caller.find(intern(dotnet.ToText(args[0]))); v != nil {
		return v.value, nil
	}
	return nil, nil
}
