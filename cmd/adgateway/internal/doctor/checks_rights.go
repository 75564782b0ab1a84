package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adgateway/ps"
)

// container describes the rights of the account in a container.
type container struct {
	Container string
	Exists    bool
	Creates   []string
	Writes    int
}

// managed are the classes of objects that the gateway creates.
var managed = []string{"user", "group", "computer", "organizationalUnit"}

func probeRights(ctx context.Context, x *exam) verdict {
	server := x.controllers[0]
	args := ps.Args{"Server": ps.Text(server)}
	if len(x.OUs) > 0 {
		args["Container"] = ps.List(x.OUs)
	}
	found, err := records[container](ctx, x,
		ps.Request{Script: "Get-GatewayRights", Lane: ps.Directory, Args: args})
	var v verdict
	if denied(err) {
		v.hit("denied", "server", server, "account", x.accountName(), "error", oneLine(err))
		return v
	}
	if err != nil {
		return failed(err)
	}
	var summary []string
	for _, c := range found {
		if !c.Exists {
			v.hit("gone", "container", c.Container)
			continue
		}
		wanted := managed
		if strings.HasPrefix(strings.ToUpper(c.Container), "CN=") { // containers cannot contain OUs
			wanted = managed[:3]
		}
		var lacking []string
		for _, class := range wanted {
			if !slices.ContainsFunc(c.Creates, func(have string) bool { return strings.EqualFold(have, class) }) {
				lacking = append(lacking, class)
			}
		}
		summary = append(summary, fmt.Sprintf("%s: creates %d classes, writes %d attributes", c.Container,
			len(c.Creates), c.Writes))
		if len(lacking) > 0 {
			v.hit("no-create", "account", x.accountName(), "classes", strings.Join(lacking, ", "), "container",
				c.Container, "first", lacking[0])
		}
		if c.Writes == 0 {
			v.hit("no-write", "account", x.accountName(), "container", c.Container)
		}
	}
	v.found = strings.Join(summary, "; ")
	return v
}

func probeBin(ctx context.Context, x *exam) verdict {
	found, err := records[struct {
		Enabled, CanRead  bool
		DeletedObjectDays *int
	}](ctx, x, ps.Request{Script: "Get-GatewayBinStatus", Lane: ps.Directory,
		Args: ps.Args{"Server": ps.Text(x.controllers[0])}})
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("%s returned %d records, not one", x.controllers[0], len(found))
	}
	if err != nil {
		return failed(err)
	}
	var v verdict
	if !found[0].Enabled {
		v.hit("off")
		return v
	}
	v.found = "enabled"
	if days := found[0].DeletedObjectDays; days != nil {
		v.found = fmt.Sprintf("enabled, for %d days", *days)
	}
	if !found[0].CanRead {
		v.hit("unseen", "account", x.accountName())
	}
	return v
}

func probeDNSRights(ctx context.Context, x *exam) verdict {
	found, err := records[struct{ Zones int }](ctx, x,
		ps.Request{Script: "Get-GatewayDnsAccess", Lane: ps.DNS,
			Args: ps.Args{"ComputerName": ps.Text(x.dnsServer)}})
	var v verdict
	if denied(err) {
		v.hit("denied", "account", x.accountName(), "server", x.dnsServer, "error", oneLine(err))
		return v
	}
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("%s returned %d records, not one", x.dnsServer, len(found))
	}
	if err != nil {
		return failed(err)
	}
	v.found = fmt.Sprintf("%s has %d zones", x.dnsServer, found[0].Zones)
	return v
}
