package adcmd

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

const gone = `$guid = [string](Get-ADUser alice).ObjectGUID; Remove-ADUser alice -Confirm:$false; `

func TestRecycleBin(t *testing.T) {
	service := services + "DC=corp,DC=example"
	for name, c := range map[string]struct{ script, want string }{
		"the feature (R1)":   {`$f = Get-ADOptionalFeature -Identity 'Recycle Bin Feature'; $f.EnabledScopes.Count -gt 0; [string]$f.FeatureGUID; $f.IsDisableable`, "True\n766ddcd8-acd0-445e-f3b9-a7f9b6744f2a\nFalse"},
		"by its GUID":        {`(Get-ADOptionalFeature -Identity '766ddcd8-acd0-445e-f3b9-a7f9b6744f2a').Name`, "Recycle Bin Feature"},
		"lifetimes (R2)":     {`$s = Get-ADObject -Identity '` + service + `' -Properties tombstoneLifetime, msDS-DeletedObjectLifetime; $s.tombstoneLifetime; $s.PSObject.Properties.Name -contains 'msDS-DeletedObjectLifetime'`, "180\nTrue"},
		"one deleted object": {gone + `$o = Get-ADObject -Identity $guid -IncludeDeletedObjects -Properties *; $o.Deleted; $o.LastKnownParent; foreach ($p in $o.PSObject.Properties) { if ($p.Name -eq 'msDS-LastKnownRDN') { $p.Value } }; $o.memberOf.Count; $o.sAMAccountName`, "True\n" + staff + "\nalice\n1\nalice"},
		"a list": {gone + `$base = (Get-ADDomain).DeletedObjectsContainer
			@(Get-ADObject -LDAPFilter '(&(isDeleted=TRUE)(objectClass=user))' -IncludeDeletedObjects -SearchBase $base -SearchScope OneLevel -Properties 'msDS-LastKnownRDN').Length`, "1"},
		"children of a parent (R10)": {`$ou = Get-ADOrganizationalUnit '` + sales + `'; Remove-ADOrganizationalUnit '` + sales + `' -Recursive -Confirm:$false
			$o = Get-ADObject -Identity ([string]$ou.ObjectGUID) -IncludeDeletedObjects
			(Get-ADObject -LDAPFilter ('(lastKnownParent=' + ([string]$o.DistinguishedName).Replace('\', '\5c') + ')') -IncludeDeletedObjects -Properties sAMAccountName).sAMAccountName`, "bob"},
		"restored":                  {gone + `Restore-ADObject -Identity $guid -Confirm:$false; $u = Get-ADUser alice -Properties MemberOf, Manager; [string]$u.ObjectGUID -eq $guid; $u.MemberOf.Count; $u.Manager`, "True\n1\nCN=Boss," + staff},
		"restored elsewhere (R7)":   {gone + `(Restore-ADObject -Identity $guid -NewName 'New name' -TargetPath '` + sales + `' -PassThru).DistinguishedName; (Get-ADUser alice).Name`, "CN=New name," + sales + "\nNew name"},
		"not without the parameter": {gone + `@(Get-ADObject -LDAPFilter '(sAMAccountName=alice)').Length`, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, newLab(t, "").run(c.script))
		})
	}
	notFound := wantError{cmdletID + namespace + "ADIdentityNotFoundException", "ADIdentityNotFoundException",
		dotnet.ObjectNotFound}
	code := func(code string) wantError {
		return wantError{"ActiveDirectoryServer:" + code, "ADException", dotnet.NotSpecified}
	}
	for name, c := range map[string]struct {
		script, command string
		want            wantError
	}{
		"a live object (R8)":        {`Restore-ADObject -Identity '` + alice + `' -Confirm:$false`, "Restore-ADObject", code("8310")},
		"none":                      {`Restore-ADObject -Identity '4f2a5c7e-0d13-4c86-9be1-52a7f3d0c919' -Confirm:$false`, "Restore-ADObject", notFound},
		"parent gone (R8)":          {gone + `Restore-ADObject -Identity $guid -TargetPath 'OU=None,DC=corp,DC=example' -Confirm:$false`, "Restore-ADObject", code("8329")},
		"name taken (R8)":           {gone + `New-ADObject -Type contact -Name alice -Path '` + staff + `'; Restore-ADObject -Identity $guid -Confirm:$false`, "Restore-ADObject", code("8305")},
		"account taken (R8)":        {gone + `New-ADUser alice; Restore-ADObject -Identity $guid -Confirm:$false`, "Restore-ADObject", wantError{"ActiveDirectoryServer:1316", "ADIdentityAlreadyExistsException", dotnet.ResourceExists}},
		"not without the parameter": {gone + `Get-ADObject -Identity $guid`, "Get-ADObject", notFound},
		"another feature":           {`Get-ADOptionalFeature -Identity 'Privileged Access Management Feature'`, "Get-ADOptionalFeature", notFound},
	} {
		t.Run(name, func(t *testing.T) {
			assertError(t, c.want, c.command, newLab(t, "").fails(c.script))
		})
	}
}

// Without the bin the feature has no scope, and a deleted object keeps almost nothing.
func TestRecycleBinOff(t *testing.T) {
	d, err := newDomain(directory.Options{Seed: 1})
	assert.NoError(t, err)
	dc, err := d.DC("")
	assert.NoError(t, err)
	l := &lab{t: t, domain: d, dc: dc}
	l.fill()
	l.connect(Options{Domain: d})
	assert.Equal(t, "0", l.run(`(Get-ADOptionalFeature -Identity 'Recycle Bin Feature').EnabledScopes.Count`))
	assert.Equal(t, "True\nTrue", l.run(gone+`$o = Get-ADObject -Identity $guid -IncludeDeletedObjects -Properties *; $o.isRecycled; -not ($o.PSObject.Properties.Name -contains 'msDS-LastKnownRDN')`))
}
