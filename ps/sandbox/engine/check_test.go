package engine

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/cmdlets"
)

func checkOptions() CheckOptions {
	return CheckOptions{Cmdlets: append(cmdlets.Module(cmdlets.ActiveDirectory), cmdlets.Module(cmdlets.DnsServer)...)}
}

func faultTexts(faults []Fault) []string {
	out := []string{}
	for _, f := range faults {
		out = append(out, string(f.Kind)+" "+f.String())
	}
	return out
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		script string
		want   []string
	}{
		"clean": {"[CmdletBinding()]\nparam([string]$Name)\n$user = Get-ADUser -Identity $Name -Properties 'mail'\n$user.mail", nil},
		"unknown command": {"Get-AdUsr -Identity x\nGet-ADUser -Identity x", []string{
			"command s.ps1:1:1: unknown command Get-AdUsr (Get-ADUser?)"}},
		"alias": {"1,2 | % { $_ }", []string{"alias s.ps1:1:7: aliases are not used in scripts: % (ForEach-Object?)"}},
		"function that an alias hides": {"function rd { 1 }", []string{
			"alias s.ps1:1:1: the function rd would never be called: the alias of Remove-Item wins over it"}},
		"unknown parameter": {"Get-ADUser -Identity x -Propertis mail", []string{
			"parameter s.ps1:1:24: Get-ADUser has no parameter Propertis (-Properties?)"}},
		"ambiguous parameter": {"Get-ADUser -Identity x -S dc1", []string{
			"parameter s.ps1:1:24: Get-ADUser: Parameter cannot be processed because the parameter name 'S' is ambiguous. Possible matches include: -SearchBase -SearchScope -Server."}},
		"parameter of a function": {"function Get-Thing { [CmdletBinding()] param([string]$Name) $Name }\nGet-Thing -Nam x; Get-Thing -Nme x", []string{
			"parameter s.ps1:2:29: Get-Thing has no parameter Nme (-Name?)"}},
		"value never taken": {"Get-ADUser -Filter * -SearchScope Everywhere", []string{
			"parameter s.ps1:1:35: Get-ADUser: Cannot bind parameter 'SearchScope'. Cannot convert value \"Everywhere\" to type \"ADSearchScope\". Error: \"Unable to match the identifier name Everywhere to a valid enumerator name. Specify one of the following enumerator names and try again:\r\nBase, OneLevel, Subtree\""}},
		"sets that exclude each other": {"Get-ADUser -Identity x -Filter *", []string{
			"set s.ps1:1:1: Get-ADUser: Parameter set cannot be resolved using the specified named parameters. One or more parameters issued cannot be used together or an insufficient number of parameters were provided."}},
		"missing mandatory": {"Rename-ADObject -Identity x", []string{
			"set s.ps1:1:1: Rename-ADObject: Cannot process command because of one or more missing mandatory parameters: NewName."}},
		"a splat may give what is missing": {"$p = @{ NewName = 'y' }\nRename-ADObject -Identity x @p", nil},
		"key of a splat": {"$p = @{ NewNme = 'y' }\n$p['Servr'] = 'dc1'\nRename-ADObject -Identity x @p", []string{
			"parameter s.ps1:1:9: Rename-ADObject has no parameter NewNme (NewName?)",
			"parameter s.ps1:2:4: Rename-ADObject has no parameter Servr (Server?)"}},
		"pipeline input nobody takes": {"1 | Get-ADRootDSE", []string{"parameter s.ps1:1:5: Get-ADRootDSE takes no pipeline input"}},
		"unknown types": {"$a = [No.Such]'x'\n[string[]]$b = $a\n$null = New-Object -TypeName 'No.Such2' -ArgumentList $b\ntry { 1 } catch [No.Such3] { 2 }", []string{
			"type s.ps1:1:6: unknown type [No.Such]",
			"type s.ps1:3:30: unknown type [No.Such2]",
			"type s.ps1:4:17: unknown type [No.Such3]"}},
		"unknown attribute": {"function Get-Thing { param([NoSuch()]$a) $a }", []string{"type s.ps1:1:1: Outside the script subset: the type [NoSuch]."}},
		"variable never assigned": {"$name = 'x'\n\"$nmae\"\nfunction Get-Thing { $name; $other }", []string{
			"variable s.ps1:2:2: the variable $nmae is never assigned ($name?)",
			"variable s.ps1:3:29: the variable $other is never assigned"}},
		"variables of all kinds": {`param($p)
$a, [int]$b = 1, 2
foreach ($c in 1..2) { $c }
for ($i = 0; $i -lt 3; $i++) { $i }
Get-ADUser -Filter * -ErrorVariable bad -OutVariable +out
Set-Variable -Name made -Value 1
$script:state = 1
function Get-Thing { param($x) $y = $x; $y; $script:state; $a; $_; $PSBoundParameters; $args; $Error; $Matches }
$p; $a; $b; $bad; $out; $made; $env:PATH; $true; $PSCmdlet; $ErrorActionPreference; $LASTEXITCODE`, nil},
		"exception types caught before": {"try { 1 } catch [Exception] { 2 } catch [System.ArgumentException], [No.Such] { 3 } catch { 4 }\ntry { 1 } catch [FormatException] { 2 } catch [System.Exception] { 3 } catch [System.FormatException] { 4 }", []string{
			"type s.ps1:1:41: The exception type System.ArgumentException is already handled by a previous handler.",
			"type s.ps1:1:69: unknown type [No.Such]",
			"type s.ps1:2:78: The exception type System.FormatException is already handled by a previous handler."}},
		"all at once": {"Get-Nothing\n$x = [Nope]1\nGet-ADUser -Nope 1\n$y", []string{
			"command s.ps1:1:1: unknown command Get-Nothing",
			"type s.ps1:2:6: unknown type [Nope]",
			"parameter s.ps1:3:12: Get-ADUser has no parameter Nope",
			"variable s.ps1:4:1: the variable $y is never assigned ($x?)"}},
		"syntax": {"if ($true) {", []string{"syntax s.ps1:1:12: Missing closing '}' in statement block or type definition."}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.want == nil {
				test.want = []string{}
			}
			assert.Equal(t, test.want, faultTexts(Check(Source{"s.ps1", test.script}, checkOptions())))
		})
	}
}

// TestCheckPrototype finds nothing in scripts that ran on a real engine.
func TestCheckPrototype(t *testing.T) {
	read := func(name string) Source {
		text, err := os.ReadFile("testdata/prototype/" + name)
		require.NoError(t, err)
		return Source{name, string(text)}
	}
	o := checkOptions()
	assert.Empty(t, Check(read("prelude.ps1"), o))
	assert.Empty(t, Check(read("UserParameters.ps1"), o))
	o.Prelude = []Source{read("prelude.ps1")}
	assert.Empty(t, Check(read("Get-UserDetails.ps1"), o))
	assert.Empty(t, Check(read("New-User.ps1"), o))
}

func BenchmarkCheckPrelude(b *testing.B) {
	source := Source{"prelude.ps1", prelude(b)}
	o := checkOptions()
	b.ReportAllocs()
	for b.Loop() {
		Check(source, o)
	}
}

// TestCaughtBefore refuses a text in which a catch clause can never run, as the
// parser of PowerShell does.
func TestCaughtBefore(t *testing.T) {
	s := NewEngine(Options{}).NewSession(Console{})
	for text, ok := range map[string]bool{
		"try { 1 } catch [Exception] { 2 } catch [ArgumentException] { 3 }":                       false,
		"function Get-It { & { try { 1 } catch [Exception] { 2 } catch [exception] { 3 } } }":     false,
		"try { 1 } catch [ArgumentException], [FormatException] { 2 } catch [FormatException] {}": false,
		"try { 1 } catch [ArgumentException] { 2 } catch [Exception] { 3 } catch { 4 }":           true,
		"try { 1 } catch [No.Such] { 2 } catch [No.Such] { 3 }":                                   true,
	} {
		err := s.Run(t.Context(), "", text, Streams{})
		if ok {
			require.NoError(t, err, text)
			continue
		}
		var parse *ParseError
		require.ErrorAs(t, err, &parse, text)
		assert.Equal(t, "ExceptionTypeAlreadyCaught", parse.Errors[0].ID)
		assert.False(t, parse.Incomplete())
	}
}
