package engine

import (
	"sync"

	"adgateway/ps/sandbox/engine/dotnet"
)

// Types of the engine's own objects.
var (
	typePSCmdlet     = define("System.Management.Automation.PSScriptCmdlet")
	typeInvocation   = define("System.Management.Automation.InvocationInfo")
	typeFunctionInfo = define("System.Management.Automation.FunctionInfo")
	typeEngine       = define("System.Management.Automation.EngineIntrinsics")
	typeSessionState = define("System.Management.Automation.SessionState")
	typeVariables    = define("System.Management.Automation.PSVariableIntrinsics")
	typeModuleInfo   = define("System.Management.Automation.PSModuleInfo")
)

func define(name string) func() *dotnet.Type {
	return sync.OnceValue(func() *dotnet.Type { return dotnet.Define(dotnet.Class{Name: name}) })
}

// partialObject is an object of the engine that has more properties in PowerShell. Reading
// one of those is refused.
type partialObject interface {
	dotnet.Object
	partial()
}

func (*cmdletObject) partial()     {}
func (*invocationObject) partial() {}
func (*functionInfo) partial()     {}
func (*ScriptBlock) partial()      {}

// cmdletObject is $PSCmdlet.
type cmdletObject struct {
	inv   *invocation
	frame *frame
}

// psCmdlet returns $PSCmdlet of the innermost advanced function around a scope.
func (sc *scope) psCmdlet() any {
	for up := sc; up != nil; up = up.parent {
		if st := up.call; st != nil && st.inv.sig.advanced {
			sc.keep()
			st.inv.f.scope.keep()
			return &cmdletObject{inv: st.inv, frame: &st.frame}
		}
	}
	return nil
}

// keep marks all calls around a scope as kept.
func (sc *scope) keep() {
	for ; sc != nil; sc = sc.parent {
		if sc.call != nil {
			sc.call.kept = true
		}
	}
}

// Type returns PSScriptCmdlet.
func (o *cmdletObject) Type() *dotnet.Type { return typePSCmdlet() }

// Member reads a property of $PSCmdlet.
func (o *cmdletObject) Member(name string) (any, bool) {
	switch lower(name) {
	case "parametersetname":
		return o.inv.setName(), true
	case "sessionstate":
		return &sessionState{caller: o.inv.f.scope}, true
	case "myinvocation":
		return &invocationObject{at: o.inv.at, expecting: o.inv.hasPipe, called: o.inv.called}, true
	}
	return nil, false
}

// Invoke calls a method of $PSCmdlet.
func (o *cmdletObject) Invoke(name string, args []any) (any, error) {
	method := lower(name)
	if len(args) == 2 && method == "shouldprocess" {
		return o.inv.shouldProcess(dotnet.ToText(args[0]), dotnet.ToText(args[1]))
	}
	if len(args) != 1 {
		method = ""
	}
	var err error
	switch method {
	case "throwterminatingerror":
		err = o.inv.terminating(o.record(args[0]))
	case "writeerror":
		err = o.inv.writeError(o.record(args[0]))
	case "writewarning":
		err = o.inv.warn(dotnet.ToText(args[0]))
	case "writeverbose":
		err = o.inv.verbose(dotnet.ToText(args[0]))
	case "shouldprocess":
		return o.inv.shouldProcess(dotnet.ToText(args[0]), o.inv.sig.name)
	case "getvariablevalue":
		if up := o.frame.scope.parent; up != nil {
			if v := up.find(intern(dotnet.ToText(args[0]))); v != nil {
				return v.value, nil
			}
		}
		return nil, nil
	default:
		return nil, dotnet.Refuse("the method %s of $PSCmdlet with %d arguments", name, len(args))
	}
	return dotnet.Void, err
}

// record returns the error record in an argument, with the class of the function.
func (o *cmdletObject) record(v any) *dotnet.ErrorRecord {
	rec, ok := v.(*dotnet.ErrorRecord)
	if !ok {
		rec = dotnet.ThrowValue(v)
	}
	return o.inv.qualify(rec)
}

// invocationObject is the InvocationInfo of an error record.
type invocationObject struct {
	at        *place
	expecting bool   // objects of a pipeline
	called    string // name as written
}

// Type returns InvocationInfo.
func (o *invocationObject) Type() *dotnet.Type { return typeInvocation() }

// Member reads a property of an InvocationInfo.
func (o *invocationObject) Member(name string) (any, bool) {
	switch lower(name) {
	case "scriptlinenumber":
		return int32(o.at.line()), true
	case "expectinginput":
		return o.expecting, true
	case "invocationname":
		return o.called, true
	}
	return nil, false
}

// Invoke refuses all methods.
func (o *invocationObject) Invoke(name string, _ []any) (any, error) {
	return nil, dotnet.Refuse("the method %s of InvocationInfo", name)
}

// functionInfo is the result of Get-Command.
type functionInfo struct {
	name  string
	block *ScriptBlock
}

// Type returns FunctionInfo.
func (o *functionInfo) Type() *dotnet.Type { return typeFunctionInfo() }

// Text returns the function's name.
func (o *functionInfo) Text() string { return o.name }

// Member reads a property of a function.
func (o *functionInfo) Member(name string) (any, bool) {
	if lower(name) == "scriptblock" {
		return o.block, true
	}
	return nil, false
}

// Invoke refuses all methods.
func (o *functionInfo) Invoke(name string, _ []any) (any, error) {
	return nil, dotnet.Refuse("the method %s of FunctionInfo", name)
}
