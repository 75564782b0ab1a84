package engine

import (
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

// target settles what is called.
func (inv *invocation) target(t any) {
	inv.callee = t
	switch t := t.(type) {
	case *ScriptBlock:
		inv.sig = t.code.sig
	case *function:
		inv.sig = t.code.sig
	case *command:
		inv.sig = t.sig
	}
}

// stage makes the stage of the call; the arguments are bound then.
func (code *commandCode) stage(inv *invocation, out sink) (stage, error) {
	switch t := inv.callee.(type) {
	case *ScriptBlock:
		return newBlockStage(inv, t.code, out, inv.hasPipe, code.op == callDot)
	case *function:
		return newBlockStage(inv, t.code, out, inv.hasPipe, code.op == callDot)
	case *command:
		if err := inv.bind(); err != nil {
			return nil, err
		}
		inv.prepareVariables()
		return t.make(inv, inv.tee(out))
	}
	return nil, commandNotFound(inv.called)
}

// node tells a stage its place in the pipeline, for those that stop the ones before.
func (inv *invocation) node(n *stageNode) { inv.place = n }

// prepareVariables makes the lists of -ErrorVariable and the like.
func (inv *invocation) prepareVariables() {
	if !inv.commons {
		return
	}
	if v, ok := inv.commonText("errorvariable"); ok {
		inv.errorsTo = inv.listVariable(v)
	}
	if v, ok := inv.commonText("outvariable"); ok {
		inv.outputTo = inv.listVariable(v)
	}
	warned, warns := inv.commonText("warningvariable")
	if v, ok := inv.commonText("pipelinevariable"); ok {
		inv.eachTo = v
	}
	told, tells := inv.commonText("informationvariable")
	if inv.errorsTo == nil && !warns && !tells {
		return
	}
	to := *inv.streams
	if inv.errorsTo != nil {
		to.lists = append(to.lists[:len(to.lists):len(to.lists)], inv.errorsTo)
	}
	if warns {
		to.warned = append(to.warned[:len(to.warned):len(to.warned)], inv.listVariable(warned))
	}
	if tells {
		to.told = append(to.told[:len(to.told):len(to.told)], inv.listVariable(told))
	}
	inv.streams = &to
}

func (inv *invocation) commonText(key string) (string, bool) {
	p := inv.sig.byKey[key]
	if p == nil || !p.common || !inv.bound.has(p.index) {
		return "", false
	}
	return dotnet.ToText(inv.values[p.index]), true
}

// listVariable makes the variable of -ErrorVariable; a plus sign appends.
func (inv *invocation) listVariable(name string) *dotnet.List {
	name, more := strings.CutPrefix(name, "+")
	sym := intern(name)
	if more {
		if v := inv.f.scope.own(sym); v != nil {
			if list, ok := v.value.(*dotnet.List); ok {
				return list
			}
		}
	}
	list := newArrayList()
	inv.f.scope.set(sym, name, list)
	return list
}

func newArrayList() *dotnet.List { return &dotnet.List{Type: dotnet.TArrayList} }

// tee adds -OutVariable and -PipelineVariable to an output.
func (inv *invocation) tee(out sink) sink {
	if name := inv.eachTo; name != "" {
		inner, sym := out, intern(name)
		out = sinkFunc(func(v any) error {
			inv.f.scope.set(sym, name, v)
			return inner.write(v)
		})
	}
	list := inv.outputTo
	if list == nil {
		return out
	}
	return sinkFunc(func(v any) error {
		list.Items = append(list.Items, v)
		return out.write(v)
	})
}

// qualify adds the command's class to the id of a record that has none yet.
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

// complete gives a record the place and name of the command.
func (inv *invocation) complete(rec *dotnet.ErrorRecord) {
	if rec.Position == nil {
		rec.Position = inv.at.position()
	}
	if rec.Activity == "" {
		rec.Activity = inv.sig.name
	}
	if rec.Invocation == nil {
		rec.Invocation = &invocationObject{inv: inv}
	}
	inv.f.locate(rec, inv.at)
}

// action is the reaction to an error: -ErrorAction, else the preference.
func (inv *invocation) action() action {
	if p := inv.sig.byKey["erroraction"]; p != nil && p.common && inv.bound.has(p.index) {
		if a, ok := asAction(inv.values[p.index]); ok {
			return a
		}
	}
	return inv.f.errorAction()
}

// writeError reports a non-terminating error.
func (inv *invocation) writeError(rec *dotnet.ErrorRecord) error {
	inv.complete(rec)
	act := inv.action()
	if act == actionIgnore {
		return nil
	}
	inv.hadError = true
	s := inv.f.s
	s.addError(rec)
	inv.streams.collect(rec)
	switch act {
	case actionStop:
		return &psError{rec: rec, stop: true}
	case actionInquire:
		return inv.promptError()
	case actionContinue:
		inv.streams.error(rec)
	}
	return nil
}

// terminating is the error of ThrowTerminatingError.
func (inv *invocation) terminating(rec *dotnet.ErrorRecord) error {
	inv.complete(rec)
	inv.hadError = true
	inv.streams.collect(rec)
	return &psError{rec: rec}
}

// preference is a common parameter such as -WarningAction, else a preference variable.
func (inv *invocation) preference(key string, sym symbol, fallback action) action {
	if p := inv.sig.byKey[key]; p != nil && p.common && inv.bound.has(p.index) {
		if a, ok := asAction(inv.values[p.index]); ok {
			return a
		}
	}
	return inv.f.preference(sym, fallback)
}

func (inv *invocation) message(stream int, typeName, text string, act action) error {
	switch act {
	case actionSilent, actionIgnore:
		return nil
	case actionInquire:
		return inv.promptError()
	case actionStop:
		rec := dotnet.NewError(dotnet.NewException(exceptionType("System.Management.Automation.ActionPreferenceStopException"),
			"The running command stopped because the preference variable \""+streamPreference(stream)+"\" or common parameter is set to Stop: "+text),
			"ActionPreferenceStop", dotnet.OperationStopped, nil)
		return &psError{rec: inv.qualify(rec), stop: true}
	}
	return inv.streams.record(stream, typeName, text)
}

func streamPreference(stream int) string {
	switch stream {
	case streamWarning:
		return "WarningPreference"
	case streamVerbose:
		return "VerbosePreference"
	case streamDebug:
		return "DebugPreference"
	}
	return "InformationPreference"
}

func (inv *invocation) warn(text string) error {
	act := inv.preference("warningaction", symWarning, actionContinue)
	for _, list := range inv.streams.warned {
		if act != actionIgnore {
			list.Items = append(list.Items, messageRecord("System.Management.Automation.WarningRecord", text))
		}
	}
	return inv.message(streamWarning, "System.Management.Automation.WarningRecord", text, act)
}

func (inv *invocation) verbose(text string) error {
	act := inv.f.preference(symVerbose, actionSilent)
	if v, ok := inv.boundValue("Verbose"); ok {
		act = actionSilent
		if dotnet.Truthy(v) {
			act = actionContinue
		}
	}
	return inv.message(streamVerbose, "System.Management.Automation.VerboseRecord", text, act)
}

func (inv *invocation) debug(text string) error {
	act := inv.f.preference(symDebug, actionSilent)
	if v, ok := inv.boundValue("Debug"); ok {
		act = actionSilent
		if dotnet.Truthy(v) {
			act = actionContinue
		}
	}
	return inv.message(streamDebug, "System.Management.Automation.DebugRecord", text, act)
}

// promptError is what a prompt becomes in a session that is not interactive.
func (inv *invocation) promptError() error {
	rec := dotnet.NewError(dotnet.NewException(exceptionType("System.Management.Automation.PSInvalidOperationException"),
		"PowerShell is in NonInteractive mode. Read and Prompt functionality is not available."),
		"InvalidOperation", dotnet.InvalidOperation, nil)
	return inv.terminating(inv.qualify(rec))
}

// Levels of ConfirmImpact and $ConfirmPreference.
const (
	impactNone = iota
	impactLow
	impactMedium
	impactHigh
)

func impactOf(v any, fallback int) int {
	switch lower(dotnet.ToText(v)) {
	case "none", "0":
		return impactNone
	case "low", "1":
		return impactLow
	case "medium", "2":
		return impactMedium
	case "high", "3":
		return impactHigh
	}
	return fallback
}

// shouldProcess is $PSCmdlet.ShouldProcess: false under -WhatIf; where a prompt
// would be needed it fails, for nobody could answer. -Force answers the prompt
// that a command makes by itself, not one that the caller asks for. The
// preferences are those that f sees: a function may have set its own.
func (inv *invocation) shouldProcess(f *frame, target, operation string) (bool, error) {
	if operation == "" {
		operation = inv.sig.name
	}
	text := "Performing the operation \"" + operation + "\" on target \"" + target + "\"."
	whatIf := false
	if v := f.scope.find(symWhatIf); v != nil {
		whatIf = dotnet.Truthy(v.value)
	}
	if v, ok := inv.boundValue("WhatIf"); ok {
		whatIf = dotnet.Truthy(v)
	}
	if whatIf {
		if inv.streams.to.Host != nil {
			inv.streams.to.Host("What if: "+text, true)
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
	if v, ok := inv.boundValue("Force"); ok && inv.sig.force && dotnet.Truthy(v) {
		return true, nil
	}
	preference := impactHigh
	if v := f.scope.find(symConfirm); v != nil {
		preference = impactOf(v.value, impactHigh)
	}
	impact := impactMedium
	if inv.sig.high {
		impact = impactHigh
	}
	if preference != impactNone && impact >= preference {
		return false, inv.promptError()
	}
	return true, nil
}
