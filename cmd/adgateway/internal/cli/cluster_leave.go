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
		Use: "leave",
	}, func(c *cobra.Command, o setup.Options) error {
		left, list, err := setup.Leave(c.Context(), o, name)
		if err != nil {
			return err
		}
		w := c.OutOrStdout()
		fmt.Fprintf(w, "%s is no longer a gateway of the cluster %s.\n", left, list.Cluster)
		if slices.Contains(list.Nodes, left) {
			fmt.Fprintf(w, "Its host had one of the %d nodes: replace it with another one soon, by\n  adgateway "+
				"cluster invite --gateway %s=HOST\n", len(list.Nodes), left)
		}
		return nil
	})
	c.Flags().StringVar(&name, "gateway", "", "`NAME` of the gateway (default: this one)")
	return c
}
