package engine

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/test/conformance"
)

type bindingCall struct {
	Call, Set, Error, Category, Message string
	Bound                               []string
}

func bindingCalls(t *testing.T) []bindingCall {
	var file struct{ Calls []bindingCall }
	require.NoError(t, conformance.Read("binding", &file))
	return file.Calls
}

// functionText declares a cmdlet in the same way as the recording: basic types unchanged,
// types with listed values as strings with ValidateSet, and all others as objects.
func functionText(decl *cmdlets.Cmdlet) string {
	sig := &signature{byKey: map[string]*param{}}
	for _, set := range decl.Sets {
		sig.setFlag(set)
	}
	var params []string
	for _, p := range decl.Params {
		if decl.SupportsShouldProcess && (p.Name == "WhatIf" || p.Name == "Confirm") {
			continue
		}
		var text strings.Builder
		for _, in := range declaredSets(sig, p) {
			var args []string
			if in.flag != 0 {
				args = append(args, "ParameterSetName='"+sig.setName(in.flag)+"'")
			}
			if in.mandatory {
				args = append(args, "Mandatory")
			}
			if in.position != noPosition {
				args = append(args, fmt.Sprintf("Position=%d", in.position))
			}
			text.WriteString("[Parameter(" + strings.Join(args, ",") + ")]")
		}
		for _, alias := range p.Aliases {
			text.WriteString("[Alias('" + alias + "')]")
		}
		typ := "object"
		switch p.Type {
		case "String", "String[]", "Int32", "UInt32", "Int64", "Byte", "UInt16", "DateTime", "TimeSpan", "Guid", "Hashtable", "SecureString", "PSCredential", "IPAddress", "IPAddress[]":
			typ = p.Type
		case "Boolean":
			typ = "Nullable[bool]"
		case "SwitchParameter":
			typ = "switch"
		}
		if len(p.Values) > 0 && (typ == "object" || strings.HasPrefix(typ, "String")) {
			typ = "string"
			if strings.HasSuffix(p.Type, "[]") {
				typ = "string[]"
			}
			text.WriteString("[ValidateSet('" + strings.Join(p.Values, "','") + "')]")
		}
		params = append(params, text.String()+"["+typ+"]$"+p.Name)
	}
	binding := fmt.Sprintf("DefaultParameterSetName='%s'", decl.DefaultSet)
	if decl.DefaultSet == "" {
		binding = "PositionalBinding"
	}
	if decl.SupportsShouldProcess {
		binding += ",SupportsShouldProcess"
	}
	return "function " + decl.Name + " { [CmdletBinding(" + binding + ")] param(\n" +
		strings.Join(params, ",\n") + ")\n Write-Bound $PSCmdlet.ParameterSetName @($PSBoundParameters.Keys) }\n"
}

// outcome returns the parameters that a call bound, as "set: names", or the error id up to the comma.
func (c bindingCall) outcome() string {
	if c.Error != "" {
		id, _, _ := strings.Cut(c.Error, ",")
		return id
	}
	return c.Set + ": " + strings.Join(c.Bound, " ")
}

func bindingSession(t *testing.T, modules ...*Module) *Session {
	s := NewEngine(Options{Modules: modules}).NewSession(Console{})
	setup := "$secure = [System.Net.NetworkCredential]::new('', 'x').SecurePassword\n" +
		"$cred = [System.Management.Automation.PSCredential]::new('u', $secure)\n"
	for _, m := range modules {
		setup += "Import-Module " + m.Name + "\n"
	}
	require.NoError(t, s.Run(t.Context(), "", setup, Streams{}))
	return s
}

// refusedCall is the outcome of a call that the engine refuses.
const refusedCall = "refused"

// outcomeOf runs one call and returns its outcome.
func outcomeOf(t *testing.T, s *Session, call string, bound *string) string {
	*bound = "not called"
	var failed *dotnet.ErrorRecord
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := s.Run(ctx, "", call, Streams{Error: func(rec *dotnet.ErrorRecord) { failed = rec }})
	if isRefused(err) {
		return refusedCall
	}
	require.NoError(t, err, call)
	if failed != nil {
		id, _, _ := strings.Cut(failed.ErrorID, ",")
		return id
	}
	return *bound
}

// TestBindingOfFunctions: every recorded call, bound to a function declared as in the
// recording, has the recorded set and names, or the recorded error.
func TestBindingOfFunctions(t *testing.T) {
	var bound string
	report := &Module{Name: "Report", Commands: []*Command{{
		Decl: &cmdlets.Cmdlet{Name: "Write-Bound", Sets: []string{cmdlets.AllSets}, DefaultSet: cmdlets.AllSets, Params: []*cmdlets.Param{
			{Name: "Set", Type: "String", PerSet: []cmdlets.InSet{{Set: cmdlets.AllSets, Position: 0}}},
			{Name: "Names", Type: "String[]", PerSet: []cmdlets.InSet{{Set: cmdlets.AllSets, Position: 1}}},
		}},
		Process: func(c *Call) error {
			names := c.Strings("Names")
			sort.Strings(names)
			bound = c.String("Set") + ": " + strings.Join(names, " ")
			return nil
		},
	}}}
	s := bindingSession(t, report)
	same := 0
	calls := bindingCalls(t)
	for _, call := range calls {
		name, _, _ := strings.Cut(call.Call, " ")
		decl, ok := cmdlets.Lookup(name)
		require.True(t, ok, name)
		if s.global.function(strings.ToLower(name)) == nil {
			require.NoError(t, s.Run(t.Context(), "", functionText(decl), Streams{}), functionText(decl))
		}
		sort.Strings(call.Bound)
		got := outcomeOf(t, s, call.Call, &bound)
		if got == refusedCall {
			continue
		}
		if assert.Equal(t, call.outcome(), got, call.Call) {
			same++
		}
	}
	t.Logf("binding calls: %d, alike %d", len(calls), same)
	assert.Greater(t, same, len(calls)*3/4)
}

// TestBindingOfCmdlets: the same calls have the same results for commands declared by
// package cmdlets. Enumerations are converted there instead of being validated.
func TestBindingOfCmdlets(t *testing.T) {
	var bound string
	var modules []*Module
	for _, name := range cmdlets.Modules() {
		m := &Module{Name: name}
		for _, decl := range cmdlets.Module(name) {
			m.Commands = append(m.Commands, &Command{Decl: decl, Process: func(c *Call) error {
				names := c.BoundNames()
				for _, p := range []string{"WhatIf", "Confirm", "Verbose", "ErrorAction", "Debug"} {
					if c.Has(p) {
						names = append(names, p)
					}
				}
				sort.Strings(names)
				bound = c.Set() + ": " + strings.Join(names, " ")
				return nil
			}})
		}
		modules = append(modules, m)
	}
	s := bindingSession(t, modules...)
	same := 0
	calls := bindingCalls(t)
	for _, call := range calls {
		sort.Strings(call.Bound)
		want := call.outcome()
		if strings.HasPrefix(call.Call, "Get-ADRootDSE 'positional'") {
			want = "PositionalParameterNotFound" // only functions without positions number their parameters
		}
		switch want {
		case "ParameterArgumentTransformationError", "ParameterArgumentValidationError":
			want = "CannotConvertArgumentNoMessage"
		}
		got := outcomeOf(t, s, call.Call, &bound)
		if got == refusedCall {
			continue
		}
		if assert.Equal(t, want, got, call.Call) {
			same++
		}
	}
	t.Logf("binding calls: %d, alike %d", len(calls), same)
	assert.Greater(t, same, len(calls)*3/4)
}
