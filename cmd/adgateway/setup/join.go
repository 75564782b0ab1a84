package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/store"
)

// Join makes the gateway of the settings join a cluster. The gateway must not be running. When it
// starts, the cluster's store replaces its own. Without replace, a store that is not empty is an error.
func Join(
	ctx context.Context, o Options, i trust.Invitation, replace bool,
) (*trust.Identity, trust.Members, error) {
	folder, err := o.folder()
	if err != nil {
		return nil, trust.Members{}, err
	}
	if err := joinable(o.Settings.Store.File, replace); err != nil {
		return nil, trust.Members{}, err
	}
	host := i.Host
	if host == "" {
		if host, err = os.Hostname(); err != nil {
			return nil, trust.Members{},
				fmt.Errorf("the name of this host is not known; name it with --host: %w", err)
		}
	}
	self, err := addresses(o.Settings, i.Gateway, host)
	if err != nil {
		return nil, trust.Members{}, err
	}
	n := o.own(i.Cluster, i.Gateway, i.Gateway)
	if len(n.nodes.Servers) > 0 {
		self.NodeAddress, self.ClientAddress = "", ""
	}
	if err := n.joins(ctx); err != nil {
		return nil, trust.Members{}, err
	}
	id, err := trust.Join(ctx, i, self, folder)
	if err != nil {
		return nil, trust.Members{}, err
	}
	list, err := trust.LoadMembers(folder.MembersFile())
	if err == nil {
		err = n.joined(list)
	}
	return id, list, err
}

// joinable returns an error if the gateway of a store cannot join.
func joinable(path string, replace bool) (err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	file, done, err := open(path)
	if err != nil {
		return err
	}
	defer done(&err)
	at, err := file.Point()
	if err != nil || replace || at == (store.Point{}) {
		return err
	}
	if at.Journal != "" {
		return nil // the command is repeated after a completed join
	}
	return fmt.Errorf("this gateway has its own store, %s, with its history and credentials, which the store "+
		"of the cluster would replace: if you do not need them, run the command with --replace. The file is "+
		"kept next to the new one",
		path)
}

// Ports returns the ports that the firewall of a gateway's host must open to the other
// hosts, each with its purpose.
func Ports(list trust.Members, gateway string) (ports [][2]string) {
	g, _ := list.Find(gateway)
	ports = append(ports, [2]string{g.HopAddress,
		"calls that gateways forward, and gateways that join (cluster.listen)"})
	if list.HasNode(gateway) {
		ports = append(ports, [2]string{g.NodeAddress, "nodes (engine.cluster)"},
			[2]string{cmp.Or(g.ClientAddress, g.NodeAddress), "gateways, to the node (engine.listen)"})
	}
	return ports
}
