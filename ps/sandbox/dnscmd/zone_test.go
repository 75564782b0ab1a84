package dnscmd_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shows runs scripts in order in one lab and compares their output, or the number of
// their error.
func shows(t *testing.T, cases [][2]string) {
	t.Helper()
	l := newLab(t, "")
	for _, c := range cases {
		r := l.run(c[0])
		got := strings.Join(r.out, " ")
		for _, e := range append(r.errs, r.thrown) {
			if e != nil {
				got += strings.SplitN(e.ErrorID, ",", 2)[0]
			}
		}
		assert.Equal(t, c[1], got, c[0])
	}
}

// Facts NC2.
func TestForwarderCommands(t *testing.T) {
	shows(t, [][2]string{
		{`$z = Add-DnsServerConditionalForwarderZone -Name ally.example -MasterServers '10.9.0.1', '2001:db8::9' -ReplicationScope Domain -PassThru; $z.ZoneType; $z.ForwarderTimeout; $z.UseRecursion; $z.ReplicationScope; $z.IsDsIntegrated`, "Forwarder 5 False Domain True"},
		{`Add-DnsServerConditionalForwarderZone -Name ally.example -MasterServers 10.9.0.1`, "WIN32 9619"},
		{`Add-DnsServerConditionalForwarderZone -Name shop.example -MasterServers 10.9.0.1`, "WIN32 9609"},
		{`Add-DnsServerConditionalForwarderZone -Name slow.example -MasterServers 10.9.0.1 -ForwarderTimeout 16`, "WIN32 9567"},
		{`Add-DnsServerConditionalForwarderZone -Name one.example -MasterServers 10.9.0.1 -UseRecursion -ForwarderTimeout 0 -ComputerName alone; $z = Get-DnsServerZone one.example -ComputerName alone; $z.ForwarderTimeout; $z.UseRecursion; $z.ReplicationScope`, "0 True None"},
		{`Set-DnsServerConditionalForwarderZone -Name ally.example -MasterServers 10.9.0.2 -ForwarderTimeout 15 -UseRecursion $true; $z = Get-DnsServerZone ally.example; [string]$z.MasterServers; $z.ForwarderTimeout; $z.UseRecursion`, "10.9.0.2 15 True"},
		{`Set-DnsServerConditionalForwarderZone -Name ally.example -ReplicationScope Forest; (Get-DnsServerZone ally.example).ReplicationScope`, "Forest"},
		{`Set-DnsServerConditionalForwarderZone -Name shop.example -ForwarderTimeout 1`, "WIN32 9611"},
		{`Set-DnsServerConditionalForwarderZone -Name absent.example -ForwarderTimeout 1`, "WIN32 9601"},
		{`Remove-DnsServerZone -Name ally.example -Force; Get-DnsServerZone ally.example`, "WIN32 9601"},
		{`Add-DnsServerPrimaryZone -Name partner.example -ReplicationScope Domain`, "WIN32 9619"},
	})
}

// Facts NC1.
func TestSetPrimaryZone(t *testing.T) {
	shows(t, [][2]string{
		{`Set-DnsServerPrimaryZone -Name corp.example -DynamicUpdate None; (Get-DnsServerZone corp.example).DynamicUpdate`, "None"},
		{`(Set-DnsServerPrimaryZone -Name corp.example -ReplicationScope Legacy -PassThru).DistinguishedName`, "DC=corp.example,cn=MicrosoftDNS,cn=System,DC=corp,DC=example"},
		{`Set-DnsServerPrimaryZone -Name shop.example -ReplicationScope Domain`, "WIN32 9603"},
		{`Set-DnsServerPrimaryZone -Name shop.example -DynamicUpdate Secure`, "WIN32 9603"},
		{`Set-DnsServerPrimaryZone -Name supplier.example -DynamicUpdate None`, "WIN32 9611"},
		{`Set-DnsServerPrimaryZone -Name corp.example -DynamicUpdate None -ReplicationScope Forest`, "AmbiguousParameterSet"},
	})
}

// Facts NC6.
func TestDelegationCommands(t *testing.T) {
	const show = `Get-DnsServerZoneDelegation -Name corp.example -ChildZoneName branch | ForEach-Object { $_.ChildZoneName + ' ' + $_.NameServer.RecordData.NameServer + ' ' + $_.IPAddress.Count; foreach ($a in $_.IPAddress) { [string]$a.RecordData.IPv4Address } }`
	shows(t, [][2]string{
		{`Get-DnsServerZoneDelegation -Name corp.example | ForEach-Object { $_.ChildZoneName }`, "_msdcs _msdcs lab lab"},
		{`(Add-DnsServerZoneDelegation -Name corp.example -ChildZoneName branch -NameServer ns1.branch.corp.example -IPAddress 10.9.1.1 -PassThru).ZoneName`, "corp.example"},
		{`Add-DnsServerZoneDelegation -Name corp.example -ChildZoneName branch -NameServer ns.elsewhere.example -IPAddress 10.9.1.2`, ""},
		{show, "branch ns1.branch.corp.example. 1 10.9.1.1 branch ns.elsewhere.example. 0"},
		{`Add-DnsServerZoneDelegation -Name corp.example -ChildZoneName branch -NameServer ns1.branch.corp.example -IPAddress 10.9.1.1`, "WIN32 9711"},
		{`Add-DnsServerZoneDelegation -Name absent.example -ChildZoneName branch -NameServer ns1.x -IPAddress 10.9.1.1`, "WIN32 9601"},
		{`Get-DnsServerZoneDelegation -Name legacy.example`, "WIN32 9621"},
		{`Remove-DnsServerZoneDelegation -Name corp.example -ChildZoneName branch -NameServer ns.elsewhere.example -Force`, ""},
		{show, "branch ns1.branch.corp.example. 1 10.9.1.1"},
		{`(Remove-DnsServerZoneDelegation -Name corp.example -ChildZoneName branch -Force -PassThru).ChildZoneName`, "branch"},
		{`Remove-DnsServerZoneDelegation -Name corp.example -ChildZoneName branch -Force`, "WIN32 9714"},
		{show, "WIN32 9714"},
	})
}

// Facts NC7.
func TestAgingCommands(t *testing.T) {
	const show = `$a = Get-DnsServerZoneAging -Name corp.example; $a.AgingEnabled; $a.RefreshInterval.TotalSeconds; $a.NoRefreshInterval.TotalSeconds; $null -eq $a.AvailForScavengeTime; [string]$a.ScavengeServers`
	shows(t, [][2]string{
		{show, "True 604800 604800 True "},
		{`Set-DnsServerZoneAging -Name corp.example -Aging $false -RefreshInterval ([timespan]::new(864000000000)) -ScavengeServers 10.0.0.10`, ""},
		{show, "False 86400 604800 True 10.0.0.10"},
		{`Set-DnsServerZoneAging -Name corp.example -Aging $true; (Get-DnsServerZoneAging corp.example).AvailForScavengeTime.ToUniversalTime().ToString('yyyy-MM-ddTHH', [cultureinfo]::InvariantCulture)`, "2026-10-06T14"},
		{`Set-DnsServerZoneAging -Name corp.example -NoRefreshInterval ([timespan]::new(315396000000000))`, "WIN32 9567"},
		{`Get-DnsServerZoneAging -Name supplier.example`, "WIN32 9611"},
		{`Get-DnsServerZoneAging -Name absent.example`, "WIN32 9601"},
	})
}

// Facts NC9.
func TestStatisticsAndScavenging(t *testing.T) {
	l := newLab(t, "")
	r := l.run(`Get-DnsServerStatistics -ZoneName corp.example`)
	require.Len(t, r.all, 1)
	assert.Equal(t, "corp.example", prop(t, r.all[0], "Name"))
	shows(t, [][2]string{
		{`$s = Get-DnsServerStatistics -ZoneName corp.example; $s.ZoneQueryStatistics[0].RecordType; $s.ZoneQueryStatistics[0].QueriesReceived -ge $s.ZoneQueryStatistics[0].QueriesResponded; $s.ZoneTransferStatistics.Count; $s.ZoneUpdateStatistics.DynamicUpdateRejected; $s.StatsCollectionStartTime -is [datetime]`, "A True 2 0 True"},
		{`Get-DnsServerStatistics -ZoneName partner.example`, "WIN32 9611"},
		{`Get-DnsServerStatistics -ZoneName absent.example`, "WIN32 9601"},
		{`Get-DnsServerStatistics`, "ParameterNotSupported"},
		{`(Get-DnsServerScavenging).ScavengingInterval.TotalSeconds`, "0"},
		{`Get-DnsServerScavenging -ComputerName nowhere`, "WIN32 1722"},
	})
}
