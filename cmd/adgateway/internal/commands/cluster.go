package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/report"
	"adgateway/cmd/adgateway/internal/serve"
	"adgateway/cmd/adgateway/internal/settings"
	"adgateway/gateway"
	"adgateway/gateway/config"
	"adgateway/gateway/keyring"

	"github.com/spf13/cobra"
)

func clusterCommand() *cobra.Command {
	return group("cluster", "Set up and look after several gateways that share their state",
		clusterInitCommand(), clusterInviteCommand(), clusterJoinCommand(), clusterAloneCommand(), clusterStatusCommand(), clusterPinCommand(), clusterVerifyCommand(), clusterVerifyNodesCommand(), clusterRotateKeyCommand(), clusterRecoverCommand(), clusterRejoinCommand(), clusterLeaveCommand(), clusterMigrateCommand())
}

// inCluster returns a command that works on the cluster of the settings.
func inCluster(c *cobra.Command, do func(context.Context, *cobra.Command, app.Options) error) *cobra.Command {
	f := settings.Flags{Fallback: settings.DefaultFile(), Beside: true}
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		live, err := f.Load()
		if err != nil {
			return err
		}
		s := live.Now()
		o, err := clusterOptions(c.ErrOrStderr(), s)
		if err != nil {
			return err
		}
		if s.Cluster.Name == "" && o.Identity == nil {
			return errors.New("this gateway is in no cluster: 'adgateway cluster init' makes one, and 'adgateway cluster join' joins one")
		}
		return do(c.Context(), c, o)
	}
	f.AddTo(c.Flags())
	return c
}

// clusterOptions returns how a command opens the shared store of the settings.
func clusterOptions(log io.Writer, s *config.Settings) (app.Options, error) {
	o, err := serve.SharedOptions(s, log)
	o.Version = gateway.Version{Version: buildVersion()}
	return o, err
}

func clusterStatusCommand() *cobra.Command {
	asJSON := false
	c := inCluster(&cobra.Command{
		Use:   "status",
		Short: "Show the gateways of the cluster, the servers that they use, and the engine",
		Long: "Shows what the shared store says of the gateways of the last seven days: when each told\n" +
			"last that it lives. One that is silent has ended, or cannot reach the store. Below are the\n" +
			"domain controllers and DNS servers that the gateways of each site use together, and the\n" +
			"nodes of the engine: which leads, and which is away or lacks messages.",
		Example: "  adgateway cluster status\n  adgateway cluster status --json",
	}, func(ctx context.Context, c *cobra.Command, o app.Options) error {
		found, err := app.ReadMembers(ctx, o)
		if err != nil {
			return err
		}
		if asJSON {
			return report.JSON(c.OutOrStdout(), found)
		}
		if found.Rewound != "" {
			fmt.Fprintln(c.OutOrStdout(), found.Rewound)
		}
		fmt.Fprintf(c.OutOrStdout(), "Key: version %d since %s%s\n", found.Key.Current, found.Key.Since.Local().Format(time.DateTime), keyNotes(found.Key))
		fmt.Fprintf(c.OutOrStdout(), "Format: values are written in format %d\n", found.Format)
		for _, reason := range found.Holding {
			fmt.Fprintf(c.OutOrStdout(), "  %s\n", reason)
		}
		w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "GATEWAY\tSITE\tVERSION\tSTARTED\tLAST HEARTBEAT\tSTATE")
		for _, m := range found.Members {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.Site, m.Version, m.Started.Local().Format(time.DateTime), m.Heartbeat.Local().Format(time.DateTime), m.State)
		}
		if len(found.Pins) > 0 {
			fmt.Fprintln(w, "\nSITE\tLANE\tSERVER\tSINCE\tREASON")
		}
		for _, p := range found.Pins {
			reason := ""
			if p.Reason != nil {
				reason = *p.Reason
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.Site, p.Lane, p.Server, p.Since.Local().Format(time.DateTime), reason)
		}
		if len(found.Nodes) > 0 {
			fmt.Fprintln(w, "\nNODE\tSTATE\tLAG\tROLE")
		}
		for _, n := range found.Nodes {
			role := "follows"
			if n.Leads {
				role = "leads"
			}
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", n.Name, n.State, n.Lag, role)
		}
		if found.Stream != nil {
			fmt.Fprintf(w, "\nStore: %s\n", streamSize(found.Stream))
		}
		return w.Flush()
	})
	jsonFlag(c, &asJSON)
	return c
}

// streamSize says how much the engine keeps.
func streamSize(s *gateway.ClusterStream) string {
	limit := "without a limit"
	if s.MaxBytes != nil {
		limit = fmt.Sprintf("of %d MiB", *s.MaxBytes>>20)
	}
	return fmt.Sprintf("%.1f MiB %s on each node, %d messages", float64(s.Bytes)/(1<<20), limit, s.Messages)
}

func clusterPinCommand() *cobra.Command {
	var site, lane, server string
	c := inCluster(&cobra.Command{
		Use:   "pin",
		Short: "Let the gateways of a site use another domain controller or DNS server",
		Long: "Lets all gateways of a site use another server from the next call on, such as before the\n" +
			"one that they use is restarted. Changes that were begun on the old one are run again. The\n" +
			"gateways stay with it until most of them cannot use it any more, or this command is run again.",
		Example: "  adgateway cluster pin --server dc2.corp.example\n  adgateway cluster pin --lane dns --server dns1.corp.example --site Berlin",
	}, func(ctx context.Context, c *cobra.Command, o app.Options) error {
		if !c.Flags().Changed("site") {
			site = o.Settings.Cluster.Site
		}
		if err := app.MovePin(ctx, o, site, lane, server); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "The gateways of the site %q use %s.\n", site, server)
		return err
	})
	c.Flags().StringVar(&site, "site", "", "site of the gateways (default: cluster.site)")
	c.Flags().StringVar(&lane, "lane", "directory", "directory for the domain controller, dns for the DNS server")
	c.Flags().StringVar(&server, "server", "", "its DNS name")
	_ = c.MarkFlagRequired("server") // fails for unknown flags only
	return c
}

// keyNotes says what is going on with the key of a cluster.
func keyNotes(k keyring.Status) (text string) {
	if k.Newest > k.Current {
		text += fmt.Sprintf("; version %d waits until all gateways that run have it", k.Newest)
	}
	if k.Resealed < k.Current {
		text += "; what lasts is being sealed anew"
	}
	if k.Warning != "" {
		text += "; " + k.Warning
	}
	return text
}

func clusterRecoverCommand() *cobra.Command {
	asJSON := false
	c := inCluster(&cobra.Command{
		Use:   "recover",
		Short: "Send the shared store what it has lost",
		Long: "After the loss of nodes or a restored backup the shared store may have less than it\n" +
			"acknowledged; the gateways notice, and refuse changes. Stop them all, and run this on each:\n" +
			"it sends what the mirror of this gateway still has. If the store is gone, run 'adgateway\n" +
			"cluster init' first.",
		Example: "  adgateway cluster recover",
	}, func(ctx context.Context, c *cobra.Command, o app.Options) error {
		done, err := app.RecoverCluster(ctx, o)
		if err != nil {
			return err
		}
		if asJSON {
			return report.JSON(c.OutOrStdout(), done)
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "sent again: %d values, %d entries of logs; changed by others since then, and left so: %d\n", done.Values, done.Entries, done.Superseded)
		return err
	})
	jsonFlag(c, &asJSON)
	return c
}

func clusterRejoinCommand() *cobra.Command {
	return inCluster(&cobra.Command{
		Use:   "rejoin",
		Short: "Let this gateway join again whose disk was replaced or taken back",
		Long: "A gateway whose disk was taken back to an earlier state does not join: it has forgotten what\n" +
			"it had begun. This makes it the gateway of its name again; what was begun is settled by the\n" +
			"others, or when it starts.",
		Example: "  adgateway cluster rejoin",
	}, func(ctx context.Context, c *cobra.Command, o app.Options) error {
		if err := app.RejoinCluster(ctx, o); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "%s may join again: start it.\n", o.Settings.Cluster.Gateway)
		return err
	})
}
