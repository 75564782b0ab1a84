package engine

import (
	"cmp"
	"sort"
	"strings"
	"sync"

	"adgateway/ps/sandbox/engine/dotnet"
)

// defineAutomatic makes the variables a session starts with.
func (s *Session) defineAutomatic() {
	o := s.engine.opts
	set := func(name string, value any) *variable { return s.global.add(intern(name), name, value) }
	set("Error", s.errorList).options = varConstant
	for name, value := range map[string]string{
		"ErrorActionPreference": "Continue", "WarningPreference": "Continue", "VerbosePreference": "SilentlyContinue",
		"DebugPreference": "SilentlyContinue", "InformationPreference": "SilentlyContinue", "ProgressPreference": "Continue",
	} {
		set(name, enumOr("System.Management.Automation.ActionPreference", value))
	}
	set("ConfirmPreference", enumOr("System.Management.Automation.ConfirmImpact", "High"))
	set("WhatIfPreference", false)
	set("MaximumErrorCount", int32(maxErrors))
	set("MaximumHistoryCount", int32(4096))
	set("PSCulture", s.engine.culture())
	set("PSUICulture", s.engine.culture())
	set("PID", int32(o.PID)).options = varConstant
	set("LASTEXITCODE", int32(0))
	set("PSEdition", "Core").options = varConstant
	set("NestedPromptLevel", int32(0))
	set("ShellId", "Microsoft.PowerShell").options = varConstant
	set("OutputEncoding", nil)
	table := dotnet.NewHashtable()
	table.Set("PSVersion", versionOr(o.Version))
	table.Set("PSEdition", "Core")
	table.Set("Platform", "Win32NT")
	set("PSVersionTable", table).options = varConstant
	set("Host", dotnet.NewInstance(typeHost(), "Name", "ConsoleHost", "Version", versionOr(o.Version))).options = varConstant
	set("ExecutionContext", dotnet.NewInstance(typeEngine(), "SessionState", sessionState())).options = varConstant
}

// culture is the name of the current culture.
func (e *Engine) culture() string { return cmp.Or(e.opts.Culture, "en-US") }

func enumOr(typeName, value string) any {
	if t := dotnet.Lookup(typeName); t != nil {
		if v, ok := dotnet.TryConvert(value, t); ok {
			return v
		}
	}
	return value
}

func versionOr(text string) any {
	if v, ok := dotnet.TryConvert(text, dotnet.TVersion); ok {
		return v
	}
	return text
}

// knownVariables are the automatic variables that scripts may read without
// assigning them, by name in lower case.
var knownVariables = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{"ofs": true, "matches": true, "pwd": true, "home": true, "stacktrace": true}
	for _, name := range []string{"true", "false", "null", "_", "psitem", "?", "args", "input", "psboundparameters", "pscmdlet", "myinvocation"} {
		known[name] = true
	}
	s := NewEngine(Options{}).NewSession(Console{})
	for _, v := range s.global.vars {
		known[v.sym.Value()] = true
	}
	return known
})

// env reads $env:NAME.
func (s *Session) env(name string) (string, bool) {
	text, ok := s.envVars[lower(name)]
	return text, ok
}

// setEnv writes $env:NAME; empty removes it. The process's own environment is
// never touched.
func (s *Session) setEnv(name string, v any) {
	text := dotnet.ToText(v)
	if text == "" {
		delete(s.envVars, lower(name))
		return
	}
	s.envVars[lower(name)] = text
}

// forEachMethod is the ForEach method every collection has.
func (f *frame) forEachMethod(v any, args []any) (any, error) {
	out := collector{f: f}
	if len(args) == 0 {
		return dotnet.NewCollection(), nil
	}
	if dotnet.IsGenericList(v) {
		return nil, runtimeError("NotSupported", dotnet.NotImplemented, nil,
			"The method ForEach of a List, which has no output, is not supported: use the foreach statement, or ForEach-Object.")
	}
	err := f.eachWatched(v, func(item any) (bool, error) { return true, f.forEachItem(item, args, &out) })
	if err != nil {
		return nil, err
	}
	return dotnet.NewCollection(out.items...), nil
}

// eachWatched calls each with the items of a collection until it does not want
// more. It is an error when the collection is changed meanwhile.
func (f *frame) eachWatched(v any, each func(item any) (more bool, err error)) error {
	changed := dotnet.Watch(v)
	for _, item := range dotnet.EnumerateAny(v) {
		if err := f.step(nil); err != nil {
			return err
		}
		if more, err := each(item); err != nil || !more {
			return err
		}
		if changed() {
			return dotnet.BadEnumeration(v)
		}
	}
	return nil
}

// forEachItem is the ForEach method on one item.
func (f *frame) forEachItem(item any, args []any, out sink) error {
	var result any
	var err error
	switch what := args[0].(type) {
	case *ScriptBlock:
		return f.inline(what.code, item, out)
	case *dotnet.Type:
		result, err = f.convert(item, what)
	default:
		result, err = f.memberOrMethod(item, dotnet.ToText(what), args[1:])
	}
	if err != nil {
		return err
	}
	return emit(out, result)
}

// whereMethod is the Where method every collection has.
func (f *frame) whereMethod(v any, args []any) (any, error) {
	if len(args) == 0 {
		return dotnet.NewCollection(), nil
	}
	block, ok := args[0].(*ScriptBlock)
	if !ok {
		return nil, runtimeError("MethodCountCouldNotFindBest", dotnet.NotSpecified, nil, "Cannot convert argument \"expression\" for \"Where\" to a script block.")
	}
	mode := "default"
	if len(args) > 1 {
		mode = lower(dotnet.ToText(args[1]))
	}
	limit := -1
	if len(args) > 2 {
		if n, ok := args[2].(int32); ok {
			limit = int(n)
		}
	}
	var kept, others []any
	err := f.eachWatched(v, func(item any) (bool, error) {
		result, err := f.inlineValue(block.code, item)
		if err != nil {
			return false, err
		}
		if dotnet.Truthy(result) {
			kept = append(kept, item)
		} else {
			others = append(others, item)
		}
		return mode != "first" || len(kept) < max(limit, 1), nil
	})
	if err != nil {
		return nil, err
	}
	switch mode {
	case "last":
		n := max(limit, 1)
		kept = kept[max(len(kept)-n, 0):]
	case "split":
		return dotnet.NewArray(dotnet.NewCollection(kept...), dotnet.NewCollection(others...)), nil
	case "default", "first":
	default:
		return nil, runtimeError("NotSupported", dotnet.NotImplemented, nil, "The mode '%s' of Where is not supported.", mode)
	}
	if limit > 0 && len(kept) > limit {
		kept = kept[:limit]
	}
	return dotnet.NewCollection(kept...), nil
}

// Commands lists the built-in commands by name.
func Commands() []string {
	var names []string
	for _, c := range builtins() {
		names = append(names, c.name)
	}
	sort.Slice(names, func(i, j int) bool { return strings.ToLower(names[i]) < strings.ToLower(names[j]) })
	return names
}

// outString is Out-String: the text a console would show.
func outString(inv *invocation, out sink) (stage, error) {
	var items []any
	st := &inputStage{inv: inv}
	st.each = func(v any) error {
		items = append(items, v)
		return inv.f.charge(16)
	}
	st.done = func() error {
		text := FormatOutput(items)
		if inv.flag("NoNewline") {
			text = strings.ReplaceAll(text, "\n", "")
		}
		if err := inv.f.charge(len(text)); err != nil {
			return err
		}
		if !inv.flag("Stream") {
			return out.write(text)
		}
		for line := range strings.Lines(text) {
			if err := out.write(strings.TrimSuffix(line, "\n")); err != nil {
				return err
			}
		}
		return nil
	}
	return st, nil
}
