package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/ps"
	"adgateway/ps/syntax"
	"adgateway/scripts"
)

var target = grantTarget{Account: `CORP\adgateway-rights`, Domain: "DC=corp,DC=example",
	OUs: []string{"OU=A,DC=corp,DC=example", "OU=B,DC=corp,DC=example"}, Zones: []string{"corp.example"}}

func TestEveryScopeHasItsRights(t *testing.T) {
	// these need no rights, or must get none
	without := []identity.Scope{identity.ChangeRead, identity.ChangeUndo, identity.JobRead, identity.JobSubmit,
		identity.OpsRead, identity.Privileged, identity.All}
	for _, scope := range identity.Scopes() {
		assert.Equal(t, !slices.Contains(without, scope), slices.Contains(grantScopes(), string(scope)), scope)
	}
	assert.Len(t, grantScopes(), len(identity.Scopes())-len(without))
	for _, g := range grants {
		for _, text := range append(slices.Clone(g.Scopes), g.Rights...) {
			assert.NotContains(t, text, "'")
		}
	}
}

func TestLines(t *testing.T) {
	lines, err := grantLines([]string{"member:write"}, target)
	require.NoError(t, err)
	var want []grantLine
	rights := []string{"RPWP;member;group", "RPWP;primaryGroupID;user", "RPWP;primaryGroupID;computer"}
	for _, right := range rights {
		for _, ou := range target.OUs {
			want = append(want, grantLine{
				[]string{"member:write"}, ou, right,
				`dsacls "` + ou + `" /I:S /G "CORP\adgateway-rights:` + right + `"`,
				`dsacls "` + ou + `" /R "CORP\adgateway-rights"`,
			})
		}
	}
	assert.Equal(t, want, lines)
	lines, err = grantLines([]string{"user:password"}, target)
	require.NoError(t, err)
	for _, line := range lines {
		assert.NotContains(t, line.Right, "CCDC", "nobody needs to create for a password")
	}
	lines, err = grantLines(grantScopes(), target)
	require.NoError(t, err)
	var all []string
	for _, line := range lines {
		all = append(all, line.Grant)
	}
	for _, want := range []string{
		`dsacls "CN=MicrosoftDNS,CN=System,DC=corp,DC=example" /G "CORP\adgateway-rights:GR"`,
		`dsacls "DC=corp.example,CN=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example" /I:T /G "CORP\adgateway-rights:CCDC;dnsNode"`,
		`dsacls "CN=Deleted Objects,DC=corp,DC=example" /takeownership`,
		`Add-ADGroupMember -Identity 'DnsAdmins' -Members 'adgateway-rights'`,
	} {
		assert.Contains(t, all, want)
	}
	_, err = grantLines([]string{"user:raed", "ops:read"}, target)
	assert.ErrorContains(t, err, "no rights belong to user:raed, ops:read")
}

// The script passes the script check, is ASCII, which every PowerShell since 5.1 reads correctly, and
// contains the whole table.
func TestScript(t *testing.T) {
	text := grantScript()
	for _, r := range text {
		require.Less(t, r, rune(0x80), "ASCII, whatever code page reads it")
	}
	assert.Equal(t, strings.Count(text, "\n"), strings.Count(text, "\r\n"))
	assert.Equal(t, len(grants), strings.Count(text, "@{ Scopes = "))
	options := scripts.CheckOptions{
		Types:   []string{"PSCustomObject", "Microsoft.ActiveDirectory.Management.ADIdentityNotFoundException"},
		Prelude: []ps.Source{{Name: "automatic", Text: "$LASTEXITCODE = 0"}},
		Commands: []string{"dsacls.exe", "Get-KdsRootKey", "Add-KdsRootKey", "New-NetFirewallRule",
			"Remove-NetFirewallRule", "Get-NetFirewallRule"},
	}
	assert.Empty(t, scripts.Check(ps.Source{Name: "script.ps1", Text: text}, options))
}

// Every command that changes something is in the action of a step, and a step asks for confirmation first.
func TestEveryChangeAsksFirst(t *testing.T) {
	parsed, faults := syntax.Parse("script.ps1", strings.ReplaceAll(grantScript(), "\r\n", "\n"))
	require.Empty(t, faults)
	assert.Empty(t, changesOutsideSteps(parsed))
	asks := "if ($caller.ShouldProcess($Target + ': ' + $Change)) {\r\n        $null = & $Action\r\n"
	assert.Contains(t, grantScript(), asks)
	parsed, _ = syntax.Parse("unasked.ps1", "New-ADGroup -Name 'x'\nif ($true) { dsacls.exe 'x' }")
	assert.Equal(t, []string{"New-ADGroup", "dsacls.exe"}, changesOutsideSteps(parsed), "the test sees them")
}

// changesOutsideSteps returns the commands that change something outside of an Invoke-Step action.
func changesOutsideSteps(script *syntax.Script) (found []string) {
	own := []string{"Set-Right", "Set-Group", "Add-Right", "Remove-Right"} // they consist of steps themselves
	syntax.Walk(script, func(n syntax.Node) bool {
		command, ok := n.(*syntax.Command)
		if !ok {
			return true
		}
		name, ok := command.Name.(*syntax.String)
		if !ok {
			return true
		}
		if name.Value == "Invoke-Step" || name.Value == "Remove-Made" { // which turns its action into a step
			return false
		}
		verb, _, _ := strings.Cut(name.Value, "-")
		if slices.Contains([]string{"Add", "New", "Remove", "Set", "Install", "Uninstall", "dsacls.exe"}, verb) &&
			!slices.Contains(own, name.Value) {
			found = append(found, name.Value)
		}
		return true
	})
	return found
}

// Every attribute that the scripts write is granted.
func TestEveryWrittenAttributeIsGranted(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "scripts", "ad", "prelude.users.ps1"))
	require.NoError(t, err)
	_, list, ok := strings.Cut(string(script), "$GatewayUserWritten = @(")
	require.True(t, ok)
	list, _, _ = strings.Cut(list, ")")
	written := regexp.MustCompile(`'([^']+)'`).FindAllStringSubmatch(list, -1)
	require.Greater(t, len(written), 20)
	lines, err := grantLines([]string{"user:write"}, target)
	require.NoError(t, err)
	var granted []string
	for _, line := range lines {
		granted = append(granted, line.Right)
	}
	for _, attribute := range append(written, []string{"", "userParameters"},
		[]string{"", "userPrincipalName"}) {
		assert.Contains(t, granted, "RPWP;"+attribute[1]+";user")
	}
}

// The syntax of a right is BITS[;object or property[;inherited by]].
func TestRightsHaveTheSyntaxOfDsacls(t *testing.T) {
	for _, g := range grants {
		assert.Contains(t, []string{"", "/I:T", "/I:S"}, g.Inherit)
		for _, right := range g.Rights {
			if g.On != onGroup {
				assert.Regexp(t, `^(GR|GW|CC|DC|RP|WP|CA|SD|DT|RC|WD|LC)+(;[a-zA-Z0-9 -]*(;(user|group|computer|organizationalUnit|msFVE-RecoveryInformation))?)?$`, right)
			}
		}
	}
}
