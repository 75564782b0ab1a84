package commands

import (
	"cmp"
	"fmt"
	"slices"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/setup"

	"github.com/spf13/cobra"
)

func clusterLeaveCommand() *cobra.Command {
	name := ""
	c := ofGateways(&cobra.Command{
		Use:   "leave",
		Short: "Take a gateway off the list of the cluster, for good",
		Long: "Ends the access of a gateway to the cluster, of this one if no other is named. At least one\n" +
			"gateway runs, and a majority of the nodes stays.\n" +
			"With cluster.name in the settings: removes what the shared store knows of a gateway that does\n" +
			"not run any more. Otherwise it is remembered for seven days, in which its version counts:\n" +
			"values are written as it can read them. What it had begun must have been settled by another.\n" +
			"If the account or the key file of the gateway may be known to others, run 'adgateway\n" +
			"cluster rotate-key' afterwards.",
		Example: "  adgateway cluster leave --gateway gw3",
	}, func(c *cobra.Command, o setup.Options) error {
		left, list, err := setup.Leave(c.Context(), o, name)
		if err != nil {
			return err
		}
		w := c.OutOrStdout()
		fmt.Fprintf(w, "%s is no gateway of the cluster %s any more.\n", left, list.Cluster)
		if slices.Contains(list.Nodes, left) {
			fmt.Fprintf(w, "Its host had one of the %d nodes: let another one take its place soon, by\n  adgateway cluster invite --gateway %s=HOST\n", len(list.Nodes), left)
		}
		return nil
	}, func(c *cobra.Command, o app.Options) error {
		left := cmp.Or(name, o.Settings.Cluster.Gateway)
		if err := app.LeaveCluster(c.Context(), o, left); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "%s is no gateway of the cluster any more.\n", left)
		return err
	})
	c.Flags().StringVar(&name, "gateway", "", "`NAME` of the gateway (default: this one)")
	return c
}
