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
		e := dotnet.NewException(exceptionType("System.IO.FileNotFoundException"), "The specified module '"+name+"' was not loaded because no valid module file was found in any module directory.")
		if err := inv.writeError(inv.qualify(dotnet.NewError(e, "Modules_ModuleNotFound", dotnet.ResourceUnavailable, name))); err != nil {
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

// getCommand is Get-Command for functions only.
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
	inv.f.s.defineFunction(inv.f.scope, scopeName, &function{name: name, code: block.code.underName(name), home: inv.f.scope.script().home})
	return nil
}
