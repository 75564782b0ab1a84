package adcmd

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

var (
	down   = wantError{"ActiveDirectoryServer:0", "ADServerDownException", dotnet.ResourceUnavailable}
	noneUp = wantError{"ActiveDirectoryServer:1355", "ADServerDownException", dotnet.ResourceUnavailable}
)

func TestAServerThatIsDown(t *testing.T) {
	l := newLab(t, "")
	l.domain.DCs()[0].SetAlive(false)
	assertError(t, down, "Get-ADUser", l.fails(`Get-ADUser alice -Server dc1.corp.example`))
	assert.Equal(t, "alice", l.run(`(Get-ADUser alice).Name`), "another controller is found")
	assert.Equal(t, "alice", l.run(`(Get-ADUser alice -Server corp.example).Name`))
	assert.Equal(t, "dc2.corp.example", l.run(`(Get-ADDomainController -Discover).HostName[0]`))
	assert.Equal(t, "dc1.corp.example\ndc2.corp.example", l.run(`@(Get-ADDomainController -Filter *).HostName`), "it is still a controller")

	l.domain.DCs()[1].SetAlive(false)
	assertError(t, noneUp, "Get-ADUser", l.fails(`Get-ADUser alice`))
	assertError(t, noneUp, "Get-ADDomainController", l.fails(`Get-ADDomainController -Discover`))
}

func TestServersHaveSeveralNames(t *testing.T) {
	l := newLab(t, "")
	for _, name := range []string{"dc2", "DC2.corp.example", "dc2.corp.example:9389", "corp.example", "CORP"} {
		assert.Equal(t, "alice", l.run(`(Get-ADUser alice -Server '`+name+`').Name`), name)
	}
}

// Facts G6: a write needs a writable controller. By default the module finds one.
func TestAReadOnlyController(t *testing.T) {
	l := newLab(t, "")
	l.domain.DCs()[0].SetWritable(false)
	assert.Equal(t, "alice", l.run(`(Get-ADUser alice -Server dc1).Name`))
	rec := l.fails(`Set-ADUser alice -City x -Server dc1`)
	assertError(t, wantError{"ActiveDirectoryServer:8595", "ADException", dotnet.NotSpecified}, "Set-ADUser",
		rec)
	assert.Equal(t, "x", l.run(`Set-ADUser alice -City x; (Get-ADUser alice -Properties City).City`))
	assert.Equal(t, "dc2.corp.example", l.run(`(Get-ADDomainController -Discover -Writable).HostName[0]`))
	assert.Equal(t, "True", l.run(`(Get-ADDomainController dc1).IsReadOnly`))
}

// Facts G1, G7: the other controller gets a write later, and a piped object is looked up on
// the controller that it was read from.
func TestControllersDiffer(t *testing.T) {
	now := noon
	d, err := newDomain(directory.Options{
		Seed: 1, Clock: func() time.Time { return now }, ReplicationLag: 15 * time.Second,
	})
	require.NoError(t, err)
	l := &lab{t: t, domain: d, dc: d.DCs()[0]}
	l.fill()
	l.connect(Options{Domain: d, Location: time.UTC})
	now = now.Add(time.Minute)
	l.run(`New-ADUser carol -Server dc1`)
	assertError(t, noIdentity, "Get-ADUser", l.fails(`Get-ADUser carol -Server dc2`))
	assert.Equal(t, "dc1", l.run(`$u = Get-ADUser carol -Server dc1; (Get-ADUser $u).Name | Out-Null; 'dc1'`))
	now = now.Add(time.Minute)
	assert.Equal(t, "carol", l.run(`(Get-ADUser carol -Server dc2).Name`))
}

// Facts E17a: lastLogon is not replicated.
func TestLastLogonIsPerController(t *testing.T) {
	l := newLab(t, "")
	require.NoError(t, l.domain.DCs()[1].SetLastLogon(context.Background(), alice, noon.Add(-time.Hour)))
	assert.Equal(t, "0\n2026-03-01 11:00", l.run(`(Get-ADUser alice -Server dc1 -Properties lastLogon).lastLogon
		[datetime]::FromFileTimeUtc((Get-ADUser alice -Server dc2 -Properties lastLogon).lastLogon).ToString('yyyy-MM-dd HH:mm', [cultureinfo]::InvariantCulture)`))
}

func TestConnectionsOfAnAccountAreLimited(t *testing.T) {
	l := newLab(t, "")
	l.connect(Options{Domain: l.domain, Account: "svc", Location: time.UTC})
	for range 5 {
		release, err := l.dc.Connect("svc")
		require.NoError(t, err)
		defer release()
	}
	rec := l.fails(`Get-ADUser alice`)
	assert.Equal(t, "ActiveDirectoryServer:0,Microsoft.ActiveDirectory.Management.Commands.GetADUser",
		rec.ErrorID)
	assert.Equal(t, "alice", l.run(`(Get-ADUser alice -Server dc2).Name`))
}

// Facts D19: a command holds a connection until the last page of its answer has arrived, and reads during
// that time take other connections.
func TestConnectionsOfACommand(t *testing.T) {
	const (
		short  = `Get-ADUser -LDAPFilter '(sn=*)' -ResultSetSize 256`
		long   = `Get-ADUser -LDAPFilter '(sn=*)' -ResultSetSize 257`
		nested = ` | ForEach-Object { (Get-ADUser alice).Name } | Out-Null; 'done'`
		change = ` | ForEach-Object { Set-ADUser $_ -City x }; 'done'`
		parent = ` -Properties ProtectedFromAccidentalDeletion | Out-Null; 'done'`
		group  = ` -Properties PrimaryGroup | Out-Null; 'done'`
		later  = `foreach ($u in @(` + long + `)) { Set-ADUser $u -City y }; 'done'`
	)
	for _, tt := range []struct {
		script string
		needs  int
	}{
		{`(Get-ADUser alice).Name | Out-Null; 'done'`, 1}, {`Get-ADUser alice` + parent, 1}, {`Get-ADDomain | ForEach-Object { Get-ADRootDSE } | Out-Null; 'done'`, 1},
		{short + nested, 1}, {short + change, 1}, {short + parent, 1}, {short + group, 1}, {later, 1}, {`Set-ADUser alice -City x -PassThru` + nested, 1},
		{long + nested, 2}, {long + change, 2}, {long + parent, 2}, {long + group, 2},
	} {
		l := newLab(t, "")
		require.NoError(t, l.domain.Generate(300, 1))
		l.connect(Options{Domain: l.domain, Account: "svc", Location: time.UTC})
		var held []func()
		for range 5 - tt.needs {
			release, err := l.dc.Connect("svc")
			require.NoError(t, err)
			held = append(held, release)
		}
		assert.Equal(t, "done", l.run(tt.script), tt.script)
		assert.Equal(t, len(held), l.dc.Connections("svc"), "all are returned: %s", tt.script)
		_, err := l.dc.Connect("svc")
		require.NoError(t, err)
		rec := l.fails(tt.script)
		assert.Equal(t, namespace+"ADException", rec.Exception.Type.Name, tt.script)
		assert.Contains(t, rec.ErrorID, "ActiveDirectoryServer:0,", tt.script)
		require.NotNil(t, rec.Exception.Inner, tt.script)
		assert.Equal(t, len(held)+1, l.dc.Connections("svc"), "all are returned: %s", tt.script)
	}
}

func TestCredentials(t *testing.T) {
	l := newLab(t, "")
	l.run(`Enable-ADAccount alice`)
	cred := secret + `$c = New-Object -TypeName System.Management.Automation.PSCredential -ArgumentList 'CORP\alice', `
	assert.Equal(t, "bob", l.run(cred+`$p; (Get-ADUser bob -Credential $c).Name`))
	rec := l.fails(cred + `$weak; Get-ADUser bob -Credential $c`)
	const typ = "System.Security.Authentication.AuthenticationException"
	assertError(t, wantError{"ActiveDirectoryCmdlet:" + typ, typ, dotnet.SecurityError}, "Get-ADUser", rec)
}

// Facts E15, H12: a lockout is visible, and unlocking ends it.
func TestLockout(t *testing.T) {
	l := newLab(t, "")
	l.run(`Enable-ADAccount alice; Set-ADObject 'DC=corp,DC=example' -Replace @{ lockoutThreshold = 3 }`)
	for range 3 {
		require.Error(t, l.dc.Logon(context.Background(), "alice", "wrong"))
	}
	const show = `$u = Get-ADUser alice -Properties LockedOut, BadLogonCount, AccountLockoutTime; $u.LockedOut; $u.BadLogonCount; $null -ne $u.AccountLockoutTime`
	assert.Equal(t, "True\n3\nTrue", l.run(show))
	assert.Equal(t, "False\n0\nFalse", l.run(`Unlock-ADAccount alice;`+show))
}

// A canceled run ends with the context's error, not with a directory error.
func TestCancelled(t *testing.T) {
	l := newLab(t, "")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := l.session.Run(ctx, "test.ps1", `Get-ADUser -LDAPFilter '(sn=*)'`, noStreams)
	require.Error(t, err)
}

// Facts G5: a global catalog is read-only.
func TestTheGlobalCatalogOnlyReads(t *testing.T) {
	l := newLab(t, "")
	assert.Equal(t, "alice", l.run(`(Get-ADUser alice -Server dc1.corp.example:3268).Name`))
	assertError(t, unwilling, "Set-ADUser", l.fails(`Set-ADUser alice -City x -Server dc1.corp.example:3268`))
}

// Every command that supports ShouldProcess runs with -Confirm:$false.
func TestEveryWriteTakesConfirm(t *testing.T) {
	calls := map[string]string{
		"New-ADUser": `x`, "New-ADGroup": `x Global`, "New-ADComputer": `x`, "New-ADOrganizationalUnit": `x`, "New-ADObject": `x container`,
		"Set-ADUser": `alice -City x -Enabled $true`, "Set-ADGroup": `Readers -Description x`, "Set-ADComputer": `PC1 -Location x`,
		"Set-ADObject":  `'` + alice + `' -Description x`,
		"Remove-ADUser": `alice`, "Remove-ADGroup": `Readers`, "Remove-ADComputer": `PC1`, "Remove-ADOrganizationalUnit": `'` + sales + `' -Recursive`,
		"Remove-ADObject": `'` + alice + `'`, "Move-ADObject": `'` + alice + `' '` + sales + `'`, "Rename-ADObject": `'` + alice + `' x`,
		"Add-ADGroupMember": `Readers bob`, "Remove-ADGroupMember": `Readers alice`,
		"Enable-ADAccount": `alice`, "Disable-ADAccount": `'PC1$'`, "Unlock-ADAccount": `alice`,
		"Set-ADAccountPassword": `alice -Reset -NewPassword $p`, "Restore-ADObject": `$guid`,
	}
	before := map[string]string{
		"Restore-ADObject": `$guid = (Get-ADUser alice).ObjectGUID; Remove-ADUser alice -Confirm:$false` + "\n",
	}
	for _, row := range allCommands() {
		decl, _ := cmdlets.Lookup(row.name)
		if !decl.SupportsShouldProcess {
			assert.False(t, decl.Writes(), row.name)
			continue
		}
		args, ok := calls[row.name]
		require.True(t, ok, "no call of %s", row.name)
		written := newLab(t, "").journal(secret + before[row.name] + row.name + " " + args + " -Confirm:$false")
		if row.name == "Unlock-ADAccount" { // alice is not locked (facts H13)
			assert.Empty(t, written)
		} else {
			assert.NotEmpty(t, written, row.name)
		}
	}
}
