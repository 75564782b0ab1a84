package engine

import (
	"sort"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

func moduleCommands() []spec {
	return []spec{
		{name: "Import-Module", class: "ImportModuleCommand", make: importModule,
			params: `[Parameter(Mandatory,Position=0,ValueFromPipeline)][string[]]$Name,[Parameter()][switch]$Force,[Parameter()][switch]$PassThru,[Parameter()][switch]$Global,
				[Parameter()][switch]$DisableNameChecking,[Parameter()][version]$MinimumVersion,[Parameter()][version]$RequiredVersion,[Parameter()][string]$Scope,
				[Parameter()][switch]$NoClobber,[Parameter()][string[]]$Cmdlet,[Parameter()][switch]$SkipEditionCheck`},
		{name: "Get-Module", class: "GetModuleCommand", make: once(getModule),
			params: `[Parameter(Position=0,ValueFromPipeline)][string[]]$Name,[Parameter()][switch]$ListAvailable,[Parameter()][switch]$All,[Parameter()][switch]$Refresh`},
		{name: "Get-Command", class: "GetCommandCommand", make: once(getCommand),
			params: `[Parameter(Position=0,ValueFromPipeline)][string[]]$Name,[Parameter()][string[]]$Module,[Parameter()][Alias('Type')][string]$CommandType,[Parameter()][switch]$All,
				[Parameter()][string[]]$Verb,[Parameter()][string[]]$Noun`},
	}
}

func moduleInfo(m *Module) any {
	info := dotnet.NewInstance(typeModuleInfo(), "Name", m.Name, "ModuleType", "Binary")
	info.Text = m.Name
	if v, ok := dotnet.TryConvert(m.Version, dotnet.TVersion); ok && m.Version != "" {
		info.Props.Set("Version", v)
	} else {
		info.Props.Set("Version", nil)
	}
	if g, ok := dotnet.TryConvert(m.GUID, dotnet.TGuid); ok && m.GUID != "" {
		info.Props.Set("Guid", g)
	}
	exported := dotnet.NewHashtable()
	for _, c := range m.Commands {
		exported.Set(c.Decl.Name, c.Decl.Name)
	}
	info.Props.Set("ExportedCommands", exported)
	info.Props.Set("ExportedCmdlets", exported)
	return info
}

func importModule(inv *invocation, out sink) (stage, error) {
	load := func(name string) error {
		s := inv.f.s
		m := s.engine.modules[lower(name)]
		if m == nil {
			e := dotnet.NewException(exceptionType("System.IO.FileNotFoundException"), "The specified module '"+name+"' was not loaded because no valid module file was found in any module directory.")
			return inv.writeError(inv.qualify(dotnet.NewError(e, "Modules_ModuleNotFound", dotnet.ResourceUnavailable, name)))
		}
		if !inv.versionFits(m) {
			e := dotnet.NewException(exceptionType("System.IO.FileNotFoundException"), "The specified module '"+name+"' with the version that is asked for was not loaded because no valid module file was found in any module directory.")
			return inv.writeError(inv.qualify(dotnet.NewError(e, "Modules_ModuleWithVersionNotFound", dotnet.ResourceUnavailable, name)))
		}
		s.importModule(m)
		if inv.flag("PassThru") {
			return out.write(moduleInfo(m))
		}
		return nil
	}
	st := &inputStage{inv: inv}
	st.each = func(v any) error { return load(dotnet.ToText(v)) }
	st.done = func() error {
		if inv.hasPipe {
			return nil
		}
		for _, name := range dotnet.EnumerateAny(inv.get("Name")) {
			if err := load(dotnet.ToText(name)); err != nil {
				return err
			}
		}
		return nil
	}
	return st, nil
}

func (inv *invocation) versionFits(m *Module) bool {
	have, ok := dotnet.TryConvert(m.Version, dotnet.TVersion)
	if !ok {
		return true
	}
	if want := inv.get("MinimumVersion"); want != nil {
		if c, err := dotnet.Compare(have, want, false); err != nil || c < 0 {
			return false
		}
	}
	if want := inv.get("RequiredVersion"); want != nil {
		return dotnet.Equal(have, want, false)
	}
	return true
}

func getModule(inv *invocation, out sink) error {
	s := inv.f.s
	from := s.imported
	if inv.flag("ListAvailable") {
		from = s.engine.modules
	}
	var names []string
	for name := range from {
		names = append(names, name)
	}
	sort.Strings(names)
	patterns := dotnet.EnumerateAny(inv.get("Name"))
	for _, name := range names {
		m := from[name]
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
	for _, p := range patterns {
		if dotnet.Like(text, dotnet.ToText(p), false) {
			return true
		}
	}
	return false
}

// info describes what a command name calls.
func (f *frame) commandInfo(key string) *commandInfo {
	if fn := f.scope.function(key); fn != nil {
		return &commandInfo{name: fn.name, sig: fn.code.sig, isFunction: true, block: &ScriptBlock{s: f.s, code: fn.code}}
	}
	if c := f.s.lookupCommand(key); c != nil {
		info := &commandInfo{name: c.name, sig: c.sig, module: c.module}
		if m := f.s.imported[lower(c.module)]; m != nil {
			info.version = m.Version
		}
		return info
	}
	return nil
}

func getCommand(inv *invocation, out sink) error {
	f := inv.f
	names := dotnet.EnumerateAny(inv.get("Name"))
	if len(names) == 0 {
		names = []any{"*"}
	}
	for _, item := range names {
		name := dotnet.ToText(item)
		if !strings.ContainsAny(name, "*?[") {
			info := f.commandInfo(lower(name))
			if info == nil || !inv.wantsCommand(info) {
				e := commandNotFound(name)
				if err := inv.writeError(inv.qualify(e)); err != nil {
					return err
				}
				continue
			}
			if err := out.write(info); err != nil {
				return err
			}
			continue
		}
		for _, key := range f.commandNames() {
			info := f.commandInfo(key)
			if info != nil && dotnet.Like(info.name, name, false) && inv.wantsCommand(info) {
				if err := out.write(info); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (inv *invocation) wantsCommand(info *commandInfo) bool {
	if modules := dotnet.EnumerateAny(inv.get("Module")); len(modules) > 0 && !likeAny(info.module, modules) {
		return false
	}
	if v, ok := inv.boundValue("CommandType"); ok {
		kind := "cmdlet"
		if info.isFunction {
			kind = "function"
		}
		if want := lower(dotnet.ToText(v)); want != "all" && !strings.Contains(want, kind) {
			return false
		}
	}
	verb, noun, _ := strings.Cut(info.name, "-")
	if verbs := dotnet.EnumerateAny(inv.get("Verb")); len(verbs) > 0 && !likeAny(verb, verbs) {
		return false
	}
	nouns := dotnet.EnumerateAny(inv.get("Noun"))
	return len(nouns) == 0 || likeAny(noun, nouns)
}

// commandNames lists every command a frame can call.
func (f *frame) commandNames() []string {
	seen := map[string]bool{}
	for up := f.scope; up != nil; up = up.parent {
		for key := range up.funcs {
			seen[key] = true
		}
	}
	for key := range f.s.commands {
		seen[key] = true
	}
	for key := range builtins() {
		seen[key] = true
	}
	names := make([]string, 0, len(seen))
	for key := range seen {
		names = append(names, key)
	}
	sort.Strings(names)
	return names
}
