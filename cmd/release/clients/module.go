package clients

import (
	_ "embed" // core.psm1
	"fmt"
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// ModuleName is the name of the module, and of its folder and files.
const ModuleName = "AdGateway"

//go:embed core.psm1
var core string

// Module returns the files of the PowerShell module, in ASCII with the line ends of
// Windows, so that they can be signed. A version has three numbers.
func Module(table []*ops.Operation, version string) (map[string][]byte, error) {
	functions, err := Functions(table)
	if err != nil {
		return nil, err
	}
	exported := []string{"Connect-AdGateway", "Disconnect-AdGateway"}
	var b strings.Builder
	b.WriteString(core + "\n" + categories())
	for _, f := range functions {
		exported = append(exported, f.Name())
		b.WriteString("\n" + f.text())
	}
	list := "'" + strings.Join(exported, "',\n    '") + "'"
	fmt.Fprintf(&b, "\nExport-ModuleMember -Function @(\n    %s\n)\n", list)
	files := map[string]string{
		ModuleName + ".psm1": b.String(),
		ModuleName + ".psd1": fmt.Sprintf(manifest, version, list),
	}
	out := map[string][]byte{}
	for name, text := range files {
		if i := strings.IndexFunc(text, func(r rune) bool { return r > '~' }); i >= 0 {
			return nil, fmt.Errorf("%s has a character beyond ASCII behind %q", name, text[max(0, i-40):i])
		}
		out[name] = []byte(strings.ReplaceAll(text, "\n", "\r\n"))
	}
	return out, nil
}

const manifest = `@{
    RootModule = 'AdGateway.psm1'
    ModuleVersion = '%s'
    GUID = '6f0f4a7e-1c3b-4f5d-9a55-0d7c2b9e41aa'
    Author = 'adgateway'
    CompanyName = 'adgateway'
    Copyright = 'See LICENSE.txt of the release.'
    Description = 'Active Directory and Windows DNS through an adgateway server: a function for each operation, with dry runs, plans and undo.'
    PowerShellVersion = '5.1'
    CompatiblePSEditions = @('Desktop', 'Core')
    FunctionsToExport = @(
    %s
    )
    CmdletsToExport = @()
    VariablesToExport = @()
    AliasesToExport = @()
    PrivateData = @{
        PSData = @{
            Tags = @('ActiveDirectory', 'DNS', 'PSEdition_Desktop', 'PSEdition_Core', 'Windows', 'Linux', 'MacOS')
        }
    }
}
`

// categories returns the category of errors for each code of the API, and the codes after
// which a call is repeated.
func categories() string {
	var b strings.Builder
	b.WriteString("$script:Categories = @{\n    'not_connected' = 'ConnectionError'\n    'no_answer' = 'ConnectionError'\n    'invalid_address' = 'InvalidArgument'\n")
	for _, code := range schema.Codes() {
		fmt.Fprintf(&b, "    '%s' = '%s'\n", code, category(code))
	}
	b.WriteString("}\n\n# Codes of a gateway that is busy.\n$script:Busy = @(")
	separator := ""
	for _, code := range schema.Codes() {
		if status := code.Status(); status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			fmt.Fprintf(&b, "%s'%s'", separator, code)
			separator = ", "
		}
	}
	return b.String() + ")\n"
}

func category(code schema.Code) string {
	switch code {
	case schema.Partial, schema.Drifted, schema.PreconditionFailed, schema.NotUndoable:
		return "InvalidResult"
	case schema.RateLimited, schema.TooMany:
		return "LimitsExceeded"
	case schema.InProgress, schema.NamePending:
		return "ResourceBusy"
	case schema.Timeout:
		return "OperationTimeout"
	}
	switch code.Status() {
	case http.StatusUnauthorized:
		return "AuthenticationError"
	case http.StatusForbidden:
		return "PermissionDenied"
	case http.StatusNotFound, http.StatusGone:
		return "ObjectNotFound"
	case http.StatusConflict:
		return "ResourceExists"
	case http.StatusServiceUnavailable, http.StatusBadGateway:
		return "ResourceUnavailable"
	case http.StatusInternalServerError:
		return "InvalidOperation"
	default:
		return "InvalidArgument"
	}
}

// parameter is a parameter of a function.
type parameter struct {
	name, typ, doc string
	example        string
	required       bool
	pipeline       string // alias that the pipeline fills; "-": the name only; empty: not from the pipeline
	place          string // placeholder of the path
	sent           bool   // a parameter of the operation
	words          []string
}

// parameters returns those of the operation, required ones first, and those that the
// module adds.
func (f *Function) parameters() []parameter {
	op := f.Op
	var all []parameter
	for i := range op.Params {
		p := &op.Params[i]
		if p.Name == ops.DryRun { // -WhatIf
			continue
		}
		one := parameter{name: title(p.Name), typ: typeOf(p.Kind), doc: p.Doc, example: p.Sample(), required: p.Required, place: p.Path, sent: true}
		if one.doc == "" {
			one.doc = p.Kind.Doc().Text
		}
		if one.typ == "string" && !p.Clears {
			one.words = p.Kind.Doc().Enum
		}
		if p.Required && !p.Kind.Secret() {
			one.pipeline = "-"
			if alias := fromRecords[p.Name]; alias != "" && op.Effect != ops.Create {
				one.pipeline = alias
			}
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b parameter) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	add := func(given bool, name, typ, doc string) {
		if given {
			all = append(all, parameter{name: name, typ: typ, doc: doc})
		}
	}
	add(op.Param("After") != nil, "PageSize", "int", "Reads all pages, of so many records each.")
	add(op.Effect.Writes(), "IdempotencyKey", "string", "With the same key the call runs once, however often it is sent.")
	add(op.Guard.Matches(), "IfMatch", "string", "The change is made only if the object has this entity tag.")
	add(op.Guard.New, "OnlyIfNew", "switch", "What is there already is an error, precondition_failed.")
	add(f.forces(), "Force", "switch", "Does not ask before the change is made.")
	add(true, "Raw", "switch", "Returns the whole answer: output, result, next, warnings.")
	return all
}

// forces reports whether the function has a switch Force, for calls that people are asked
// about. Where the operation itself has a parameter of that name, -Confirm:$false remains.
func (f *Function) forces() bool { return high(f.Op) && f.Op.Param("Force") == nil }

func typeOf(k schema.Kind) string {
	switch {
	case k.Secret():
		return "System.Security.SecureString"
	case schema.TakesList(k), schema.Repeats(k):
		return "string[]"
	}
	switch k.Doc().Type {
	case "boolean":
		return "bool"
	case "integer":
		return "long"
	}
	return "string"
}

// text returns the function.
func (f *Function) text() string {
	op, parameters := f.Op, f.parameters()
	var b strings.Builder
	fmt.Fprintf(&b, "function %s {\n", f.Name())
	f.help(&b, parameters)
	binding := ""
	if op.Effect.Writes() {
		impact := "Medium"
		if high(op) {
			impact = "High"
		}
		binding = "SupportsShouldProcess = $true, ConfirmImpact = '" + impact + "'"
	}
	output := "System.Management.Automation.PSObject"
	if op.Reply.Mark == ops.Exists {
		output = "System.Boolean"
	}
	fmt.Fprintf(&b, "    [CmdletBinding(%s)]\n    [OutputType('%s')]\n    param(\n", binding, output)
	for i, p := range parameters {
		var attributes []string
		if p.required {
			attributes = append(attributes, "Mandatory = $true")
		}
		if p.pipeline != "" {
			attributes = append(attributes, "ValueFromPipelineByPropertyName = $true")
		}
		if attributes != nil {
			fmt.Fprintf(&b, "        [Parameter(%s)]\n", strings.Join(attributes, ", "))
		}
		if len(p.pipeline) > 1 {
			fmt.Fprintf(&b, "        [Alias('%s')]\n", p.pipeline)
		}
		if p.words != nil {
			fmt.Fprintf(&b, "        [ValidateSet('%s')]\n", strings.Join(p.words, "', '"))
		}
		comma := ",\n"
		if i == len(parameters)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "        [%s] $%s%s\n", p.typ, p.name, comma)
	}
	b.WriteString("    )\n    process {\n")
	f.process(&b, parameters)
	b.WriteString("    }\n}\n")
	return b.String()
}

// help writes the help of the function, as comments that every version reads.
func (f *Function) help(b *strings.Builder, parameters []parameter) {
	op := f.Op
	description := op.Method + " " + op.Path
	if op.Scope != "" {
		description += " needs the scope " + string(op.Scope) + "."
	}
	call := f.example(parameters)
	examples := []string{call}
	if op.Effect.Writes() {
		description += "\n-WhatIf changes nothing and returns the plan of what would be changed; its id is for -PlanId."
		examples = append(examples, call+" -WhatIf")
	}
	sections := []string{".SYNOPSIS\n" + op.Summary, ".DESCRIPTION\n" + description}
	for _, p := range parameters {
		sections = append(sections, ".PARAMETER "+p.name+"\n"+p.doc)
	}
	for _, example := range examples {
		sections = append(sections, ".EXAMPLE\n"+example)
	}
	sections = append(sections, ".LINK\nConnect-AdGateway")
	for line := range strings.SplitSeq(strings.Join(sections, "\n\n"), "\n") {
		b.WriteString(strings.TrimRight("    # "+line, " ") + "\n")
	}
}

// example returns a call with the required parameters.
func (f *Function) example(parameters []parameter) string {
	call := f.Name()
	for _, p := range parameters {
		if p.required {
			call += " -" + p.name + " " + p.value()
		}
	}
	return call
}

func (p *parameter) value() string {
	switch p.typ {
	case "System.Security.SecureString":
		return "(Read-Host -AsSecureString)"
	case "bool":
		return "$" + p.example
	case "long":
		return p.example
	}
	return quoted(p.example)
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// process writes what the function does for each object.
func (f *Function) process(b *strings.Builder, parameters []parameter) {
	op := f.Op
	var names, places, target []string
	for _, p := range parameters {
		if !p.sent {
			continue
		}
		names = append(names, quoted(p.name))
		if p.place != "" {
			places = append(places, p.name+" = "+quoted(p.place))
		}
		if p.required && !strings.HasPrefix(p.typ, "System.") {
			target = append(target, "$"+p.name)
		}
	}
	fmt.Fprintf(b, "        $operation = @{\n            Method = '%s'; Path = '%s'; Exists = $%t\n", op.Method, op.Path, op.Reply.Mark == ops.Exists)
	fmt.Fprintf(b, "            Parameters = @(%s)\n            Places = @{ %s }\n        }\n", strings.Join(names, ", "), strings.Join(places, "; "))
	const call = "Invoke-AdgOperation -Caller $PSCmdlet -Operation $operation -Given $PSBoundParameters -DryRun $"
	if !op.Effect.Writes() {
		b.WriteString("        " + call + "false\n")
		return
	}
	if f.forces() {
		b.WriteString("        if ($Force) { $ConfirmPreference = 'None' }\n")
	}
	if target == nil {
		target = []string{quoted(op.Path)}
	}
	fmt.Fprintf(b, "        $target = @(%s) -join ', '\n", strings.Join(target, ", "))
	fmt.Fprintf(b, "        if ($WhatIfPreference) {\n            %strue\n        } elseif ($PSCmdlet.ShouldProcess($target)) {\n            %sfalse\n        }\n", call, call)
}
