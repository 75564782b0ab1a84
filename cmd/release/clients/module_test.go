package clients_test

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/manual"
	"adgateway/gateway/ops"
	"adgateway/ps"
	"adgateway/ps/syntax"
	"adgateway/scripts"
)

var update = flag.Bool("update", false, "writes testdata")

// script returns the text of the module.
func script(t *testing.T) string {
	t.Helper()
	files, err := clients.Module(ops.Table(), "1.2.3", "")
	require.NoError(t, err)
	return strings.ReplaceAll(string(files["AdGateway.psm1"]), "\r\n", "\n")
}

var definition = regexp.MustCompile(`(?ms)^function ([\w-]+) \{\n.*?^\}\n`)

// approved are the verbs of Get-Verb that the module uses.
var approved = []string{
	"Add", "Connect", "Copy", "Disable", "Disconnect", "Enable", "Find", "Get", "Move", "New", "Register", "Remove", "Rename", "Reset",
	"Restore", "Set", "Show", "Test", "Undo", "Unlock", "Restart", "Resume", "Start", "Stop", "Submit", "Suspend",
}

// plural matches plural nouns, which the names of functions must not contain, and singular nouns with the
// same endings.
var plural = regexp.MustCompile(`(List|ListAll|All|Many|[^sui]s)$`)

func TestEveryOperationHasAFunction(t *testing.T) {
	functions, err := clients.Functions(ops.Table())
	require.NoError(t, err)
	rows, names := map[string]int{}, map[string]string{}
	for _, f := range functions {
		assert.Empty(t, names[strings.ToLower(f.Name())], "%s is the name of two functions", f.Name())
		names[strings.ToLower(f.Name())] = f.Name()
		assert.Contains(t, approved, f.Verb, f.Name())
		assert.Regexp(t, `^Adg[A-Z][A-Za-z]+$`, f.Noun, f.Name())
		assert.NotRegexp(t, plural, f.Noun, "the noun is singular")
		sets := map[string]bool{}
		for _, set := range f.Sets {
			rows[set.Op.ID]++
			assert.False(t, sets[set.Name], "%s has two sets %s", f.Name(), set.Name)
			sets[set.Name] = true
		}
	}
	renamed, err := clients.Renamed(ops.Table())
	require.NoError(t, err)
	for _, f := range renamed {
		assert.Empty(t, names[strings.ToLower(f.Name())], "%s is the name of two functions", f.Name())
		instead := strings.ToLower(strings.Fields(f.Instead)[0])
		assert.NotEmpty(t, names[instead], "%s passes on to a function", f.Name())
	}
	for _, op := range ops.Table() {
		want := 1
		if op.Protocol != nil || op.Reply.Mark == ops.Events || op.Takes != nil || op.Answers != nil {
			want = 0
		}
		assert.Equal(t, want, rows[op.ID], op.ID)
	}
}

// No parameter has the name of a variable in its function. Names are case-insensitive, so they would be the
// same variable, and the variable of a typed parameter keeps its type.
func TestNoParameterIsALocalVariable(t *testing.T) {
	local := regexp.MustCompile(`\$(\w+) = `)
	for _, match := range definition.FindAllStringSubmatch(script(t), -1) {
		head, body, ok := strings.Cut(match[0], "\n    begin {")
		if !ok {
			continue
		}
		for _, name := range local.FindAllStringSubmatch(body, -1) {
			assert.NotRegexp(t, `(?i)\] \$`+name[1]+`\b`, head, match[1])
			assert.True(t, strings.HasPrefix(name[1], "__"), "%s: $%s", match[1], name[1])
		}
	}
}

func TestTheModuleParsesAndExportsWhatItDefines(t *testing.T) {
	text := script(t)
	_, faults := syntax.Parse("AdGateway.psm1", text)
	require.Empty(t, faults)
	var defined []string
	for _, match := range definition.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(internal, match[1]) {
			defined = append(defined, match[1])
		}
	}
	files, err := clients.Module(ops.Table(), "1.2.3", "")
	require.NoError(t, err)
	_, faults = syntax.Parse("AdGateway.psd1", string(files["AdGateway.psd1"]))
	require.Empty(t, faults)
	_, exports, _ := strings.Cut(text, "\nExport-ModuleMember -Function @(")
	_, manifest, _ := strings.Cut(string(files["AdGateway.psd1"]), "FunctionsToExport = @(")
	manifest, _, _ = strings.Cut(manifest, ")")
	names := regexp.MustCompile(`'([\w-]+)'`)
	for where, list := range map[string]string{"module": exports, "manifest": manifest} {
		var exported []string
		for _, match := range names.FindAllStringSubmatch(list, -1) {
			exported = append(exported, match[1])
		}
		assert.ElementsMatch(t, defined, exported, where)
	}
}

// The checker of the gateway's own scripts finds no fault in the module, except for uses
// that only those scripts forbid.
func TestTheModuleUsesWhatTheCheckerKnows(t *testing.T) {
	found := map[string]bool{}
	options := scripts.CheckOptions{Commands: []string{
		"Import-Csv", "New-AdgClient", "Register-ArgumentCompleter", "Send-AdgMessage", "Start-Sleep", "Write-Progress",
	}}
	text := strings.Replace(script(t), clients.Transport(), "", 1)
	for _, fault := range scripts.Check(ps.Source{Name: "AdGateway.psm1", Text: text}, options) {
		found[fault.Message] = true
	}
	assert.Equal(t, map[string]bool{
		"unknown attribute [OutputType]":                      true,
		"no type has a method GetValue":                       true, // of PSVariableIntrinsics
		"no type has a method Insert":                         true, // of PSObject.TypeNames
		"the method ShouldProcess takes 1 argument(s), not 2": true,
		// Only Windows PowerShell 5.1 needs these, because its JSON parser does not convert times.
		"[datetime] has no static member Parse":               true,
		"unknown type [System.Globalization.DateTimeStyles]":  true,
		"the method ToString takes 2 or 0 argument(s), not 1": true,
	}, found)
}

// Only a real PowerShell can run the transport. It is short and uses only these types.
func TestTheTransportIsShort(t *testing.T) {
	types := map[string]bool{}
	for _, match := range regexp.MustCompile(`\[([A-Z][\w.]+)\]::`).FindAllStringSubmatch(clients.Transport(), -1) {
		types[match[1]] = true
	}
	assert.Equal(t, map[string]bool{
		"System.DateTimeOffset": true, "System.Net.Http.HttpClient": true, "System.Net.Http.HttpClientHandler": true, "System.Net.Http.HttpMethod": true,
		"System.Net.Http.HttpRequestMessage": true, "System.Net.Http.StringContent": true, "System.Net.SecurityProtocolType": true,
		"System.Net.ServicePointManager": true, "System.Net.WebProxy": true, "System.Text.Encoding": true,
	}, types)
	assert.Less(t, strings.Count(clients.Transport(), "\n"), 70)
}

// internal are the functions that the module does not export.
var internal = []string{
	"ConvertFrom-AdgSecret", "ConvertTo-AdgPart", "New-AdgErrorRecord", "Get-AdgAuthorization", "Get-AdgPause", "Get-AdgWording", "Send-AdgRequest",
	"Add-AdgMembers", "ConvertTo-AdgPlan", "ConvertTo-AdgFilter", "Split-AdgFilter", "Get-AdgGiven", "Get-AdgProblem", "Expand-AdgNames", "Invoke-AdgCall",
	"Invoke-AdgOperation", "Submit-AdgList", "Get-AdgCompletion", "Wait-AdgEnd", "New-AdgClient", "Send-AdgMessage",
}

// common are the parameters that every advanced function has.
var common = []string{
	"verbose", "debug", "erroraction", "warningaction", "informationaction", "errorvariable", "warningvariable", "informationvariable",
	"outvariable", "outbuffer", "pipelinevariable", "whatif", "confirm", "progressaction",
}

// Each function has the parameters of its operations, with suitable types.
func TestFunctionsHaveTheParametersOfTheirRows(t *testing.T) {
	functions, err := clients.Functions(ops.Table())
	require.NoError(t, err)
	text := map[string]string{}
	for _, match := range definition.FindAllStringSubmatch(script(t), -1) {
		text[match[1]] = match[0]
	}
	declared := regexp.MustCompile(`(?m)^        \[([\w.]+(?:\[\])?)\] \$(\w+),?$`)
	aliases := regexp.MustCompile(`(?m)^        \[Alias\((.*)\)\]$`)
	for _, f := range functions {
		own := text[f.Name()]
		require.NotEmpty(t, own, f.Name())
		types, given := map[string]string{}, map[string]bool{}
		for _, match := range declared.FindAllStringSubmatch(own, -1) {
			name := strings.ToLower(match[2])
			assert.Empty(t, types[name], "%s has two parameters %s", f.Name(), match[2])
			assert.NotContains(t, common, name, f.Name())
			assert.Contains(t, own, "    # .PARAMETER "+match[2]+"\n    # ", f.Name())
			types[name], given[name] = match[1], true
		}
		for _, match := range aliases.FindAllStringSubmatch(own, -1) {
			for alias := range strings.SplitSeq(strings.ToLower(strings.ReplaceAll(match[1], "'", "")), ", ") {
				assert.False(t, given[alias], "%s has two parameters %s", f.Name(), alias)
				given[alias] = true
			}
		}
		for _, set := range f.Sets {
			for _, p := range set.Op.Params {
				switch {
				case p.Name == ops.DryRun:
					assert.False(t, given["dryrun"], f.Name())
				case p.Kind.Secret():
					typ := types[strings.ToLower(p.Name)]
					assert.Equal(t, "System.Security.SecureString", typ, "%s %s", f.Name(), p.Name)
					assert.Contains(t, []string{"POST", "PUT"}, set.Op.Method, "%s sends a secret in the query", f.Name())
				default:
					assert.True(t, given[strings.ToLower(p.Name)], "%s takes %s", f.Name(), p.Name)
				}
			}
			writes := set.Op.Effect.Writes()
			assert.Equal(t, writes, strings.Contains(own, "SupportsShouldProcess = $true"), f.Name())
			assert.Equal(t, writes, given["idempotencykey"], f.Name())
			assert.True(t, !writes || !set.Op.Guard.Matches() || given["ifmatch"], f.Name())
			if set.Op.Effect == ops.Delete {
				assert.Contains(t, own, "ConfirmImpact = 'High'", f.Name())
			}
		}
		assert.Contains(t, own, "PositionalBinding = $false", f.Name())
		if strings.Contains(own, "ConfirmImpact = 'High'") {
			assert.True(t, given["force"], f.Name())
		}
	}
}

// The golden file shows functions of every form.
func TestFunctionsAreGeneratedAsShown(t *testing.T) {
	const path = "testdata/functions.psm1"
	var shown strings.Builder
	for _, match := range definition.FindAllStringSubmatch(script(t), -1) {
		switch match[1] {
		case "Get-AdgGroup", "Get-AdgGroupListAll", "New-AdgGroupSecurity", "Remove-AdgMembership",
			"Reset-AdgUserPassword", "Test-AdgOU", "Undo-AdgChange":
			shown.WriteString(match[0] + "\n")
		}
	}
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(shown.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), shown.String())
}

// The table views show only fields that the records have.
func TestViewsShowFieldsOfRecords(t *testing.T) {
	fields := map[string][]string{"PlanChange": {"object", "field", "from", "to"}}
	for _, op := range ops.Table() {
		if shape := op.Reply.Shape; shape != nil {
			for _, f := range shape.Fields {
				fields[shape.Name] = append(fields[shape.Name], f.Name)
			}
		}
	}
	files, err := clients.Module(ops.Table(), "1.2.3", "")
	require.NoError(t, err)
	decoder := xml.NewDecoder(bytes.NewReader(files["AdGateway.format.ps1xml"]))
	for err == nil {
		_, err = decoder.Token()
	}
	require.ErrorIs(t, err, io.EOF)
	for typ, columns := range clients.Views() {
		assert.Subset(t, fields[typ], columns, typ)
		assert.Contains(t, string(files["AdGateway.format.ps1xml"]), "<TypeName>AdGateway."+typ+"</TypeName>")
	}
	about := string(files["en-US/about_AdGateway.help.txt"])
	renamed, err := clients.Renamed(ops.Table())
	require.NoError(t, err)
	for _, f := range renamed {
		assert.Contains(t, about, f.Name()+" ")
		assert.Contains(t, about, f.Instead+"\r\n")
	}
}

// TestHelpOnline: with the URL of a manual, each function of an operation names its page
// there. Without one, the attribute is absent.
func TestHelpOnline(t *testing.T) {
	module := func(manualURL string) string {
		files, err := clients.Module(ops.Table(), "1.2.3", manualURL)
		require.NoError(t, err)
		return string(files[clients.ModuleName+".psm1"])
	}
	assert.NotContains(t, module(""), "HelpUri")
	functions, err := clients.Functions(ops.Table())
	require.NoError(t, err)
	text := module("https://gw.corp.example/manual/")
	uris := regexp.MustCompile(`HelpUri = 'https://gw\.corp\.example/manual/(reference/operations-[a-z]+)'`).FindAllStringSubmatch(text, -1)
	assert.GreaterOrEqual(t, len(uris), len(functions))
	for _, uri := range uris {
		_, found := manual.Find(uri[1])
		assert.True(t, found, uri[1])
	}
}
