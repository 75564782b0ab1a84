package engine

import (
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

func writeCommands() []spec {
	const message = `[Parameter(Mandatory,Position=0,ValueFromPipeline)][AllowEmptyString()][Alias('Msg')][string]$Message`
	return []spec{
		{name: "Write-Output", class: "WriteOutputCommand", make: writeOutput,
			params: `[Parameter(Mandatory,Position=0,ValueFromPipeline,ValueFromRemainingArguments)][AllowNull()][AllowEmptyCollection()][object]$InputObject,[Parameter()][switch]$NoEnumerate`},
		{name: "Write-Error", class: "WriteErrorCommand", set: "NoException", make: writeError,
			params: `[Parameter(Mandatory,Position=0,ParameterSetName='NoException',ValueFromPipeline)][Parameter(ParameterSetName='WithException')][AllowNull()][AllowEmptyString()][Alias('Msg')][string]$Message,
				[Parameter(Mandatory,ParameterSetName='WithException')][object]$Exception,
				[Parameter(Mandatory,ParameterSetName='ErrorRecord')][object]$ErrorRecord,
				[Parameter(ParameterSetName='NoException')][Parameter(ParameterSetName='WithException')][object]$Category,
				[Parameter(ParameterSetName='NoException')][Parameter(ParameterSetName='WithException')][string]$ErrorId,
				[Parameter(ParameterSetName='NoException')][Parameter(ParameterSetName='WithException')][AllowNull()][object]$TargetObject,
				[Parameter()][string]$RecommendedAction,[Parameter()][Alias('Activity')][string]$CategoryActivity,[Parameter()][Alias('Reason')][string]$CategoryReason,
				[Parameter()][Alias('TargetName')][string]$CategoryTargetName,[Parameter()][Alias('TargetType')][string]$CategoryTargetType`},
		{name: "Write-Warning", class: "WriteWarningCommand", params: message, make: writeMessage((*invocation).warn)},
		{name: "Write-Verbose", class: "WriteVerboseCommand", params: message, make: writeMessage((*invocation).verbose)},
		{name: "Write-Debug", class: "WriteDebugCommand", params: message, make: writeMessage((*invocation).debug)},
		{name: "Write-Information", class: "WriteInformationCommand", make: writeInformation,
			params: `[Parameter(Mandatory,Position=0,ValueFromPipeline)][Alias('Msg','Message')][AllowNull()][object]$MessageData,[Parameter(Position=1)][string[]]$Tags`},
		{name: "Write-Host", class: "WriteHostCommand", make: writeHost,
			params: `[Parameter(Position=0,ValueFromPipeline,ValueFromRemainingArguments)][Alias('Msg','Message')][AllowNull()][object]$Object,
				[Parameter()][switch]$NoNewline,[Parameter()][object]$Separator,[Parameter()][string]$ForegroundColor,[Parameter()][string]$BackgroundColor`},
		{name: "Write-Progress", class: "WriteProgressCommand", make: once(func(*invocation, sink) error { return nil }),
			params: `[Parameter(Mandatory,Position=0)][string]$Activity,[Parameter(Position=1)][string]$Status,[Parameter(Position=2)][int]$Id,
				[Parameter()][int]$PercentComplete,[Parameter()][int]$SecondsRemaining,[Parameter()][string]$CurrentOperation,[Parameter()][int]$ParentId,
				[Parameter()][switch]$Completed,[Parameter()][int]$SourceId`},
	}
}

func writeOutput(inv *invocation, out sink) (stage, error) {
	st := &inputStage{inv: inv}
	write := func(v any) error {
		if inv.flag("NoEnumerate") {
			return out.write(v)
		}
		return emit(out, v)
	}
	st.each = write
	return st, nil
}

var typeWriteError = "Microsoft.PowerShell.Commands.WriteErrorException"

func writeError(inv *invocation, _ sink) (stage, error) {
	st := &inputStage{inv: inv}
	report := func(message string) error {
		rec := errorOf(inv, message)
		if v, ok := inv.boundValue("TargetObject"); ok {
			rec.Target = v
		}
		if v, ok := inv.boundValue("CategoryActivity"); ok {
			rec.Activity = dotnet.ToText(v)
		}
		if v, ok := inv.boundValue("CategoryReason"); ok {
			rec.Reason = dotnet.ToText(v)
		}
		return inv.writeAs(rec)
	}
	st.each = func(v any) error { return report(dotnet.ToText(v)) }
	st.done = func() error {
		if inv.hasPipe {
			return nil
		}
		return report(dotnet.ToText(inv.get("Message")))
	}
	return st, nil
}

// errorOf makes the record of Write-Error.
func errorOf(inv *invocation, message string) *dotnet.ErrorRecord {
	if rec, ok := inv.get("ErrorRecord").(*dotnet.ErrorRecord); ok {
		copied := *rec
		return &copied
	}
	e, ok := inv.get("Exception").(*dotnet.Exception)
	if !ok {
		e = dotnet.NewException(exceptionType(typeWriteError), message)
	}
	id := e.Type.Name
	if v, ok := inv.boundValue("ErrorId"); ok {
		id = dotnet.ToText(v)
	}
	category := dotnet.NotSpecified
	if v, ok := inv.boundValue("Category"); ok {
		if c, ok := dotnet.TryConvert(v, dotnet.TErrorCategory); ok {
			if x, ok := c.(dotnet.Enum); ok {
				category = dotnet.Category(x.Value)
			}
		}
	}
	rec := dotnet.NewError(e, id, category, nil)
	if message != "" && ok {
		rec.Details = message
	}
	return rec
}

// writeAs reports an error as the function that called Write-Error would: its
// place is the call of that function, at the top it has none.
func (inv *invocation) writeAs(rec *dotnet.ErrorRecord) error {
	caller := inv.f.scope.calling()
	if rec.Position == nil {
		rec.Position = &dotnet.Position{}
		if caller != nil && caller.inv != nil {
			rec.Position = caller.inv.at.position()
		}
	}
	if rec.Invocation == nil && caller != nil && caller.inv != nil {
		rec.Invocation = &invocationObject{inv: caller.inv, call: caller}
	}
	if caller != nil && caller.inv != nil && caller.inv.sig.name != "" && inv.get("ErrorRecord") == nil {
		rec.ErrorID += "," + caller.inv.sig.name
	}
	if rec.Activity == "" {
		rec.Activity = "Write-Error"
	}
	if rec.Stack == "" {
		rec.Stack = inv.f.stack(inv.at.line())
	}
	return inv.writeError(rec)
}

func writeMessage(write func(inv *invocation, text string) error) func(inv *invocation, out sink) (stage, error) {
	return func(inv *invocation, _ sink) (stage, error) {
		st := &inputStage{inv: inv}
		st.each = func(v any) error { return write(inv, dotnet.ToText(v)) }
		st.done = func() error {
			if inv.hasPipe {
				return nil
			}
			return write(inv, dotnet.ToText(inv.get("Message")))
		}
		return st, nil
	}
}

func writeInformation(inv *invocation, _ sink) (stage, error) {
	st := &inputStage{inv: inv}
	st.each = func(v any) error {
		inv.streams.tell(v)
		switch inv.preference("informationaction", symInformation, actionSilent) {
		case actionSilent, actionIgnore:
			if inv.streams.merged[streamInformation] != nil {
				return inv.streams.information(v)
			}
			return nil
		}
		return inv.streams.information(v)
	}
	st.done = func() error {
		if inv.hasPipe {
			return nil
		}
		return st.each(inv.get("MessageData"))
	}
	return st, nil
}

func writeHost(inv *invocation, _ sink) (stage, error) {
	st := &inputStage{inv: inv}
	separator := " "
	if v, ok := inv.boundValue("Separator"); ok {
		separator = dotnet.ToText(v)
	}
	show := func(v any) error {
		texts := []string{dotnet.ToText(v)}
		if items, ok := dotnet.Enumerate(v); ok {
			texts = texts[:0]
			for _, item := range items {
				texts = append(texts, dotnet.ToText(item))
			}
		}
		text := strings.Join(texts, separator)
		if err := inv.f.charge(len(text)); err != nil {
			return err
		}
		inv.streams.tell(text)
		if inv.streams.merged[streamInformation] != nil {
			return inv.streams.information(text)
		}
		if inv.streams.to.Host != nil {
			inv.streams.to.Host(text, !inv.flag("NoNewline"))
		}
		return nil
	}
	st.each = show
	st.done = func() error {
		if inv.hasPipe {
			return nil
		}
		return show(inv.get("Object"))
	}
	return st, nil
}
