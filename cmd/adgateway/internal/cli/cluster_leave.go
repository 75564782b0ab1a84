package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/setup"
)

func clusterLeaveCommand() *cobra.Command {
	name := ""
	c := ofGateways(&cobra.Command{
		Use:   "leave",
		Short: "Take a gateway off the list of the cluster, for good",
		Long: "Ends the access of a gateway to the cluster, of this one if no other is named. Another gateway\n" +
			"leads meanwhile, and a majority of the hosts with a node of the log stays.\n" +
			"If others may know the files of the gateway, run 'adgateway cluster rotate-key' afterwards.",
		Example: "  adgateway cluster leave --gateway gw3",
	}, func(c *cobra.Command, o setup.Options) error {
		left, list, err := setup.Leave(c.Context(), o, name)
		if err != nil {
			return err
		}
		w := c.OutOrStdout()
		fmt.Fprintf(w, "%s is no gateway of the cluster %s any more.\n", left, list.Cluster)
		if slices.Contains(list.Nodes, left) {
			fmt.Fprintf(w, "Its host had one of the %d nodes: let another one take its place soon, by\n"+
				"  adgateway cluster invite --gateway %s=HOST\n", len(list.Nodes), left)
		}
		return nil
	})
	c.Flags().StringVar(&name, "gateway", "", "`NAME` of the gateway (default: this one)")
	return c
}
