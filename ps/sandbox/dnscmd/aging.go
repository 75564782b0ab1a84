package dnscmd

import (
	"net/netip"
	"time"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
)

// agingObject returns the aging of a zone as a CIM instance (facts NC7).
func agingObject(z zones.Zone) *dotnet.Instance {
	return newCim("DnsServerZoneAging",
		"AgingEnabled", z.Aging,
		"AvailForScavengeTime", stamp(z.AvailableAt),
		"NoRefreshInterval", span(z.NoRefresh),
		"RefreshInterval", span(z.Refresh),
		"ScavengeServers", addresses(z.ScavengeServers),
		"ZoneName", z.Name,
		"PSComputerName", nil,
	)
}

// stamp returns a time, or nil if it is zero.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return dateTime(t)
}

func span(d time.Duration) dotnet.TimeSpan { return dotnet.TimeSpan(d / 100) }

func getAging(c *call) error {
	return c.each("Name", func(name string) (any, error) {
		z, err := c.server.Aging(name)
		return agingObject(z), err
	})
}

func setAging(c *call) error {
	name := c.String("Name")
	if ok, err := c.ShouldProcess(name); !ok || err != nil {
		return err
	}
	change := zones.AgingChange{Refresh: c.interval("RefreshInterval"),
		NoRefresh: c.interval("NoRefreshInterval")}
	if c.Has("Aging") {
		enabled := c.Bool("Aging")
		change.Enabled = &enabled
	}
	if c.Has("ScavengeServers") {
		change.ScavengeServers = append([]netip.Addr{}, addressesOf(c.value("ScavengeServers"))...)
	}
	z, err := c.server.SetAging(name, change)
	if err != nil {
		return c.fail(err)
	}
	return c.pass(agingObject(z))
}

// interval returns a TimeSpan parameter, or nil if it is not given.
func (c *call) interval(name string) *time.Duration {
	given, ok := c.value(name).(dotnet.TimeSpan)
	if !ok {
		return nil
	}
	d := time.Duration(given) * 100
	return &d
}

// getScavenging is the body of Get-DnsServerScavenging. The simulated servers never
// scavenge, so their interval is 0.
func getScavenging(c *call) error {
	if _, err := c.server.Config(); err != nil {
		return c.fail(err)
	}
	return c.Write(newCim("DnsServerScavenging",
		"LastScavengeTime", nil,
		"NoRefreshInterval", span(7*24*time.Hour),
		"RefreshInterval", span(7*24*time.Hour),
		"ScavengingInterval", span(0),
		"ScavengingState", false,
		"PSComputerName", nil,
	))
}

// getStatistics is the body of Get-DnsServerStatistics. It supports only zones (facts NC9).
func getStatistics(c *call) error {
	if !c.Has("ZoneName") {
		e := dotnet.ExceptionNamed("System.NotSupportedException",
			"The sandbox has no statistics of a server, only of its zones.")
		return c.Throw(dotnet.NewError(e, "ParameterNotSupported", dotnet.NotImplemented, c.row.name))
	}
	return c.each("ZoneName", func(name string) (any, error) {
		s, err := c.server.Statistics(name)
		return statisticsObject(s), err
	})
}

func statisticsObject(s zones.Statistics) *dotnet.Instance {
	queries, transfers := &dotnet.Array{Elem: dotnet.TCim}, &dotnet.Array{Elem: dotnet.TCim}
	for _, q := range s.Queries {
		queries.Items = append(queries.Items, newCim("DnsServerZoneQueryStatistics",
			"QueriesFailure", uint64(0), "QueriesNameError", q.Received-q.Answered, "QueriesReceived", q.Received,
			"QueriesResponded", q.Answered, "RecordType", q.Type))
	}
	for _, kind := range []string{"AXFR", "IXFR"} {
		transfers.Items = append(transfers.Items, newCim("DnsServerZoneTransferStatistics",
			"RequestReceived", uint64(0), "RequestSent", uint64(0), "ResponseReceived", uint64(0), "SuccessReceived",
			uint64(0), "SuccessSent", uint64(0), "TransferType", kind))
	}
	return newCim("DnsServerZoneStatistics",
		"Name", s.Zone,
		"StatsCollectionStartTime", stamp(s.Since),
		"ZoneQueryStatistics", queries,
		"ZoneTransferStatistics", transfers,
		"ZoneUpdateStatistics", newCim("DnsServerZoneUpdateStatistics", "DynamicUpdateReceived", uint64(0),
			"DynamicUpdateRejected", uint64(0)),
		"PSComputerName", nil,
	)
}
