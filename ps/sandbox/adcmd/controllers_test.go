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

// Facts G13: a single computer that only looks like a domain controller hides all
// controllers from -Filter, but not from other queries.
func TestAnImpostorHidesAllControllers(t *testing.T) {
	d, err := directory.BuiltIn(directory.Options{Seed: 1, Clock: func() time.Time { return noon }})
	require.NoError(t, err)
	l := &lab{t: t, domain: d, dc: d.DCs()[0]}
	l.connect(Options{Domain: d, Location: time.UTC})
	const all = `@(Get-ADDomainController -Filter *).HostName`
	assert.Equal(t, "dc1.corp.example\ndc2.corp.example", l.run(all))
	const odd = "CN=WAN1,OU=Domain Controllers,DC=corp,DC=example"
	_, err = l.dc.Add(context.Background(), odd, directory.Attr("objectClass", "computer"),
		directory.Attr("sAMAccountName", "WAN1$"), directory.Attr("userAccountControl", 0x5001002))
	require.NoError(t, err)
	assertError(t, wantError{
		"ActiveDirectoryCmdlet:Microsoft.ActiveDirectory.Management.ADIdentityNotFoundException",
		"ADIdentityNotFoundException", dotnet.ObjectNotFound,
	}, "Get-ADDomainController", l.fails(all))
	assert.Equal(t, "dc1.corp.example", l.run(`(Get-ADDomainController -Discover).HostName[0]`))
	assert.Equal(t, "dc2.corp.example", l.run(`(Get-ADDomainController -Identity dc2).HostName`))
	require.NoError(t, l.dc.Delete(context.Background(), odd))
	assert.Equal(t, "dc1.corp.example\ndc2.corp.example", l.run(all))
}
