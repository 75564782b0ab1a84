package adcmd

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/sandbox/engine/dotnet"
)

const secret = `$p = [System.Net.NetworkCredential]::new('', '` + goodPassword + `').SecurePassword
$weak = [System.Net.NetworkCredential]::new('', 'x').SecurePassword
`

// writing is a case that must succeed, with its output and the changes it makes.
type writing struct {
	script string
	want   string
	change []string
}

func runWritings(t *testing.T, cases map[string]writing) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "")
			var got string
			changed := l.changed(func() { got = l.run(secret + c.script) })
			assert.Equal(t, c.want, got)
			assert.ElementsMatch(t, c.change, changed)
		})
	}
}

// refusal is a case that must fail, with its error and the changes it leaves behind.
type refusal struct {
	script  string
	command string
	want    wantError
	change  []string
}

// runRefusals runs each case in two cultures. Ids, types and categories are the same in
// both; messages differ (facts D3, H24).
func runRefusals(t *testing.T, cases map[string]refusal) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			messages := map[string]bool{}
			for _, culture := range []string{"en-US", "de-DE"} {
				l := newLab(t, culture)
				var rec *dotnet.ErrorRecord
				changed := l.changed(func() { rec = l.fails(secret + c.script) })
				assertError(t, c.want, c.command, rec)
				assert.ElementsMatch(t, c.change, changed)
				messages[rec.Exception.Message] = true
			}
			if strings.HasPrefix(c.want.id, "ActiveDirectory") {
				assert.Len(t, messages, 2, "the message is in one language only: %v", messages)
			}
		})
	}
}

var (
	taken = wantError{"ActiveDirectoryServer:1316", "ADIdentityAlreadyExistsException",
		dotnet.ResourceExists}
	complexity = wantError{"ActiveDirectoryServer:1325", "ADPasswordComplexityException", dotnet.InvalidData}
	denied     = wantError{"ActiveDirectoryCmdlet:System.UnauthorizedAccessException",
		"System.UnauthorizedAccessException", dotnet.PermissionDenied}
	noObject = wantError{cmdletID + namespace + "ADIdentityNotFoundException", "ADIdentityNotFoundException",
		dotnet.ObjectNotFound}
	noIdentity = wantError{"ActiveDirectoryCmdlet:" + namespace + "ADIdentityNotFoundException",
		"ADIdentityNotFoundException", dotnet.ObjectNotFound}
	nameTaken = wantError{"ActiveDirectoryServer:8305", "ADException", dotnet.NotSpecified}
	unwilling = wantError{"ActiveDirectoryServer:8245", "ADInvalidOperationException", dotnet.InvalidOperation}
	notLeaf   = wantError{"ActiveDirectoryServer:8213", "ADException", dotnet.NotSpecified}
	argument  = wantError{"ActiveDirectoryCmdlet:System.ArgumentException", "System.ArgumentException",
		dotnet.InvalidArgument}
	validation = wantError{"ParameterArgumentValidationError",
		"System.Management.Automation.ParameterBindingValidationException", dotnet.InvalidData}
	prompted = wantError{"InvalidOperation", "System.Management.Automation.PSInvalidOperationException",
		dotnet.InvalidOperation}
)

const carol = "CN=carol,CN=Users,DC=corp,DC=example"

func TestNewUser(t *testing.T) {
	show := `; $u = Get-ADUser carol -Properties userAccountControl, pwdLastSet, PasswordLastSet; $u.userAccountControl; $u.Enabled; $null -ne $u.PasswordLastSet`
	runWritings(t, map[string]writing{
		"without a password (E3, H1)":  {`New-ADUser -Name carol -SamAccountName carol` + show, "514\nFalse\nFalse", []string{"+" + carol}},
		"the SAM is the name (X4)":     {`New-ADUser carol; (Get-ADUser carol).SamAccountName`, "carol", []string{"+" + carol}},
		"a password alone (H3)":        {`New-ADUser carol -AccountPassword $p` + show, "514\nFalse\nTrue", []string{"+" + carol}},
		"a password, enabled":          {`New-ADUser carol -AccountPassword $p -Enabled $true` + show, "512\nTrue\nTrue", []string{"+" + carol}},
		"must change (H6)":             {`New-ADUser carol -AccountPassword $p -Enabled $true -ChangePasswordAtLogon $true` + show, "512\nTrue\nFalse", []string{"+" + carol}},
		"never expires":                {`New-ADUser carol -AccountPassword $p -Enabled $true -PasswordNeverExpires $true` + show, "66048\nTrue\nTrue", []string{"+" + carol}},
		"no password required (H16)":   {`New-ADUser carol -PasswordNotRequired $true -Enabled $true` + show, "544\nTrue\nFalse", []string{"+" + carol}},
		"nothing is returned (E5)":     {`$r = New-ADUser carol; $null -eq $r`, "True", []string{"+" + carol}},
		"PassThru: the default set":    {`$r = New-ADUser carol -PassThru -EmailAddress a@b; $r.Name; $null -eq $r.EmailAddress; $r.GetType().Name`, "carol\nTrue\nADUser", []string{"+" + carol}},
		"the name is escaped (C21)":    {`New-ADUser -Name 'Doe, Jo' -SamAccountName jo -Path '` + sales + `'; (Get-ADUser jo).DistinguishedName; (Get-ADUser jo).Name`, `CN=Doe\, Jo,` + sales + "\nDoe, Jo", []string{`+CN=Doe\, Jo,` + sales}},
		"attributes by their names":    {`New-ADUser carol -GivenName C -Surname D -City K -Country DE -OfficePhone 1 -Manager alice; $u = Get-ADUser carol -Properties *; $u.givenName + $u.sn + $u.l + $u.c + $u.telephoneNumber; $u.manager`, "CDKDE1\n" + alice, []string{"+" + carol}},
		"other attributes":             {`New-ADUser carol -OtherAttributes @{ info = 'i'; otherMobile = '1', '2'; countryCode = 276 }; $u = Get-ADUser carol -Properties info, otherMobile, countryCode; $u.info; $u.otherMobile.Count; $u.countryCode`, "i\n2\n276", []string{"+" + carol}},
		"SAM among other attributes":   {`New-ADUser carol -OtherAttributes @{ sAMAccountName = 'ca' }; (Get-ADUser ca).Name`, "carol", []string{"+" + carol}},
		"expires (E9)":                 {`New-ADUser carol -AccountExpirationDate ([datetime]'2027-01-02'); (Get-ADUser carol -Properties AccountExpirationDate).AccountExpirationDate.ToString('yyyy-MM-dd', [cultureinfo]::InvariantCulture)`, "2027-01-02", []string{"+" + carol}},
		"primary group (H18)":          {`New-ADUser carol; $u = Get-ADUser carol -Properties primaryGroupID, MemberOf; $u.primaryGroupID; $u.MemberOf.Count`, "513\n0", []string{"+" + carol}},
		"cannot change password (H15)": {`New-ADUser carol -CannotChangePassword $true; (Get-ADUser carol -Properties CannotChangePassword).CannotChangePassword`, "True", []string{"+" + carol}},
	})
}

func TestNewUserRefused(t *testing.T) {
	plain := func(code string) wantError {
		return wantError{"ActiveDirectoryServer:" + code, "ADException", dotnet.NotSpecified}
	}
	runRefusals(t, map[string]refusal{
		"SAM taken (E4)":                 {`New-ADUser -Name other -SamAccountName alice`, "New-ADUser", taken, nil},
		"CN taken (E4)":                  {`New-ADUser -Name alice -SamAccountName other -Path '` + staff + `'`, "New-ADUser", nameTaken, nil},
		"UPN taken (E4)":                 {`New-ADUser other -UserPrincipalName ALICE@corp.example`, "New-ADUser", plain("8648"), nil},
		"a weak password stays (E2, H2)": {`New-ADUser carol -AccountPassword $weak -Enabled $true`, "New-ADUser", complexity, []string{"+" + carol}},
		"enabled without password (H4)":  {`New-ADUser carol -Enabled $true`, "New-ADUser", complexity, []string{"+" + carol}},
		"change and never expires (H7)":  {`New-ADUser carol -ChangePasswordAtLogon $true -PasswordNeverExpires $true`, "New-ADUser", argument, nil},
		"no such path":                   {`New-ADUser carol -Path 'OU=None,DC=corp,DC=example'`, "New-ADUser", noObject, nil},
		"a malformed path":               {`New-ADUser carol -Path 'nonsense'`, "New-ADUser", plain("8335"), nil},
		"no such manager":                {`New-ADUser carol -Manager nobody`, "New-ADUser", noIdentity, nil},
		"unknown attribute":              {`New-ADUser carol -OtherAttributes @{ nonsense = 1 }`, "New-ADUser", argument, nil},
		"an attribute twice":             {`New-ADUser carol -City K -OtherAttributes @{ l = 'L' }`, "New-ADUser", argument, nil},
		"a null in a table (E7)":         {`New-ADUser carol -OtherAttributes @{ info = $null }`, "New-ADUser", validation, nil},
		"too long":                       {`New-ADUser carol -GivenName ('x'.PadRight(65))`, "New-ADUser", plain("8322"), nil},
	})
}

func TestSetUser(t *testing.T) {
	runWritings(t, map[string]writing{
		"friendly parameters":  {`Set-ADUser alice -City Bonn -Title T; $u = Get-ADUser alice -Properties City, Title; $u.City + $u.Title`, "BonnT", []string{alice + ": l title"}},
		"null clears (E7)":     {`Set-ADUser alice -City $null; $null -eq (Get-ADUser alice -Properties City).City`, "True", []string{alice + ": l"}},
		"Clear":                {`Set-ADUser alice -Clear l, otherMobile, info; $null -eq (Get-ADUser alice -Properties l).l`, "True", []string{alice + ": l otherMobile"}},
		"Add, Remove, Replace": {`Set-ADUser alice -Remove @{ otherMobile = '1' } -Add @{ otherMobile = '3' } -Replace @{ info = 'i' }; $u = Get-ADUser alice -Properties otherMobile, info; @($u.otherMobile) -join ','; $u.info`, "2,3\ni", []string{alice + ": info otherMobile"}},
		"several values":       {`Set-ADUser alice -Replace @{ otherMobile = @('7', '8', '9') }; (Get-ADUser alice -Properties otherMobile).otherMobile.Count`, "3", []string{alice + ": otherMobile"}},
		"manager by SAM":       {`Set-ADUser bob -Manager alice; (Get-ADUser bob -Properties Manager).Manager`, alice, []string{"CN=bob," + sales + ": manager"}},
		"manager null":         {`Set-ADUser alice -Manager $null; $null -eq (Get-ADUser alice -Properties Manager).Manager`, "True", []string{alice + ": manager"}},
		"expiry null (E9)":     {`Set-ADUser alice -AccountExpirationDate '2027-01-02'; Set-ADUser alice -AccountExpirationDate $null; $null -eq (Get-ADUser alice -Properties AccountExpirationDate).AccountExpirationDate`, "True", []string{alice + ": accountExpires"}},
		"enable":               {`Set-ADUser alice -Enabled $true; (Get-ADUser alice).Enabled`, "True", []string{alice + ": userAccountControl"}},
		"must change":          {`Set-ADUser alice -ChangePasswordAtLogon $true; (Get-ADUser alice -Properties pwdLastSet).pwdLastSet`, "0", []string{alice + ": pwdLastSet"}},
		"SAM and UPN":          {`Set-ADUser alice -SamAccountName al -UserPrincipalName al@corp.example; (Get-ADUser al).UserPrincipalName`, "al@corp.example", []string{alice + ": sAMAccountName userPrincipalName"}},
		"PassThru":             {`(Set-ADUser alice -City Bonn -PassThru).SamAccountName`, "alice", []string{alice + ": l"}},
		"the same again":       {`Set-ADUser alice -City Köln`, "", nil},
	})
}

func TestSetUserRefused(t *testing.T) {
	runRefusals(t, map[string]refusal{
		"absent":                       {`Set-ADUser nobody -City K`, "Set-ADUser", noIdentity, nil},
		"no such manager":              {`Set-ADUser alice -Manager nobody -City Bonn`, "Set-ADUser", noIdentity, nil},
		"clear accountExpires (E9)":    {`Set-ADUser alice -Clear accountExpires`, "Set-ADUser", wantError{"ActiveDirectoryServer:8311", "ADIllegalModifyOperationException", dotnet.InvalidOperation}, nil},
		"an array is no text":          {`Set-ADUser alice -City a, b`, "Set-ADUser", wantError{"CannotConvertArgumentNoMessage", "System.Management.Automation.ParameterBindingException", dotnet.InvalidArgument}, nil},
		"the empty text (E7)":          {`Set-ADUser alice -City ''`, "Set-ADUser", wantError{"ActiveDirectoryServer:87", "ADInvalidOperationException", dotnet.InvalidOperation}, nil},
		"an attribute twice (E6)":      {`Set-ADUser alice -City Bonn -Replace @{ l = 'x' }`, "Set-ADUser", argument, nil},
		"null in Replace (E7)":         {`Set-ADUser alice -Replace @{ info = $null }`, "Set-ADUser", validation, nil},
		"unknown attribute":            {`Set-ADUser alice -Replace @{ nonsense = 'x' }`, "Set-ADUser", argument, nil},
		"SAM taken":                    {`Set-ADUser alice -SamAccountName bob -City Bonn`, "Set-ADUser", taken, nil},
		"both password flags (H7)":     {`Set-ADUser alice -ChangePasswordAtLogon $true -PasswordNeverExpires $true`, "Set-ADUser", argument, nil},
		"enable without password (H5)": {`Set-ADUser bob -Enabled $true -City Bonn`, "Set-ADUser", complexity, nil},
		"a date before 1601":           {`Set-ADUser alice -AccountExpirationDate ([datetime]'1600-01-01')`, "Set-ADUser", wantError{"ActiveDirectoryCmdlet:System.ArgumentOutOfRangeException", "System.ArgumentOutOfRangeException", dotnet.InvalidArgument}, nil},
		"must change, never expires (H8)": {
			`Set-ADUser alice -PasswordNeverExpires $true; Set-ADUser alice -ChangePasswordAtLogon $true`, "Set-ADUser",
			wantError{"ActiveDirectoryServer:0", "ADException", dotnet.NotSpecified}, []string{alice + ": userAccountControl"},
		},
	})
}

func TestAccounts(t *testing.T) {
	runWritings(t, map[string]writing{
		"enable":                {`Enable-ADAccount alice; (Get-ADUser alice).Enabled`, "True", []string{alice + ": userAccountControl"}},
		"disable again (H14)":   {`Disable-ADAccount alice`, "", nil},
		"a computer":            {`Disable-ADAccount 'PC1$'; (Get-ADComputer PC1).Enabled`, "False", []string{"CN=PC1,CN=Computers,DC=corp,DC=example: userAccountControl"}},
		"unlock unlocked (H13)": {`Unlock-ADAccount alice`, "", nil},
		"reset":                 {`Set-ADAccountPassword bob -Reset -NewPassword $p; (Get-ADUser bob -Properties PasswordLastSet).PasswordLastSet.ToString('yyyy-MM', [cultureinfo]::InvariantCulture); (Get-ADUser bob).Enabled`, "2026-03\nFalse", []string{"CN=bob," + sales + ": pwdLastSet"}},
		"reset, then must change (H10)": {
			`Set-ADAccountPassword bob -Reset -NewPassword $p; Set-ADUser bob -ChangePasswordAtLogon $true; (Get-ADUser bob -Properties pwdLastSet).pwdLastSet`, "0", nil,
		},
	})
	runRefusals(t, map[string]refusal{
		"enable without password (H5)":   {`Enable-ADAccount bob`, "Enable-ADAccount", complexity, nil},
		"a weak password (E13)":          {`Set-ADAccountPassword alice -Reset -NewPassword $weak`, "Set-ADAccountPassword", complexity, nil},
		"the wrong old password":         {`Set-ADAccountPassword alice -OldPassword $weak -NewPassword $p`, "Set-ADAccountPassword", wantError{"ActiveDirectoryServer:86", "ADInvalidPasswordException", dotnet.InvalidData}, nil},
		"no password is asked for (A34)": {`Set-ADAccountPassword alice -Reset`, "Set-ADAccountPassword", prompted, nil},
		"no old password":                {`Set-ADAccountPassword alice -NewPassword $p`, "Set-ADAccountPassword", prompted, nil},
		"absent":                         {`Unlock-ADAccount nobody`, "Unlock-ADAccount", noIdentity, nil},
	})
}

func TestRemoveUser(t *testing.T) {
	runWritings(t, map[string]writing{
		"and it leaves its groups (H19)": {`Remove-ADUser alice -Confirm:$false; (Get-ADGroup Readers -Properties Members).Members.Count`, "0", []string{
			"CN=Readers," + staff + ": member", "-" + alice,
		}},
	})
	runRefusals(t, map[string]refusal{
		"a prompt (A36)":  {`Remove-ADUser alice`, "Remove-ADUser", prompted, nil},
		"protected (E16)": {`Set-ADObject -Identity (Get-ADUser alice).ObjectGUID -ProtectedFromAccidentalDeletion $true; Remove-ADUser alice -Confirm:$false`, "Remove-ADUser", denied, []string{alice + ": nTSecurityDescriptor", staffList}},
		"absent":          {`Remove-ADUser nobody -Confirm:$false`, "Remove-ADUser", noIdentity, nil},
		"built-in":        {`Remove-ADUser krbtgt -Confirm:$false`, "Remove-ADUser", wantError{"ActiveDirectoryServer:1371", "ADException", dotnet.NotSpecified}, nil},
	})
}
