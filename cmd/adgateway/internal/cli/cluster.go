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
	return group("cluster", "Set up and look after a cluster: several gateways, one of which leads",
		clusterInitCommand(), clusterInviteCommand(), clusterJoinCommand(), clusterAloneCommand(),
		clusterStatusCommand(),
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
			return errors.New("this gateway is in no cluster: 'adgateway cluster init' makes one, and 'adgateway " +
				"cluster join' joins one")
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
		Use:   "status",
		Short: "Show which gateway leads the cluster, and how the others are",
		Long: "Shows what the gateway of this host knows of its cluster, or another one if this one does not\n" +
			"run: which leads, how far the copy of each goes in the log, how far its clock is ahead, which\n" +
			"format of values it reads, and which version of the key it has.",
		Example: "  adgateway cluster status\n  adgateway cluster status --json",
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
		Use:   "pin",
		Short: "Let the gateways use another domain controller or DNS server",
		Long: "Lets all gateways of the cluster use another server from the next call on, such as before the\n" +
			"one that they use is restarted. They stay with it until the gateway that leads cannot use it\n" +
			"any more, or this command is run again.",
		Example: "  adgateway cluster pin --server dc2.corp.example\n" +
			"  adgateway cluster pin --lane dns --server dns1.corp.example",
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
