// Package dnscmd is the DnsServer module of the sandbox: its cmdlets as declared
// tables over the simulated DNS service (package ps/sandbox/zones).
//
// # Tour
//
// [Module] gives the module for an engine. Each cmdlet is a [command] row in
// the table below: its name, the class of the objects it works on, its body and
// the parameters that body understands; what the documentation says about it
// (sets, types, positions) comes from package ps/cmdlets. A parameter that
// exists but that no row understands is refused, never skipped.
//
//   - zone.go: zones
//   - record.go: records, read, added, changed, removed
//   - data.go: one row for each record type: its data as properties, both ways
//   - server.go: settings and directory partitions of the server
//   - types.go: the CIM classes and exceptions
//   - errors.go: Win32 codes to exceptions, ids and categories (facts D.3)
//
// # What is copied from the real module
//
// Errors are CimExceptions and do not end a pipeline (facts D4, D11); their
// messages are in the culture of [Options], codes and ids never are. Names in
// record data come with a trailing dot (facts E53), a static record has no time
// stamp (E56), -Name without -Node finds what lies below too (E55), removal
// without -RecordData takes all of a name and type (E60).
package dnscmd

import (
	"strings"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
)

// Options say over what and in which language the module works.
type Options struct {
	// Store is the DNS service; it must not be nil.
	Store *zones.Store
	// Culture is the language of messages, "en-US" (also when empty) or "de-DE".
	Culture string
}

// ModuleName and ModuleVersion are what Get-Module shows.
const (
	ModuleName    = "DnsServer"
	ModuleVersion = "2.0.0.0"
	moduleGUID    = "46f598e5-9907-42b2-afbb-68e5f7e34604"
)

// Module makes the module. It may serve any number of engines and sessions at once.
func Module(o Options) *engine.Module {
	m := &engine.Module{Name: ModuleName, Version: ModuleVersion, GUID: moduleGUID, Types: order}
	for i := range commands {
		m.Commands = append(m.Commands, commands[i].command(&o))
	}
	return m
}

// command is one cmdlet: a row of the table.
type command struct {
	name   string
	class  string // CIM class of the cmdlet, in the target of its errors
	params string // parameters the body understands beside the common ones
	run    func(*call) error
}

// commonParams are understood by every command that has them. -ThrottleLimit
// bounds jobs, of which there are none.
const commonParams = "ComputerName ThrottleLimit Confirm WhatIf"

// recordParams are those of Add-DnsServerResourceRecord: the shared ones, those
// of the types in dataRows, and those of the types that addRecord refuses.
const recordParams = "ZoneName Name Force PassThru TimeToLive AgeRecord AllowUpdateAny ZoneScope InputObject Type RecordData " +
	"A IPv4Address CreatePtr AAAA IPv6Address CName HostNameAlias NS NameServer Ptr PtrDomainName MX MailExchange Preference " +
	"Txt DescriptiveText Srv DomainName Priority Weight Port DName DomainNameAlias " +
	"X25 PsdnAddress Wks InternetAddress InternetProtocol Service WinsR LookupTimeout Replicate CacheTimeout ResultDomain Wins WinsServers " +
	"TLSA CertificateUsage MatchingType Selector CertificateAssociationData RT IntermediateHost RP ResponsiblePerson Description " +
	"Isdn IsdnNumber IsdnSubAddress HInfo Cpu OperatingSystem DhcId DhcpIdentifier Atma Address AddressType Afsdb SubType ServerName"

var commands = []command{
	{"Get-DnsServerZone", "PS_DnsServerZone", "Name", getZone},
	{"Add-DnsServerPrimaryZone", "DnsServerPrimaryZone", "Name NetworkId ReplicationScope DirectoryPartitionName ZoneFile DynamicUpdate ResponsiblePerson LoadExisting PassThru", addPrimaryZone},
	{"Remove-DnsServerZone", "PS_DnsServerZone", "Name Force PassThru", removeZone},
	{"Suspend-DnsServerZone", "PS_DnsServerZone", "Name Force PassThru", suspendZone},
	{"Resume-DnsServerZone", "PS_DnsServerZone", "Name Force PassThru", resumeZone},
	{"Get-DnsServerResourceRecord", "DnsServerResourceRecord", "ZoneName Name Node RRType Type ZoneScope", getRecord},
	{"Add-DnsServerResourceRecord", "DnsServerResourceRecord", recordParams, addRecord},
	{"Add-DnsServerResourceRecordCName", "DnsServerResourceRecordCName", "ZoneName Name HostNameAlias PassThru TimeToLive AgeRecord AllowUpdateAny ZoneScope", addCName},
	{"Remove-DnsServerResourceRecord", "DnsServerResourceRecord", "ZoneName Name RRType Type RecordData InputObject Force PassThru ZoneScope", removeRecord},
	{"Set-DnsServerResourceRecord", "DnsServerResourceRecord", "ZoneName OldInputObject NewInputObject PassThru ZoneScope", setRecord},
	{"Get-DnsServerSetting", "PS_DnsServerSetting", "All", getSetting},
	{"Get-DnsServerDsSetting", "DnsServerDsSetting", "", getDsSetting},
	{"Get-DnsServerDirectoryPartition", "DnsServerDirectoryPartition", "Custom Name", getPartition},
}

func (row *command) command(o *Options) *engine.Command {
	decl, ok := cmdlets.Lookup(row.name)
	if !ok {
		// The rows are fixed; a test looks up each of them.
		panic("dnscmd: no contract for " + row.name)
	}
	known := map[string]bool{}
	for _, name := range strings.Fields(commonParams + " " + row.params) {
		known[strings.ToLower(name)] = true
	}
	target := dotnet.Define(dotnet.Class{Name: namespace + row.class})
	return &engine.Command{
		Decl:  decl,
		Class: row.name,
		Process: func(ic *engine.Call) error {
			c := &call{Call: ic, o: o, row: row, targetType: target}
			for _, name := range ic.BoundNames() {
				if !known[strings.ToLower(name)] {
					return c.notSupported(name)
				}
			}
			if err := c.connect(); err != nil {
				return c.fail(err)
			}
			return row.run(c)
		},
	}
}

// call is one run of a command.
type call struct {
	*engine.Call
	o      *Options
	row    *command
	server *zones.Server
	host   string // the server as the caller named it, for messages
	// targetType is what CategoryInfo shows in brackets behind the target's name.
	targetType *dotnet.Type
}

// connect finds the server of -ComputerName, by default the first one.
func (c *call) connect() error {
	c.host = c.String("ComputerName")
	server, err := c.o.Store.Server(c.host)
	if err != nil {
		return err
	}
	c.server = server
	if c.host == "" {
		short, _, _ := strings.Cut(server.Name(), ".")
		c.host = strings.ToUpper(short)
	}
	return nil
}

// pass writes an object when -PassThru is given.
func (c *call) pass(v any) error {
	if !c.Bool("PassThru") {
		return nil
	}
	return c.Write(v)
}
