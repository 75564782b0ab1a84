package scripts

import (
	"errors"
	"slices"
	"strings"

	"adgateway/ps/cmdlets"
	"adgateway/ps/syntax"
)

// pinned: every cmdlet of the directory gets -Server, and every DNS cmdlet gets -ComputerName. Only discovery
// omits them, because it looks for a server.
func pinned(_ *library, t *text) []error {
	parameter := map[string]string{cmdlets.ActiveDirectory: "Server", cmdlets.DnsServer: "ComputerName"}
	var faults []error
	for _, c := range t.calls {
		if c.command == nil || parameter[c.command.Module] == "" {
			continue
		}
		for _, way := range c.ways {
			_, discovers := arg(way, "Discover")
			if discovers && c.command.Name == "Get-ADDomainController" {
				continue
			}
			given, has := arg(way, parameter[c.command.Module])
			if !has || isVariable(given.value, "null") {
				faults = append(faults, placed(t, c.at, "%s is called without -%s", c.name, parameter[c.command.Module]))
				break
			}
		}
	}
	return faults
}

// unprompted: every cmdlet that could ask for confirmation gets -Confirm:$false, and every DNS cmdlet that
// writes and supports -Force gets it.
func unprompted(_ *library, t *text) []error {
	var faults []error
	for _, c := range t.calls {
		if c.command == nil || c.command.Module == "" {
			continue
		}
		for _, way := range c.ways {
			confirm, _ := arg(way, "Confirm")
			if c.command.SupportsShouldProcess && !isVariable(confirm.value, "false") {
				faults = append(faults, placed(t, c.at, "%s is called without -Confirm:$false", c.name))
				break
			}
			force, has := arg(way, "Force")
			wants := c.command.Module == cmdlets.DnsServer && c.command.Writes() && takesForce(c.command, way)
			if wants && (!has || force.value != nil && !isVariable(force.value, "true")) {
				faults = append(faults, placed(t, c.at, "%s is called without -Force", c.name))
				break
			}
		}
	}
	return faults
}

// takesForce reports whether a parameter set with these arguments has -Force.
func takesForce(command *cmdlets.Cmdlet, way []argument) bool {
	force := command.Param("Force")
	if force == nil {
		return false
	}
	return slices.ContainsFunc(force.PerSet, func(of cmdlets.InSet) bool {
		return !slices.ContainsFunc(way, func(a argument) bool {
			p := command.Param(a.name)
			return p != nil && !slices.ContainsFunc(p.PerSet,
				func(other cmdlets.InSet) bool { return other.Set == of.Set || of.Set == "" || other.Set == "" })
		})
	})
}

// fitting: commands are known, and their parameters are written in full, belong to one set, and include the
// mandatory ones. Describe checks this at every start.
func fitting(l *library, t *text) []error {
	var faults []error
	for _, fault := range l.callFaults(t) {
		faults = append(faults, fault)
	}
	return faults
}

// placed returns a fault of a rule.
func placed(t *text, at syntax.Node, format string, args ...any) error {
	return t.fault(at, "", format, args...)
}

// banned maps commands that scripts must not use to the reasons.
var banned = map[string]string{
	"get-adgroupmember":               "fails as a whole on large or foreign members (facts E23)",
	"get-adprincipalgroupmembership":  "needs a global catalog and fails on names with / (facts E22)",
	"get-adaccountauthorizationgroup": "fails as a whole on one bad group (facts E22)",
	"invoke-expression":               "runs text as code",
	"invoke-command":                  "runs code elsewhere",
	"add-type":                        "compiles code and is logged as suspicious (facts-5.1 I40)",
	"select-object":                   "makes wrapped objects, slowly",
	"sort-object":                     "sorts by culture",
	"group-object":                    "is quadratic in Windows PowerShell (facts-5.1 I76)",
	"where-object":                    "is slower than foreach and wraps its input",
	"write-output":                    "wraps what it writes",
	"write-host":                      "writes beside the frames",
	"start-sleep":                     "holds the session",
	"set-strictmode":                  "makes absent properties an error",
}

// dynamicCallers are the functions that may call a command named by a variable: for the
// script in a request, for an undo, and for the doctor's tests.
var dynamicCallers = []string{"Invoke-GatewayRequest", "Get-GatewayState", "Undo-GatewayStep",
	"Test-GatewayFact"}

// tried maps scripts of the doctor to the banned commands, or commands with a banned filter, that they test.
var tried = map[string]string{
	"doctor/ad/Test-GatewayPrincipalGroups.ps1": "get-adprincipalgroupmembership",
	"doctor/ad/Test-GatewayControllers.ps1":     "get-addomaincontroller",
}

// unbanned: scripts use no banned command, type or filter.
func unbanned(_ *library, t *text) []error {
	var faults []error
	for _, c := range t.calls {
		if why, bad := banned[strings.ToLower(c.name)]; bad && !strings.EqualFold(tried[t.file], c.name) {
			faults = append(faults, placed(t, c.at, "%s %s", c.name, why))
		}
		if c.dynamic && !slices.Contains(dynamicCallers, c.function) {
			faults = append(faults, placed(t, c.at, "calls what a value holds"))
		}
		if c.command == nil || c.command.Module != cmdlets.ActiveDirectory {
			continue
		}
		for _, way := range c.ways {
			if _, has := arg(way, "Filter"); has && !strings.EqualFold(tried[t.file], c.name) {
				faults = append(faults, placed(t, c.at, "%s is given -Filter; write -LDAPFilter", c.name))
				break
			}
		}
	}
	syntax.Walk(t.script, func(n syntax.Node) bool {
		if typ, ok := n.(*syntax.TypeName); ok && bannedTypes[bareType(typ.Name)] {
			faults = append(faults, placed(t, n, "[%s] is not used; records are [ordered] dictionaries", typ.Name))
		}
		if m, ok := n.(*syntax.Member); ok {
			if name, _ := literal(m.Name); strings.EqualFold(name, "InvokeCommand") {
				faults = append(faults, placed(t, n, "InvokeCommand runs text as code"))
			}
		}
		if b, ok := n.(*syntax.Binary); ok && b.Exact && !slices.Contains(byCodeUnit, b.Op) {
			faults = append(faults, placed(t, n,
				"a comparison where case counts is one of code units: write Equals, because operators compare as a "+
					"culture does"))
		}
		if i, ok := n.(*syntax.Invoke); ok {
			typ, _ := i.Target.(*syntax.TypeExpr)
			if name, _ := literal(i.Name); typ != nil && bareType(typ.Type.Name) == "scriptblock" &&
				strings.EqualFold(name, "Create") {
				faults = append(faults, placed(t, n, "[scriptblock]::Create runs text as code"))
			}
		}
		return true
	})
	return faults
}

var bannedTypes = map[string]bool{
	"pscustomobject": true, "psobject": true, "management.automation.psobject": true, "management.automation.pscustomobject": true,
}

// bareType returns the name of a type in lower case, without System.
func bareType(name string) string { return strings.TrimPrefix(strings.ToLower(name), "system.") }

// byCodeUnit contains the operators whose case-sensitive forms compare code units. The others depend on the
// culture.
var byCodeUnit = []syntax.BinaryOp{syntax.Match, syntax.NotMatch, syntax.Like}

// bareName returns the name of a type with its type argument, in lower case and without "System." and array
// brackets.
func bareName(t *syntax.TypeName) string {
	name := bareType(t.Name)
	if t.Arg == nil {
		return name
	}
	return name + "[" + bareName(t.Arg) + "]"
}

// isVariable reports whether a value is $name.
func isVariable(value syntax.Node, name string) bool {
	if value == nil {
		return false
	}
	v, ok := sole(value).(*syntax.Variable)
	return ok && v.Scope == "" && strings.EqualFold(v.Name, name)
}

// once removes repeated faults.
func once(faults []error) []error {
	var out []error
	for _, fault := range faults {
		if !slices.ContainsFunc(out,
			func(err error) bool { return errors.Is(err, fault) || err.Error() == fault.Error() }) {
			out = append(out, fault)
		}
	}
	return out
}

// arg finds an argument by the full name of its parameter.
func arg(way []argument, name string) (argument, bool) {
	for _, a := range way {
		if strings.EqualFold(a.name, name) {
			return a, true
		}
	}
	return argument{}, false
}
