package sandbox

import (
	"context"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// hostKey is the context key of the host that runs a line.
type hostKey struct{}

// HostModule returns the commands of the console host: the history of its lines, and prompts, which
// fail because there is no user. An engine for [NewStarter] should include it and set AutoLoad.
func HostModule() *engine.Module {
	command := func(name, class string, params []*cmdlets.Param, body func(*engine.Call) error) *engine.Command {
		return &engine.Command{
			Decl: &cmdlets.Cmdlet{Name: name, Module: "Microsoft.PowerShell.Core", Sets: []string{cmdlets.AllSets},
				DefaultSet: cmdlets.AllSets, Params: params},
			Class:   "Microsoft.PowerShell.Commands." + class,
			Process: body,
		}
	}
	return &engine.Module{Name: "Microsoft.PowerShell.Core", Version: "7.4.0.0", Commands: []*engine.Command{
		command("Get-History", "GetHistoryCommand", nil, getHistory),
		command("Clear-History", "ClearHistoryCommand", nil, func(c *engine.Call) error {
			if h := hostOf(c.Context()); h != nil {
				h.history = nil
			}
			return nil
		}),
		command("Read-Host", "ReadHostCommand", []*cmdlets.Param{
			{Name: "AsSecureString", Type: "SwitchParameter", PerSet: []cmdlets.InSet{{Set: cmdlets.AllSets, Position: -1}}},
			{Name: "Prompt", Type: "Object", PerSet: []cmdlets.InSet{{Set: cmdlets.AllSets, Position: 0}}},
		}, refusePrompt),
	}}
}

func hostOf(ctx context.Context) *host {
	h, _ := ctx.Value(hostKey{}).(*host)
	return h
}

func getHistory(c *engine.Call) error {
	h := hostOf(c.Context())
	if h == nil {
		return nil
	}
	for i, line := range h.history {
		entry := &dotnet.PSObject{}
		entry.Props.Set("Id", int64(i+1))
		entry.Props.Set("CommandLine", line)
		if err := c.Write(entry); err != nil {
			return err
		}
	}
	return nil
}

// refusePrompt fails in the same way as prompts with -NonInteractive (facts-5.1 I30).
func refusePrompt(c *engine.Call) error {
	const message = "PowerShell is in NonInteractive mode. Read and Prompt functionality is not available."
	return c.Throw(&dotnet.ErrorRecord{
		Exception: dotnet.ExceptionNamed("System.Management.Automation.PSInvalidOperationException", message),
		ErrorID:   "InvalidOperation",
		Category:  dotnet.InvalidOperation,
	})
}
