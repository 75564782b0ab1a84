package adcmd

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/engine/dotnet"
)

// DNs of the lab.
const (
	staff = "OU=Staff,DC=corp,DC=example"
	sales = "OU=Sales,OU=Staff,DC=corp,DC=example"
	alice = "CN=alice,OU=Staff,DC=corp,DC=example"
)

func TestReading(t *testing.T) {
	l := newLab(t, "")
	for name, c := range map[string]struct{ script, want string }{
		"by SAM":               {`(Get-ADUser -Identity ALICE).DistinguishedName`, alice},
		"by DN":                {`(Get-ADUser -Identity 'cn=Alice, ou=staff,dc=CORP,dc=example').SamAccountName`, "alice"},
		"by GUID":              {`$g = (Get-ADUser alice).ObjectGUID; (Get-ADUser -Identity $g).Name; (Get-ADUser -Identity ([string]$g)).Name`, "alice\nalice"},
		"by SID":               {`$s = (Get-ADUser alice).SID; (Get-ADUser -Identity $s).Name; (Get-ADUser -Identity $s.Value).Name`, "alice\nalice"},
		"by object":            {`$u = Get-ADUser alice; (Get-ADUser -Identity $u -Properties mail).mail`, "alice@corp.example"},
		"computer without $":   {`(Get-ADComputer PC1).SamAccountName; (Get-ADComputer 'pc1$').SamAccountName`, "PC1$\nPC1$"},
		"group":                {`$g = Get-ADGroup Readers; [string]$g.GroupScope; [string]$g.GroupCategory`, "Global\nSecurity"},
		"OU by DN":             {`(Get-ADOrganizationalUnit -Identity '` + sales + `').Name`, "Sales"},
		"object by DN":         {`(Get-ADObject -Identity '` + alice + `').ObjectClass`, "user"},
		"its text is the DN":   {`[string](Get-ADUser alice); "$(Get-ADGroup Readers)"`, alice + "\nCN=Readers," + staff},
		"not asked for":        {`$null -eq (Get-ADUser alice).mail; $null -eq (Get-ADUser alice -Properties mail).info`, "True\nTrue"},
		"asked for and absent": {`$u = Get-ADUser bob -Properties mail; $null -eq $u.mail`, "True"},
		"friendly and LDAP names": {
			`$u = Get-ADUser alice -Properties EmailAddress, mail, City, l; $u.EmailAddress; $u.mail; $u.City; $u.l`,
			"alice@corp.example\nalice@corp.example\nKöln\nKöln",
		},
		"by alias":              {`(Get-ADUser alice -Property displayName).DisplayName`, "Alice O'Brien"},
		"manager":               {`(Get-ADUser alice -Properties Manager).Manager`, "CN=Boss," + staff},
		"collections":           {`$u = Get-ADUser alice -Properties MemberOf, otherMobile; $u.MemberOf.Count; $u.MemberOf[0]; $u.otherMobile.Count`, "1\nCN=Readers," + staff + "\n2"},
		"an empty collection":   {`(Get-ADUser bob -Properties MemberOf).MemberOf.Count`, "0"},
		"account bits":          {`$u = Get-ADUser alice -Properties PasswordNeverExpires, LockedOut, PasswordExpired; $u.Enabled; $u.PasswordNeverExpires; $u.LockedOut`, "False\nFalse\nFalse"},
		"dates are local":       {`$d = (Get-ADUser alice -Properties whenCreated).whenCreated; [string]$d.Kind; $d.ToString('yyyy-MM-dd HH:mm', [cultureinfo]::InvariantCulture)`, "Local\n2026-03-01 12:00"},
		"PasswordLastSet":       {`$null -eq (Get-ADUser bob -Properties PasswordLastSet).PasswordLastSet; (Get-ADUser alice -Properties PasswordLastSet).PasswordLastSet.ToString('yyyy-MM', [cultureinfo]::InvariantCulture)`, "True\n2026-03"},
		"AccountExpirationDate": {`$null -eq (Get-ADUser bob -Properties AccountExpirationDate).AccountExpirationDate`, "True"},
		"primary group":         {`(Get-ADUser bob -Properties PrimaryGroup).PrimaryGroup`, "CN=Domain Users,CN=Users,DC=corp,DC=example"},
		"types": {
			`(Get-ADUser alice).GetType().FullName; (Get-ADUser alice).ObjectGUID.GetType().Name; (Get-ADUser alice).SID.GetType().Name; (Get-ADComputer PC1).GetType().Name`,
			namespace + "ADUser\nGuid\nSecurityIdentifier\nADComputer",
		},
		"SIDs": {
			`$s = (Get-ADUser alice).SID; $s.Equals((Get-ADUser alice -Properties objectSid).objectSid); $s.Value.StartsWith((Get-ADDomain).DomainSID.Value, 'Ordinal')`,
			"True\nTrue",
		},
		"protection": {`(Get-ADOrganizationalUnit '` + sales + `' -Properties ProtectedFromAccidentalDeletion).ProtectedFromAccidentalDeletion`, "False"},

		"LDAP filter":            {`(Get-ADUser -LDAPFilter '(sn=O''Brien)').Name`, "alice"},
		"LDAP filter, bare":      {`(Get-ADUser -LDAPFilter 'sn=O''Brien').Name`, "alice"},
		"nothing found":          {`@(Get-ADUser -LDAPFilter '(sn=none)').Count`, "0"},
		"computers are no users": {`@(Get-ADUser -LDAPFilter '(sAMAccountName=PC1$)').Count`, "0"},
		"facts E51":              {`@(Get-ADComputer -LDAPFilter '(sAMAccountName=PC1)').Count`, "0"},
		"one level":              {`@(Get-ADUser -LDAPFilter '(sAMAccountName=*)' -SearchBase '` + staff + `' -SearchScope OneLevel).Count`, "2"},
		"subtree":                {`@(Get-ADUser -LDAPFilter '(sAMAccountName=*)' -SearchBase '` + staff + `').Count`, "3"},
		"base":                   {`@(Get-ADObject -LDAPFilter '(objectClass=*)' -SearchBase '` + staff + `' -SearchScope Base).Name`, "Staff"},
		"result size":            {`@(Get-ADUser -LDAPFilter '(sAMAccountName=*)' -SearchBase '` + staff + `' -ResultSetSize 2).Count`, "2"},
		"no limit":               {`@(Get-ADUser -LDAPFilter '(objectClass=user)' -SearchBase '` + staff + `' -ResultSetSize $null).Count`, "3"},
	} {
		t.Run(name, func(t *testing.T) {
			l.t = t
			assert.Equal(t, c.want, l.run(c.script))
		})
	}
}

func TestReadingFails(t *testing.T) {
	ac := "ActiveDirectoryCmdlet:"
	notFound := wantError{ac + namespace + "ADIdentityNotFoundException", "ADIdentityNotFoundException",
		dotnet.ObjectNotFound}
	argument := wantError{ac + "System.ArgumentException", "System.ArgumentException", dotnet.InvalidArgument}
	for name, c := range map[string]struct {
		script, command string
		want            wantError
	}{
		"absent":                      {`Get-ADUser nobody`, "Get-ADUser", notFound},
		"absent, whatever the action": {`Get-ADUser nobody -ErrorAction SilentlyContinue`, "Get-ADUser", notFound},
		"not by UPN (C16)":            {`Get-ADUser 'alice@corp.example'`, "Get-ADUser", notFound},
		"not by display name (C16)":   {`Get-ADUser "Alice O'Brien"`, "Get-ADUser", notFound},
		"no wildcards (C18)":          {`Get-ADUser 'ali*'`, "Get-ADUser", notFound},
		"another class":               {`Get-ADUser '` + staff + `'`, "Get-ADUser", notFound},
		"an object by its name":       {`Get-ADObject alice`, "Get-ADObject", notFound},
		"an OU by its name (C16)":     {`Get-ADOrganizationalUnit Sales`, "Get-ADOrganizationalUnit", notFound},
		"principals need the $ (E27)": {`Get-ADPrincipalGroupMembership PC1`, "Get-ADPrincipalGroupMembership", notFound},
		"an unknown property":         {`Get-ADUser alice -Properties mail, nonsense`, "Get-ADUser", argument},
		"a range (E24)":               {`Get-ADGroup Readers -Properties 'member;range=0-1'`, "Get-ADGroup", argument},
		"another class's property":    {`Get-ADObject -Identity '` + alice + `' -Properties EmailAddress`, "Get-ADObject", argument},
		"a bad LDAP filter": {
			`Get-ADUser -LDAPFilter '((sn=x)'`, "Get-ADUser",
			wantError{"ActiveDirectoryServer:8254", "ADException", dotnet.NotSpecified},
		},
		"an absent base": {
			`Get-ADUser -LDAPFilter '(sn=x)' -SearchBase 'OU=None,DC=corp,DC=example'`, "Get-ADUser",
			wantError{ac + namespace + "ADIdentityNotFoundException", "ADIdentityNotFoundException", dotnet.ObjectNotFound},
		},
		"an unknown server": {
			`Get-ADUser alice -Server dc9.corp.example`, "Get-ADUser",
			wantError{"ActiveDirectoryServer:0", "ADServerDownException", dotnet.ResourceUnavailable},
		},
		"an unsupported parameter": {
			`New-ADUser -Name x -CompoundIdentitySupported $true`, "New-ADUser",
			wantError{ac + "System.NotSupportedException", "System.NotSupportedException", dotnet.InvalidOperation},
		},
		"the filter language": {
			`Get-ADUser -Filter 'Name -eq "alice"'`, "Get-ADUser",
			wantError{ac + "System.NotSupportedException", "System.NotSupportedException", dotnet.InvalidOperation},
		},
		"another partition": {
			`Get-ADUser alice -Partition 'DC=other,DC=example'`, "Get-ADUser",
			wantError{ac + "System.NotSupportedException", "System.NotSupportedException", dotnet.InvalidOperation},
		},
		"size 0": {
			`Get-ADUser -LDAPFilter '(sn=x)' -ResultSetSize 0`, "Get-ADUser",
			wantError{"ParameterArgumentValidationError", "System.Management.Automation.ParameterBindingValidationException", dotnet.InvalidData},
		},
		"an empty identity": {
			`Get-ADUser -Identity ''`, "Get-ADUser",
			wantError{"ParameterArgumentValidationError", "System.Management.Automation.ParameterBindingValidationException", dotnet.InvalidData},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "")
			var rec *dotnet.ErrorRecord
			assert.Empty(t, l.changed(func() { rec = l.fails(c.script) }))
			assertError(t, c.want, c.command, rec)
		})
	}
}

// The binder rejects a name that is not part of the enumeration.
func TestEnumerationsConvert(t *testing.T) {
	rec := newLab(t, "").fails(`Get-ADUser -LDAPFilter '(sn=x)' -SearchScope Sideways`)
	assert.Equal(t, "CannotConvertArgumentNoMessage,Microsoft.ActiveDirectory.Management.Commands.GetADUser",
		rec.ErrorID)
	assert.Equal(t, dotnet.InvalidArgument, rec.Category)
}

// Facts D3: messages are in the culture of the host, ids are not.
func TestMessagesAreInTheCulture(t *testing.T) {
	for culture, want := range map[string][2]string{
		"en-US": {"Cannot find an object with identity: 'x' under: 'DC=corp,DC=example'.", "Directory object not found."},
		"de-DE": {"Es kann kein Objekt mit der ID \"x\" unter \"DC=corp,DC=example\" gefunden werden.", "Das Verzeichnisobjekt wurde nicht gefunden."},
	} {
		l := newLab(t, culture)
		assert.Equal(t, want[0], l.fails(`Get-ADUser x`).Exception.Message)
		rec := l.fails(`New-ADUser -Name x -Path 'OU=None,DC=corp,DC=example'`)
		assert.Equal(t, want[1], rec.Exception.Message)
		assert.Equal(t, cmdletID+namespace+
			"ADIdentityNotFoundException,Microsoft.ActiveDirectory.Management.Commands.NewADUser", rec.ErrorID)
	}
}

// Facts D5: errors have the properties that scripts read.
func TestErrorsCarryTheirCode(t *testing.T) {
	l := newLab(t, "")
	got := l.run(`try { New-ADUser -Name alice -SamAccountName alice } catch {
		$_.Exception.GetType().FullName; $_.Exception.ErrorCode; $_.FullyQualifiedErrorId
		[string]$_.CategoryInfo.Category; $_.Exception.ServerErrorMessage.Substring(0, 9)
	}`)
	assert.Equal(t, namespace+"ADIdentityAlreadyExistsException\n1316\n"+
		"ActiveDirectoryServer:1316,Microsoft.ActiveDirectory.Management.Commands.NewADUser\nResourceExists\n"+
		"00000524:", got)
	got = l.run(`try { Get-ADUser nobody } catch { $_.Exception -is [Microsoft.ActiveDirectory.Management.ADIdentityNotFoundException] }`)
	assert.Equal(t, "True", got)
	for script, typ := range map[string]string{
		`Get-ADUser nobody`: "Microsoft.ActiveDirectory.Management.ADIdentityResolutionException", // no ADException (facts D15)
		`Set-ADUser alice -ChangePasswordAtLogon $true -PasswordNeverExpires $true`:                               "System.ArgumentException",
		`Set-ADUser alice -Clear accountExpires`:                                                                  "Microsoft.ActiveDirectory.Management.ADInvalidOperationException",
		`New-ADOrganizationalUnit Sure; Remove-ADOrganizationalUnit 'OU=Sure,DC=corp,DC=example' -Confirm:$false`: "System.UnauthorizedAccessException",
	} {
		assert.Equal(t, "True", l.run(`try { `+script+` } catch { $_.Exception -is [`+typ+`] }`), script)
	}
}

// An error record contains its target.
func TestErrorsNameTheirTarget(t *testing.T) {
	l := newLab(t, "")
	for script, want := range map[string]string{
		`Get-ADUser nobody`:                            "nobody ADUser Get-ADUser ADIdentityNotFoundException",
		`New-ADUser -Name alice -Path '` + staff + `'`: alice + " String New-ADUser ADIdentityAlreadyExistsException",
		`Set-ADUser alice -SamAccountName bob`:         alice + " String Set-ADUser ADIdentityAlreadyExistsException",
	} {
		assert.Equal(t, want, l.run(`try { `+script+` } catch { $i = $_.CategoryInfo; $i.TargetName + ' ' + $i.TargetType + ' ' + $i.Activity + ' ' + $i.Reason }`), script)
	}
}

// Facts B23: with -Properties *, later objects have the properties of the first.
func TestAllPropertiesFollowTheFirstObject(t *testing.T) {
	l := newLab(t, "")
	got := l.run(`$all = @(Get-ADUser -LDAPFilter '(sAMAccountName=*)' -SearchBase '` + staff + `' -Properties *)
		foreach ($u in $all) { $u.Name + ' ' + ($null -ne $u.otherMobile) }
		(Get-ADUser alice -Properties *).otherMobile.Count
		(Get-ADUser alice -Properties *).sn`)
	assert.Equal(t, "Boss False\nalice False\nbob False\n2\nO'Brien", got)
}

func TestDefaultProperties(t *testing.T) {
	l := newLab(t, "")
	for _, c := range []struct{ script, want string }{
		{`Get-ADUser alice`, "DistinguishedName Enabled GivenName Name ObjectClass ObjectGUID SamAccountName SID Surname UserPrincipalName"},
		{`Get-ADGroup Readers`, "DistinguishedName GroupCategory GroupScope Name ObjectClass ObjectGUID SamAccountName SID"},
		{`Get-ADComputer PC1`, "DistinguishedName DNSHostName Enabled Name ObjectClass ObjectGUID SamAccountName SID UserPrincipalName"},
		{`Get-ADObject '` + alice + `'`, "DistinguishedName Name ObjectClass ObjectGUID"},
		{`Get-ADOrganizationalUnit '` + staff + `'`, "City Country DistinguishedName LinkedGroupPolicyObjects ManagedBy Name ObjectClass ObjectGUID PostalCode State StreetAddress"},
	} {
		out, thrown := l.try(c.script)
		require.Nil(t, thrown, c.script)
		require.Len(t, out, 1)
		names := ""
		for _, p := range dotnet.Properties(out[0]) {
			names += " " + p.Name
		}
		assert.Equal(t, " "+c.want, names, c.script)
	}
}

// The values of properties behave in scripts like real ones.
func TestValuesInScripts(t *testing.T) {
	l := newLab(t, "")
	const readers = "CN=Readers," + staff
	for name, c := range map[string]struct{ script, want string }{
		"-contains":            {`(Get-ADUser alice -Properties MemberOf).MemberOf -contains '` + readers + `'`, "True"},
		"-join":                {`(Get-ADUser alice -Properties otherMobile).otherMobile -join ';'`, "1;2"},
		"a cast":               {`([string[]]@((Get-ADUser alice -Properties MemberOf).MemberOf)).Length`, "1"},
		"foreach":              {`foreach ($m in (Get-ADUser alice -Properties otherMobile).otherMobile) { 'm' + $m }`, "m1\nm2"},
		"a pipeline":           {`(Get-ADUser alice -Properties otherMobile).otherMobile | ForEach-Object { 'm' + $_ }`, "m1\nm2"},
		"JSON of one (B21)":    {`ConvertTo-Json -Compress -InputObject @{ m = (Get-ADUser alice -Properties MemberOf).MemberOf }`, `{"m":["` + readers + `"]}`},
		"JSON of none":         {`ConvertTo-Json -Compress -InputObject @{ m = (Get-ADUser bob -Properties MemberOf).MemberOf }`, `{"m":[]}`},
		"types":                {`$u = Get-ADUser alice -Properties whenCreated, userAccountControl, lastLogon; $u.ObjectGUID -is [guid]; $u.whenCreated -is [datetime]; $u.userAccountControl -is [int]; $u.lastLogon -is [long]; $u.Enabled -is [bool]`, "True\nTrue\nTrue\nTrue\nTrue"},
		"a date in UTC (B26)":  {`(Get-ADUser alice -Properties whenCreated).whenCreated.ToUniversalTime().ToString('yyyy-MM-ddTHH:mm:ssZ', [cultureinfo]::InvariantCulture)`, "2026-03-01T12:00:00Z"},
		"is of a base type":    {`(Get-ADUser alice) -is [Microsoft.ActiveDirectory.Management.ADObject]`, "True"},
		"a GUID as text":       {`([string](Get-ADUser alice).ObjectGUID).Length`, "36"},
		"names of properties":  {`(Get-ADUser alice).PSObject.Properties.Name -contains 'SamAccountName'`, "True"},
		"splatting":            {`$a = @{ LDAPFilter = '(sAMAccountName=bob)'; SearchScope = 'Subtree'; ResultSetSize = $null; Properties = @('mail') }; (Get-ADUser @a).Name`, "bob"},
		"an enumeration value": {`(Get-ADGroup Readers).GroupScope -eq 'Global'; [int](Get-ADGroup Readers).GroupCategory`, "True\n1"},
	} {
		t.Run(name, func(t *testing.T) {
			l.t = t
			assert.Equal(t, c.want, l.run(c.script))
		})
	}
}
