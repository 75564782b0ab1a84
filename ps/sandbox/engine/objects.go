package engine

import (
	"sync"

	"adgateway/ps/sandbox/engine/dotnet"
)

// Types of the engine's own objects.
var (
	typePSCmdlet     = define("System.Management.Automation.PSScriptCmdlet")
	typeInvocation   = define("System.Management.Automation.InvocationInfo")
	typeCommandInfo  = define("System.Management.Automation.FunctionInfo")
	typeCmdletInfo   = define("System.Management.Automation.CmdletInfo")
	typeEngine       = define("System.Management.Automation.EngineIntrinsics")
	typeSessionState = define("System.Management.Automation.SessionState")
	typeHost         = define("System.Management.Automation.Internal.Host.InternalHost")
	typeParameter    = define("System.Management.Automation.ParameterMetadata")
	typeModuleInfo   = define("System.Management.Automation.PSModuleInfo")
	typeVariable     = define("System.Management.Automation.PSVariable")
)

func define(name string) func() *dotnet.Type {
	return sync.OnceValue(func() *dotnet.Type { return dotnet.Define(dotnet.Class{Name: name}) })
}

var boundParametersType = sync.OnceValue(func() *dotnet.Type {
	if t := dotnet.Lookup("System.Collections.Generic.Dictionary[string,object]"); t != nil {
		return t
	}
	return dotnet.THashtable
})

// messageRecord is a record of the warning, verbose, debug or information
// stream that was merged into the output.
func messageRecord(typeName, text string) any {
	t := dotnet.Lookup(typeName)
	if t == nil {
		t = dotnet.TPSObject
	}
	rec := dotnet.NewInstance(t, "Message", text)
	rec.Text = text
	return rec
}

// cmdletObject is $PSCmdlet.
type cmdletObject struct {
	call *callInfo
}

func (sc *scope) psCmdlet() any {
	for up := sc; up != nil; up = up.parent {
		if c := up.call; c != nil && c.inv != nil && c.inv.sig.advanced {
			if c.cmdlet == nil {
				c.cmdlet = &cmdletObject{call: c}
			}
			return c.cmdlet
		}
	}
	return nil
}

// Type is PSScriptCmdlet.
func (o *cmdletObject) Type() *dotnet.Type { return typePSCmdlet() }

// Member reads a property of $PSCmdlet.
func (o *cmdletObject) Member(name string) (any, bool) {
	switch lower(name) {
	case "parametersetname":
		return o.call.inv.setName(), true
	case "myinvocation":
		return o.call.invocationInfo(o.call.frame), true
	case "sessionstate":
		return sessionState(), true
	case "stopping":
		return false, true
	}
	return nil, false
}

// Invoke calls a method of $PSCmdlet.
func (o *cmdletObject) Invoke(name string, args []any) (any, error) {
	inv := o.call.inv
	arg := func(i int) any {
		if i < len(args) {
			return args[i]
		}
		return nil
	}
	record := func() *dotnet.ErrorRecord {
		rec, ok := arg(0).(*dotnet.ErrorRecord)
		if !ok {
			rec = dotnet.ThrowValue(arg(0))
		}
		return inv.qualify(rec)
	}
	var err error
	switch lower(name) {
	case "throwterminatingerror":
		err = inv.terminating(record())
	case "writeerror":
		err = inv.writeError(record())
	case "writewarning":
		err = inv.warn(dotnet.ToText(arg(0)))
	case "writeverbose":
		err = inv.verbose(dotnet.ToText(arg(0)))
	case "writedebug":
		err = inv.debug(dotnet.ToText(arg(0)))
	case "writeobject":
		if len(args) > 1 && dotnet.Truthy(arg(1)) {
			err = emit(o.call.out, arg(0))
		} else {
			err = o.call.out.write(arg(0))
		}
	case "shouldprocess":
		yes, err := inv.shouldProcess(o.call.frame, dotnet.ToText(arg(0)), dotnet.ToText(arg(1)))
		return yes, err
	case "getvariablevalue":
		if up := o.call.frame.scope.parent; up != nil {
			if v := up.find(intern(dotnet.ToText(arg(0)))); v != nil {
				return v.value, nil
			}
		}
		return nil, nil
	case "shouldcontinue":
		return nil, inv.promptError()
	default:
		return nil, methodNotFound("System.Management.Automation.PSScriptCmdlet", name)
	}
	return dotnet.Void, err
}

// invocationInfo is $MyInvocation.
func (c *callInfo) invocationInfo(f *frame) any {
	if c == nil {
		return &invocationObject{at: f.at}
	}
	return &invocationObject{inv: c.inv, call: c, at: c.at}
}

// invocationObject is an InvocationInfo.
type invocationObject struct {
	inv  *invocation // nil for a whole text
	call *callInfo
	at   *place
}

// Type is InvocationInfo.
func (o *invocationObject) Type() *dotnet.Type { return typeInvocation() }

// Member reads a property of an InvocationInfo.
func (o *invocationObject) Member(name string) (any, bool) {
	at := o.at
	if o.inv != nil {
		at = o.inv.at
	}
	switch lower(name) {
	case "scriptlinenumber":
		return int32(at.line()), true
	case "offsetinline":
		if at == nil {
			return int32(0), true
		}
		return int32(at.at.From.Column), true
	case "line":
		if at == nil {
			return "", true
		}
		return at.position().Text, true
	case "positionmessage":
		if at == nil {
			return "", true
		}
		p := at.position()
		return "At line:" + dotnet.ToText(int32(p.Line)) + " char:" + dotnet.ToText(int32(p.Column)), true
	case "scriptname", "pscommandpath", "psscriptroot":
		return "", true
	case "mycommand":
		if o.inv == nil {
			return nil, true
		}
		return &commandInfo{name: o.inv.sig.name, sig: o.inv.sig, isFunction: o.inv.sig.function}, true
	case "invocationname":
		if o.inv == nil {
			return "", true
		}
		return o.inv.called, true
	case "boundparameters":
		if o.call == nil {
			if o.inv == nil {
				return nil, true
			}
			return (&callInfo{inv: o.inv}).boundParameters(), true
		}
		return o.call.boundParameters(), true
	case "unboundarguments":
		return o.call.arguments(), true
	case "expectinginput":
		return o.inv != nil && o.inv.hasPipe, true
	case "pipelinelength", "pipelineposition", "historyid":
		return int32(1), true
	}
	return nil, false
}

// Invoke answers no methods of its own.
func (o *invocationObject) Invoke(string, []any) (any, error) { return nil, dotnet.ErrNoMethod }

// commandInfo is what Get-Command gives.
type commandInfo struct {
	name       string
	sig        *signature
	isFunction bool
	module     string
	version    string
	block      *ScriptBlock
}

// Type is FunctionInfo or CmdletInfo.
func (o *commandInfo) Type() *dotnet.Type {
	if o.isFunction {
		return typeCommandInfo()
	}
	return typeCmdletInfo()
}

// Text is the command's name.
func (o *commandInfo) Text() string { return o.name }

// Member reads a property of a command.
func (o *commandInfo) Member(name string) (any, bool) {
	switch lower(name) {
	case "name":
		return o.name, true
	case "commandtype":
		kind := "Cmdlet"
		if o.isFunction {
			kind = "Function"
		}
		if t := dotnet.Lookup("System.Management.Automation.CommandTypes"); t != nil {
			return dotnet.EnumOf(t, kind), true
		}
		return kind, true
	case "modulename", "source":
		return o.module, true
	case "version":
		if o.version == "" {
			return nil, true
		}
		if v, ok := dotnet.TryConvert(o.version, dotnet.TVersion); ok {
			return v, true
		}
		return o.version, true
	case "scriptblock":
		if o.block == nil {
			return nil, true
		}
		return o.block, true
	case "definition":
		if o.block != nil {
			return o.block.Text(), true
		}
		return o.name, true
	case "parameters":
		table := dotnet.NewHashtable()
		table.Type = boundParametersType()
		for _, p := range o.sig.params {
			table.Set(p.name, dotnet.NewInstance(typeParameter(), "Name", p.name, "Aliases", textArray(p.aliases), "SwitchParameter", p.isSwitch()))
		}
		return table, true
	}
	return nil, false
}

func textArray(texts []string) any {
	items := make([]any, len(texts))
	for i, t := range texts {
		items[i] = t
	}
	return &dotnet.Array{Elem: dotnet.TString, Items: items}
}

// Invoke answers no methods of its own.
func (o *commandInfo) Invoke(string, []any) (any, error) { return nil, dotnet.ErrNoMethod }

func sessionState() any {
	return dotnet.NewInstance(typeSessionState(), "LanguageMode", languageMode())
}

func languageMode() any {
	if t := dotnet.Lookup("System.Management.Automation.PSLanguageMode"); t != nil {
		return dotnet.EnumOf(t, "FullLanguage")
	}
	return "FullLanguage"
}
