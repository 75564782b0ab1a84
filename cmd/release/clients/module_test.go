package clients_test

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/ops"
	"adgateway/ps"
	"adgateway/ps/syntax"
	"adgateway/scripts"
)

var update = flag.Bool("update", false, "writes testdata")

// script returns the text of the module.
func script(t *testing.T) string {
	t.Helper()
	files, err := clients.Module(ops.Table(), "1.2.3")
	require.NoError(t, err)
	return strings.ReplaceAll(string(files["AdGateway.psm1"]), "\r\n", "\n")
}

var definition = regexp.MustCompile(`(?ms)^function ([\w-]+) \{\n.*?^\}\n`)

// approved are the verbs of Get-Verb that the module uses.
var approved = []string{
	"Add", "Connect", "Copy", "Disable", "Disconnect", "Enable", "Find", "Get", "Move", "New", "Register", "Remove", "Rename", "Reset",
	"Restore", "Set", "Test", "Undo", "Unlock", "Restart", "Resume", "Start", "Stop", "Suspend",
}

func TestEveryOperationHasAFunction(t *testing.T) {
	functions, err := clients.Functions(ops.Table())
	require.NoError(t, err)
	rows, names := map[string]int{}, map[string]string{}
	for _, f := range functions {
		rows[f.Op.ID]++
		assert.Empty(t, names[strings.ToLower(f.Name())], "%s is the name of two functions", f.Name())
		names[strings.ToLower(f.Name())] = f.Op.ID
		assert.Contains(t, approved, f.Verb, f.Op.ID)
		assert.Regexp(t, `^Adg[A-Z][A-Za-z]+$`, f.Noun, f.Op.ID)
	}
	for _, op := range ops.Table() {
		want := 1
		if op.Protocol != nil || op.Reply.Mark == ops.Events || op.Takes != nil || op.Answers != nil {
			want = 0
		}
		assert.Equal(t, want, rows[op.ID], op.ID)
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
	files, err := clients.Module(ops.Table(), "1.2.3")
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

// The checker of the gateway's own scripts finds nothing wrong in the module, besides what
// those scripts may not use.
func TestTheModuleUsesWhatTheCheckerKnows(t *testing.T) {
	found := map[string]bool{}
	options := scripts.CheckOptions{Commands: []string{"Export-ModuleMember", "Invoke-RestMethod", "Start-Sleep"}}
	for _, fault := range scripts.Check(ps.Source{Name: "AdGateway.psm1", Text: script(t)}, options) {
		found[fault.Message] = true
	}
	assert.Equal(t, map[string]bool{
		"unknown attribute [OutputType]":                   true,
		"the variable $WhatIfPreference is never assigned": true, // PowerShell does that
		"unknown type [System.Uri]":                        true,
		"unknown type [System.Net.ServicePointManager]":    true, // Windows PowerShell 5.1 only
		"unknown type [System.Net.SecurityProtocolType]":   true,
	}, found)
}

// internal are the functions that the module does not export.
var internal = []string{"ConvertFrom-AdgSecret", "ConvertTo-AdgPart", "New-AdgErrorRecord", "ConvertTo-AdgFailure", "Get-AdgAuthorization", "Get-AdgPause", "Send-AdgRequest", "Invoke-AdgOperation"}

// common are the parameters that every advanced function has already.
var common = []string{
	"verbose", "debug", "erroraction", "warningaction", "informationaction", "errorvariable", "warningvariable", "informationvariable",
	"outvariable", "outbuffer", "pipelinevariable", "whatif", "confirm", "progressaction",
}

// Each function has the parameters of its row, in the form that suits them.
func TestFunctionsHaveTheParametersOfTheirRows(t *testing.T) {
	functions, err := clients.Functions(ops.Table())
	require.NoError(t, err)
	text := map[string]string{}
	for _, match := range definition.FindAllStringSubmatch(script(t), -1) {
		text[match[1]] = match[0]
	}
	declared := regexp.MustCompile(`(?m)^        \[([\w.]+(?:\[\])?)\] \$(\w+),?$`)
	for _, f := range functions {
		own := text[f.Name()]
		require.NotEmpty(t, own, f.Name())
		types := map[string]string{}
		for _, match := range declared.FindAllStringSubmatch(own, -1) {
			name := strings.ToLower(match[2])
			assert.Empty(t, types[name], "%s has two parameters %s", f.Name(), match[2])
			assert.NotContains(t, common, name, f.Name())
			assert.Contains(t, own, "    # .PARAMETER "+match[2]+"\n    # ", f.Name())
			types[name] = match[1]
		}
		for _, p := range f.Op.Params {
			typ := types[strings.ToLower(p.Name)]
			switch {
			case p.Name == ops.DryRun:
				assert.Empty(t, typ, f.Name())
			case p.Kind.Secret():
				assert.Equal(t, "System.Security.SecureString", typ, "%s %s", f.Name(), p.Name)
				assert.Contains(t, []string{"POST", "PUT"}, f.Op.Method, "%s sends a secret in the query", f.Name())
			default:
				assert.NotEmpty(t, typ, "%s %s", f.Name(), p.Name)
			}
		}
		writes := f.Op.Effect.Writes()
		assert.Equal(t, writes, strings.Contains(own, "SupportsShouldProcess = $true"), f.Name())
		assert.Equal(t, writes, strings.Contains(own, "-DryRun $true"), f.Name())
		assert.Equal(t, writes, types["idempotencykey"] != "", f.Name())
		assert.Equal(t, f.Op.Guard.Matches(), types["ifmatch"] != "", f.Name())
		if strings.Contains(own, "ConfirmImpact = 'High'") {
			assert.NotEmpty(t, types["force"], f.Name())
		}
		if f.Op.Effect == ops.Delete {
			assert.Contains(t, own, "ConfirmImpact = 'High'", f.Name())
		}
	}
}

// The golden file shows functions of each form.
func TestFunctionsAreGeneratedAsShown(t *testing.T) {
	const path = "testdata/functions.psm1"
	var shown strings.Builder
	for _, match := range definition.FindAllStringSubmatch(script(t), -1) {
		switch match[1] {
		case "Get-AdgGroupList", "New-AdgGroupSecurity", "Remove-AdgMembership", "Reset-AdgUserPassword", "Test-AdgOU", "Undo-AdgChange":
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
