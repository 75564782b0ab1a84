package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/output"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway"
	"adgateway/gateway/config"
)

func clusterCommand() *cobra.Command {
	return group("cluster", clusterInitCommand(), clusterInviteCommand(), clusterJoinCommand(),
		clusterAloneCommand(), clusterStatusCommand(),
		clusterPinCommand(), clusterVerifyCommand(), clusterRotateKeyCommand(), clusterLeaveCommand(),
		clusterRecoverCommand(), clusterMigrateCommand())
}

// inCluster returns a command that works on this gateway's cluster.
func inCluster(c *cobra.Command, do func(context.Context, *cobra.Command, app.Options) error) *cobra.Command {
	return ofSettings(c, func(c *cobra.Command, _ *program.Flags, s *config.Settings) error {
		o, err := clusterOptions(c.ErrOrStderr(), s)
		if err != nil {
			return err
		}
		if o.Identity == nil {
			return errors.New("this gateway is not in a cluster: create one with 'adgateway cluster init', or " +
				"join one with 'adgateway cluster join'")
		}
		return do(c.Context(), c, o)
	})
}

// clusterOptions returns the options to reach the cluster in the settings.
func clusterOptions(log io.Writer, s *config.Settings) (app.Options, error) {
	o, err := app.SharedOptions(s, log)
	o.Version = gateway.Version{Version: buildVersion()}
	return o, err
}

func clusterStatusCommand() *cobra.Command {
	c := inCluster(&cobra.Command{
		Use: "status",
	}, func(ctx context.Context, c *cobra.Command, o app.Options) error {
		state, err := app.ReadCluster(ctx, o)
		if err != nil {
			return err
		}
		return show(c, state, func(w io.Writer) error { return output.Cluster(w, state) })
	})
	jsonFlag(c)
	return c
}

func clusterPinCommand() *cobra.Command {
	var lane, server string
	c := inCluster(&cobra.Command{
		Use: "pin",
	}, func(ctx context.Context, c *cobra.Command, o app.Options) error {
		if err := app.MoveChoice(ctx, o, lane, server); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "The gateways of the cluster %s use %s.\n", o.Identity.Cluster,
			server)
		return err
	})
	c.Flags().StringVar(&lane, "lane", "directory",
		"directory for the domain controller, dns for the DNS server")
	c.Flags().StringVar(&server, "server", "", "its DNS name")
	_ = c.MarkFlagRequired("server") // fails only for unknown flags
	return c
}
