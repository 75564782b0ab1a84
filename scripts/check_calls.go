package scripts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adgateway/ps/cmdlets"
	"adgateway/ps/syntax"
)

// commonParameters are the parameters of every cmdlet and advanced function. A switch has no value.
var commonParameters = []*cmdlets.Param{
	{Name: "Debug", Type: "SwitchParameter"}, {Name: "Verbose", Type: "SwitchParameter"},
	{Name: "ErrorAction", Values: actions}, {Name: "InformationAction", Values: actions}, {Name: "WarningAction", Values: actions},
	{Name: "ErrorVariable"}, {Name: "InformationVariable"}, {Name: "OutVariable"}, {Name: "PipelineVariable"}, {Name: "WarningVariable"},
	{Name: "OutBuffer", Type: "Int32"},
}

var actions = []string{"Continue", "Ignore", "Inquire", "SilentlyContinue", "Stop"}

// common finds a common parameter by its full name, or returns nil.
func common(name string) *cmdlets.Param {
	for _, p := range commonParameters {
		if strings.EqualFold(p.Name, name) {
			return p
		}
	}
	return nil
}

// faultsOf lists the distinct faults of a call.
func (l *library) faultsOf(t *text, c *call) []Fault {
	if c.dynamic {
		return nil // the command is a script block, or the script that a request names
	}
	if target, alias := cmdlets.AliasTarget(c.name); alias {
		return []Fault{t.fault(c.at, "", "%s is an alias: write %s", c.name, target)}
	}
	if c.command == nil {
		if containsFold(l.options.Commands, c.name) {
			return nil
		}
		return []Fault{t.fault(c.at, nearest(c.name, l.commandNames()), "unknown command %s", c.name)}
	}
	var faults []Fault
	add := func(found ...Fault) {
		for _, fault := range found {
			if !slices.Contains(faults, fault) {
				faults = append(faults, fault)
			}
		}
	}
	switch {
	case !c.piped || l.isBuiltin(c.command):
	case c.command.Module != "":
		add(t.fault(c.at, "", "%s takes its input from a pipeline; give it an identity by name (facts G7)",
			c.command.Name))
	case !takesPipeline(c.command):
		add(t.fault(c.at, "", "%s takes no pipeline input", c.command.Name))
	}
	if c.unknown != "" {
		add(t.fault(c.at, "", "%s", c.unknown))
	}
	for _, way := range c.ways {
		names := argumentFaults(t, c.command, way)
		add(names...)
		if len(names) == 0 && c.unknown == "" && !c.open {
			for _, message := range versionFaults(c.command, way) {
				add(t.fault(c.at, "", "%s", message))
			}
		}
	}
	return faults
}

// isBuiltin reports whether a command is built into PowerShell. The built-in commands in the table accept or
// ignore any pipeline input.
func (l *library) isBuiltin(c *cmdlets.Cmdlet) bool { return builtins()[strings.ToLower(c.Name)] == c }

func takesPipeline(c *cmdlets.Cmdlet) bool {
	return slices.ContainsFunc(c.Params, func(p *cmdlets.Param) bool {
		return slices.ContainsFunc(p.PerSet, func(in cmdlets.InSet) bool { return in.ByValue || in.ByPropertyName })
	})
}

// argumentFaults compares each argument with its parameter.
func argumentFaults(t *text, command *cmdlets.Cmdlet, way []argument) []Fault {
	var faults []Fault
	seen := map[string]bool{}
	for _, arg := range way {
		if arg.name == "" {
			faults = append(faults, t.fault(arg.at, "", "%s has an argument without a parameter name", command.Name))
			continue
		}
		key := strings.ToLower(arg.name)
		if seen[key] {
			faults = append(faults, t.fault(arg.at, "", "%s is given -%s twice", command.Name, arg.name))
		}
		seen[key] = true
		if message, suggest := argumentFault(command, arg); message != "" {
			faults = append(faults, t.fault(arg.at, suggest, "%s", message))
		}
	}
	return faults
}

// argumentFault compares one named argument with its parameter. The message is empty if the argument fits.
func argumentFault(command *cmdlets.Cmdlet, arg argument) (message, suggest string) {
	param := command.Param(arg.name)
	found := command.Find(arg.name)
	switch {
	case param == nil && common(arg.name) != nil:
		param = common(arg.name)
	case param == nil && len(found) > 1:
		return fmt.Sprintf("%s: -%s is ambiguous: %s", command.Name, arg.name, dashed(found)), ""
	case param == nil && len(found) == 1:
		return fmt.Sprintf("%s: -%s is not written in full", command.Name, arg.name), "-" + found[0].Name
	case param == nil:
		if suggest = nearest(arg.name, paramNames(command)); suggest != "" {
			suggest = "-" + suggest
		}
		return fmt.Sprintf("%s has no parameter -%s", command.Name, arg.name), suggest
	case !strings.EqualFold(param.Name, arg.name):
		return fmt.Sprintf("%s: -%s is an alias of -%s", command.Name, arg.name, param.Name), ""
	}
	if arg.value == nil {
		if !param.IsSwitch() {
			return fmt.Sprintf("%s: -%s has no value", command.Name, arg.name), ""
		}
		return "", ""
	}
	return constantFault(command, param, arg.value)
}

// constantFault reports a constant that the parameter's type never accepts.
func constantFault(
	command *cmdlets.Cmdlet, param *cmdlets.Param, value syntax.Node,
) (message, suggest string) {
	for _, text := range constants(value) {
		if len(param.Values) > 0 && !containsFold(param.Values, text) {
			return fmt.Sprintf("%s: -%s cannot be '%s'", command.Name, param.Name, text), nearest(text, param.Values)
		}
		switch strings.ToLower(param.Type) {
		case "int32", "int64", "uint32", "int", "long":
			if _, err := strconv.ParseInt(strings.TrimSpace(text), 0, 64); err != nil && len(param.Values) == 0 {
				return fmt.Sprintf("%s: -%s takes a whole number, not '%s'", command.Name, param.Name, text), ""
			}
		case "boolean", "bool", "switchparameter":
			return fmt.Sprintf("%s: -%s takes $true or $false, not '%s'", command.Name, param.Name, text), ""
		}
	}
	return "", ""
}

// constants returns the constant texts in a value, which may be a constant or an array.
func constants(value syntax.Node) []string {
	if list, ok := sole(value).(*syntax.ArrayLiteral); ok {
		return texts(list.Items)
	}
	if text, ok := literal(value); ok {
		return []string{text}
	}
	return nil
}

func paramNames(command *cmdlets.Cmdlet) []string {
	var names []string
	for _, p := range slices.Concat(command.Params, commonParameters) {
		names = append(names, p.Name)
	}
	return names
}

func dashed(params []*cmdlets.Param) string {
	var names []string
	for _, p := range params {
		names = append(names, "-"+p.Name)
	}
	return strings.Join(names, ", ")
}

// versionFaults compares the call with the command in each version of Windows Server. It returns one message
// for all versions with the same fault.
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

// setFault returns the reason why the arguments do not select a parameter set and provide its mandatory
// parameters, or "" if they do. Like PowerShell, it tries the default set first. If the default set does not
// accept all arguments, they must fit exactly one set.
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
	case slices.Contains(taking, command.DefaultSet) &&
		!slices.Contains(filled, command.DefaultSet), len(filled) == 0:
		return fmt.Sprintf("%s lacks the mandatory %s", command.Name, missing)
	case !slices.Contains(filled, command.DefaultSet) && len(filled) > 1:
		return fmt.Sprintf("%s cannot tell its parameter sets apart by %s", command.Name, written(way))
	}
	return ""
}

// takes reports whether all given parameters belong to a set.
func takes(set string, given map[*cmdlets.Param]bool) bool {
	for param := range given {
		if _, ok := param.In(set); !ok {
			return false
		}
	}
	return true
}

// lacking returns the mandatory parameters of a set that are not given.
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
