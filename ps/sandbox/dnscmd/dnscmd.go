// Package dnscmd implements the sandbox's DnsServer module: a table of cmdlets over the simulated DNS service
// (package ps/sandbox/zones). It contains only the cmdlets and parameters that the gateway's scripts use.
//
// # Tour
//
// [Module] builds the module for an engine. Each cmdlet is a row of the table below: its name, its CIM class,
// the parameters it supports and its body. Its documented contract (parameter sets, types, positions) comes
// from package ps/cmdlets. A parameter that the row does not list is rejected by name, never ignored.
//
//   - zone.go: zones and conditional forwarders
//   - delegation.go: delegations
//   - aging.go: aging, scavenging and statistics
//   - record.go: reading, adding and removing records
//   - data.go: the record types, with their data as properties
//   - server.go: the settings of the server
//   - types.go: the CIM classes and exceptions
//   - errors.go: Win32 codes to exceptions, error ids and categories (facts D.3)
//
// # Simulated behavior
//
// Errors are CimExceptions and are non-terminating (facts D4, D11). Messages are in the culture of [Options];
// codes and error ids are not localized. Names in record data have a trailing dot (facts E53), a static
// record has no time stamp (facts E56), -Name without -Node also finds the names below (facts E55), and a
// removal by name and type removes all such records (facts E60).
package dnscmd

import (
	"context"
	"strings"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
)

// Options configure the module.
type Options struct {
	// Store is the DNS service; it must not be nil.
	Store *zones.Store
	// Culture is the language of messages: "en-US" (the default) or "de-DE".
	Culture string
	// Gate, if not nil, is called before each command with the server's name. It waits while
	// the server is slow, and returns the caller and whether the caller reaches the server.
	Gate func(ctx context.Context, server string) (caller string, reached bool)
}

// The module's properties as shown by Get-Module.
const (
	ModuleName    = "DnsServer"
	ModuleVersion = "2.0.0.0"
	moduleGUID    = "46f598e5-9907-42b2-afbb-68e5f7e34604"
)

// Module returns the module. It is safe for concurrent use by any number of
// engines and sessions.
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
	class  string // CIM class of the cmdlet, which is the type of its errors' target
	params string // parameters that the body supports, in addition to commonParams
	run    func(*call) error
}

// commonParams are supported by every command that declares them. -ThrottleLimit has no
// effect, because nothing runs in parallel.
const commonParams = "ComputerName ThrottleLimit Confirm WhatIf"

var commands = []command{
	{"Get-DnsServerZone", "PS_DnsServerZone", "Name", getZone},
	{"Add-DnsServerPrimaryZone", "DnsServerPrimaryZone", "Name NetworkId ReplicationScope DirectoryPartitionName ZoneFile DynamicUpdate PassThru", addPrimaryZone},
	{"Set-DnsServerPrimaryZone", "DnsServerPrimaryZone", "Name DynamicUpdate ReplicationScope DirectoryPartitionName ZoneFile PassThru", setPrimaryZone},
	{"Remove-DnsServerZone", "PS_DnsServerZone", "Name Force PassThru", removeZone},
	{"Add-DnsServerConditionalForwarderZone", "DnsServerConditionalForwarderZone", "Name MasterServers ForwarderTimeout UseRecursion ReplicationScope DirectoryPartitionName PassThru", addForwarder},
	{"Set-DnsServerConditionalForwarderZone", "DnsServerConditionalForwarderZone", "Name MasterServers ForwarderTimeout UseRecursion ReplicationScope DirectoryPartitionName PassThru", setForwarder},
	{"Get-DnsServerZoneDelegation", "DnsServerZoneDelegation", "Name ChildZoneName", getDelegation},
	{"Add-DnsServerZoneDelegation", "DnsServerZoneDelegation", "Name ChildZoneName NameServer IPAddress PassThru", addDelegation},
	{"Remove-DnsServerZoneDelegation", "DnsServerZoneDelegation", "Name ChildZoneName NameServer Force PassThru", removeDelegation},
	{"Get-DnsServerZoneAging", "DnsServerZoneAging", "Name", getAging},
	{"Set-DnsServerZoneAging", "DnsServerZoneAging", "Name Aging RefreshInterval NoRefreshInterval ScavengeServers PassThru", setAging},
	{"Get-DnsServerStatistics", "DnsServerStatistics", "ZoneName", getStatistics},
	{"Get-DnsServerScavenging", "DnsServerScavenging", "", getScavenging},
	{"Get-DnsServerResourceRecord", "DnsServerResourceRecord", "ZoneName Name Node RRType Type", getRecord},
	{"Add-DnsServerResourceRecord", "DnsServerResourceRecord", "ZoneName Name A IPv4Address AAAA IPv6Address CName HostNameAlias Ptr PtrDomainName Txt DescriptiveText " +
		"Srv DomainName Priority Weight Port MX MailExchange Preference NS NameServer DName DomainNameAlias " +
		"TLSA CertificateUsage Selector MatchingType CertificateAssociationData Type RecordData Force PassThru TimeToLive AgeRecord AllowUpdateAny", addRecord},
	{"Set-DnsServerResourceRecord", "DnsServerResourceRecord", "ZoneName OldInputObject NewInputObject PassThru", setRecord},
	{"Add-DnsServerResourceRecordCName", "DnsServerResourceRecordCName", "ZoneName Name HostNameAlias PassThru TimeToLive AgeRecord AllowUpdateAny", addCName},
	{"Remove-DnsServerResourceRecord", "DnsServerResourceRecord", "ZoneName Name RRType InputObject Force PassThru", removeRecord},
	{"Get-DnsServerDirectoryPartition", "DnsServerDirectoryPartition", "Name", getPartition},
	{"Get-DnsServerSetting", "PS_DnsServerSetting", "All", getSetting},
}

func (row *command) command(o *Options) *engine.Command {
	target := dotnet.Define(dotnet.Class{Name: namespace + row.class})
	return engine.NewCommand(cmdlets.Must(row.name), row.name, strings.Fields(commonParams+" "+row.params),
		notSupported, func(ic *engine.Call) error {
			c := &call{Call: ic, o: o, row: row, targetType: target}
			if err := c.connect(); err != nil {
				return c.fail(err)
			}
			return row.run(c)
		})
}

// call is one invocation of a command.
type call struct {
	*engine.Call
	o      *Options
	row    *command
	server *zones.Server
	host   string // name of the server as given by the caller, for messages
	// targetType is the type of the target in CategoryInfo.
	targetType *dotnet.Type
}

// connect selects the server in -ComputerName, by default the first one.
func (c *call) connect() error {
	c.host = c.String("ComputerName")
	server, err := c.o.Store.Server(c.host)
	if err != nil {
		return err
	}
	c.server = server
	if c.o.Gate != nil {
		caller, reached := c.o.Gate(c.Context(), server.Name())
		if !reached {
			return &zones.Error{Code: zones.CodeServerUnavailable, Op: zones.OpConnect, Server: server.Name()}
		}
		c.server = server.As(caller)
	}
	if c.host == "" {
		short, _, _ := strings.Cut(server.Name(), ".")
		c.host = strings.ToUpper(short)
	}
	return nil
}

// each calls read for each name in a parameter and writes its result or its error.
func (c *call) each(param string, read func(name string) (any, error)) error {
	for _, name := range c.Strings(param) {
		v, err := read(name)
		if err != nil {
			err = c.fail(err)
		} else {
			err = c.Write(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pass writes v if -PassThru is given.
func (c *call) pass(v any) error {
	if !c.Bool("PassThru") {
		return nil
	}
	return c.Write(v)
}
