package dnscmd

import (
	"net/netip"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
)

// zoneObject returns a zone as a CIM instance (facts E64).
func zoneObject(class string, z zones.Zone) *dotnet.Instance {
	o := newCim(class,
		"NotifyServers", nil,
		"SecondaryServers", nil,
		"AllowedDcForNsRecordsAutoCreation", nil,
		"DistinguishedName", text(z.DN),
		"IsAutoCreated", z.AutoCreated,
		"IsDsIntegrated", z.DsIntegrated,
		"IsPaused", z.Paused,
		"IsReadOnly", z.ReadOnly,
		"IsReverseLookupZone", z.Reverse,
		"IsShutdown", z.Shutdown,
		"ZoneName", z.Name,
		"ZoneType", string(z.Type),
		"DirectoryPartitionName", text(z.Partition),
		"DynamicUpdate", string(z.DynamicUpdate),
		"IgnorePolicies", false,
		"IsPluginEnabled", false,
		"IsSigned", z.Signed,
		"IsWinsEnabled", false,
		"MasterServers", addresses(z.Masters),
		"Notify", z.Notify,
		"ReplicationScope", string(z.Scope),
		"SecureSecondaries", z.SecureSecondaries,
		"ZoneFile", text(z.File),
	)
	if z.Type == zones.Forwarder {
		o.Props.Set("ForwarderTimeout", z.ForwarderTimeout)
		o.Props.Set("UseRecursion", z.UseRecursion)
	}
	o.Props.Set("PSComputerName", nil)
	return o
}

// text returns s, or nil if it is empty.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// addresses returns an IPAddress[], or nil if the list is empty.
func addresses(list []netip.Addr) any {
	if len(list) == 0 {
		return nil
	}
	items := make([]any, len(list))
	for i, a := range list {
		items[i] = dotnet.NewIPAddress(a.String())
	}
	return &dotnet.Array{Elem: dotnet.TIPAddress, Items: items}
}

func getZone(c *call) error {
	if !c.Has("Name") {
		all, err := c.server.Zones()
		if err != nil {
			return c.fail(err)
		}
		for _, z := range all {
			if err := c.Write(zoneObject("DnsServerZone", z)); err != nil {
				return err
			}
		}
		return nil
	}
	return c.each("Name", func(name string) (any, error) {
		z, err := c.server.Zone(name)
		return zoneObject("DnsServerZone", z), err
	})
}

// addPrimaryZone is the body of Add-DnsServerPrimaryZone (facts E67, E70).
func addPrimaryZone(c *call) error {
	n := zones.NewZone{
		Name: c.String("Name"), Scope: zones.Scope(c.String("ReplicationScope")),
		Partition: c.String("DirectoryPartitionName"), File: c.String("ZoneFile"),
		Update: zones.Update(c.String("DynamicUpdate")),
	}
	if network := c.String("NetworkId"); c.Has("NetworkId") {
		name, code := zones.ReverseZoneName(network)
		if code != 0 {
			return c.failCode(code, zones.OpCreateZone, network, "")
		}
		n.Name = name
	}
	return c.changeZone("DnsServerPrimaryZone", n.Name,
		func(string) (zones.Zone, error) { return c.server.CreateZone(n) })
}

// setPrimaryZone is the body of Set-DnsServerPrimaryZone. The parameter sets allow only one kind of change in
// a call: settings, file or replication scope (facts NC1).
func setPrimaryZone(c *call) error {
	return c.setZone("DnsServerPrimaryZone", func(name string) (zones.Zone, error) {
		return c.server.SetZone(name, zones.ZoneChange{
			Update: zones.Update(c.String("DynamicUpdate")), Scope: zones.Scope(c.String("ReplicationScope")),
			Partition: c.String("DirectoryPartitionName"), File: c.String("ZoneFile"),
		})
	})
}

// setZone changes the zone in -Name.
func (c *call) setZone(class string, change func(name string) (zones.Zone, error)) error {
	return c.changeZone(class, c.String("Name"), change)
}

// changeZone asks for confirmation, changes a zone, and writes it for -PassThru.
func (c *call) changeZone(class, name string, change func(name string) (zones.Zone, error)) error {
	if ok, err := c.ShouldProcess(name); !ok || err != nil {
		return err
	}
	z, err := change(name)
	if err != nil {
		return c.fail(err)
	}
	return c.pass(zoneObject(class, z))
}

const forwarderClass = "DnsServerConditionalForwarderZone"

// addForwarder is the body of Add-DnsServerConditionalForwarderZone (facts NC2).
func addForwarder(c *call) error {
	return c.setZone(forwarderClass, func(name string) (zones.Zone, error) {
		f := zones.NewForwarder{
			Name: name, Scope: zones.Scope(c.String("ReplicationScope")),
			Partition: c.String("DirectoryPartitionName"), Masters: addressesOf(c.value("MasterServers")),
			Timeout: 5, UseRecursion: c.Bool("UseRecursion"),
		}
		if c.Has("ForwarderTimeout") {
			f.Timeout = uint32(number(c.value("ForwarderTimeout")))
		}
		return c.server.CreateForwarder(f)
	})
}

// setForwarder is the body of Set-DnsServerConditionalForwarderZone. UseRecursion is a
// Boolean here, but a switch in addForwarder (facts NC2).
func setForwarder(c *call) error {
	return c.setZone(forwarderClass, func(name string) (zones.Zone, error) {
		change := zones.ForwarderChange{Scope: zones.Scope(c.String("ReplicationScope")),
			Partition: c.String("DirectoryPartitionName"), Masters: addressesOf(c.value("MasterServers"))}
		if c.Has("ForwarderTimeout") {
			timeout := uint32(number(c.value("ForwarderTimeout")))
			change.Timeout = &timeout
		}
		if c.Has("UseRecursion") {
			recursion := c.Bool("UseRecursion")
			change.UseRecursion = &recursion
		}
		return c.server.SetForwarder(name, change)
	})
}

// addressesOf returns the addresses of an IPAddress[]. An element that is not an address
// becomes an invalid one.
func addressesOf(v any) []netip.Addr {
	list, ok := v.(*dotnet.Array)
	if !ok {
		return nil
	}
	var addresses []netip.Addr
	for _, item := range list.Items {
		addresses = append(addresses, addressOf(item))
	}
	return addresses
}

func removeZone(c *call) error { return c.setZone("DnsServerZone", c.server.RemoveZone) }
