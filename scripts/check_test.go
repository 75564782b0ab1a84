package scripts

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"adgateway/ps"
	"adgateway/ps/sandbox/proxies"
	"adgateway/ps/syntax"
	"adgateway/test/conformance"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		script string
		want   []string
	}{
		"nothing wrong": {"[CmdletBinding()]\nparam([string]$Name)\n$user = Get-ADUser -Identity $Name -Properties 'mail'\n$user.mail", nil},
		"syntax":        {"if ($true) {", []string{"s.ps1:1:12: Missing closing '}' in statement block or type definition."}},
		"outside the subset": {"$x = $y ? 1 : 2", []string{
			"s.ps1:1:9: Outside the script subset: the operator ?."}},
		"unknown command":               {"Get-AdUsr -Identity x\nGet-ADUser -Identity x", []string{"s.ps1:1:1: unknown command Get-AdUsr (Get-ADUser?)"}},
		"unknown command, nothing near": {"Frobnicate -Identity x", []string{"s.ps1:1:1: unknown command Frobnicate"}},
		"command of a module":           {"Microsoft.PowerShell.Utility\\New-Object -TypeName 'guid'", nil},
		"alias":                         {"1, 2 | % { $_ }", []string{"s.ps1:1:8: % is an alias: write ForEach-Object"}},
		"function hidden by an alias": {"function rd { [CmdletBinding()] param() 1 }", []string{
			"s.ps1:1:1: the function rd would never be called: the alias of Remove-Item takes precedence"}},
		"unknown parameter": {"Get-ADUser -Identity x -Propertis mail", []string{"s.ps1:1:24: Get-ADUser has no parameter -Propertis (-Properties?)"}},
		"unknown parameter of a function": {"function Get-Thing { [CmdletBinding()] param([string]$Name) $Name }\nGet-Thing -Nme x", []string{
			"s.ps1:2:11: Get-Thing has no parameter -Nme (-Name?)"}},
		"unknown parameter of a built-in command": {"ConvertTo-Json -InputObject 1 -AsArray", []string{"s.ps1:1:31: ConvertTo-Json has no parameter -AsArray"}},
		"ambiguous parameter":                     {"Get-ADUser -Identity x -S dc1", []string{"s.ps1:1:24: Get-ADUser: -S is ambiguous: -SearchBase, -SearchScope, -Server"}},
		"shortened parameter":                     {"Get-ADUser -Ident x", []string{"s.ps1:1:12: Get-ADUser: -Ident is not written in full (-Identity?)"}},
		"doubled parameter":                       {"Get-ADUser -Identity x -Identity y", []string{"s.ps1:1:24: Get-ADUser is given -Identity twice"}},
		"doubled by a splat": {"$p = @{ Identity = 'x' }\nGet-ADUser @p -Identity y", []string{
			"s.ps1:2:15: Get-ADUser is given -Identity twice"}},
		"parameter without a value": {"Get-ADUser -Identity", []string{"s.ps1:1:12: Get-ADUser: -Identity has no value"}},
		"argument without a name":   {"Get-ADUser x", []string{"s.ps1:1:12: Get-ADUser has an argument without a parameter name"}},
		"key of a splat": {"$p = @{ NewNme = 'y' }\n$p['Servr'] = 'dc1'\nRename-ADObject -Identity x @p", []string{
			"s.ps1:1:9: Rename-ADObject has no parameter -NewNme (-NewName?)",
			"s.ps1:2:1: Rename-ADObject has no parameter -Servr (-Server?)"}},
		"no parameter set": {"Get-ADUser -Identity x -Filter *", []string{"s.ps1:1:1: no parameter set of Get-ADUser has all of -Identity -Filter"}},
		"no parameter set of a function": {
			"function Get-Thing { [CmdletBinding()] param([Parameter(ParameterSetName = 'A')]$A, [Parameter(ParameterSetName = 'B')]$B) $A; $B }\nGet-Thing -A 1 -B 2",
			[]string{"s.ps1:2:1: no parameter set of Get-Thing has all of -A -B"}},
		"missing mandatory":             {"Rename-ADObject -Identity x", []string{"s.ps1:1:1: Rename-ADObject lacks the mandatory -NewName"}},
		"a splat gives what is missing": {"$p = @{ NewName = 'y' }\nRename-ADObject -Identity x @p", nil},
		"bound parameters passed on":    {"function Get-Thing { [CmdletBinding()] param($NewName, $Identity) Rename-ADObject @PSBoundParameters }\nGet-Thing -NewName 1 -Identity 2", nil},
		"value outside an enumeration": {"Get-ADUser -Filter * -SearchScope Subtre", []string{
			"s.ps1:1:22: Get-ADUser: -SearchScope cannot be 'Subtre' (Subtree?)"}},
		"value outside a set": {"function Get-Thing { [CmdletBinding()] param([ValidateSet('one', 'two')]$Name) $Name }\nGet-Thing -Name 'on'", []string{
			"s.ps1:2:11: Get-Thing: -Name cannot be 'on' (one?)"}},
		"value outside an enumeration of .NET": {"function Get-Thing { [CmdletBinding()] param([DateTimeKind]$Kind) $Kind }\nGet-Thing -Kind 'Utcc'", []string{
			"s.ps1:2:11: Get-Thing: -Kind cannot be 'Utcc' (Utc?)"}},
		"value of an array outside a set": {"New-ADServiceAccount -Name x -DNSHostName y -KerberosEncryptionType 'AES128', 'AES257'", []string{
			"s.ps1:1:45: New-ADServiceAccount: -KerberosEncryptionType cannot be 'AES257' (AES256?)"}},
		"value outside a preference": {"Get-ADUser -Identity x -ErrorAction Silent", []string{"s.ps1:1:24: Get-ADUser: -ErrorAction cannot be 'Silent'"}},
		"text for a number":          {"ConvertTo-Json -InputObject 1 -Depth 'deep'", []string{"s.ps1:1:31: ConvertTo-Json: -Depth takes a whole number, not 'deep'"}},
		"text for a truth value":     {"Set-ADUser -Identity x -Enabled 'yes'", []string{"s.ps1:1:24: Set-ADUser: -Enabled takes $true or $false, not 'yes'"}},
		"pipeline into a cmdlet": {"1 | Get-ADUser", []string{
			"s.ps1:1:5: Get-ADUser takes its input from a pipeline; give it an identity by name (facts G7)",
			"s.ps1:1:5: Get-ADUser lacks the mandatory -Filter"}},
		"pipeline into a function": {"function Get-Thing { [CmdletBinding()] param($Name) $Name }\n1 | Get-Thing", []string{"s.ps1:2:5: Get-Thing takes no pipeline input"}},
		"unknown types": {"$a = [No.Such]'x'\n$b = [strng[]]$a\n$null = New-Object -TypeName 'System.Giud'\n$b -is [No.Such3]", []string{
			"s.ps1:1:6: unknown type [No.Such]",
			"s.ps1:2:6: unknown type [strng[]] ([string]?)",
			"s.ps1:3:30: unknown type [System.Giud] ([System.Guid]?)",
			"s.ps1:4:8: unknown type [No.Such3]"}},
		"type arguments": {"[Collections.Generic.List[strng]]::new()\n[Collections.Generic.List]::new()\n[int[string]]1", []string{
			"s.ps1:1:27: unknown type [strng] ([string]?)",
			"s.ps1:2:1: the type [Collections.Generic.List] takes 1 type argument(s), not 0",
			"s.ps1:3:1: the type [int] takes 0 type argument(s), not 1"}},
		"unknown static member":        {"[StringComparison]::Ordinall", []string{"s.ps1:1:21: [StringComparison] has no static member Ordinall (Ordinal?)"}},
		"unknown static method":        {"[Convert]::ToBase46String($null)", []string{"s.ps1:1:12: [Convert] has no static member ToBase46String (ToBase64String?)"}},
		"arguments of a static method": {"[Convert]::FromBase64String('a', 'b')", []string{"s.ps1:1:12: [Convert]::FromBase64String takes 1 argument(s), not 2"}},
		"static method not called":     {"[Convert]::FromBase64String", []string{"s.ps1:1:12: [Convert]::FromBase64String is a method: call it"}},
		"static property called":       {"[StringComparison]::Ordinal()", []string{"s.ps1:1:21: [StringComparison]::Ordinal is not a method"}},
		"unknown method":               {"'x'.ToUperInvariant()", []string{"s.ps1:1:5: no type has a method ToUperInvariant (ToUpperInvariant?)"}},
		"arguments of a method":        {"'x'.ToUpperInvariant(1)", []string{"s.ps1:1:5: the method ToUpperInvariant takes 0 argument(s), not 1"}},
		"a property is not a method":   {"'x'.Length()", []string{"s.ps1:1:5: no type has a method Length"}},
		"unknown attribute":            {"param([AllowNul()]$a)\n$a", []string{"s.ps1:1:7: unknown attribute [AllowNul] (AllowNull?)"}},
		"argument of an attribute":     {"param([Parameter(Mandatry)]$a)\n$a", []string{"s.ps1:1:18: [Parameter] has no argument Mandatry (Mandatory?)"}},
		"variable never assigned": {"$name = 'x'\n\"$nmae\"\nfunction Get-Thing { $name; $other }", []string{
			"s.ps1:2:2: the variable $nmae is never assigned ($name?)",
			"s.ps1:3:29: the variable $other is never assigned"}},
		"variable of another function": {"function Get-One { $thing = 1; $thing }\nfunction Get-Two { $thing }", []string{
			"s.ps1:2:20: the variable $thing is never assigned"}},
		"counted before it is assigned": {"$rounds += 1; $seen++", nil},
		"variables of all kinds": {`param($p)
$a = 1
$b = 2
foreach ($c in 1, 2) { $c }
for ($i = 0; $i -lt 3; $i++) { $i }
Get-ADUser -Filter * -ErrorVariable bad -OutVariable +out
$script:state = 1
function Get-Thing { param($x) $y = $x; $y; $script:state; $a; $_; $PSBoundParameters; $Error; $kept }
function Set-Thing { $script:kept = 1; & { param($z) $z } 1 }
$p; $a; $b; $bad; $out; $env:PATH; $true; $PSCmdlet; $ErrorActionPreference; $PRELUDE`, nil},
		"all at once": {"Get-Nothing\n$x = [Nope]1\nGet-ADUser -Nope 1\n$y", []string{
			"s.ps1:1:1: unknown command Get-Nothing",
			"s.ps1:2:6: unknown type [Nope] ([type]?)",
			"s.ps1:3:12: Get-ADUser has no parameter -Nope",
			"s.ps1:4:1: the variable $y is never assigned ($x?)"}},
	}
	prelude := []ps.Source{{Name: "prelude.ps1", Text: "$Prelude = 1"}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, fault := range Check(ps.Source{Name: "s.ps1", Text: test.script}, CheckOptions{Prelude: prelude}) {
				got = append(got, fault.Error())
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestCheckOptions(t *testing.T) {
	script := ps.Source{Name: "s.ps1", Text: "[My.Kit]::Make(1)\n$x = [My.Kit](robocopy $home /mir)\nrobocpy $x"}
	o := CheckOptions{Commands: []string{"robocopy"}, Types: []string{"My.Kit"},
		Prelude: []ps.Source{{Text: "$home = 1"}}}
	faults := Check(script, o)
	require.Len(t, faults, 1)
	assert.Equal(t, "s.ps1:3:1: unknown command robocpy (robocopy?)", faults[0].Error())
	assert.Len(t, Check(script, CheckOptions{}), 5)
}

// TestCheckDescribedScripts: Describe reports the faults that Check finds.
func TestCheckDescribedScripts(t *testing.T) {
	l := newLibrary(CheckOptions{})
	l.addPrelude("prelude.ps1", "$Limit = 1\nfunction Get-Thing { [CmdletBinding()] "+
		"param([Parameter(Mandatory)] [string] $Name) $Name; $Limit }\nGet-Thin -Name x\n")
	l.add("ad/Get-GatewayOne.ps1", "Get-Thing -Nam x\n$Limit")
	l.add("ad/Get-GatewayTwo.ps1", "param(")
	l.link()
	require.EqualError(t, joinFaults(l.faults()), `ad/Get-GatewayOne.ps1:1:1: the script has no param block
ad/Get-GatewayOne.ps1:1:11: Get-Thing: -Nam is not written in full (-Name?)
ad/Get-GatewayTwo.ps1:1:7: Missing ')' in function parameter list.
prelude.ps1:3:1: unknown command Get-Thin (Get-Thing?)`)
	require.NoError(t, joinFaults(nil))
}

// TestDeclarationsAreUpToDate: all scripts and the doctor's survey pass the check, and the embedded
// declarations are theirs. -update rewrites the declarations.
func TestDeclarationsAreUpToDate(t *testing.T) {
	if *update {
		text, err := computeDeclarations()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile("declarations.json", text, 0o644))
		return
	}
	assert.NoError(t, Verify())
}

// kitTypes are the types of sandbox.cs that the modules of the proxies use.
var kitTypes = []string{"AdGateway.Sandbox.Kit", "AdGateway.Sandbox.Link", "AdGateway.Sandbox.DirectoryEntry"}

// TestCheckProxies: the modules that replace the Windows modules in a real PowerShell pass the check.
func TestCheckProxies(t *testing.T) {
	modules, err := proxies.Modules(DescribeDoctor())
	require.NoError(t, err)
	require.Len(t, modules, 4)
	for _, module := range modules {
		text := module.Text() // the text that precedes the module in Script only compiles the types
		types := append([]string{}, kitTypes...)
		for _, match := range regexp.MustCompile(`\[(Microsoft\.[A-Za-z.]+)(?:\[\])?\] \$`).FindAllStringSubmatch(text, -1) {
			types = append(types, match[1]) // declared in C#, as sandbox.cs is
		}
		assert.Empty(t, Check(ps.Source{Name: module.Name + ".psm1", Text: text}, CheckOptions{Types: types}))
	}
}

func FuzzCheck(f *testing.F) {
	var recorded struct{ Cases []struct{ Source string } }
	require.NoError(f, conformance.Read("language", &recorded))
	for _, c := range recorded.Cases {
		f.Add(c.Source)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		for _, fault := range Check(ps.Source{Name: "f.ps1", Text: text},
			CheckOptions{Prelude: []ps.Source{{Text: text}}}) {
			if fault.Message == "" || fault.Pos.Line < 1 || !strings.HasPrefix(fault.Error(), "f.ps1:") {
				t.Fatalf("a fault without message or place: %+v", fault)
			}
		}
	})
}

// TestBuiltinsParse: every row of the table of built-in commands can be parsed.
func TestBuiltinsParse(t *testing.T) {
	for name, c := range builtins() {
		assert.NotEmpty(t, c.Params, name)
		for _, p := range c.Params {
			_, errs := syntax.Parse("",
				"["+strings.TrimSuffix(strings.Replace(p.Type, "SwitchParameter", "switch", 1), "[]")+"]")
			assert.Empty(t, errs, "%s -%s", name, p.Name)
		}
	}
}
