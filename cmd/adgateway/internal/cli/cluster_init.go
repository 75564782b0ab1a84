package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/setup"
	"adgateway/gateway/cluster/trust"
)

func clusterInitCommand() *cobra.Command {
	var (
		name     string
		gateways []string
	)
	c := ofGateways(&cobra.Command{
		Use: "init",
	}, func(c *cobra.Command, o setup.Options) error {
		return initCluster(c, o, name, gateways)
	})
	c.Flags().StringVar(&name, "name", "", "`NAME` of the cluster")
	c.Flags().StringArrayVar(&gateways, "gateway", nil,
		"`NAME=HOST` of a gateway, with its HOST as the others reach it (repeatable, this host first); a port "+
			"is the port of engine.cluster there")
	return c
}

func initCluster(c *cobra.Command, o setup.Options, name string, gateways []string) error {
	if name == "" {
		return errors.New("--name is missing: name the cluster, such as corp")
	}
	var hosts []setup.Host
	for _, text := range gateways {
		h, err := parseHost(text)
		if err != nil {
			return err
		}
		hosts = append(hosts, h)
	}
	created, err := setup.Init(c.Context(), o, name, hosts)
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "The cluster %s was created, and %s is its first gateway. Start it now: adgateway "+
		"service start\n", name, created.Self.Name)
	printMade(w, created, created.Log)
	return nil
}

// printMade prints the next steps on all hosts of a new cluster. log is nil if the cluster's
// own nodes store the log.
func printMade(w io.Writer, created *setup.Made, log *setup.OwnLog) {
	list := trust.Members{Gateways: []trust.Member{created.Self}}
	if log == nil {
		list.Nodes = []string{created.Self.Name}
	}
	printLog(w, log)
	if created.Self.HopAddress != "" { // otherwise the cluster existed before, and only its log is new
		printPorts(w, setup.Ports(list, created.Self.Name))
	} else {
		fmt.Fprintln(w, "\nThen run 'adgateway cluster invite' for each host that has not joined.")
	}
	for _, i := range created.Invitations {
		printJoin(w, i)
	}
}

// printLog prints the next steps in an external NATS. It prints nothing if log is nil.
func printLog(w io.Writer, log *setup.OwnLog) {
	if log == nil {
		return
	}
	if log.Command != "" {
		fmt.Fprintf(w, "\nThe user of this gateway does not have the permission to create the log (%s).\n"+
			"Create it before you start the gateway:\n"+
			"  %s\n", log.Subject, log.Command)
	}
	if log.Warning != "" {
		fmt.Fprintf(w, "\nWarning: %s.\n", log.Warning)
	}
	fmt.Fprintf(w, "\nThe users of the gateways need these permissions in your NATS:\n\n%s", log.Account)
}
