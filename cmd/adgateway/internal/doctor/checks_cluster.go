package doctor

import (
	"context"
	"fmt"
	"strings"
)

func probeCluster(ctx context.Context, x *exam) verdict {
	found, err := x.Cluster(ctx, x.settings)
	if err != nil {
		var v verdict
		v.hit("identity", "error", oneLine(err))
		return v
	}
	if found.Gateway == "" {
		return skipped("the gateway is not in a cluster")
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
		v.hit("no-leader", "error", "no gateway that answers knows a leader")
	}
	return v
}
