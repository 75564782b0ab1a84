package dnscmd_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/dnscmd"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/internal/data"
	"adgateway/ps/sandbox/zones"
	"adgateway/ps/sandbox/zones/zonestest"
)

// lab is the built-in DNS service on two domain controllers and a stand-alone
// server, with an engine.
type lab struct {
	t      testing.TB
	store  *zonestest.Store
	engine *engine.Engine
}

var now = time.Date(2026, 10, 5, 14, 35, 0, 0, time.UTC)

func newLab(t testing.TB, culture string) *lab {
	t.Helper()
	st := zonestest.New(zones.Config{
		Domain: "corp.example", Now: func() time.Time { return now },
		Servers: []zones.ServerConfig{
			{Name: "dc1.corp.example", Address: "10.0.0.10", DomainController: true},
			{Name: "dc2.corp.example", Address: "10.0.0.11", DomainController: true},
			{Name: "alone.corp.example"},
		},
	})
	names, err := fs.Glob(data.Zones, "*.zone")
	require.NoError(t, err)
	var sources []zones.Source
	for _, name := range names {
		text, err := fs.ReadFile(data.Zones, name)
		require.NoError(t, err)
		sources = append(sources, zones.Source{Name: name, Text: text})
	}
	require.NoError(t, st.Load(sources...))
	module := dnscmd.Module(dnscmd.Options{Store: st.Store, Culture: culture})
	return &lab{t: t, store: st, engine: engine.NewEngine(engine.Options{Modules: []*engine.Module{module}})}
}

// result is the output of a script.
type result struct {
	out    []string
	all    []any
	errs   []*dotnet.ErrorRecord // non-terminating
	thrown *dotnet.ErrorRecord
}

func (l *lab) run(script string) result {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var r result
	err := l.engine.NewSession(engine.Console{}).Run(ctx, "test.ps1", "Import-Module DnsServer\n"+script,
		engine.Streams{
			Output: func(v any) error {
				r.all = append(r.all, v)
				r.out = append(r.out, dotnet.ToText(v))
				return nil
			},
			Error: func(rec *dotnet.ErrorRecord) { r.errs = append(r.errs, rec) },
		})
	var thrown *engine.ThrownError
	if errors.As(err, &thrown) {
		r.thrown = thrown.Record
	} else {
		require.NoError(l.t, err, script)
	}
	return r
}

// prop reads a property by its path, e.g. "RecordData.HostNameAlias".
func prop(t testing.TB, v any, path string) any {
	t.Helper()
	for _, name := range strings.Split(path, ".") {
		got, found, err := dotnet.GetMember(v, name)
		require.NoError(t, err)
		require.True(t, found, "%s of %s", name, path)
		v = got
	}
	return v
}

// TestTableFitsTheContract: every row is a cmdlet, and its parameters are parameters of that cmdlet.
func TestTableFitsTheContract(t *testing.T) {
	m := dnscmd.Module(dnscmd.Options{Store: zones.New(zones.Config{})})
	require.Len(t, m.Commands, 20)
	for _, c := range m.Commands {
		decl, ok := cmdlets.Lookup(c.Decl.Name)
		require.True(t, ok)
		assert.Equal(t, "DnsServer", decl.Module)
		assert.Equal(t, decl.Name, c.Class, "facts D11: the name with the dash")
	}
	for name, params := range dnscmd.Params() {
		decl, _ := cmdlets.Lookup(name)
		for _, p := range params {
			found := decl.Param(p)
			if assert.NotNil(t, found, "%s -%s", name, p) {
				assert.Equal(t, found.Name, p)
			}
		}
	}
}

func TestZoneObjects(t *testing.T) {
	l := newLab(t, "")
	r := l.run(`Get-DnsServerZone -Name 'Corp.Example.', 'shop.example'`)
	require.Empty(t, r.errs)
	require.Len(t, r.all, 2)
	for path, want := range map[string]any{
		"ZoneName": "corp.example", "ZoneType": "Primary", "IsDsIntegrated": true, "IsReverseLookupZone": false, "IsAutoCreated": false,
		"IsReadOnly": false, "IsPaused": false, "IsShutdown": false, "IsSigned": false, "ReplicationScope": "Domain",
		"DirectoryPartitionName": "DomainDnsZones.corp.example", "DynamicUpdate": "Secure", "ZoneFile": nil,
		"DistinguishedName": "DC=corp.example,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example",
		"SecureSecondaries": "NoTransfer", "Notify": "NotifyServers", "MasterServers": nil,
	} {
		assert.Equal(t, want, prop(t, r.all[0], path), path)
	}
	for path, want := range map[string]any{"ZoneFile": "shop.example.dns", "DistinguishedName": nil,
		"ReplicationScope": "None", "IsDsIntegrated": false} {
		assert.Equal(t, want, prop(t, r.all[1], path), path)
	}
	assert.Equal(t, "Microsoft.Management.Infrastructure.CimInstance#root/Microsoft/Windows/DNS/DnsServerZone",
		dotnet.TypeOf(r.all[0]).Name)

	all := l.run(`Get-DnsServerZone | ForEach-Object { $_.ZoneName }`)
	assert.Contains(t, all.out, "TrustAnchors")
	assert.Contains(t, all.out, "0.in-addr.arpa")
	assert.Contains(t, all.out, "partner.example")
	assert.Len(t, all.out, 14)
	alone := l.run(`Get-DnsServerZone -ComputerName alone | ForEach-Object { $_.ZoneName }`)
	assert.Equal(t, []string{"0.in-addr.arpa", "127.in-addr.arpa", "255.in-addr.arpa"}, alone.out)
	masters := l.run(`(Get-DnsServerZone partner.example).MasterServers | ForEach-Object { $_.IPAddressToString }`)
	assert.Equal(t, []string{"203.0.113.10", "203.0.113.11"}, masters.out)
}

// Facts E53-E56, E65.
func TestRecordObjects(t *testing.T) {
	l := newLab(t, "")
	r := l.run(`Get-DnsServerResourceRecord -ZoneName corp.example -Name www -Node -RRType CName`)
	require.Len(t, r.all, 1)
	for path, want := range map[string]any{
		"HostName": "www", "RecordType": "CNAME", "RecordClass": "IN", "Timestamp": nil, "TimeToLive": dotnet.TimeSpan(36000000000), "Type": uint16(5),
		"RecordData.HostNameAlias": "web1.corp.example.",
		"DistinguishedName":        "DC=www,DC=corp.example,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example",
	} {
		assert.Equal(t, want, prop(t, r.all[0], path), path)
	}
	assert.Equal(t, "Microsoft.Management.Infrastructure.CimInstance#root/Microsoft/Windows/DNS/DnsServerResourceRecord", dotnet.TypeOf(r.all[0]).Name)
	stamped := l.run(`$r = Get-DnsServerResourceRecord corp.example br-print -Node
		$r.TimeStamp.ToUniversalTime().ToString('yyyy-MM-ddTHH:mm:ssZ', [cultureinfo]::InvariantCulture); [int]$r.TimeToLive.TotalSeconds; $r.TimeStamp -is [datetime]`)
	assert.Equal(t, []string{"2026-10-02T11:00:00Z", "3600", "True"}, stamped.out)

	cases := map[string]string{ // -Name and expression -> text
		"'web1' -RRType A|$_.RecordData.IPv4Address.IPAddressToString":                                                       "10.0.1.30",
		"'web1' -RRType AAAA|[string]$_.RecordData.IPv6Address":                                                              "2001:db8:10:1::30",
		"'@' -RRType Mx|[string]$_.RecordData.Preference + ' ' + $_.RecordData.MailExchange":                                 "10 mail1.corp.example.;20 mail2.corp.example.",
		"'@' -RRType Ns|$_.RecordData.NameServer":                                                                            "dc1.corp.example.;dc2.corp.example.",
		"'@' -RRType Soa|$_.RecordData.PrimaryServer + ' ' + $_.RecordData.SerialNumber":                                     "dc1.corp.example. 118",
		"'@' -RRType Txt|$_.RecordData.DescriptiveText":                                                                      "v=spf1 mx ip4:10.0.1.0/24 -all;note=\"quoted\"; with a semicolon",
		"'_sip._tls' -RRType Srv|[string]$_.RecordData.Priority + ' ' + $_.RecordData.Port + ' ' + $_.RecordData.DomainName": "10 5061 app2.corp.example.",
		"'*.apps'|$_.HostName":         "*.apps",
		"'.'  -RRType Soa|$_.HostName": "@",
	}
	for key, want := range cases {
		args, expr, _ := strings.Cut(key, "|")
		got := l.run("Get-DnsServerResourceRecord -ZoneName corp.example -Node -Name " + args +
			" | ForEach-Object { " + expr + " }")
		assert.Empty(t, got.errs, key)
		assert.Equal(t, want, strings.Join(got.out, ";"), key)
	}
	ptr := l.run(`(Get-DnsServerResourceRecord -ZoneName 10.in-addr.arpa -Name 10.0.0 -RRType Ptr).RecordData.PtrDomainName`)
	assert.Equal(t, []string{"dc1.corp.example."}, ptr.out)
}

// Facts D11, D12 and the table of facts D.3 hold.
func TestErrors(t *testing.T) {
	cases := []struct {
		what, script string
		id, category string
		target       string
		english      string
	}{
		{"zone absent", `Get-DnsServerZone -Name absent.example`, "WIN32 9601,Get-DnsServerZone", "ObjectNotFound", "absent.example", "The zone absent.example was not found on server DC1."},
		{"an asterisk is not a wildcard", `Get-DnsServerZone -Name '*.example'`, "WIN32 9601,Get-DnsServerZone", "ObjectNotFound", "*.example", ""},
		{"zone of records absent", `Get-DnsServerResourceRecord -ZoneName absent.example -RRType CName -ComputerName dc2`, "WIN32 9601,Get-DnsServerResourceRecord", "ObjectNotFound", "absent.example", "The zone absent.example was not found on server dc2."},
		{"name absent", `Get-DnsServerResourceRecord -ZoneName corp.example -Name absent -Node -RRType CName`, "WIN32 9714,Get-DnsServerResourceRecord", "ObjectNotFound", "absent", "Failed to get absent record in corp.example zone on DC1 server."},
		{"server absent", `Get-DnsServerZone -ComputerName nowhere`, "WIN32 1722,Get-DnsServerZone", "NotSpecified", "nowhere", "The RPC server is unavailable."},
		{"paused", `Get-DnsServerResourceRecord -ZoneName legacy.example`, "WIN32 9621,Get-DnsServerResourceRecord", "NotSpecified", "legacy.example", ""},
		{"record of a paused zone", `Get-DnsServerResourceRecord -ZoneName legacy.example -Name www -Node`, "WIN32 9621,Get-DnsServerResourceRecord", "NotSpecified", "www", "Failed to get www record in legacy.example zone on DC1 server."},
		{"zone exists", `Add-DnsServerPrimaryZone -Name corp.example -ReplicationScope Domain`, "WIN32 9609,Add-DnsServerPrimaryZone", "ResourceExists", "corp.example", "Failed to create zone corp.example on server DC1."},
		{"no directory", `Add-DnsServerPrimaryZone -Name n.example -ReplicationScope Domain -ComputerName alone`, "WIN32 9717,Add-DnsServerPrimaryZone", "NotSpecified", "n.example", ""},
		{"no network", `Add-DnsServerPrimaryZone -NetworkId 10.0.0.0/7 -ReplicationScope Domain`, "WIN32 87,Add-DnsServerPrimaryZone", "InvalidArgument", "10.0.0.0/7", ""},
		{"same record", `Add-DnsServerResourceRecordCName -ZoneName corp.example -Name www -HostNameAlias WEB1.corp.example`, "WIN32 9711,Add-DnsServerResourceRecordCName", "ResourceExists", "www", "Failed to create resource record www in zone corp.example on server DC1."},
		{"over A", `Add-DnsServerResourceRecordCName corp.example web1 web2.corp.example.`, "WIN32 9709,Add-DnsServerResourceRecordCName", "NotSpecified", "web1", ""},
		{"to itself", `Add-DnsServerResourceRecordCName -ZoneName corp.example -Name x -HostNameAlias x.corp.example.`, "WIN32 9707,Add-DnsServerResourceRecordCName", "NotSpecified", "x", ""},
		{"A over an alias", `Add-DnsServerResourceRecord -A -ZoneName corp.example -Name www -IPv4Address 10.0.0.1 -Confirm:$false`, "WIN32 9708,Add-DnsServerResourceRecord", "NotSpecified", "www", ""},
		{"record gone", `Remove-DnsServerResourceRecord -ZoneName corp.example -Name web1 -RRType CName -Force`, "WIN32 9701,Remove-DnsServerResourceRecord", "ObjectNotFound", "web1", ""},
		{"no IPv4 address", `Add-DnsServerResourceRecord -A -ZoneName corp.example -Name x -IPv4Address 2001:db8::1 -Confirm:$false`, "WIN32 87,Add-DnsServerResourceRecord", "InvalidArgument", "x", ""},
		{"name gone", `Remove-DnsServerResourceRecord -ZoneName corp.example -Name absent -RRType CName -Force`, "WIN32 9714,Remove-DnsServerResourceRecord", "ObjectNotFound", "absent", ""},
		{"automatic zone", `Remove-DnsServerZone -Name 0.in-addr.arpa -Force`, "WIN32 9603,Remove-DnsServerZone", "NotSpecified", "0.in-addr.arpa", ""},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			l := newLab(t, "en-US")
			before := l.store.Snapshot()
			r := l.run(c.script + "\n'went on'")
			assert.Equal(t, []string{"went on"}, r.out, "not terminating")
			require.Nil(t, r.thrown)
			require.Len(t, r.errs, 1)
			rec := r.errs[0]
			assert.Equal(t, c.id, rec.ErrorID)
			assert.Equal(t, c.category, rec.Category.String())
			assert.Equal(t, c.target, dotnet.ToText(rec.Target))
			assert.Equal(t, "Microsoft.Management.Infrastructure.CimException", rec.Exception.Type.Name)
			id, _, _ := strings.Cut(c.id, ",")
			assert.Equal(t, id, prop(t, rec.Exception, "MessageId"))
			if c.english != "" {
				assert.Equal(t, c.english, rec.Exception.Message)
			}
			assert.Empty(t, zonestest.Compare(before, l.store.Snapshot()))

			german := newLab(t, "de-DE").run(c.script)
			require.Len(t, german.errs, 1)
			assert.Equal(t, c.id, german.errs[0].ErrorID)
			assert.NotEqual(t, rec.Exception.Message, german.errs[0].Exception.Message)

			caught := l.run("try { " + c.script +
				" -ErrorAction Stop } catch { $_.Exception.MessageId; $_.FullyQualifiedErrorId; " +
				"[string]$_.CategoryInfo.Category }")
			assert.Equal(t, []string{id, c.id, c.category}, caught.out, "facts D5")
		})
	}
}

func TestAServerThatIsOff(t *testing.T) {
	l := newLab(t, "")
	require.NoError(t, l.store.Switch("dc2", false))
	for _, script := range []string{"Get-DnsServerZone", "Get-DnsServerSetting",
		"Get-DnsServerResourceRecord corp.example"} {
		r := l.run(script + " -ComputerName dc2.corp.example")
		require.Len(t, r.errs, 1, script)
		assert.True(t, strings.HasPrefix(r.errs[0].ErrorID, "WIN32 1722,"), r.errs[0].ErrorID)
	}
}

func TestAddAndRemoveRecords(t *testing.T) {
	l := newLab(t, "")
	r := l.run(`$r = Add-DnsServerResourceRecordCName -ZoneName corp.example -Name new -HostNameAlias 'web1.corp.example' -TimeToLive ([timespan]::new(3000000000)) -AgeRecord -AllowUpdateAny:$false -Confirm:$false -PassThru
		$r.HostName; $r.RecordData.HostNameAlias; $r.TimeToLive.TotalSeconds; $r.TimeStamp.ToUniversalTime().ToString('yyyy-MM-ddTHH:mm:ssZ', [cultureinfo]::InvariantCulture)`)
	require.Empty(t, r.errs)
	assert.Equal(t, []string{"new", "web1.corp.example.", "300", "2026-10-05T14:00:00Z"}, r.out)
	assert.Empty(t, l.run(`Add-DnsServerResourceRecordCName -ZoneName corp.example -Name quiet -HostNameAlias web1.corp.example.`).out, "no output without -PassThru")

	// facts E60: removing a record object removes only that record
	before := l.store.Snapshot()
	r = l.run(`$all = Get-DnsServerResourceRecord -ZoneName corp.example -Name '@' -Node -RRType A
		foreach ($r in $all) { if ($r.RecordData.IPv4Address.IPAddressToString -eq '10.0.0.11') { Remove-DnsServerResourceRecord -InputObject $r -ZoneName corp.example -Force } }`)
	require.Empty(t, r.errs)
	assert.Equal(t, []string{"- corp.example: corp.example. 600 IN A 10.0.0.11 ; stamp=2026-09-28T07:00:00Z"},
		zonestest.Compare(before, l.store.Snapshot()))

	// a record of any type can be removed by its object
	before = l.store.Snapshot()
	for _, zone := range []string{"corp.example", "10.in-addr.arpa", "0.1.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
		"shop.example"} {
		r = l.run(`$all = Get-DnsServerResourceRecord -ZoneName ` + zone + `
			foreach ($r in $all) {
				if ($r.RecordType -ne 'SOA' -and $r.RecordType -ne 'NS' -and -not ([string]$r.RecordData.DescriptiveText).StartsWith('note=', [StringComparison]::Ordinal)) { Remove-DnsServerResourceRecord -ZoneName ` + zone + ` -InputObject $r -Force }
			}`)
		require.Empty(t, r.errs)
	}
	for _, line := range l.store.Snapshot()["corp.example"][1:] {
		assert.Regexp(t, ` IN (SOA|NS|TXT "note=.*) `, line)
	}
	assert.NotEmpty(t, zonestest.Compare(before, l.store.Snapshot()))
}

func TestRemoveWithoutDataTakesAll(t *testing.T) {
	l := newLab(t, "")
	r := l.run(`Remove-DnsServerResourceRecord -ZoneName corp.example -Name '_ldap._tcp' -RRType Srv -Force -PassThru | ForEach-Object { $_.RecordData.DomainName }`)
	assert.Equal(t, []string{"dc1.corp.example.", "dc2.corp.example."}, r.out)
}

// Facts A36: sessions are non-interactive, so a prompt is an error.
func TestPrompts(t *testing.T) {
	for script, prompts := range map[string]bool{
		`Remove-DnsServerResourceRecord -ZoneName corp.example -Name www -RRType CName`:                              true,
		`Remove-DnsServerResourceRecord -ZoneName corp.example -Name www -RRType CName -Force`:                       false,
		`Remove-DnsServerResourceRecord -ZoneName corp.example -Name www -RRType CName -Confirm:$false`:              false,
		`$ConfirmPreference = 'None'; Remove-DnsServerResourceRecord -ZoneName corp.example -Name www -RRType CName`: false,
		`Remove-DnsServerZone -Name shop.example`:                                                                    true,
		`Remove-DnsServerZone -Name shop.example -Force`:                                                             false,
		`Add-DnsServerPrimaryZone -Name n.example -ReplicationScope Forest`:                                          false,
		`Add-DnsServerResourceRecordCName -ZoneName corp.example -Name n -HostNameAlias a.example. -Confirm`:         true,
	} {
		l := newLab(t, "")
		before := l.store.Snapshot()
		r := l.run("try { " + script + " } catch { 'prompted' }")
		changed := len(zonestest.Compare(before, l.store.Snapshot())) > 0
		assert.Equal(t, !prompts, changed, script)
		assert.Equal(t, prompts, len(r.out)+len(r.errs) > 0, script)
	}
}

func TestAddZones(t *testing.T) {
	l := newLab(t, "")
	r := l.run(`$z = Add-DnsServerPrimaryZone -Name 5.10.in-addr.arpa -ReplicationScope Domain -DynamicUpdate Secure -Confirm:$false -PassThru
		$z.ZoneName; $z.IsReverseLookupZone; $z.DistinguishedName; $z.DynamicUpdate
		$z = Add-DnsServerPrimaryZone -NetworkId '10.6.0.0/16' -ZoneFile 6.10.in-addr.arpa.dns -PassThru -ComputerName alone
		$z.ZoneName; $z.ZoneFile; [string]$z.IsDsIntegrated
		Remove-DnsServerZone -Name 5.10.in-addr.arpa -Force
		(Get-DnsServerZone).ZoneName -contains '5.10.in-addr.arpa'`)
	require.Empty(t, r.errs)
	assert.Equal(t, []string{"5.10.in-addr.arpa", "True",
		"DC=5.10.in-addr.arpa,cn=MicrosoftDNS,DC=DomainDnsZones,DC=corp,DC=example", "Secure",
		"6.10.in-addr.arpa", "6.10.in-addr.arpa.dns", "False", "False"}, r.out)
}

// Facts E68.
func TestSettings(t *testing.T) {
	l := newLab(t, "")
	r := l.run(`(Get-DnsServerSetting -All).DsAvailable
		(Get-DnsServerSetting -All -ComputerName alone -WarningAction SilentlyContinue).DsAvailable
		(Get-DnsServerSetting).ComputerName`)
	require.Empty(t, r.errs)
	assert.Equal(t, []string{"True", "False", "dc1.corp.example"}, r.out)
}

// Records of types that the server cannot name are stored as octets. Records of other types cannot be added
// in that form.
func TestNumberedTypes(t *testing.T) {
	l := newLab(t, "")
	r := l.run(`Add-DnsServerResourceRecord -ZoneName corp.example -Name numbered -Type 257 -RecordData '00056973737565612E62' -Confirm:$false
		$record = @(Get-DnsServerResourceRecord -ZoneName corp.example -Name numbered -Type 257)[0]
		$record.RecordType; $record.Type; $record.RecordData.Data
		Add-DnsServerResourceRecord -ZoneName corp.example -Name _443._tcp.numbered -TLSA -CertificateUsage DomainIssuedCertificate -Selector SubjectPublicKeyInfo -MatchingType Sha256Hash -CertificateAssociationData 'AB' -Confirm:$false
		@(Get-DnsServerResourceRecord -ZoneName corp.example -Name _443._tcp.numbered -RRType Tlsa)[0].RecordData.CertificateUsage
		Remove-DnsServerResourceRecord -ZoneName corp.example -InputObject $record -Force -Confirm:$false
		@(Get-DnsServerResourceRecord -ZoneName corp.example -Type 257).Length`)
	require.Empty(t, r.errs)
	assert.Equal(t, []string{"UNKNOWN", "257", "00056973737565612E62", "DomainIssuedCertificate", "0"}, r.out)
	for script, code := range map[string]string{
		`Add-DnsServerResourceRecord -ZoneName corp.example -Name x -Type 1 -RecordData '0A000001' -Confirm:$false`: "WIN32 9551",
		`Add-DnsServerResourceRecord -ZoneName corp.example -Name x -Type 35 -RecordData '00' -Confirm:$false`:      "WIN32 9551",
		`Add-DnsServerResourceRecord -ZoneName corp.example -Name x -Type 257 -RecordData 'xyz' -Confirm:$false`:    "WIN32 87",
		`Add-DnsServerResourceRecord -ZoneName corp.example -Name x -Type 257 -RecordData '' -Confirm:$false`:       "",
	} {
		r := l.run(script)
		require.Len(t, r.errs, 1, script)
		assert.Contains(t, r.errs[0].ErrorID, code, script)
	}
}

// A parameter that is not simulated is rejected by name, and nothing changes.
func TestUnsupportedParametersAreRejected(t *testing.T) {
	for script, name := range map[string]string{
		`Get-DnsServerZone -VirtualizationInstance x`:                                                    "VirtualizationInstance",
		`Get-DnsServerResourceRecord corp.example -ZoneScope other`:                                      "ZoneScope",
		`Add-DnsServerResourceRecord -HInfo -ZoneName corp.example -Name x -Cpu a -OperatingSystem b`:    "Cpu",
		`Add-DnsServerResourceRecord -A -ZoneName corp.example -Name x -IPv4Address 10.0.0.1 -CreatePtr`: "CreatePtr",
		`Remove-DnsServerResourceRecord corp.example -Name '@' -RRType Mx -RecordData '10', 'x' -Force`:  "RecordData",
		`Add-DnsServerPrimaryZone -Name n.example -ZoneFile n.dns -LoadExisting`:                         "LoadExisting",
		`Get-DnsServerDirectoryPartition -Custom`:                                                        "Custom",
	} {
		l := newLab(t, "")
		before := l.store.Snapshot()
		r := l.run(script)
		require.Len(t, r.errs, 1, script)
		assert.Empty(t, r.out)
		assert.True(t, strings.HasPrefix(r.errs[0].ErrorID, "ParameterNotSupported,"), r.errs[0].ErrorID)
		assert.Contains(t, r.errs[0].Exception.Message, "-"+name+" of ", script)
		assert.Empty(t, zonestest.Compare(before, l.store.Snapshot()), script)
	}
}
