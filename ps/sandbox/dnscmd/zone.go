package dnscmd

import (
	"net/netip"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
)

// zoneObject returns a zone as a CIM instance (facts E64).
func zoneObject(class string, z zones.Zone) *dotnet.Instance {
	return newCim(class,
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
		"PSComputerName", nil,
	)
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
	for _, name := range c.Strings("Name") {
		z, err := c.server.Zone(name)
		if err != nil {
			err = c.fail(err)
		} else {
			err = c.Write(zoneObject("DnsServerZone", z))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addPrimaryZone is the body of Add-DnsServerPrimaryZone (facts E67, E70).
func addPrimaryZone(c *call) error {
	n := zones.NewZone{
		Name: c.String("Name"), Scope: zones.Scope(c.String("ReplicationScope")),
		File: c.String("ZoneFile"), Update: zones.Update(c.String("DynamicUpdate")),
	}
	if network := c.String("NetworkId"); c.Has("NetworkId") {
		name, code := zones.ReverseZoneName(network)
		if code != 0 {
			return c.failCode(code, zones.OpCreateZone, network, "")
		}
		n.Name = name
	}
	if ok, err := c.ShouldProcess(n.Name); !ok || err != nil {
		return err
	}
	z, err := c.server.CreateZone(n)
	if err != nil {
		return c.fail(err)
	}
	return c.pass(zoneObject("DnsServerPrimaryZone", z))
}

func removeZone(c *call) error {
	name := c.String("Name")
	if ok, err := c.ShouldProcess(name); !ok || err != nil {
		return err
	}
	z, err := c.server.RemoveZone(name)
	if err != nil {
		return c.fail(err)
	}
	return c.pass(zoneObject("DnsServerZone", z))
}
