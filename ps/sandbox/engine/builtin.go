package engine

import (
	"sync"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// body implements a built-in command. Package cmdlets declares its parameters.
type body struct {
	make       func(inv *invocation, out sink) (stage, error)
	takesInput bool // takes pipeline input: make returns an *inputStage
}

var (
	bodies   map[string]body
	builtins func() map[string]*command // the built-in commands by lower-case name; the map is shared
)

// Both are set in init, because some bodies run script text, which looks up commands in the map. Otherwise
// there would be an initialization cycle.
func init() {
	bodies = map[string]body{
		"ConvertFrom-Json":    {make: once(convertFromJSON)},
		"ConvertTo-Json":      {make: once(convertToJSON)},
		"Export-ModuleMember": {make: once(exportModuleMember)},
		"ForEach-Object":      {make: forEachObject, takesInput: true},
		"Get-Command":         {make: once(getCommand)},
		"Get-Module":          {make: once(getModule)},
		"Import-Module":       {make: once(importModule)},
		"New-Object":          {make: once(newObject)},
		"Out-Null":            {make: outNull, takesInput: true},
		"Set-Item":            {make: once(setItem)},
		"Write-Output":        {make: once(writeOutput)},
	}
	builtins = sync.OnceValue(func() map[string]*command {
		all := map[string]*command{}
		for _, declared := range cmdlets.Builtins() {
			all[lower(declared.Name)] = builtin(declared)
		}
		return all
	})
}

// builtin compiles a declaration. If it does not parse or has no body, the table has a
// defect, which a test finds.
func builtin(declared cmdlets.Builtin) *command {
	body, implemented := bodies[declared.Name]
	script, errs := syntax.Parse(declared.Name, "[CmdletBinding()] param("+declared.Params+")")
	if !implemented || len(errs) > 0 {
		panic("engine: the built-in command " + declared.Name + " is declared without a body or a parser")
	}
	c := &compiler{src: script.Source}
	sig := c.scriptBlock(script.Block, declared.Name).sig
	sig.function, sig.partial = false, true
	sig.name = declared.Name
	sig.class = "Microsoft.PowerShell.Commands." + declared.Class
	return &command{name: declared.Name, module: "Microsoft.PowerShell.Utility", sig: sig, make: body.make,
		takesInput: body.takesInput}
}

// inputStage is a built-in command that handles each pipeline input as it arrives, or its
// -InputObject if it is not in a pipeline.
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

// once returns the stage of a built-in command that takes no pipeline input.
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
	if list, ok := object.(*dotnet.List); ok {
		list.Wrapped = true
	}
	return out.write(object)
}

// The default depth of ConvertTo-Json, and the maximum.
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
	text, err := dotnet.ToJSON(inv.get("InputObject"), options)
	if err != nil {
		return inv.terminatingError(err)
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
