package clients

import (
	_ "embed" // core.psm1
	"fmt"
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/manual"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// ModuleName is the name of the module, its folder and its files.
const ModuleName = "AdGateway"

//go:embed manifest.psd1.txt
var manifest string

//go:embed filters.psm1
var filterTables string

//go:embed core.psm1
var core string

//go:embed complete.psm1
var complete string

//go:embed jobs.psm1
var jobs string

//go:embed transport.psm1
var transport string

// Transport returns the source of New-AdgClient and Send-AdgMessage, the functions of the module that speak
// HTTP.
func Transport() string { return transport }

// Module returns the files of the PowerShell module, in ASCII with CRLF line endings, so that they
// can be signed. version has three numbers. manualURL is the URL of the published manual, such as
// a gateway's /manual, for Get-Help -Online. If it is empty, the help only names the pages.
func Module(table []*ops.Operation, version, manualURL string) (map[string][]byte, error) {
	functions, err := Functions(table)
	if err != nil {
		return nil, err
	}
	renamed, err := Renamed(table)
	if err != nil {
		return nil, err
	}
	exported := slices.Clone(written)
	var b strings.Builder
	b.WriteString(core + "\n" + jobs + "\n" + complete + "\n" + transport + "\n" + categories() + rows(table))
	for _, f := range slices.Concat(functions, renamed) {
		text, err := f.text(manualURL)
		if err != nil {
			return nil, err
		}
		exported = append(exported, f.Name())
		b.WriteString("\n" + text)
	}
	registered, err := completion(slices.Concat(functions, renamed))
	if err != nil {
		return nil, err
	}
	b.WriteString(registered)
	list := "'" + strings.Join(exported, "',\n    '") + "'"
	fmt.Fprintf(&b, "\nExport-ModuleMember -Function @(\n    %s\n)\n", list)
	files := map[string]string{
		ModuleName + ".psm1": b.String(),
		ModuleName + ".psd1": fmt.Sprintf(manifest, version, list),

		ModuleName + ".format.ps1xml":             formats(),
		"en-US/about_" + ModuleName + ".help.txt": about(renamed),
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

// written contains the functions of the module that are written by hand, not generated from the table.
var written = []string{
	"Connect-AdGateway", "Disconnect-AdGateway", "Submit-AdgJob", "Wait-AdgJob", "Receive-AdgJob",
}

// categories returns PowerShell code that maps the API's error codes to error categories, and lists the codes
// after which the module repeats a call.
func categories() string {
	var b strings.Builder
	b.WriteString("$script:Categories = @{\n    'not_connected' = 'ConnectionError'\n" +
		"    'no_answer' = 'ConnectionError'\n    'invalid_address' = 'InvalidArgument'\n")
	for _, code := range schema.Codes() {
		fmt.Fprintf(&b, "    '%s' = '%s'\n", code, category(code))
	}
	b.WriteString("}\n\n# Codes of a gateway that is busy.\n$script:Busy = @(")
	separator := ""
	for _, code := range schema.Codes() {
		if status := code.Status(); status == http.StatusTooManyRequests ||
			status == http.StatusServiceUnavailable {
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

// rows returns the table of operations in PowerShell: the values that a call sends, and the
// type of its records.
func rows(table []*ops.Operation) string {
	var b strings.Builder
	b.WriteString("\n" + filterTables)
	b.WriteString("\n# What a call of each operation sends, and what its records are.\n" +
		"$script:Rows = @{}\n$script:Functions = @{}\n")
	for _, op := range table {
		if callable(op) || op.ID == "job.submit" {
			b.WriteString(row(op))
		}
	}
	return b.String()
}

func row(op *ops.Operation) string {
	var parameters, places, keys, several, flags, target []string
	for i := range op.Params {
		p := &op.Params[i]
		if p.Name == ops.DryRun {
			continue
		}
		name := parameterName(p.Name)
		parameters = append(parameters, quoted(name)+" = "+quoted(p.Name))
		if p.Path != "" {
			places = append(places, quoted(name)+" = "+quoted(p.Path))
		}
		if _, known := members[name]; (p.Required || known) && !p.Kind.Secret() {
			keys = append(keys, quoted(name))
		}
		if many(op, p) {
			several = append(several, quoted(name))
		}
		if flag(op, p) {
			flags = append(flags, quoted(name))
		}
		if p.Required && !p.Kind.Secret() {
			target = append(target, quoted(name))
		}
	}
	shape, base, times := recordType(op)
	return fmt.Sprintf(`$script:Rows[%s] = @{
    Method = %s; Path = %s; Exists = $%t; Writes = $%t; Dry = $%t; Forces = $%t; Quiet = $%t; Paged = $%t
    Type = %s; Base = %s; Times = @(%s)
    Keys = @(%s); Many = @(%s); Flags = @(%s); Target = @(%s)
    Places = @{ %s }
    Parameters = @{ %s }
}
`, quoted(op.ID), quoted(op.Method), quoted(op.Path),
		op.Reply.Mark == ops.Exists, op.Effect.Writes(), op.Param(ops.DryRun) != nil,
		high(op) && op.Param("Force") == nil, quietRow(op), paged(op),
		quoted(shape), quoted(base), list(times),
		list(append(keys, "'IfMatch'")), list(several), list(flags), list(target),
		strings.Join(places, "; "), strings.Join(parameters, "; "))
}

// list returns the content of @( ).
func list(items []string) string { return strings.Join(items, ", ") }

func quietRow(op *ops.Operation) bool {
	verb, _, _, err := named(op)
	return err == nil && (&Function{Verb: verb}).quiet()
}

// recordType returns the type name of an operation's records, the base type if they are DNS
// records, and their fields that are times.
func recordType(op *ops.Operation) (name, base string, times []string) {
	shape := op.Reply.Shape
	if shape == nil {
		return "AdGateway.Answer", "", nil
	}
	for i := range shape.Fields {
		if shape.Fields[i].Type == schema.TimeField {
			times = append(times, quoted(shape.Fields[i].Name))
		}
	}
	resource, _, _ := strings.Cut(op.ID, ".")
	if resource == "record" || strings.HasSuffix(nouns[resource], "Record") {
		base = "AdGateway.DnsRecord"
	}
	name = ModuleName + "." + shape.Name
	if base == name {
		base = ""
	}
	return name, base, times
}

// text returns the text of the function with its row in the table of functions.
func (f *Function) text(manualURL string) (string, error) {
	parameters, err := f.parameters()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	enumerations, kinds := completes(parameters)
	const about = "$script:Functions[%s] = @{\n    Instead = %s\n    Sets = @{ %s }\n    Names = @{ %s }\n" +
		"    Words = @{ %s }\n    Completes = @{ %s }\n}\n"
	fmt.Fprintf(&b, about,
		quoted(f.Name()), quoted(f.Instead), f.setTable(), names(parameters), enumerations, kinds)
	fmt.Fprintf(&b, "function %s {\n", f.Name())
	f.help(&b, parameters)
	fmt.Fprintf(&b, "    [CmdletBinding(%s)]\n    [OutputType(%s)]\n    param(\n", list(f.binding(manualURL)),
		list(f.outputs()))
	for i, p := range parameters {
		b.WriteString(p.text(f))
		if i < len(parameters)-1 {
			b.WriteString(",\n")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, `    )
    begin { $__line = @($PSBoundParameters.Keys); $__said = @{} }
    process {
        Invoke-AdgOperation -Caller $PSCmdlet -Function '%s' -Given $PSBoundParameters -Line $__line -Item $_ -Said $__said
    }
}
`, f.Name())
	return b.String(), nil
}

// binding returns the arguments of CmdletBinding.
func (f *Function) binding(manualURL string) []string {
	out := []string{"PositionalBinding = $false"}
	if manualURL != "" {
		page := manual.OperationPage(f.Sets[0].Op.ID)
		out = append(out, "HelpUri = "+quoted(strings.TrimSuffix(manualURL, "/")+"/"+page))
	}
	if len(f.Sets) > 1 && f.defaults() {
		out = append(out, "DefaultParameterSetName = "+quoted(f.defaultSet().Name))
	}
	impact := ""
	for i := range f.Sets {
		switch {
		case high(f.Sets[i].Op):
			impact = "High"
		case f.Sets[i].Op.Effect.Writes() && impact == "":
			impact = "Medium"
		}
	}
	if impact != "" {
		out = append(out, "SupportsShouldProcess = $true", "ConfirmImpact = "+quoted(impact))
	}
	return out
}

// defaults reports whether the default set can never be selected for a call that is meant for another set,
// because it lacks the required parameters of the others.
func (f *Function) defaults() bool {
	def := f.defaultSet()
	if len(required(def.Op)) == 0 {
		return true
	}
	for i := range f.Sets {
		set := &f.Sets[i]
		lacks := func(name string) bool { return !has(def.Op, name) }
		if set != def && set.Switch == "" && !slices.ContainsFunc(required(set.Op), lacks) {
			return false
		}
	}
	return true
}

// has reports whether an operation has a parameter with a certain name in the module.
func has(op *ops.Operation, name string) bool {
	return slices.ContainsFunc(op.Params,
		func(p ops.Param) bool { return parameterName(p.Name) == parameterName(name) })
}

func (f *Function) outputs() []string {
	var out []string
	for i := range f.Sets {
		name, _, _ := recordType(f.Sets[i].Op)
		if f.Sets[i].Op.Reply.Mark == ops.Exists {
			name = "System.Boolean"
		}
		if !slices.Contains(out, quoted(name)) {
			out = append(out, quoted(name))
		}
	}
	return out
}

func (f *Function) setTable() string {
	if len(f.Sets) == 1 {
		return "'__AllParameterSets' = " + quoted(f.Sets[0].Op.ID)
	}
	var out []string
	for i := range f.Sets {
		out = append(out, quoted(f.Sets[i].Name)+" = "+quoted(f.Sets[i].Op.ID))
	}
	return strings.Join(out, "; ")
}

// names returns the names of the columns that fill a parameter.
func names(parameters []*parameter) string {
	var out []string
	for _, p := range parameters {
		if p.byName {
			for _, name := range append([]string{p.name}, p.aliases...) {
				out = append(out, quoted(name)+" = "+quoted(p.name))
			}
		}
	}
	return strings.Join(out, "; ")
}

// text returns the declaration of a parameter.
func (p *parameter) text(f *Function) string {
	var b strings.Builder
	sets := p.sets
	alike := len(sets) == len(f.Sets) && !slices.ContainsFunc(sets, func(s inSet) bool {
		return s.required != sets[0].required || s.position != sets[0].position
	})
	if alike || sets == nil {
		in := inSet{position: -1}
		if sets != nil {
			in = inSet{required: sets[0].required, position: sets[0].position}
		}
		sets = []inSet{in}
	}
	for _, s := range sets {
		var arguments []string
		add := func(given bool, text string) {
			if given {
				arguments = append(arguments, text)
			}
		}
		add(s.required, "Mandatory = $true")
		add(s.position >= 0, fmt.Sprintf("Position = %d", s.position))
		add(s.set != "", "ParameterSetName = "+quoted(s.set))
		add(p.byValue, "ValueFromPipeline = $true")
		add(p.byName, "ValueFromPipelineByPropertyName = $true")
		if arguments != nil {
			fmt.Fprintf(&b, "        [Parameter(%s)]\n", strings.Join(arguments, ", "))
		}
	}
	if p.aliases != nil {
		fmt.Fprintf(&b, "        [Alias('%s')]\n", strings.Join(p.aliases, "', '"))
	}
	fmt.Fprintf(&b, "        [%s] $%s", p.typ, p.name)
	return b.String()
}

// help writes the help of the function as comment-based help, which every version of PowerShell reads.
func (f *Function) help(b *strings.Builder, parameters []*parameter) {
	var synopsis, calls []string
	writes := false
	for i := range f.Sets {
		op := f.Sets[i].Op
		synopsis = append(synopsis, op.Summary)
		call := op.Method + " " + op.Path
		if op.Scope != "" {
			call += " requires the scope " + string(op.Scope) + "."
		}
		calls = append(calls, call)
		writes = writes || op.Param(ops.DryRun) != nil
	}
	sections := []string{".SYNOPSIS\n" + synopsis[0]}
	description := strings.Join(append(synopsis[1:], calls...), "\n")
	if f.Instead != "" {
		description = "Deprecated name, which the next version will not have; use " + f.Instead +
			" instead.\n" + description
	}
	description += "\nManual page: " + manual.OperationPage(f.Sets[0].Op.ID)
	if writes {
		description += "\n-WhatIf changes nothing and returns a plan of the change; " +
			"to apply the plan, pass its planId to -PlanId."
	}
	sections = append(sections, ".DESCRIPTION\n"+description)
	for _, p := range parameters {
		sections = append(sections, ".PARAMETER "+p.name+"\n"+p.doc)
	}
	for _, example := range f.examples(parameters) {
		sections = append(sections, ".EXAMPLE\n"+example)
	}
	sections = append(sections, ".LINK\nConnect-AdGateway", ".LINK\nabout_AdGateway")
	for line := range strings.SplitSeq(strings.Join(sections, "\n\n"), "\n") {
		b.WriteString(strings.TrimRight("    # "+line, " ") + "\n")
	}
}

// examples returns the examples of all sets.
func (f *Function) examples(parameters []*parameter) []string {
	var out []string
	for i := range f.Sets {
		for _, example := range f.examplesOf(&f.Sets[i], parameters) {
			if !slices.Contains(out, example) {
				out = append(out, example)
			}
		}
	}
	return out
}

// Examples returns the example calls in the help of one of the function's sets: the sample
// of its operation, and its dry run.
func (f *Function) Examples(set *Set) ([]string, error) {
	parameters, err := f.parameters()
	if err != nil {
		return nil, err
	}
	return f.examplesOf(set, parameters), nil
}

func (f *Function) examplesOf(set *Set, parameters []*parameter) []string {
	call := f.Name()
	if set.Switch != "" {
		call += " -" + set.Switch
	}
	for _, p := range parameters {
		for k := range set.Op.Params {
			param := &set.Op.Params[k]
			if parameterName(param.Name) != p.name {
				continue
			}
			if value, given := set.Op.Sample[param.Name]; given {
				call += " -" + p.name + p.written(value)
			} else if set.Op.Sample == nil && param.Required {
				call += " -" + p.name + p.written(param.Sample())
			}
		}
	}
	if set.Op.Param(ops.DryRun) != nil {
		return []string{call, call + " -WhatIf"}
	}
	return []string{call}
}

// written returns a sample value as an argument, preceded by a space.
func (p *parameter) written(value any) string {
	text := fmt.Sprint(value)
	switch {
	case p.typ == "System.Security.SecureString":
		return " (Read-Host -AsSecureString)"
	case p.typ == "switch" && text == "true":
		return ""
	case p.typ == "switch":
		return ":$" + text
	case p.typ == "bool", p.typ == "object" && (text == "true" || text == "false"):
		return " $" + text
	case p.typ == "long":
		return " " + text
	case p.typ == "string[]":
		var items []string
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, quoted(item))
		}
		if len(items) > 1 && !strings.Contains(text, "=") {
			return " " + strings.Join(items, ", ")
		}
	}
	return " " + quoted(text)
}
