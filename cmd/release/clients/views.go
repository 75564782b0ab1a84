package clients

import (
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/ops"
)

// view is the table view of a type of record.
type view struct {
	typ     string // without the module's name
	columns []string
}

// views are the table views of records. Format-List * shows the other members.
var views = []view{
	{"User", []string{"username", "displayName", "department", "enabled", "ouPath"}},
	{"Group", []string{"samName", "scope", "type", "description"}},
	{"Membership", []string{"memberName", "samName", "direct", "primary"}},
	{"Member", []string{"type", "username", "name", "enabled", "via"}},
	{"Computer", []string{"computerName", "operatingSystem", "enabled", "lastLogon"}},
	{"OU", []string{"name", "protected", "description", "path"}},
	{"DnsZone", []string{"zoneName", "zoneType", "replicationScope", "dynamicUpdate"}},
	{"DnsRecord", []string{"name", "type", "data", "zone"}},
	{"Change", []string{"id", "time", "operation", "caller", "outcome", "undo"}},
	{"Job", []string{"id", "state", "operation", "total", "done", "failed", "percent"}},
	{"JobItem", []string{"line", "operation", "state", "code", "message"}},
}

// formats returns the format file, with a table view for each type of record. A plan is
// shown as a table of its changes.
func formats() string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Configuration>\n  <ViewDefinitions>\n")
	const head = "    <View>\n      <Name>%[1]s</Name>\n" +
		"      <ViewSelectedBy><TypeName>%[1]s</TypeName></ViewSelectedBy>\n" +
		"      <TableControl>\n        <TableHeaders>\n"
	all := append(slices.Clone(views), view{"PlanChange", []string{"object", "field", "from", "to"}})
	for _, v := range all {
		fmt.Fprintf(&b, head, ModuleName+"."+v.typ)
		for _, c := range v.columns {
			fmt.Fprintf(&b, "          <TableColumnHeader><Label>%s</Label></TableColumnHeader>\n", title(c))
		}
		b.WriteString("        </TableHeaders>\n        <TableRowEntries><TableRowEntry><TableColumnItems>\n")
		for _, c := range v.columns {
			fmt.Fprintf(&b, "          <TableColumnItem><PropertyName>%s</PropertyName></TableColumnItem>\n", c)
		}
		b.WriteString("        </TableColumnItems></TableRowEntry></TableRowEntries>\n" +
			"      </TableControl>\n    </View>\n")
	}
	b.WriteString(planView + "  </ViewDefinitions>\n</Configuration>\n")
	return b.String()
}

// planView shows the id of a plan and its changes, with a line for each field.
const planView = `    <View>
      <Name>AdGateway.Plan</Name>
      <ViewSelectedBy><TypeName>AdGateway.Plan</TypeName></ViewSelectedBy>
      <CustomControl>
        <CustomEntries><CustomEntry><CustomItem>
          <ExpressionBinding><ScriptBlock>"Plan $($_.planId): $($_.effect)"</ScriptBlock></ExpressionBinding><NewLine />
          <ExpressionBinding><ScriptBlock>'{0,-40} {1,-20} {2,-25} {3}' -f 'Object', 'Field', 'From', 'To'</ScriptBlock></ExpressionBinding><NewLine />
          <ExpressionBinding>
            <PropertyName>changes</PropertyName>
            <EnumerateCollection />
            <CustomControl><CustomEntries><CustomEntry><CustomItem>
              <ExpressionBinding><ScriptBlock>'{0,-40} {1,-20} {2,-25} {3}' -f $_.object, $_.field, ($_.from -join ', '), ($_.to -join ', ')</ScriptBlock></ExpressionBinding><NewLine />
            </CustomItem></CustomEntry></CustomEntries></CustomControl>
          </ExpressionBinding>
        </CustomItem></CustomEntry></CustomEntries>
      </CustomControl>
    </View>
`

// completion returns code that registers the completers of parameters, one call for each parameter name.
func completion(functions []*Function) (string, error) {
	commands := map[string][]string{}
	for _, f := range functions {
		parameters, err := f.parameters()
		if err != nil {
			return "", err
		}
		for _, p := range parameters {
			if p.words != nil || p.completes != "" {
				commands[p.name] = append(commands[p.name], quoted(f.Name()))
			}
		}
	}
	names := make([]string, 0, len(commands))
	for name := range commands {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("\n$__complete = {\n    param($commandName, $parameterName, $wordToComplete)\n" +
		"    Get-AdgCompletion -Function $commandName -Parameter $parameterName -Word \"$wordToComplete\"\n}\n")
	for _, name := range names {
		const register = "Register-ArgumentCompleter -CommandName @(%s) -ParameterName '%s' " +
			"-ScriptBlock $__complete\n"
		fmt.Fprintf(&b, register, list(commands[name]), name)
	}
	return b.String(), nil
}

// completes returns the PowerShell tables for completing the parameters of a function.
func completes(parameters []*parameter) (enumerations, kinds string) {
	var all, from []string
	for _, p := range parameters {
		switch {
		case p.words != nil:
			var list []string
			for _, word := range p.words {
				list = append(list, quoted(word))
			}
			all = append(all, quoted(p.name)+" = @("+strings.Join(list, ", ")+")")
		case p.completes != "":
			from = append(from, quoted(p.name)+" = "+quoted(p.completes))
		}
	}
	return strings.Join(all, "; "), strings.Join(from, "; ")
}

// fieldNames returns the names of the fields in an operation's records.
func fieldNames(op *ops.Operation) []string {
	var out []string
	if op.Reply.Shape != nil {
		for i := range op.Reply.Shape.Fields {
			out = append(out, op.Reply.Shape.Fields[i].Name)
		}
	}
	return out
}
