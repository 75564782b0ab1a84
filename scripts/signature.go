package scripts

import (
	"fmt"
	"slices"
	"strings"

	"adgateway/ps/cmdlets"
	"adgateway/ps/syntax"
)

// Functions and built-in commands are described as cmdlets are, so that one
// check serves all calls.

// builtins are the commands besides those of the two modules and of the preludes
// that scripts may call, with the parameters they use. Windows PowerShell 5.1
// has all of them (facts-5.1 I73).
var builtins = map[string]*cmdlets.Cmdlet{
	"convertfrom-json": builtin("ConvertFrom-Json", "!InputObject String"),
	"convertto-json":   builtin("ConvertTo-Json", "!InputObject Object", "Compress SwitchParameter", "Depth Int32"),
	"foreach-object":   builtin("ForEach-Object", "!Process ScriptBlock[]"),
	"get-module":       builtin("Get-Module", "!Name String[]"),
	"import-module":    builtin("Import-Module", "!Name String[]"),
	"new-object":       builtin("New-Object", "!TypeName String", "ArgumentList Object[]"),
	"out-null":         builtin("Out-Null"),
}

// builtin describes a command by its parameters, each a name and a type, a
// mandatory one with "!" in front.
func builtin(name string, params ...string) *cmdlets.Cmdlet {
	var list []*cmdlets.Param
	for _, param := range params {
		written, typ, _ := strings.Cut(param, " ")
		bare := strings.TrimPrefix(written, "!")
		list = append(list, only(bare, typ, bare != written))
	}
	return single(name, list)
}

// declared describes a function by its param block.
func declared(name string, params []*syntax.Param) *cmdlets.Cmdlet {
	var list []*cmdlets.Param
	for _, p := range params {
		typ := typeOf(p)
		if typ == "switch" {
			typ = "SwitchParameter"
		}
		param := only(p.Name.Name, typ, mandatory(p))
		param.Values = valuesOf(p)
		list = append(list, param)
	}
	return single(name, list)
}

func single(name string, params []*cmdlets.Param) *cmdlets.Cmdlet {
	return &cmdlets.Cmdlet{Name: name, Sets: []string{cmdlets.AllSets}, DefaultSet: cmdlets.AllSets, Params: params}
}

func only(name, typ string, mandatory bool) *cmdlets.Param {
	return &cmdlets.Param{Name: name, Type: typ, PerSet: []cmdlets.InSet{{Set: cmdlets.AllSets, Mandatory: mandatory, Position: -1}}}
}

// valuesOf are the texts of a parameter's ValidateSet; nil when it has none.
func valuesOf(p *syntax.Param) []string {
	var values []string
	for _, attribute := range p.Attributes {
		if !strings.EqualFold(attribute.Type.Name, "ValidateSet") {
			continue
		}
		for _, value := range attribute.Positional {
			if text, ok := value.(*syntax.String); ok {
				values = append(values, text.Value)
			}
		}
	}
	return values
}

var commonParameters = []string{
	"Debug", "ErrorAction", "ErrorVariable", "InformationAction", "InformationVariable",
	"OutBuffer", "OutVariable", "PipelineVariable", "Verbose", "WarningAction", "WarningVariable",
}

func isCommon(name string) bool {
	return slices.ContainsFunc(commonParameters, func(common string) bool { return strings.EqualFold(common, name) })
}

// faults tells what is wrong with a call, each fault once.
func (c *call) faults() []string {
	if c.dynamic {
		return nil // a script block, or the script that a request names
	}
	if c.command == nil {
		return []string{fmt.Sprintf("%s is neither a cmdlet of the modules, nor a function of the preludes, nor one of the built-in commands that scripts may use", c.name)}
	}
	var faults []string
	add := func(found ...string) {
		for _, fault := range found {
			if !slices.Contains(faults, fault) {
				faults = append(faults, fault)
			}
		}
	}
	if c.piped && c.command.Module != "" {
		add(c.command.Name + " takes its input from a pipeline; give it an identity by name (facts G7)")
	}
	if c.unknown != "" {
		add(c.unknown)
	}
	for _, way := range c.ways {
		names := nameFaults(c.command, way)
		add(names...)
		if len(names) == 0 && c.unknown == "" {
			add(versionFaults(c.command, way)...)
		}
	}
	return faults
}

// nameFaults holds each argument against the parameter it is for.
func nameFaults(command *cmdlets.Cmdlet, way []argument) []string {
	var faults []string
	seen := map[string]bool{}
	for _, arg := range way {
		if arg.name == "" {
			faults = append(faults, command.Name+" has an argument without a parameter name")
			continue
		}
		key := strings.ToLower(arg.name)
		if seen[key] {
			faults = append(faults, fmt.Sprintf("%s is given -%s twice", command.Name, arg.name))
		}
		seen[key] = true
		if isCommon(arg.name) {
			continue
		}
		param := command.Param(arg.name)
		switch {
		case param == nil && len(command.Find(arg.name)) > 0:
			faults = append(faults, fmt.Sprintf("%s: -%s is not written in full", command.Name, arg.name))
		case param == nil:
			faults = append(faults, fmt.Sprintf("%s has no parameter -%s", command.Name, arg.name))
		case !strings.EqualFold(param.Name, arg.name):
			faults = append(faults, fmt.Sprintf("%s: -%s is an alias of -%s", command.Name, arg.name, param.Name))
		case arg.value == nil && !param.IsSwitch():
			faults = append(faults, fmt.Sprintf("%s: -%s has no value", command.Name, arg.name))
		default:
			if text, ok := literal(arg.value); ok && len(param.Values) > 0 && !containsFold(param.Values, text) {
				faults = append(faults, fmt.Sprintf("%s: -%s cannot be '%s'", command.Name, param.Name, text))
			}
		}
	}
	return faults
}

// versionFaults holds a call against the command as each version of Windows
// Server has it; versions with the same fault share a message.
func versionFaults(command *cmdlets.Cmdlet, way []argument) []string {
	var order []string
	versions := map[string][]string{}
	for _, version := range cmdlets.Docsets {
		if fault := setFault(command, way, version); fault != "" {
			if versions[fault] == nil {
				order = append(order, fault)
			}
			versions[fault] = append(versions[fault], version)
		}
	}
	var faults []string
	for _, fault := range order {
		if len(versions[fault]) < len(cmdlets.Docsets) {
			faults = append(faults, fault+" (Windows Server "+strings.Join(versions[fault], ", ")+")")
			continue
		}
		faults = append(faults, fault)
	}
	return faults
}

// setFault tells why the arguments do not choose one parameter set and fill it;
// "" when they do. The default set is tried first, as PowerShell does; where it
// does not take all arguments, exactly one set must be filled.
func setFault(command *cmdlets.Cmdlet, way []argument, version string) string {
	if !command.AvailableIn(version) {
		return "there is no " + command.Name
	}
	given := map[*cmdlets.Param]bool{}
	for _, arg := range way {
		param := command.Param(arg.name)
		if param == nil {
			continue // a common parameter
		}
		if !param.AvailableIn(version) {
			return fmt.Sprintf("%s has no parameter -%s", command.Name, param.Name)
		}
		given[param] = true
	}
	var taking, filled []string
	var missing string
	for _, set := range command.Sets {
		if !takes(set, given) {
			continue
		}
		taking = append(taking, set)
		lacks := lacking(command, set, version, given)
		if len(lacks) == 0 {
			filled = append(filled, set)
		} else if missing == "" || set == command.DefaultSet {
			missing = strings.Join(lacks, ", ")
		}
	}
	switch {
	case len(taking) == 0:
		return fmt.Sprintf("no parameter set of %s has all of %s", command.Name, written(way))
	case slices.Contains(taking, command.DefaultSet) && !slices.Contains(filled, command.DefaultSet), len(filled) == 0:
		return fmt.Sprintf("%s lacks the mandatory %s", command.Name, missing)
	case !slices.Contains(filled, command.DefaultSet) && len(filled) > 1:
		return fmt.Sprintf("%s cannot tell its parameter sets apart by %s", command.Name, written(way))
	}
	return ""
}

// takes tells whether all given parameters belong to a set.
func takes(set string, given map[*cmdlets.Param]bool) bool {
	for param := range given {
		if _, ok := param.In(set); !ok {
			return false
		}
	}
	return true
}

// lacking are the mandatory parameters of a set that are not given.
func lacking(command *cmdlets.Cmdlet, set, version string, given map[*cmdlets.Param]bool) []string {
	var names []string
	for _, param := range command.Params {
		in, ok := param.In(set)
		if ok && in.Mandatory && !given[param] && param.AvailableIn(version) {
			names = append(names, "-"+param.Name)
		}
	}
	return names
}

func written(way []argument) string {
	var names []string
	for _, arg := range way {
		names = append(names, "-"+arg.name)
	}
	return strings.Join(names, " ")
}

func containsFold(list []string, text string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, text) })
}
