package adcmd

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Facts E23: a listing of members fails as a whole when there are too many.
func TestTooManyMembersFailTheWholeListing(t *testing.T) {
	d, err := directory.New("corp.example", "", directory.Options{Seed: 1, MaxMembers: 2, Clock: func() time.Time { return noon }})
	require.NoError(t, err)
	l := &lab{t: t, domain: d, dc: d.DCs()[0]}
	l.fill()
	l.connect(Options{Domain: d, Location: time.UTC})
	l.run(`Add-ADGroupMember Readers bob`)
	assert.Equal(t, "alice\nbob", l.run(`Get-ADGroupMember Readers | ForEach-Object { $_.Name }`))
	l.run(`Add-ADGroupMember Readers boss`)
	rec := l.fails(`Get-ADGroupMember Readers`)
	assertError(t, wantError{"ActiveDirectoryServer:0", "ADException", dotnet.NotSpecified}, "Get-ADGroupMember", rec)
	assert.Equal(t, "3", l.run(`(Get-ADGroup Readers -Properties member).member.Count`), "facts E24: the attribute has no limit")
}

// Facts E23: so does one foreign principal that cannot be resolved.
func TestAForeignPrincipalFailsTheWholeListing(t *testing.T) {
	l := newLab(t, "")
	const foreign = "CN=S-1-5-21-1-2-3-1000,CN=ForeignSecurityPrincipals,DC=corp,DC=example"
	_, err := l.dc.Add(context.Background(), foreign, directory.Attr("objectClass", "foreignSecurityPrincipal"))
	require.NoError(t, err)
	l.run(`Set-ADGroup Local -Add @{ member = '` + foreign + `', '` + alice + `' }`)
	rec := l.fails(`Get-ADGroupMember Local`)
	assertError(t, wantError{"ActiveDirectoryServer:0", "ADException", dotnet.NotSpecified}, "Get-ADGroupMember", rec)
	assert.Equal(t, "2", l.run(`(Get-ADGroup Local -Properties member).member.Count`))
}

// Facts E29: groups may contain each other, and listings end all the same.
func TestARingOfGroupsIsWalkedOnce(t *testing.T) {
	l := newLab(t, "")
	assert.Equal(t, "alice", l.run(`
		New-ADGroup a Universal; New-ADGroup b Universal; New-ADGroup c Universal
		Add-ADGroupMember a b; Add-ADGroupMember b c; Add-ADGroupMember c a, alice
		Get-ADGroupMember a -Recursive | ForEach-Object { $_.Name }`))
	assert.Equal(t, "b group", l.run(`Get-ADGroupMember a | ForEach-Object { $_.Name + ' ' + $_.ObjectClass }`))
}

// Facts E18, E22: the primary group is in no attribute, but in the listings.
func TestThePrimaryGroup(t *testing.T) {
	l := newLab(t, "")
	assert.Equal(t, "0\nDomain Users\nTrue", l.run(`
		(Get-ADUser bob -Properties MemberOf).MemberOf.Count
		(Get-ADPrincipalGroupMembership bob).Name
		@(Get-ADGroupMember 'Domain Users').Name -contains 'bob'`))
}
