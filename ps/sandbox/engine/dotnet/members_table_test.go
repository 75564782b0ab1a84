package dotnet_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adgateway/ps/sandbox/adcmd"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the table of types and members")

const membersHead = `# The .NET types that the engine of the sandbox has, and their members: what the
# check of scripts knows. Each is in .NET Framework 4.5.2, the oldest Windows
# PowerShell 5.1 runs on, and in later versions alike (facts-5.1 I74).
#
# Generated from the registry of ps/sandbox/engine/dotnet: do not edit.
#     go test ./ps/sandbox/engine/dotnet -run TestMembersTable -update
#
# A type: its full name, with the number of its type arguments; "enum"; aliases.
# Below it its members: ::static, ::method/number of arguments (+ for more),
# ::new for constructors, .property, .method/number of arguments.
`

// hostMembers are members that Go code of the engine implements by name, without a row.
var hostMembers = map[string][]string{
	"System.Management.Automation.ScriptBlock": {"::Create/1"},
	"System.Management.Automation.PSScriptCmdlet": { // $PSCmdlet
		".GetVariableValue/1", ".ParameterSetName", ".ShouldProcess/1", ".ThrowTerminatingError/1", ".WriteError/1", ".WriteVerbose/1", ".WriteWarning/1",
	},
}

// TestMembersTable: data/members.txt of ps/cmdlets lists exactly the members of the registry.
func TestMembersTable(t *testing.T) {
	types := map[string]*dotnet.Type{"System.Console": consoleType(t)}
	for _, declared := range dotnet.Types() {
		if !strings.HasPrefix(declared.Name, "Test.") { // types of other tests
			types[declared.Name] = declared
		}
	}
	maps.Copy(types, dotnet.Generics())
	for _, declared := range directoryTypes(t) {
		types[declared.Name] = declared
	}
	blocks := map[string]string{}
	for name, declared := range types {
		blocks[name] = block(name, declared, hostMembers[name])
	}
	for name, members := range hostMembers {
		if types[name] == nil {
			blocks[name] = name + "\n\t" + strings.Join(members, "\n\t") + "\n"
		}
	}
	text := strings.Builder{}
	text.WriteString(membersHead)
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		text.WriteString(blocks[name])
	}
	path := filepath.FromSlash("../../../cmdlets/data/members.txt")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	if text.String() != string(have) {
		want, lines := strings.Split(text.String(), "\n"), strings.Split(string(have), "\n")
		at := 0
		for at < min(len(want), len(lines)) && want[at] == lines[at] {
			at++
		}
		t.Errorf("line %d of the table is stale: go test ./ps/sandbox/engine/dotnet -run TestMembersTable -update",
			at+1)
	}
}

// consoleType returns the type [Console], which each session defines for itself.
func consoleType(t *testing.T) *dotnet.Type {
	t.Helper()
	var found *dotnet.Type
	session := engine.NewEngine(engine.Options{}).NewSession(engine.Console{})
	require.NoError(t, session.Run(t.Context(), "", "[Console]", engine.Streams{Output: func(v any) error {
		found, _ = v.(*dotnet.Type)
		return nil
	}}))
	require.NotNil(t, found)
	return found
}

// directoryTypes are the .NET types that the directory's module adds.
func directoryTypes(t *testing.T) []*dotnet.Type {
	t.Helper()
	domain, err := directory.BuiltIn(directory.Options{Seed: 1})
	require.NoError(t, err)
	return slices.DeleteFunc(adcmd.Module(adcmd.Options{Domain: domain}).Types,
		func(declared *dotnet.Type) bool {
			return !strings.HasPrefix(declared.Name, "System.")
		})
}

// block returns the lines of one type: the members that it declares, followed by more.
func block(name string, declared *dotnet.Type, more []string) string {
	head := name
	if len(declared.Args) > 0 {
		head += fmt.Sprintf("`%d", len(declared.Args))
	}
	if declared.Kind == dotnet.KindEnum {
		head += " enum"
	}
	lines := map[string]bool{}
	for _, line := range more {
		lines[line] = true
	}
	for _, row := range dotnet.Rows(declared) {
		m := row.Member
		prefix := "."
		if row.Kind != "" {
			prefix = "::"
		}
		if m.Call == nil {
			lines[prefix+m.Name] = true
			continue
		}
		lines[fmt.Sprintf("%s%s/%s", prefix, m.Name, arguments(m.Sig))] = true
	}
	for _, value := range declared.Values {
		lines["::"+value.Name] = true
	}
	var text strings.Builder
	fmt.Fprintln(&text, strings.Join(append([]string{head}, dotnet.Aliases(declared)...), " "))
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintln(&text, "\t"+line)
	}
	return text.String()
}

// arguments returns the number of arguments of a signature, followed by "+" if it accepts more.
func arguments(sig string) string {
	if sig == "" {
		return "0"
	}
	parts := dotnet.SplitTop(sig)
	if strings.HasPrefix(strings.TrimSpace(parts[len(parts)-1]), "params ") {
		return fmt.Sprintf("%d+", len(parts)-1)
	}
	return fmt.Sprint(len(parts))
}
