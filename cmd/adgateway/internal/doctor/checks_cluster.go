package doctor

import (
	"context"
	"fmt"
	"strings"
)

// clusterChecks returns the checks of the cluster that a gateway has joined.
func clusterChecks() []Check {
	return []Check{{
		Name: "cluster", Page: "cluster-failures",
		About: "this gateway, the others and a node are reached, and one of the gateways leads",
		How:   "asks each gateway of the list over cluster.listen as another one does, and connects to the nodes",
		Faults: []Fault{
			{"identity", Failure, "What this gateway has of its cluster cannot be used: {error}", "Do what the error names."},
			{"closed", Warning, "This gateway does not answer the others: {error}", "Start it (adgateway service start), or read in its log why it has stopped."},
			{"away", Warning, "No answer of {gateway}: {error}", "Start the gateway there, and let TCP from this host through the firewall to the port of its cluster.listen."},
			{"no-node", Failure, "No node of the log is reached: {error}", "Start the gateways of the hosts that have the nodes, and let TCP through the firewall to the port of their engine.listen; with cluster.servers, correct it."},
			{"no-leader", Failure, "No gateway leads, so changes wait: {error}", "Start the gateways, and the nodes of most hosts; 'adgateway cluster status' shows what they know of each other."},
		},
		probe: probeCluster,
	}}
}

func probeCluster(ctx context.Context, x *exam) verdict {
	found, err := x.Cluster(ctx, x.settings)
	if err != nil {
		var v verdict
		v.hit("identity", "error", oneLine(err))
		return v
	}
	if found.Gateway == "" {
		return skipped("the gateway is alone: it has joined no cluster")
	}
	v := verdict{found: fmt.Sprintf("%s of %s, leader: %s", found.Gateway, found.Name, orNone(found.Leader))}
	heard := false
	for _, g := range found.Gateways {
		switch {
		case g.Err == nil:
			heard = true
		case g.Name == found.Gateway:
			v.hit("closed", "error", oneLine(g.Err))
		default:
			v.hit("away", "gateway", g.Name, "error", oneLine(g.Err))
		}
	}
	if len(found.NoNode) > 0 {
		v.hit("no-node", "error", strings.Join(found.NoNode, "; "))
	}
	if heard && found.Leader == "" {
		v.hit("no-leader", "error", "none of the gateways that answer knows one")
	}
	return v
}
