package scripts

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/proxies"
	"adgateway/ps/syntax"
	"adgateway/test/manual"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// uses contains the entries in the tables of package cmdlets that texts use, in the spelling of the tables.
type uses map[string]bool

// shipped lists every PowerShell text that ships, by name.
func shipped(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{"survey.ps1": Survey()}
	described := DescribeDoctor()
	for _, script := range described {
		out[script.File] = read(script.File)
		for _, file := range doctorPreludes(script.Lane) {
			out[file] = read(file)
		}
	}
	modules, err := proxies.Modules(described)
	require.NoError(t, err)
	for _, module := range modules {
		out[module.Name] = module.Text()
	}
	handshake, err := os.ReadFile("../ps/session/handshake.ps1")
	require.NoError(t, err)
	out["handshake.ps1"] = string(handshake)
	for i, block := range regexp.MustCompile("(?ms)^ *```powershell\n(.*?)^ *```$").FindAllStringSubmatch(
		manual.All(t), -1) {
		out[fmt.Sprint("manual ", i)] = block[1]
	}
	return out
}

// read adds the entries that a text names.
func (u uses) read(t *testing.T, name, source string) {
	t.Helper()
	script, errs := syntax.Parse(name, source)
	require.Empty(t, errs, name)
	l := newLibrary(CheckOptions{})
	l.add(name, source)
	syntax.Walk(script, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.TypeName:
			u.typeName(n.Name)
		case *syntax.String:
			u.typeName(n.Value) // of New-Object, and in comparisons with type names
		case *syntax.Member:
			u.member(n.Target, n.Name, n.Static, -1)
		case *syntax.Invoke:
			u.member(n.Target, n.Name, n.Static, len(n.Args))
		case *syntax.Command:
			u.command(l, n)
		}
		return true
	})
}

// typeName adds a type. For an enumeration it adds all names, because a cmdlet or an error may return any
// value, not only those that a text names.
func (u uses) typeName(name string) {
	typ, ok := cmdlets.LookupType(name)
	if !ok {
		return
	}
	u[typ.Name] = true
	for i := 0; typ.Enum && i < len(typ.Static); i++ {
		u[typ.Name+"::"+typ.Static[i].String()] = true
	}
}

// member adds a member that is read, or called with args arguments. For an instance it adds
// the members of all types that have the name, because the type is unknown.
func (u uses) member(target, name syntax.Expr, static bool, args int) {
	written, ok := literal(name)
	if !ok {
		return
	}
	matches := func(m cmdlets.Member) bool {
		return strings.EqualFold(m.Name, written) && (m.Accepts(args) || args < 0 && !m.Method)
	}
	if static {
		expr, isType := target.(*syntax.TypeExpr)
		typ, known := (*cmdlets.Type)(nil), false
		if isType {
			typ, known = cmdlets.LookupType(expr.Type.Name)
		}
		for i := 0; known && i < len(typ.Static); i++ {
			if matches(typ.Static[i]) {
				u[typ.Name+"::"+typ.Static[i].String()] = true
			}
		}
		return
	}
	for _, typ := range cmdlets.Types() {
		for _, m := range typ.Members {
			if matches(m) {
				u[typ.Name+"."+m.String()] = true
			}
		}
	}
}

// command adds a built-in command with its given parameters, and the constructor that New-Object calls.
func (u uses) command(l *library, n *syntax.Command) {
	c := l.command(commandName(n))
	if c == nil || !l.isBuiltin(c) {
		return
	}
	u[c.Name] = true
	for i, arg := range n.Args {
		p, ok := arg.(*syntax.CommandParam)
		if !ok {
			if v, splat := arg.(*syntax.Variable); splat && v.Splat && strings.EqualFold(v.Name, "PSBoundParameters") {
				for _, param := range c.Params {
					u[c.Name+" -"+param.Name] = true
				}
			}
			continue
		}
		if param := c.Param(p.Name); param != nil {
			u[c.Name+" -"+param.Name] = true
		}
		if strings.EqualFold(p.Name, "TypeName") && i+1 < len(n.Args) {
			name, _ := literal(n.Args[i+1])
			if typ, known := cmdlets.LookupType(name); known {
				u[typ.Name+"::new/1"] = true
			}
		}
	}
}

// implicit maps regular expressions for entries that no text names, but that are used anyway, to the reasons.
var implicit = map[string]string{
	`^(Export-ModuleMember( -Function)?|System\.Uri(::EscapeDataString/1)?|System\.Management\.Automation\.PSNoteProperty::new/2)$`: "the module for clients uses it",
	`^\S+Exception(::new/1)?$`:                                                                  "the engine and the cmdlets throw it",
	`^\S+Exception\.(HResult|ErrorCode)$`:                                                       "Get-GatewayErrorCode reads numbers of errors by name",
	`^(ForEach-Object|Out-Null) -InputObject$`:                                                  "takes what comes down the pipeline",
	`^Write-Output( -InputObject)?$`:                                                            "echo, with which go-powershell marks the end of an answer",
	`^System\.Management\.Automation\.ScriptBlock::Create/1$`:                                   "the boot line of a session",
	`^System\.Management\.Automation\.PSScriptCmdlet$`:                                          "the type of $PSCmdlet",
	`^System\.Management\.Automation\.(ActionPreference|ConfirmImpact|PSLanguageMode)(::\w+)?$`: "the values of preference variables and of the language mode",
	`^System\.Management\.Automation\.(ErrorCategoryInfo|InvocationInfo|PSNoteProperty|PSProperty|PSCustomObject)$`: "part of an error record or of PSObject",
	`^System\.Management\.Automation\.PSCredential::new/2$`:                                                         "the host of the sandbox creates credentials from frames",
	`^System\.ServiceModel\.FaultCode$`:                                                                             "the type of Code and SubCode of a fault",
	`^System\.Collections\.(ICollection|IList)$`:                                                                    "interfaces that conversions look for",
	`^System\.Collections\.\S+(Key|Value|KeyValue)Collection$`:                                                      "the type of Keys and Values",
	`^System\.Collections\.Generic\.Dictionary$`:                                                                    "the type of $PSBoundParameters",
	`^System\.Collections\.ObjectModel\.Collection(::new/0)?$`:                                                      "what a script block returns to Go",
	`^System\.DirectoryServices\.Property(Value)?Collection(\.Item/1)?$`:                                            "the type of Properties of a directory entry, and its indexer",
	`^System\.IO\.(Stream|TextReader|TextWriter)$`:                                                                  "the streams of [Console]",
	`^System\.(Console::Error|IO\.TextWriter\.WriteLine/1)$`:                                                        "go-powershell marks the end of an answer on standard error",
	`^System\.Collections\.ArrayList$`:                                                                              "the type of $Error",
	`^System\.Security\.Principal\.SecurityIdentifier::new/1$`:                                                      "the modules for a real PowerShell create it from its text",
	`^System\.(ValueType|RuntimeType|IFormatProvider|OrdinalCaseSensitiveComparer|Text\.(ASCII|Unicode)Encoding)$`:  "base types, types of values, and operands of conversions",
}

// TestTablesContainWhatScriptsUse: the engine has no feature that scripts do not use. Each built-in command,
// parameter, type and member in the tables is named by a shipped text or is implicit.
func TestTablesContainWhatScriptsUse(t *testing.T) {
	u := uses{}
	for name, source := range shipped(t) {
		u.read(t, name, source)
	}
	patterns, needed := map[string]*regexp.Regexp{}, map[string]bool{}
	for pattern := range implicit {
		patterns[pattern] = regexp.MustCompile(pattern)
	}
	unused := slices.DeleteFunc(tableEntries(), func(entry string) bool {
		for pattern, expression := range patterns {
			if !u[entry] && expression.MatchString(entry) {
				needed[pattern] = true
				return true
			}
		}
		return u[entry]
	})
	for pattern, reason := range implicit {
		assert.True(t, needed[pattern], "%s is named now or no longer in the tables: remove it from implicit (%s)",
			pattern, reason)
	}
	for _, entry := range unused {
		t.Errorf("no text that ships names %s: remove it from the engine, or give the reason in implicit", entry)
	}
}

// tableEntries lists all entries of the tables, sorted.
func tableEntries() []string {
	var all []string
	for _, c := range builtins() {
		all = append(all, c.Name)
		for _, p := range c.Params {
			all = append(all, c.Name+" -"+p.Name)
		}
	}
	for _, typ := range cmdlets.Types() {
		all = append(all, typ.Name)
		for _, m := range typ.Static {
			all = append(all, typ.Name+"::"+m.String())
		}
		for _, m := range typ.Members {
			all = append(all, typ.Name+"."+m.String())
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
