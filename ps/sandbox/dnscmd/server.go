package dnscmd

import (
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
)

// getSetting is the body of Get-DnsServerSetting. DsAvailable, which needs -All,
// reports whether zones can be stored in the directory, that is, whether the
// server is a domain controller (facts E68).
func getSetting(c *call) error {
	sc, err := c.server.Config()
	if err != nil {
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

// getPartition is the body of Get-DnsServerDirectoryPartition -Name. In addition to the
// partitions of the domain and the forest, it knows the partitions in which zones can be created.
func getPartition(c *call) error {
	name := c.String("Name")
	exists, err := c.server.HasPartition(name)
	if err != nil {
		return c.fail(err)
	}
	if !exists {
		return c.failCode(zones.CodeNoPartition, zones.OpGetZone, name, "")
	}
	return c.Write(newCim("DnsServerDirectoryPartition", "DirectoryPartitionName", name, "PSComputerName", nil))
}
