package proxies

import (
	"fmt"
	"slices"
	"strings"

	"adgateway/ps/cmdlets"
)

// Form controls how functions are generated for cmdlets.
type Form struct {
	// Type returns the type of a parameter, as written in brackets. isList means that only the
	// listed values are allowed.
	Type func(*cmdlets.Param) (name string, isList bool)
	// Process returns the body that runs for each input.
	Process func(*cmdlets.Cmdlet) string
	// Positional gives parameters without a position a position, in their order.
	Positional bool
}

// moduleForm is the form of the modules' functions.
var moduleForm = Form{Type: typeLiteral, Process: forwarding}

// Function returns a function with the name and parameters of a cmdlet.
func (f Form) Function(decl *cmdlets.Cmdlet) string {
	text := &strings.Builder{}
	fmt.Fprintf(text, "function %s {\n    [CmdletBinding(%s)]\n    param(\n", decl.Name,
		strings.Join(f.bindingArguments(decl), ", "))
	separator := ""
	for _, p := range decl.Params {
		if decl.SupportsShouldProcess && (p.Name == "WhatIf" || p.Name == "Confirm") {
			continue // provided by the engine
		}
		text.WriteString(separator + "        " + strings.Join(append(f.attributes(decl, p), "$"+p.Name), " "))
		separator = ",\n"
	}
	text.WriteString("\n    )\n    process {\n" + f.Process(decl) + "    }\n}\n")
	return text.String()
}

// forwarding returns the body of a module's function. It lets the sandbox run the call.
func forwarding(decl *cmdlets.Cmdlet) string {
	call := "        Invoke-SandboxCommand -Cmdlet $PSCmdlet -Name " + quote(decl.Name) +
		" -Bound $PSBoundParameters\n"
	if decl.ForceSkipsPrompt && decl.SupportsShouldProcess {
		call = "        if ($Force) { $ConfirmPreference = 'None' }\n" + call
	}
	return call
}

func (f Form) bindingArguments(decl *cmdlets.Cmdlet) []string {
	arguments := []string{"PositionalBinding = $false"}
	if f.Positional {
		arguments[0] = "PositionalBinding = $true"
	}
	if decl.DefaultSet != "" && decl.DefaultSet != cmdlets.AllSets {
		arguments = append(arguments, "DefaultParameterSetName = "+quote(decl.DefaultSet))
	}
	if decl.SupportsShouldProcess {
		arguments = append(arguments, "SupportsShouldProcess = $true")
		if decl.PromptsByDefault {
			arguments = append(arguments, "ConfirmImpact = 'High'")
		}
	}
	return arguments
}

// attributes returns the attributes of a parameter: one for each set, or a single attribute if the parameter
// is the same in every set.
func (f Form) attributes(decl *cmdlets.Cmdlet, p *cmdlets.Param) []string {
	sets := p.PerSet
	if len(sets) == len(decl.Sets) && !slices.ContainsFunc(sets, func(in cmdlets.InSet) bool {
		in.Set = sets[0].Set
		return in != sets[0]
	}) {
		all := sets[0] // a copy: the table is shared
		all.Set = cmdlets.AllSets
		sets = []cmdlets.InSet{all}
	}
	var out []string
	for _, in := range sets {
		out = append(out, "[Parameter("+strings.Join(setArguments(in), ", ")+")]")
	}
	if len(p.Aliases) > 0 {
		out = append(out, "[Alias("+quoteAll(p.Aliases)+")]")
	}
	name, isList := f.Type(p)
	if isList {
		out = append(out, "[ValidateSet("+quoteAll(p.Values)+")]")
	}
	return append(out, "["+name+"]")
}

func setArguments(in cmdlets.InSet) []string {
	var out []string
	add := func(is bool, argument string) {
		if is {
			out = append(out, argument)
		}
	}
	add(in.Set != cmdlets.AllSets, "ParameterSetName = "+quote(in.Set))
	add(in.Mandatory, "Mandatory = $true")
	add(in.Position >= 0, fmt.Sprintf("Position = %d", in.Position))
	add(in.ByValue, "ValueFromPipeline = $true")
	add(in.ByPropertyName, "ValueFromPipelineByPropertyName = $true")
	return out
}

// literals maps type names in the tables to type literals in functions.
var literals = map[string]string{
	"String": "string", "SwitchParameter": "switch", "Boolean": "bool", "Int32": "int", "Int64": "long", "Byte": "byte",
	"UInt16": "System.UInt16", "UInt32": "System.UInt32", "UInt64": "System.UInt64", "DateTime": "datetime", "TimeSpan": "timespan",
	"Guid": "guid", "Hashtable": "hashtable", "SecureString": "securestring", "PSCredential": "pscredential", "IPAddress": "System.Net.IPAddress",
	"Nullable[bool]": "System.Nullable[bool]", "Nullable[datetime]": "System.Nullable[datetime]",
	"Nullable[timespan]": "System.Nullable[timespan]", "Nullable[int]": "System.Nullable[int]",
}

// typeLiteral returns the type of a parameter. isList means that the value is one of the listed texts.
// Types of .NET, and types declared in sandbox.cs and types.go, are used as they are. Other
// enumerations become texts. CIM instances and sessions, certificates and unknown types become objects.
func typeLiteral(p *cmdlets.Param) (literal string, isList bool) {
	name, brackets := p.Type, ""
	if element, ok := strings.CutSuffix(name, "[]"); ok {
		name, brackets = element, "[]"
	}
	if known, ok := literals[name]; ok {
		return known + brackets, len(p.Values) > 0 && name == "String"
	}
	if declared, ok := declaredTypes()[name]; ok {
		return declared + brackets, false
	}
	if len(p.Values) > 0 {
		return "string[]", true // flags: one or more of them
	}
	return "object" + brackets, false
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return strings.Join(quoted, ", ")
}
