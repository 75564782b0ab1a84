package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var sessionArgs = []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text",
	"-ExecutionPolicy", "Bypass", "-Command", "-"}

func newWorld(t testing.TB, o Options) *World {
	t.Helper()
	w, err := NewWorld(context.Background(), o)
	require.NoError(t, err)
	return w
}

// run runs lines in a new session of a world and requires an empty stderr.
func run(t testing.TB, w *World, lines ...string) string {
	t.Helper()
	stdout, stderr, code := playback(t, w.Starter(), sessionArgs, strings.Join(lines, "\n")+"\n")
	assert.Empty(t, stderr)
	assert.Zero(t, code)
	return stdout
}

func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestWorldServesBothModules(t *testing.T) {
	w := newWorld(t, Options{})
	assert.Equal(t, "corp.example\n", run(t, w, "Import-Module ActiveDirectory", "(Get-ADDomain).DNSRoot"))
	assert.Equal(t, "True\n", run(t, w, "Import-Module DnsServer", "@(Get-DnsServerZone).Count -gt 5"))

	// Sessions share the world, but not their variables.
	assert.Equal(t, "1\n", run(t, w, "$v = 1; $v",
		"New-ADOrganizationalUnit -Name Shared -Path 'DC=corp,DC=example'"))
	assert.Equal(t, "OU=Shared,DC=corp,DC=example\n[]\n", run(t, w,
		"(Get-ADOrganizationalUnit -Identity 'OU=Shared,DC=corp,DC=example').DistinguishedName", `"[$v]"`))
}

const ownDomain = `dn: DC=test,DC=local
objectClass: domainDNS

dn: OU=Staff,DC=test,DC=local
objectClass: organizationalUnit

dn: CN=Ann,OU=Staff,DC=test,DC=local
objectClass: user
sAMAccountName: ann
`

const ownZone = `$ORIGIN test.local.
@ 3600 IN SOA dc1 hostmaster ( 1 900 600 86400 3600 )
@ 3600 IN NS dc1
www 3600 IN CNAME web
`

func TestWorldOfOwnFiles(t *testing.T) {
	w := newWorld(t, Options{Empty: true, LDIF: []string{file(t, "own.ldif", ownDomain)},
		Zones: []string{file(t, "test.local.zone", ownZone)}})
	assert.Equal(t, "test.local", w.Directory.DNSName())
	assert.Equal(t, "CN=Ann,OU=Staff,DC=test,DC=local\nweb.test.local.\n", run(t, w,
		"(Get-ADUser -Identity ann).DistinguishedName",
		"(Get-DnsServerResourceRecord -ZoneName test.local -Name www -RRType CName).RecordData.HostNameAlias"))
	assert.Equal(t, Example{User: "ann", Zone: "test.local"}, w.Example(context.Background()))
	builtIn := newWorld(t, Options{}).Example(context.Background())
	assert.Regexp(t, `^[\w.-]+$`, builtIn.User, "it goes into a command line")
}

// A zone file replaces the built-in zone of the same name.
func TestOwnZoneReplacesABuiltInOne(t *testing.T) {
	own := strings.ReplaceAll(ownZone, "test.local", "corp.example")
	w := newWorld(t, Options{Zones: []string{file(t, "corp.example.zone", own)}})
	assert.Equal(t, "1\n", run(t, w,
		"@(Get-DnsServerResourceRecord -ZoneName corp.example -RRType CName).Count"))
}

func TestGeneratedUsers(t *testing.T) {
	count := "@(Get-ADUser -LDAPFilter '(objectClass=user)').Count"
	before, after := run(t, newWorld(t, Options{Seed: 3}), count), run(t,
		newWorld(t, Options{Seed: 3, Users: 300}), count)
	assert.NotEqual(t, before, after)
	one, two := newWorld(t, Options{Seed: 3, Users: 10}), newWorld(t, Options{Seed: 3, Users: 10})
	names := "Get-ADUser -LDAPFilter '(objectClass=user)' | ForEach-Object { $_.SamAccountName }"
	assert.Equal(t, run(t, one, names), run(t, two, names))
}

func TestAllFaultsOfTheFilesAreTold(t *testing.T) {
	_, err := NewWorld(context.Background(), Options{
		LDIF: []string{
			file(t, "a.ldif", "dn: OU=A,DC=corp,DC=example\nobjectClass: organizationalUnit\nno colon here\n\nobjectClass: user\n"),
			"no-such-file.ldif",
		},
		Zones: []string{file(t, "b.zone", "$ORIGIN b.example.\n@ IN BOGUS x\n"), "no-such-file.zone"},
	})
	require.Error(t, err)
	for _, want := range []string{"a.ldif:1:", "a.ldif:5:", "no-such-file.ldif", "b.zone:2:",
		"no-such-file.zone"} {
		assert.Contains(t, err.Error(), want)
	}
}

func TestServersCanBeSwitchedOff(t *testing.T) {
	w := newWorld(t, Options{})
	conn, err := w.Dial(context.Background(), "tcp", "dc1.corp.example:9389")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	w.Directory.DCs()[0].SetAlive(false)
	_, err = w.Dial(context.Background(), "tcp", "dc1.corp.example:9389")
	assert.Error(t, err)
	_, stderr, _ := playback(t, w.Starter(), sessionArgs,
		"Get-ADUser -Identity Administrator -Server dc1.corp.example\n")
	assert.NotEmpty(t, stderr)
}

// Zones can be entries of the directory, as they are in an export.
func TestZonesOfTheDirectory(t *testing.T) {
	const ( // dnsRecord values
		soa   = "QwAGAAXwAAABAAAAAAAOEAAAAAAAAAAAAAAABwAAA4QAAAJYAAFRgAAADhASAwNkYzEEY29ycAdleGFtcGxlABkDCmhvc3RtYXN0ZXIEY29ycAdleGFtcGxlAA=="
		ns    = "FAACAAXwAAABAAAAAAAOEAAAAAAAAAAAEgMDZGMxBGNvcnAHZXhhbXBsZQA=" // dc1.corp.example.
		cname = "FAAFAAXwAAABAAAAAAACWAAAAAAAAAAAEgMDd2ViBGNvcnAHZXhhbXBsZQA=" // web.corp.example.
		a     = "BAABAAXwAAABAAAAAAACWAAAAAAAAAAACgEBAQ=="                     // 10.1.1.1
	)
	const zone = "DC=own.example,CN=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example"
	text := "dn: DC=DomainDnsZones,DC=corp,DC=example\nobjectClass: domainDNS\n\n" +
		"dn: CN=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example\nobjectClass: container\n\n" +
		"dn: " + zone + "\nobjectClass: dnsZone\n\n" +
		"dn: DC=@," + zone + "\nobjectClass: dnsNode\n" +
		"dnsRecord:: " + soa + "\n" +
		"dnsRecord:: " + ns + "\n\n" +
		"dn: DC=www," + zone + "\nobjectClass: dnsNode\ndnsRecord:: " + cname + "\n\n" +
		"dn: DC=gone," + zone + "\nobjectClass: dnsNode\ndNSTombstoned: TRUE\ndnsRecord:: " + a + "\n"
	w := newWorld(t, Options{LDIF: []string{file(t, "dns.ldif", text)}})
	assert.Equal(t, "www web.corp.example.\n", run(t, w,
		"Get-DnsServerResourceRecord -ZoneName own.example | ForEach-Object { if (@('SOA', 'NS') -notcontains "+
			"$_.RecordType) { \"$($_.HostName) $($_.RecordData.HostNameAlias)\" } }"))
}
