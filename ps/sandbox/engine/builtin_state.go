package engine

import (
	"sort"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

func stateCommands() []spec {
	const scopeParam = `[Parameter()][string]$Scope`
	return []spec{
		{name: "Get-Variable", class: "GetVariableCommand", make: once(getVariable),
			params: `[Parameter(Position=0,ValueFromPipeline)][string[]]$Name,[Parameter()][switch]$ValueOnly,` + scopeParam},
		{name: "Set-Variable", class: "SetVariableCommand", make: once(setVariable),
			params: `[Parameter(Mandatory,Position=0)][string[]]$Name,[Parameter(Position=1)][AllowNull()][object]$Value,[Parameter()][string]$Option,[Parameter()][switch]$Force,[Parameter()][switch]$PassThru,` + scopeParam},
		{name: "New-Variable", class: "NewVariableCommand", make: once(newVariable),
			params: `[Parameter(Mandatory,Position=0)][string]$Name,[Parameter(Position=1)][AllowNull()][object]$Value,[Parameter()][string]$Option,[Parameter()][switch]$Force,[Parameter()][switch]$PassThru,` + scopeParam},
		{name: "Remove-Variable", class: "RemoveVariableCommand", make: once(removeVariable),
			params: `[Parameter(Mandatory,Position=0)][string[]]$Name,[Parameter()][switch]$Force,` + scopeParam},
		{name: "Set-Item", class: "SetItemCommand", set: "Path", make: once(setItem),
			params: `[Parameter(Mandatory,Position=0,ParameterSetName='Path')][string]$Path,[Parameter(Mandatory,ParameterSetName='LiteralPath')][Alias('PSPath','LP')][string]$LiteralPath,
				[Parameter(Position=1)][AllowNull()][object]$Value,[Parameter()][switch]$Force`},
		{name: "Set-StrictMode", class: "SetStrictModeCommand", set: "Version", make: once(setStrictMode),
			params: `[Parameter(Mandatory,ParameterSetName='Version')][Alias('v')][string]$Version,[Parameter(Mandatory,ParameterSetName='Off')][switch]$Off`},
	}
}

// scopeOf is the scope a -Scope parameter names: the current one by default.
func (inv *invocation) scopeOf() (*scope, error) {
	v, ok := inv.boundValue("Scope")
	if !ok {
		return inv.f.scope, nil
	}
	switch name := lower(dotnet.ToText(v)); name {
	case "global", "script":
		return inv.f.s.global, nil
	case "local", "0":
		return inv.f.scope, nil
	default:
		if n, ok := dotnet.TryConvert(name, dotnet.TInt32); ok {
			sc := inv.f.scope
			for range n.(int32) {
				if sc = sc.parent; sc == nil {
					break
				}
			}
			if sc != nil {
				return sc, nil
			}
		}
	}
	e := dotnet.NewException(exceptionType("System.Management.Automation.PSArgumentOutOfRangeException"), "The scope number '"+dotnet.ToText(v)+"' exceeds the number of active scopes.")
	return nil, inv.terminating(inv.qualify(dotnet.NewError(e, "ArgumentOutOfRange", dotnet.InvalidArgument, v)))
}

// variableName drops the $ or scope that a name must not have.
func variableName(v any) string {
	return strings.TrimPrefix(dotnet.ToText(v), "variable:")
}

func (inv *invocation) variableNotFound(name string) error {
	e := dotnet.NewException(exceptionType("System.Management.Automation.ItemNotFoundException"), "Cannot find a variable with the name '"+name+"'.")
	return inv.writeError(inv.qualify(dotnet.NewError(e, "VariableNotFound", dotnet.ObjectNotFound, name)))
}

func getVariable(inv *invocation, out sink) error {
	sc, err := inv.scopeOf()
	if err != nil {
		return err
	}
	names := dotnet.EnumerateAny(inv.get("Name"))
	if !inv.has("Name") {
		names = []any{"*"}
	}
	show := func(name string, value any) error {
		if inv.flag("ValueOnly") {
			return emit(out, value)
		}
		return out.write(dotnet.NewInstance(typeVariable(), "Name", name, "Value", value))
	}
	for _, item := range names {
		name := variableName(item)
		if strings.ContainsAny(name, "*?[") {
			for _, v := range visible(sc) {
				if dotnet.Like(v.name, name, false) {
					if err := show(v.name, v.value); err != nil {
						return err
					}
				}
			}
			continue
		}
		if read := automatic(lower(name)); read != nil {
			value, err := read(inv.f)
			if err != nil {
				return err
			}
			if err := show(name, value); err != nil {
				return err
			}
			continue
		}
		v := sc.own(intern(name))
		if v == nil && !inv.has("Scope") {
			v = sc.find(intern(name))
		}
		if v == nil {
			if err := inv.variableNotFound(name); err != nil {
				return err
			}
			continue
		}
		if err := show(v.name, v.value); err != nil {
			return err
		}
	}
	return nil
}

// visible lists the variables a scope sees, by name.
func visible(sc *scope) []variable {
	seen := map[symbol]bool{}
	var out []variable
	for up := sc; up != nil; up = up.parent {
		for _, v := range up.vars {
			if !seen[v.sym] {
				seen[v.sym] = true
				out = append(out, v)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return lower(out[i].name) < lower(out[j].name) })
	return out
}

func optionsOf(v any) uint8 {
	var o uint8
	for _, name := range strings.Split(lower(dotnet.ToText(v)), ",") {
		switch strings.TrimSpace(name) {
		case "readonly":
			o |= varReadOnly
		case "constant":
			o |= varConstant
		case "private":
			o |= varPrivate
		}
	}
	return o
}

func setVariable(inv *invocation, out sink) error {
	sc, err := inv.scopeOf()
	if err != nil {
		return err
	}
	for _, item := range dotnet.EnumerateAny(inv.get("Name")) {
		name := variableName(item)
		if err := inv.assign(sc, name, inv.get("Value")); err != nil {
			return err
		}
		if inv.flag("PassThru") {
			if err := out.write(dotnet.NewInstance(typeVariable(), "Name", name, "Value", inv.get("Value"))); err != nil {
				return err
			}
		}
	}
	return nil
}

// assign sets a variable of a scope and its options.
func (inv *invocation) assign(sc *scope, name string, value any) error {
	if automatic(lower(name)) != nil {
		return notWritable(name)
	}
	if err := inv.f.charge(160); err != nil {
		return err
	}
	sym := intern(name)
	x := sc.own(sym)
	if x == nil {
		x = sc.add(sym, name, value)
	} else {
		if inv.flag("Force") {
			x.options &^= varReadOnly
		}
		if err := inv.f.store(sc, x, value, nil); err != nil {
			return err
		}
		x = sc.own(sym)
	}
	if v, ok := inv.boundValue("Option"); ok {
		x.options = optionsOf(v)
	}
	return nil
}

func newVariable(inv *invocation, out sink) error {
	sc, err := inv.scopeOf()
	if err != nil {
		return err
	}
	name := variableName(inv.get("Name"))
	if sc.own(intern(name)) != nil && !inv.flag("Force") {
		e := dotnet.NewException(exceptionType("System.Management.Automation.SessionStateException"), "A variable with name '"+name+"' already exists.")
		return inv.writeError(inv.qualify(dotnet.NewError(e, "VariableAlreadyExists", dotnet.ResourceExists, name)))
	}
	return inv.assign(sc, name, inv.get("Value"))
}

func removeVariable(inv *invocation, _ sink) error {
	sc, err := inv.scopeOf()
	if err != nil {
		return err
	}
	for _, item := range dotnet.EnumerateAny(inv.get("Name")) {
		name := variableName(item)
		x := sc.own(intern(name))
		if x == nil {
			if err := inv.variableNotFound(name); err != nil {
				return err
			}
			continue
		}
		if x.options&varConstant != 0 || x.options&varReadOnly != 0 && !inv.flag("Force") {
			if err := inv.writeError(inv.qualify(notWritable(name).(*dotnet.ErrorRecord))); err != nil {
				return err
			}
			continue
		}
		sc.remove(x.sym)
	}
	return nil
}

// setItem is Set-Item on the drives that are no file system.
func setItem(inv *invocation, _ sink) error {
	path := dotnet.ToText(inv.get("Path"))
	if inv.has("LiteralPath") {
		path = dotnet.ToText(inv.get("LiteralPath"))
	}
	drive, name, ok := strings.Cut(path, ":")
	switch {
	case ok && strings.EqualFold(drive, "function"):
		if err := inv.f.charge(600); err != nil {
			return err
		}
		return inv.f.s.setFunctionItem(inv.f.scope, name, inv.get("Value"))
	case ok && strings.EqualFold(drive, "variable"):
		return inv.assign(inv.f.scope, name, inv.get("Value"))
	case ok && strings.EqualFold(drive, "env"):
		inv.f.s.setEnv(name, inv.get("Value"))
		return nil
	}
	e := dotnet.NewException(exceptionType("System.NotSupportedException"), "Only the drives function:, variable: and env: are supported.")
	return inv.terminating(inv.qualify(dotnet.NewError(e, "NotSupported", dotnet.NotImplemented, path)))
}

func setStrictMode(inv *invocation, _ sink) error {
	sc := inv.f.scope
	sc.hasStrict = true
	sc.strict = 0
	if inv.flag("Off") {
		return nil
	}
	version := lower(dotnet.ToText(inv.get("Version")))
	major, _, _ := strings.Cut(version, ".")
	switch major {
	case "latest", "3", "4", "5", "6", "7":
		sc.strict = 3
	case "0":
	case "1":
		sc.strict = 1
	case "2":
		sc.strict = 2
	default:
		sc.hasStrict = false
		return inv.bindingError("ParameterBindingArgumentTransformationException", "ParameterArgumentTransformationError", dotnet.InvalidData, nil, nil,
			"Cannot process argument transformation on parameter 'Version'. Cannot convert value \""+version+"\" to type \"System.Version\".", nil)
	}
	return nil
}
