package doctor

import (
	"context"
	"fmt"
	"strings"
)

// clusterChecks are about what several gateways share.
func clusterChecks() []Check {
	return []Check{
		{
			Name: "engine", About: "the nodes of the engine keep what the gateways promise",
			How: "asks every node of cluster.servers as the gateway does when it starts",
			Faults: []Fault{
				{"unreachable", Failure, "No node of the engine answers: {error}", "Start adgateway-engine on its nodes, correct cluster.servers and what this gateway shows to them (cluster.certificate, cluster.nkeyFile, cluster.credsFile), and let it through the firewall to their port."},
				{"setting", Failure, "{where}{what} is {found}, and must be {wanted}: the gateway does not join.", "On the nodes: {remedy}."},
				{"attention", Warning, "{where}{what} is {found}, and must be {wanted}.", "On the nodes: {remedy}."},
			},
			probe: probeEngine,
		},
		{
			Name: "cluster", About: "this gateway can read what the others share, and they live",
			How:   "opens the key ring and reads the heartbeats as 'adgateway cluster status' does",
			Needs: []string{"engine"},
			Faults: []Fault{
				{"unreadable", Failure, "What the gateways share cannot be read: {error}", "Do what the error names; 'adgateway cluster init' makes the shared store and its key once, and each other gateway needs a copy of cluster.keyFile."},
				{"rewound", Failure, "{error}", "Stop the gateways, run 'adgateway cluster recover' on each, and start them."},
				{"silent", Warning, "Not heard of: {names}.", "Start the gateway there, or read in its log why it cannot reach the engine. One that was removed is forgotten after seven days."},
			},
			probe: probeCluster,
		},
	}
}

// alone is the verdict about a gateway that shares nothing.
var alone = skipped("the gateway is alone: no cluster.name is set")

func probeEngine(ctx context.Context, x *exam) verdict {
	if x.settings.Cluster.Name == "" {
		return alone
	}
	found, err := x.Engine(ctx, x.settings)
	if err != nil {
		var v verdict
		v.hit("unreachable", "error", oneLine(err))
		return v
	}
	v := verdict{found: "nodes: " + orNone(strings.Join(found.Nodes, ", "))}
	for _, f := range found.Findings {
		where := ""
		if f.Node != "" {
			where = "Node " + f.Node + ": "
		}
		fault := "setting"
		if f.Warning {
			fault = "attention"
		}
		v.hit(fault, "where", where, "what", f.What, "found", f.Found, "wanted", f.Wanted, "remedy", f.Remedy)
	}
	return v
}

func probeCluster(ctx context.Context, x *exam) verdict {
	if x.settings.Cluster.Name == "" {
		return alone
	}
	found, err := x.Cluster(ctx, x.settings)
	if err != nil {
		var v verdict
		v.hit("unreadable", "error", oneLine(err))
		return v
	}
	v := verdict{found: fmt.Sprintf("%d gateways live", found.Living)}
	if found.Rewound != "" {
		v.hit("rewound", "error", found.Rewound)
	}
	if len(found.Silent) > 0 {
		v.hit("silent", "names", strings.Join(found.Silent, ", "))
	}
	return v
}
