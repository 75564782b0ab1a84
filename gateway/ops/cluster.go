package ops

import (
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

// clusterRows are the rows about the gateways of a cluster.
var clusterRows = []*Operation{
	{
		ID: "cluster.show", Summary: "Shows the gateways of the cluster, the current leader, and the servers that the gateways use.",
		Path: "/api/Cluster", Scope: identity.OpsRead, Effect: Read, Local: true, Here: true,
		Reply:   Reply{schema.Cluster, Single},
		Subject: "cluster",
	},
}
