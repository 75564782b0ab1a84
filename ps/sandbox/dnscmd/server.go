package dnscmd

import (
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
)

// getSetting shows the server. DsAvailable, of -All, tells whether zones can be
// kept in the directory: whether the server is a domain controller (facts E68).
func getSetting(c *call) error {
	sc := c.server.Config()
	if _, err := c.server.Partitions(); err != nil {
		return c.fail(err)
	}
	listening := &dotnet.Array{Elem: dotnet.TString}
	if sc.Address != "" {
		listening.Items = append(listening.Items, sc.Address)
	}
	o := newCim("DnsServerSetting",
		"ComputerName", sc.Name,
		"MajorVersion", uint8(10),
		"MinorVersion", uint8(0),
		"BuildNumber", uint16(20348),
		"IsReadOnlyDC", sc.ReadOnly,
		"EnableDnsSec", true,
		"EnableIPv6", true,
		"ListeningIPAddress", listening,
		"AllIPAddress", listening,
	)
	if c.Bool("All") {
		for _, p := range []struct {
			name  string
			value any
		}{
			{"EnableOnlineSigning", true},
			{"NameCheckFlag", uint32(2)}, // multibyte
			{"AddressAnswerLimit", uint32(0)},
			{"BootMethod", uint32(3)}, // registry and directory
			{"AllowUpdate", true},
			{"UpdateOptions", uint32(783)},
			{"DsAvailable", sc.DomainController},
			{"DisableAutoReverseZone", false},
			{"AutoCacheUpdate", false},
			{"RoundRobin", true},
			{"LocalNetPriority", true},
			{"StrictFileParsing", false},
			{"LooseWildcarding", false},
			{"BindSecondaries", false},
			{"WriteAuthorityNS", false},
			{"AutoConfigFileZones", uint32(1)},
			{"EnableDirectoryPartitions", sc.DomainController},
			{"AllowCnameAtNs", true},
			{"SilentlyIgnoreCnameUpdateConflicts", false},
			{"DomainDirectoryPartitionBaseName", "DomainDnsZones"},
			{"ForestDirectoryPartitionBaseName", "ForestDnsZones"},
		} {
			o.Props.Set(p.name, p.value)
		}
	}
	o.Props.Set("PSComputerName", nil)
	return c.Write(o)
}

// getDsSetting needs a directory.
func getDsSetting(c *call) error {
	if _, err := c.server.Partitions(); err != nil {
		return c.fail(err)
	}
	if !c.server.Config().DomainController {
		return c.failCode(zones.CodeDsUnavailable, zones.OpConnect, "", "")
	}
	return c.Write(newCim("DnsServerDsSetting",
		"DirectoryPartitionAutoEnlistInterval", seconds(86400),
		"LazyUpdateInterval", uint32(3),
		"MinimumBackgroundLoadThreads", uint32(1),
		"PollingInterval", uint32(180),
		"RemoteReplicationDelay", uint32(30),
		"TombstoneInterval", seconds(14*86400),
		"PSComputerName", nil,
	))
}

// getPartition lists the directory partitions, or one; -Custom leaves out those
// that every domain has.
func getPartition(c *call) error {
	all, err := c.server.Partitions()
	if err != nil {
		return c.fail(err)
	}
	name, found := c.String("Name"), false
	for _, p := range all {
		if c.Has("Name") && !strings.EqualFold(strings.TrimSuffix(name, "."), p.Name) || c.Bool("Custom") && !p.Custom {
			continue
		}
		found = true
		flags := "Not-Deleted Enlisted"
		if !p.Custom {
			flags = "Enlisted AutoCreated"
		}
		err := c.Write(newCim("DnsServerDirectoryPartition",
			"DirectoryPartitionName", p.Name,
			"Flags", flags,
			"State", "DNS_DP_OKAY",
			"ZoneCount", uint32(p.Zones),
			"PSComputerName", nil,
		))
		if err != nil {
			return err
		}
	}
	if c.Has("Name") && !found {
		return c.failCode(zones.CodePartitionMissing, zones.OpConnect, name, "")
	}
	return nil
}
