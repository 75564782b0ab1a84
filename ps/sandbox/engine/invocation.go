package engine

import (
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

// qualify returns a copy of a record with the command's class in its id.
func (inv *invocation) qualify(rec *dotnet.ErrorRecord) *dotnet.ErrorRecord {
	copied := *rec
	if class := inv.sig.class; class != "" && !strings.HasSuffix(copied.ErrorID, ","+class) {
		if copied.ErrorID == "" {
			copied.ErrorID = copied.Exception.Type.Name
		}
		copied.ErrorID += "," + class
	}
	inv.complete(&copied)
	return &copied
}

// complete adds the position and name of the command to a record.
func (inv *invocation) complete(rec *dotnet.ErrorRecord) {
	if rec.Position == nil {
		rec.Position = inv.at.position()
	}
	if rec.Activity == "" {
		rec.Activity = inv.sig.name
	}
	if rec.Invocation == nil {
		rec.Invocation = &invocationObject{at: inv.at}
	}
	locate(rec, inv.at)
}

// preference returns a common parameter such as -WarningAction, or else the value of a preference variable.
func (inv *invocation) preference(key string, sym symbol, fallback action) action {
	if p := inv.sig.byKey[key]; p != nil && p.common && inv.bound.has(p.index) {
		if a, ok := asAction(inv.values[p.index]); ok {
			return a
		}
	}
	return preferenceIn(scopeOf(inv), sym, fallback)
}

// scopeOf returns the scope in which a command looks up preferences. For a function, that is its
// innermost running scope in its session state, which may belong to a function that it has called.
func scopeOf(inv *invocation) *scope {
	switch {
	case inv.block == nil:
		return inv.f.scope
	case inv.home != nil:
		return inv.home.current
	}
	return inv.f.s.running.current
}

// writeError reports a non-terminating error.
func (inv *invocation) writeError(rec *dotnet.ErrorRecord) error {
	inv.complete(rec)
	act := inv.preference("erroraction", symErrorAction, actionContinue)
	if act == actionIgnore {
		return nil
	}
	inv.hadError = true
	inv.f.s.addError(rec)
	switch act {
	case actionStop:
		return &psError{rec: rec, stop: true}
	case actionInquire:
		return inv.promptError()
	case actionContinue:
		inv.f.streams.error(rec)
	}
	return nil
}

// terminating returns the error that ThrowTerminatingError raises.
func (inv *invocation) terminating(rec *dotnet.ErrorRecord) error {
	inv.complete(rec)
	inv.hadError = true
	return &psError{rec: rec}
}

// terminatingError turns an error that a script can catch into a terminating
// error of the command.
func (inv *invocation) terminatingError(err error) error {
	if pe := asPS(err); pe != nil {
		return inv.terminating(inv.qualify(pe.rec))
	}
	return err
}

// message writes to the warning or verbose stream, subject to its preference.
func (inv *invocation) message(to func(string), preference, text string, act action) error {
	switch act {
	case actionSilent, actionIgnore:
		return nil
	case actionInquire:
		return inv.promptError()
	case actionStop:
		rec := dotnet.NewError(dotnet.NewException(
			exceptionType("System.Management.Automation.ActionPreferenceStopException"),
			"The running command stopped because the preference variable \""+preference+
				"\" or common parameter is set to Stop: "+text),
			"ActionPreferenceStop", dotnet.OperationStopped, nil)
		return &psError{rec: inv.qualify(rec), stop: true}
	}
	if to != nil {
		to(text)
	}
	return nil
}

func (inv *invocation) warn(text string) error {
	return inv.message(inv.f.streams.Warning, "WarningPreference", text,
		inv.preference("warningaction", symWarning, actionContinue))
}

func (inv *invocation) verbose(text string) error {
	return inv.message(inv.f.streams.Verbose, "VerbosePreference", text,
		preferenceIn(scopeOf(inv), symVerbose, actionSilent))
}

// promptError returns the error of a prompt in a non-interactive session.
func (inv *invocation) promptError() error {
	rec := dotnet.NewError(dotnet.NewException(
		exceptionType("System.Management.Automation.PSInvalidOperationException"),
		"PowerShell is in NonInteractive mode. Read and Prompt functionality is not available."),
		"InvalidOperation", dotnet.InvalidOperation, nil)
	return inv.terminating(inv.qualify(rec))
}

// shouldProcess implements $PSCmdlet.ShouldProcess. It fails if a prompt would be needed, because nobody
// could answer it. -Force skips a prompt that a command shows by default, but not one that the caller
// requests. The preference variables are looked up in [scopeOf], because a function may have its own ones.
func (inv *invocation) shouldProcess(target, action string) (bool, error) {
	text := "Performing the operation \"" + action + "\" on target \"" + target + "\"."
	if v := scopeOf(inv).find(symWhatIf); v != nil && dotnet.Truthy(v.value) {
		if !inv.sig.function {
			return false, dotnet.Refuse("$WhatIfPreference")
		}
		if inv.f.streams.Host != nil {
			inv.f.streams.Host("What if: " + text)
		}
		return false, nil
	}
	if err := inv.verbose(text); err != nil {
		return false, err
	}
	if v, ok := inv.boundValue("Confirm"); ok {
		if dotnet.Truthy(v) {
			return false, inv.promptError()
		}
		return true, nil
	}
	if inv.sig.force && inv.flag("Force") {
		return true, nil
	}
	impact := impacts["medium"]
	if inv.sig.high {
		impact = impacts["high"]
	}
	preference := impacts["high"]
	if v := scopeOf(inv).find(symConfirm); v != nil {
		if level, ok := impacts[lower(dotnet.ToText(v.value))]; ok {
			preference = level
		}
	}
	if preference != impacts["none"] && impact >= preference {
		return false, inv.promptError()
	}
	return true, nil
}

// impacts are the levels of ConfirmImpact and $ConfirmPreference.
var impacts = map[string]int{"none": 0, "low": 1, "medium": 2, "high": 3}
