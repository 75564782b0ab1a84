package cli

import (
	"errors"
	"fmt"

	"adgateway/cmd/adgateway/setup"
	"adgateway/gateway/cluster/trust"

	"github.com/spf13/cobra"
)

func clusterInitCommand() *cobra.Command {
	var (
		name     string
		gateways []string
	)
	c := ofGateways(&cobra.Command{
		Use:   "init",
		Short: "Make a cluster of this gateway and others",
		Long: "Makes a cluster of the gateway of this host, which is stopped and goes on with what it keeps,\n" +
			"and of others, and prints the command by which each of them joins while this one runs. Three\n" +
			"hosts are named, this one first, or five: each runs a gateway and a node of the engine, and a\n" +
			"majority must run. Until their nodes serve, this gateway goes on alone, and the command can be\n" +
			"run again for those that have not joined.",
		Example: "  adgateway cluster init --name corp --gateway gw1=host1.corp.example --gateway gw2=host2.corp.example --gateway gw3=host3.corp.example",
	}, func(c *cobra.Command, o setup.Options) error {
		return initCluster(c, o, name, gateways)
	})
	c.Flags().StringVar(&name, "name", "", "`NAME` of the cluster")
	c.Flags().StringArrayVar(&gateways, "gateway", nil, "`NAME=HOST` of a gateway, HOST as the others reach it (repeatable, this host's first); a port is that of engine.cluster there")
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
