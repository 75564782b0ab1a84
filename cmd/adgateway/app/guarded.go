package app

import (
	"adgateway/gateway/authn"
	"adgateway/gateway/privileged"
)

// guarded returns a function for the groups that grant rights at this gateway, and for the names by which
// clients find it. Objects in the policy are not included. The results can change while the gateway runs.
func guarded(o Options, c *certificate, k *kept) func() privileged.Set {
	fixed := privileged.Set{privileged.Gateway: privileged.Names(append(o.Hosts, o.Settings.HTTP.Listen)...)}
	if o.People != nil {
		for _, role := range o.People.Roles {
			fixed[privileged.Role] = append(fixed[privileged.Role], role.Group)
			fixed[privileged.Limit] = append(fixed[privileged.Limit], role.Limits.Groups...)
		}
	}
	granting, _ := o.Auth.(authn.Granting)
	return func() privileged.Set {
		names := privileged.Names(append(c.names(), clusterHosts(k)...)...)
		now := privileged.Set{privileged.Gateway: names}
		if granting != nil {
			now[privileged.Limit] = granting.LimitedGroups()
		}
		return fixed.With(now)
	}
}

// clusterHosts returns the names and addresses of the cluster's hosts, or nil if the gateway is alone.
func clusterHosts(k *kept) (hosts []string) {
	g := k.cluster()
	if g == nil {
		return nil
	}
	for _, m := range g.Members().Gateways {
		hosts = append(append(hosts, m.Hosts...), m.HopAddress, m.NodeAddress, m.ClientAddress)
	}
	return hosts
}
