package adcmd

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/sandbox/engine/dotnet"
)

const (
	empty = "OU=Empty,DC=corp,DC=example"
	// The attributes that protection changes (facts E37): the access lists of the object and of its parent.
	rootList  = "DC=corp,DC=example: nTSecurityDescriptor"
	staffList = staff + ": nTSecurityDescriptor"
	emptyList = empty + ": nTSecurityDescriptor"
)

func TestOrganizationalUnits(t *testing.T) {
	runWritings(t, map[string]writing{
		"new ones are protected (E36)": {`New-ADOrganizationalUnit New; (Get-ADOrganizationalUnit 'OU=New,DC=corp,DC=example' -Properties ProtectedFromAccidentalDeletion).ProtectedFromAccidentalDeletion`, "True", []string{"+OU=New,DC=corp,DC=example", rootList}},
		"without protection":           {`New-ADOrganizationalUnit New -Path '` + empty + `' -ProtectedFromAccidentalDeletion $false -Description d; $o = Get-ADOrganizationalUnit 'OU=New,` + empty + `' -Properties ProtectedFromAccidentalDeletion, Description; $o.ProtectedFromAccidentalDeletion; $o.Description`, "False\nd", []string{"+OU=New," + empty}},
		"the name is escaped":          {`(New-ADOrganizationalUnit 'A, B' -PassThru).DistinguishedName`, `OU=A\, B,DC=corp,DC=example`, []string{`+OU=A\, B,DC=corp,DC=example`, rootList}},
		"set":                          {`Set-ADObject '` + empty + `' -Description d -Replace @{ l = 'K' }`, "", []string{empty + ": description l"}},
		"protect":                      {`Set-ADObject '` + empty + `' -ProtectedFromAccidentalDeletion $true; (Get-ADOrganizationalUnit '` + empty + `' -Properties ProtectedFromAccidentalDeletion).ProtectedFromAccidentalDeletion`, "True", []string{rootList, emptyList}},
		"remove":                       {`Remove-ADOrganizationalUnit '` + empty + `' -Confirm:$false`, "", []string{"-" + empty}},
		"rename works protected (E40)": {`Set-ADObject '` + empty + `' -ProtectedFromAccidentalDeletion $true; Rename-ADObject '` + empty + `' -NewName Full`, "", []string{empty + " -> OU=Full,DC=corp,DC=example", rootList}},
		"move":                         {`Move-ADObject '` + empty + `' -TargetPath '` + staff + `'; (Get-ADOrganizationalUnit 'OU=Empty,` + staff + `').Name`, "Empty", []string{empty + " -> OU=Empty," + staff}},
		"moved, protection is off (E41)": {
			`New-ADOrganizationalUnit P -Path '` + empty + `'; Set-ADObject 'OU=P,` + empty + `' -ProtectedFromAccidentalDeletion $false
			Set-ADObject 'OU=P,` + empty + `' -ProtectedFromAccidentalDeletion $true
			Set-ADObject 'OU=P,` + empty + `' -ProtectedFromAccidentalDeletion $false
			Move-ADObject 'OU=P,` + empty + `' -TargetPath '` + sales + `'
			(Get-ADOrganizationalUnit 'OU=P,` + sales + `' -Properties ProtectedFromAccidentalDeletion).ProtectedFromAccidentalDeletion`,
			"False", []string{"+OU=P," + sales, emptyList},
		},
		"a tree (E43)": {`Remove-ADOrganizationalUnit '` + sales + `' -Recursive -Confirm:$false`, "", []string{"-CN=bob," + sales, "-" + sales}},
	})
	runRefusals(t, map[string]refusal{
		"taken (E46)":            {`New-ADOrganizationalUnit Empty`, "New-ADOrganizationalUnit", nameTaken, nil},
		"not empty":              {`Remove-ADOrganizationalUnit '` + sales + `' -Confirm:$false`, "Remove-ADOrganizationalUnit", notLeaf, nil},
		"a prompt":               {`Remove-ADOrganizationalUnit '` + empty + `'`, "Remove-ADOrganizationalUnit", prompted, nil},
		"protected (E40)":        {`Set-ADObject '` + empty + `' -ProtectedFromAccidentalDeletion $true; Remove-ADOrganizationalUnit '` + empty + `' -Confirm:$false`, "Remove-ADOrganizationalUnit", denied, []string{rootList, emptyList}},
		"a protected tree (E43)": {`Set-ADObject '` + sales + `' -ProtectedFromAccidentalDeletion $true; Remove-ADOrganizationalUnit '` + sales + `' -Recursive -Confirm:$false`, "Remove-ADOrganizationalUnit", denied, []string{staffList, sales + ": nTSecurityDescriptor"}},
		"move protected (E40)":   {`Set-ADObject '` + empty + `' -ProtectedFromAccidentalDeletion $true; Move-ADObject '` + empty + `' -TargetPath '` + staff + `'`, "Move-ADObject", denied, []string{rootList, emptyList}},
		"move below itself":      {`Move-ADObject '` + staff + `' -TargetPath '` + sales + `'`, "Move-ADObject", unwilling, nil},
		"move, taken":            {`New-ADOrganizationalUnit Empty -Path '` + staff + `'; Move-ADObject '` + empty + `' -TargetPath '` + staff + `'`, "Move-ADObject", nameTaken, []string{"+OU=Empty," + staff, staffList}},
		"move to nowhere":        {`Move-ADObject '` + empty + `' -TargetPath 'OU=None,DC=corp,DC=example'`, "Move-ADObject", wantError{"ActiveDirectoryServer:8329", "ADException", dotnet.NotSpecified}, nil},
		"rename, taken":          {`Rename-ADObject '` + empty + `' -NewName Staff`, "Rename-ADObject", nameTaken, nil},
	})
}

func TestGroups(t *testing.T) {
	readers := "CN=Readers," + staff
	runWritings(t, map[string]writing{
		"new":                    {`New-ADGroup g -GroupScope DomainLocal -GroupCategory Distribution -PassThru | ForEach-Object { [string]$_.GroupScope; [string]$_.GroupCategory; $_.SamAccountName }`, "DomainLocal\nDistribution\ng", []string{"+CN=g,CN=Users,DC=corp,DC=example"}},
		"security by default":    {`New-ADGroup g Global -Description d -ManagedBy alice; (Get-ADGroup g -Properties groupType).groupType`, "-2147483646", []string{"+CN=g,CN=Users,DC=corp,DC=example"}},
		"set":                    {`Set-ADGroup Readers -Description d -GroupScope Universal; [string](Get-ADGroup Readers).GroupScope`, "Universal", []string{readers + ": description groupType"}},
		"remove":                 {`Remove-ADGroup Local -Confirm:$false`, "", []string{"-CN=Local," + staff}},
		"add":                    {`Add-ADGroupMember Readers -Members bob, boss`, "", []string{readers + ": member"}},
		"add again (E25)":        {`Add-ADGroupMember Readers alice`, "", nil},
		"remove absent (E25)":    {`Remove-ADGroupMember Readers bob -Confirm:$false`, "", nil},
		"remove member":          {`Remove-ADGroupMember Readers alice -Confirm:$false`, "", []string{readers + ": member"}},
		"members":                {`Add-ADGroupMember Local Readers, 'PC1$'; @((Get-ADGroup Local -Properties member).member)`, readers + "\nCN=PC1,CN=Computers,DC=corp,DC=example", []string{"CN=Local," + staff + ": member"}},
		"groups of a user (E22)": {`@(Get-ADPrincipalGroupMembership alice).Name`, "Domain Users\nReaders", nil},
		"primary group (E18)":    {`(Get-ADUser bob -Properties MemberOf).MemberOf.Count; (Get-ADPrincipalGroupMembership bob).Name`, "0\nDomain Users", nil},
	})
	validateMembers := wantError{"SetADGroupMember.ValidateMembersParameter", "ADIdentityNotFoundException",
		dotnet.ObjectNotFound}
	plain := func(code string) wantError {
		return wantError{"ActiveDirectoryServer:" + code, "ADException", dotnet.NotSpecified}
	}
	runRefusals(t, map[string]refusal{
		"an unknown member (E26)":       {`Add-ADGroupMember Readers bob, nobody`, "Add-ADGroupMember", validateMembers, nil},
		"a member without SID (E26)":    {`Add-ADGroupMember Readers 'CN=Contact,` + staff + `'`, "Add-ADGroupMember", wantError{validateMembers.id, "System.ArgumentException", dotnet.ReadError}, nil},
		"a computer without $ (E27)":    {`Add-ADGroupMember Readers PC1`, "Add-ADGroupMember", validateMembers, nil},
		"present, not permissive (E25)": {`Add-ADGroupMember Readers alice -DisablePermissiveModify`, "Add-ADGroupMember", plain("1378"), nil},
		"absent, not permissive (E25)":  {`Remove-ADGroupMember Readers bob -DisablePermissiveModify -Confirm:$false`, "Remove-ADGroupMember", plain("1377"), nil},
		"local in global (8516)":        {`Add-ADGroupMember Readers Local`, "Add-ADGroupMember", plain("8516"), nil},
		"global to local at once (E31)": {`Set-ADGroup Readers -GroupScope DomainLocal`, "Set-ADGroup", unwilling, nil},
		"the primary group (E28)":       {`Remove-ADGroupMember 'Domain Users' bob -Confirm:$false`, "Remove-ADGroupMember", plain("1374"), nil},
		"SAM taken":                     {`New-ADGroup alice Global`, "New-ADGroup", plain("1318"), nil},
		"a prompt":                      {`Remove-ADGroupMember Readers alice`, "Remove-ADGroupMember", prompted, nil},
		"a scope that does not exist":   {`New-ADGroup g Wide`, "New-ADGroup", wantError{"CannotConvertArgumentNoMessage", "System.Management.Automation.ParameterBindingException", dotnet.InvalidArgument}, nil},
	})
}

func TestComputers(t *testing.T) {
	pc2 := "CN=PC2,CN=Computers,DC=corp,DC=example"
	runWritings(t, map[string]writing{
		"a weak password (E47)": {`New-ADComputer PC2 -AccountPassword $weak; (Get-ADComputer PC2).Enabled`, "True", []string{"+" + pc2}},
		"new (E47)":             {`New-ADComputer PC2 -Description d; $c = Get-ADComputer PC2 -Properties userAccountControl, primaryGroupID; $c.SamAccountName; $c.userAccountControl; $c.primaryGroupID`, "PC2$\n4096\n515", []string{"+" + pc2}},
		"the $ is there":        {`New-ADComputer PC2 -SAMAccountName 'PC2$' -Enabled $false; $c = Get-ADComputer PC2; $c.SamAccountName; $c.Enabled`, "PC2$\nFalse", []string{"+" + pc2}},
		"rename (E48)": {
			`Rename-ADObject (Get-ADComputer PC1).ObjectGUID -NewName PC2
			Set-ADComputer PC1 -SAMAccountName 'PC2$' -DNSHostName pc2.corp.example -ServicePrincipalNames @{ Replace = 'HOST/PC2', 'HOST/pc2.corp.example' }
			$c = Get-ADComputer PC2 -Properties ServicePrincipalNames; $c.DistinguishedName; $c.DNSHostName; $c.ServicePrincipalNames.Count`,
			pc2 + "\npc2.corp.example\n2", []string{"CN=PC1,CN=Computers,DC=corp,DC=example -> " + pc2},
		},
		"remove": {`Remove-ADComputer PC1 -Confirm:$false`, "", []string{"-CN=PC1,CN=Computers,DC=corp,DC=example"}},
	})
	runRefusals(t, map[string]refusal{
		"taken": {`New-ADComputer PC1 -Path '` + staff + `'`, "New-ADComputer", taken, nil},
		"with children (E50)": {
			`New-ADObject scp -Type serviceConnectionPoint -Path 'CN=PC1,CN=Computers,DC=corp,DC=example'; Remove-ADComputer PC1 -Confirm:$false`,
			"Remove-ADComputer", notLeaf, []string{"+CN=scp,CN=PC1,CN=Computers,DC=corp,DC=example"},
		},
	})
}

func TestObjects(t *testing.T) {
	runWritings(t, map[string]writing{
		"a container":   {`New-ADObject -Name c -Type container -Path '` + empty + `' -PassThru | ForEach-Object { $_.ObjectClass }`, "container", []string{"+CN=c," + empty}},
		"set":           {`Set-ADObject '` + alice + `' -Description d -Replace @{ info = 'i' }`, "", []string{alice + ": description info"}},
		"a member":      {`Set-ADGroup Readers -Add @{ member = 'CN=Contact,` + staff + `' }; (Get-ADGroup Readers -Properties member).member.Count`, "2", []string{"CN=Readers," + staff + ": member"}},
		"a tree":        {`Remove-ADObject '` + sales + `' -Recursive -Confirm:$false`, "", []string{"-CN=bob," + sales, "-" + sales}},
		"rename a user": {`Rename-ADObject '` + alice + `' -NewName 'Alice, A'; $u = Get-ADUser alice; $u.DistinguishedName; $u.SamAccountName`, `CN=Alice\, A,` + staff + "\nalice", []string{alice + ` -> CN=Alice\, A,` + staff}},
		"deleted ones": {
			`$g = (Get-ADUser bob).ObjectGUID; Remove-ADUser bob -Confirm:$false
			@(Get-ADObject -LDAPFilter '(isDeleted=TRUE)' -IncludeDeletedObjects | ForEach-Object { if ($_.ObjectGUID -eq $g) { 'x' } }).Count
			@(Get-ADObject -LDAPFilter '(isDeleted=TRUE)').Count`, "1\n0", []string{"-CN=bob," + sales},
		},
	})
	runRefusals(t, map[string]refusal{
		"no such class":      {`New-ADObject -Name c -Type nonsense`, "New-ADObject", wantError{"ActiveDirectoryServer:8202", "ADException", dotnet.NotSpecified}, nil},
		"not empty":          {`Remove-ADObject '` + sales + `' -Confirm:$false`, "Remove-ADObject", notLeaf, nil},
		"a member not there": {`Set-ADGroup Readers -Remove @{ member = 'CN=bob,` + sales + `' }`, "Set-ADGroup", wantError{"ActiveDirectoryServer:1377", "ADException", dotnet.NotSpecified}, nil},
	})
}

func TestTheDomain(t *testing.T) {
	l := newLab(t, "")
	for name, c := range map[string]struct{ script, want string }{
		"domain":        {`$d = Get-ADDomain; $d.DNSRoot; $d.NetBIOSName; $d.DistinguishedName; $d.UsersContainer; $d.PDCEmulator`, "corp.example\nCORP\nDC=corp,DC=example\nCN=Users,DC=corp,DC=example\ndc1.corp.example"},
		"by name":       {`(Get-ADDomain -Identity CORP).DNSRoot; (Get-ADDomain 'dc=corp,dc=example').DNSRoot`, "corp.example\ncorp.example"},
		"all DCs":       {`@(Get-ADDomainController -Filter *).HostName`, "dc1.corp.example\ndc2.corp.example"},
		"this DC":       {`(Get-ADDomainController).HostName; (Get-ADDomainController -Server dc2).HostName`, "dc1.corp.example\ndc2.corp.example"},
		"by identity":   {`(Get-ADDomainController dc2).HostName; (Get-ADDomainController -Identity dc2.corp.example).IsReadOnly`, "dc2.corp.example\nFalse"},
		"discover (G3)": {`$d = Get-ADDomainController -Discover -Writable -Service ADWS -NextClosestSite; $d.HostName.Count; $d.HostName[0]; [string]$d.HostName`, "1\ndc1.corp.example\ndc1.corp.example"},
		"root DSE":      {`$r = Get-ADRootDSE -Server dc2.corp.example; $r.defaultNamingContext; $r.dnsHostName`, "DC=corp,DC=example\ndc2.corp.example"},
	} {
		t.Run(name, func(t *testing.T) {
			l.t = t
			assert.Equal(t, c.want, l.run(c.script))
		})
	}
}
