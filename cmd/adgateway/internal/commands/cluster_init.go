package commands

import (
	"context"
	"errors"
	"fmt"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/setup"
	"adgateway/gateway/cluster/trust"

	"github.com/spf13/cobra"
)

func clusterInitCommand() *cobra.Command {
	var (
		name     string
		gateways []string
		replicas int
	)
	c := ofGateways(&cobra.Command{
		Use:   "init",
		Short: "Make a cluster of this gateway and others",
		Long: "Makes a cluster of the gateway of this host, which is stopped and goes on with what it keeps,\n" +
			"and of others, and prints the command by which each of them joins while this one runs. Three\n" +
			"hosts are named, this one first, or five: each runs a gateway and a node of the engine, and a\n" +
			"majority must run. Until their nodes serve, this gateway goes on alone, and the command can be\n" +
			"run again for those that have not joined.\n" +
			"With cluster.name in the settings: makes the stream of the shared store on the engine\n" +
			"(cluster.servers), and the key that seals what is in it (cluster.keyFile). What is there\n" +
			"already stays as it is.",
		Example: "  adgateway cluster init --name corp --gateway gw1=host1.corp.example --gateway gw2=host2.corp.example --gateway gw3=host3.corp.example",
	}, func(c *cobra.Command, o setup.Options) error {
		return initCluster(c, o, name, gateways)
	}, func(c *cobra.Command, o app.Options) error {
		return initShared(c.Context(), c, o, replicas)
	})
	c.Flags().StringVar(&name, "name", "", "`NAME` of the cluster")
	c.Flags().StringArrayVar(&gateways, "gateway", nil, "`NAME=HOST` of a gateway, HOST as the others reach it (repeatable, this host's first); a port is that of engine.cluster there")
	c.Flags().IntVar(&replicas, "replicas", 0, "with cluster.name: number of nodes that have each value, 1, 3 or 5; 0: as many as cluster.servers names")
	return c
}

func initCluster(c *cobra.Command, o setup.Options, name string, gateways []string) error {
	if name == "" {
		return errors.New("--name is needed: the name of the cluster, such as corp")
	}
	var hosts []setup.Host
	for _, text := range gateways {
		h, err := parseHost(text)
		if err != nil {
			return err
		}
		hosts = append(hosts, h)
	}
	made, err := setup.Init(c.Context(), o, name, hosts)
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "The cluster %s is made, and %s is its first gateway. Start it now: adgateway service start\n", name, made.Self.Name)
	list := trust.Members{Gateways: []trust.Member{made.Self}, Nodes: []string{made.Self.Name}}
	printPorts(w, setup.Ports(list, made.Self.Name))
	for _, i := range made.Invitations {
		printJoin(w, i)
	}
	return nil
}

// initShared makes the shared store of the settings.
func initShared(ctx context.Context, c *cobra.Command, o app.Options, replicas int) error {
	if replicas == 0 {
		replicas = len(o.Settings.Cluster.Servers)
	}
	switch replicas {
	case 1, 3, 5:
	default:
		return fmt.Errorf("--replicas: the engine has 1, 3 or 5 nodes, not %d: each more than that brings nothing", replicas)
	}
	created, err := app.CreateCluster(ctx, o, replicas)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "The shared store of the cluster %s is there.\n", o.Settings.Cluster.Name)
	if created {
		fmt.Fprintf(c.OutOrStdout(), "Its key is new: %s. Copy it to each of the other gateways before they start.\n", o.Settings.Cluster.KeyFile)
	}
	return nil
}
