package engine

import (
	"cmp"

	"adgateway/ps/sandbox/engine/dotnet"
)

// defineAutomatic creates the initial variables of a session.
func (s *Session) defineAutomatic() {
	o := s.engine.opts
	set := func(name string, value any) *variable { return s.global.add(intern(name), name, value) }
	set("Error", s.errorList).constant = true
	for name, value := range map[string]string{
		"ErrorActionPreference": "Continue", "WarningPreference": "Continue", "VerbosePreference": "SilentlyContinue",
		"DebugPreference": "SilentlyContinue", "InformationPreference": "SilentlyContinue", "ProgressPreference": "Continue",
	} {
		set(name, dotnet.EnumOf(dotnet.Lookup("System.Management.Automation.ActionPreference"), value))
	}
	set("ConfirmPreference", dotnet.EnumOf(dotnet.Lookup("System.Management.Automation.ConfirmImpact"), "High"))
	set("WhatIfPreference", false)
	set("PID", int32(o.PID)).constant = true
	version, _ := dotnet.TryConvert(o.Version, dotnet.TVersion)
	table := dotnet.NewHashtable()
	table.Set("PSVersion", version)
	table.Set("PSEdition", "Core")
	table.Set("Platform", "Win32NT")
	set("PSVersionTable", table).constant = true
	state := dotnet.NewInstance(typeSessionState(), "LanguageMode",
		dotnet.EnumOf(dotnet.Lookup("System.Management.Automation.PSLanguageMode"), "FullLanguage"))
	set("ExecutionContext", dotnet.NewInstance(typeEngine(), "SessionState", state)).constant = true
}

// culture is the name of the current culture.
func (e *Engine) culture() string { return cmp.Or(e.opts.Culture, "en-US") }

// automatic returns the reader of a variable that the engine computes, or nil
// for any other variable.
func automatic(key string) exprFn {
	switch key {
	case "true":
		return constant(true)
	case "false":
		return constant(false)
	case "null":
		return constant(nil)
	case "_", "psitem":
		return func(f *frame) (any, error) { return f.scope.dollarUnder(), nil }
	case "psboundparameters":
		return func(f *frame) (any, error) { return f.scope.boundParameters(), nil }
	case "pscmdlet":
		return func(f *frame) (any, error) { return f.scope.psCmdlet(), nil }
	}
	return nil
}

// refusedVariables are automatic variables of PowerShell that this engine does not have.
// They are refused, because a script that used one would silently read $null.
var refusedVariables = map[string]bool{
	"?": true, "$": true, "^": true, "args": true, "input": true, "matches": true, "myinvocation": true, "foreach": true, "switch": true,
	"this": true, "ofs": true, "stacktrace": true, "home": true, "pwd": true, "host": true, "profile": true, "lastexitcode": true,
	"psscriptroot": true, "pscommandpath": true, "psculture": true, "psuiculture": true, "pshome": true, "psedition": true, "shellid": true,
	"nestedpromptlevel": true, "outputencoding": true, "maximumhistorycount": true, "maximumerrorcount": true,
	"iswindows": true, "islinux": true, "ismacos": true, "iscoreclr": true, "event": true, "eventargs": true, "sender": true,
	"psdefaultparametervalues": true, "psmoduleautoloadingpreference": true, "psstyle": true, "enabledexperimentalfeatures": true,
	"errorview": true, "formatenumerationlimit": true, "logcommandhealthevent": true, "pssenderinfo": true, "psdebugcontext": true,
}
