package engine

import (
	"sync"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// spec declares one built-in command.
type spec struct {
	name   string
	class  string // short name of the class in Microsoft.PowerShell.Commands
	params string // declarations inside param(...)
	make   func(inv *invocation, out sink) (stage, error)

	takesInput bool // from the pipeline: make returns an *inputStage
}

// specs returns the built-in commands: those that scripts use, with the
// parameters that they use.
func specs() []spec {
	return []spec{
		{name: "ForEach-Object", class: "ForEachObjectCommand", make: forEachObject, takesInput: true,
			params: `[Parameter(Mandatory,Position=0)][scriptblock]$Process,[Parameter()][AllowNull()][object]$InputObject`},
		{name: "Out-Null", class: "OutNullCommand", make: outNull, takesInput: true,
			params: `[Parameter()][AllowNull()][object]$InputObject`},
		{name: "Write-Output", class: "WriteOutputCommand", make: once(writeOutput),
			params: `[Parameter(Mandatory,Position=0)][AllowNull()][AllowEmptyCollection()][object]$InputObject`},
		{name: "New-Object", class: "NewObjectCommand", make: once(newObject),
			params: `[Parameter(Mandatory,Position=0)][string]$TypeName,[Parameter(Position=1)][AllowNull()][Alias('Args')][object]$ArgumentList`},
		{name: "ConvertTo-Json", class: "ConvertToJsonCommand", make: once(convertToJSON),
			params: `[Parameter(Mandatory,Position=0)][AllowNull()][object]$InputObject,[Parameter()][int]$Depth,[Parameter()][switch]$Compress`},
		{name: "ConvertFrom-Json", class: "ConvertFromJsonCommand", make: once(convertFromJSON),
			params: `[Parameter(Mandatory,Position=0)][AllowEmptyString()][string]$InputObject`},
		{name: "Import-Module", class: "ImportModuleCommand", make: once(importModule),
			params: `[Parameter(Mandatory,Position=0)][string[]]$Name`},
		{name: "Get-Module", class: "GetModuleCommand", make: once(getModule),
			params: `[Parameter(Position=0)][string[]]$Name,[Parameter()][switch]$ListAvailable`},
		{name: "Get-Command", class: "GetCommandCommand", make: once(getCommand),
			params: `[Parameter(Mandatory,Position=0)][string]$Name`},
		{name: "Set-Item", class: "SetItemCommand", make: once(setItem),
			params: `[Parameter(Mandatory)][string]$LiteralPath,[Parameter(Mandatory)][object]$Value`},
	}
}

var (
	builtinOnce sync.Once
	builtinMap  map[string]*command
)

// builtins returns the built-in commands by name in lower case. The map is
// shared.
func builtins() map[string]*command {
	builtinOnce.Do(func() {
		builtinMap = map[string]*command{}
		for _, row := range specs() {
			builtinMap[lower(row.name)] = row.command()
		}
	})
	return builtinMap
}

// command compiles a declaration. One that does not parse is a defect of the
// table, which a test finds.
func (row spec) command() *command {
	script, errs := syntax.Parse(row.name, "[CmdletBinding()] param("+row.params+")")
	if len(errs) > 0 {
		panic("engine: declaration of " + row.name + ": " + errs[0].Error())
	}
	c := &compiler{src: script.Source}
	sig := c.scriptBlock(script.Block, row.name).sig
	sig.function, sig.partial = false, true
	sig.name = row.name
	sig.class = "Microsoft.PowerShell.Commands." + row.class
	return &command{name: row.name, module: "Microsoft.PowerShell.Utility", sig: sig, make: row.make, takesInput: row.takesInput}
}

// inputStage is a built-in command that handles each pipeline input as it
// comes, or its -InputObject where there is no pipeline.
type inputStage struct {
	inv  *invocation
	each func(v any) error
}

func (st *inputStage) process(v any) error {
	if err := st.inv.f.step(st.inv.at); err != nil {
		return err
	}
	return st.each(v)
}

func (st *inputStage) end() error {
	if st.inv.hasPipe {
		return nil
	}
	return st.each(st.inv.get("InputObject"))
}

// once makes the stage of a built-in command that takes no pipeline input.
func once(run func(inv *invocation, out sink) error) func(inv *invocation, out sink) (stage, error) {
	return func(inv *invocation, out sink) (stage, error) {
		return &onceStage{inv: inv, out: out, run: run}, nil
	}
}

type onceStage struct {
	inv *invocation
	out sink
	run func(inv *invocation, out sink) error
}

func (st *onceStage) end() error { return st.run(st.inv, st.out) }

func forEachObject(inv *invocation, out sink) (stage, error) {
	block := inv.get("Process").(*ScriptBlock)
	return &inputStage{inv: inv, each: func(v any) error {
		err := inv.f.inline(block.code, v, out)
		if pe := asPS(err); pe != nil && !pe.thrown && !pe.stop {
			pe.rec = inv.qualify(pe.rec)
			return pe
		}
		return err
	}}, nil
}

func outNull(inv *invocation, _ sink) (stage, error) {
	return &inputStage{inv: inv, each: func(any) error { return nil }}, nil
}

func writeOutput(inv *invocation, out sink) error { return emit(out, inv.get("InputObject")) }

func newObject(inv *invocation, out sink) error {
	name := dotnet.ToText(inv.get("TypeName"))
	t := inv.f.s.lookupType(name)
	if t == nil {
		return dotnet.Refuse("the type %s", name)
	}
	var args []any
	if v, ok := inv.boundValue("ArgumentList"); ok && v != nil {
		args = dotnet.EnumerateAny(v)
	}
	object, err := dotnet.New(t, args)
	if pe := asPS(err); pe != nil {
		rec := *pe.rec
		rec.ErrorID, rec.Category = "ConstructorInvokedThrowException", dotnet.InvalidOperation
		return inv.terminating(inv.qualify(&rec))
	}
	if err != nil {
		return err
	}
	return out.write(object)
}

// The depth of ConvertTo-Json unless -Depth is given, and the largest one.
const (
	jsonDepth    = 2
	maxJSONDepth = 100
)

func convertToJSON(inv *invocation, out sink) error {
	options := dotnet.JSONOptions{Depth: jsonDepth, Compress: inv.flag("Compress")}
	if n, ok := inv.get("Depth").(int32); ok {
		options.Depth = int(n)
	}
	if options.Depth < 0 || options.Depth > maxJSONDepth {
		return dotnet.Refuse("a -Depth of %d", options.Depth)
	}
	text, truncated, err := dotnet.ToJSON(inv.get("InputObject"), options)
	if err != nil {
		return inv.terminatingError(err)
	}
	if truncated {
		if err := inv.warn("Resulting JSON is truncated as serialization has exceeded the set depth of " + dotnet.ToText(int32(options.Depth)) + "."); err != nil {
			return err
		}
	}
	if err := inv.f.charge(len(text)); err != nil {
		return err
	}
	return out.write(text)
}

func convertFromJSON(inv *invocation, out sink) error {
	text := dotnet.ToText(inv.get("InputObject"))
	v, err := dotnet.FromJSON(text)
	if err != nil {
		return inv.terminatingError(err)
	}
	if err := inv.f.charge(len(text)); err != nil {
		return err
	}
	return emit(out, v)
}
