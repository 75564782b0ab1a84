package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/report"
	"adgateway/cmd/adgateway/internal/settings"
	"adgateway/gateway/cluster/migrate"
	"adgateway/gateway/config"

	"github.com/spf13/cobra"
)

func clusterMigrateCommand() *cobra.Command {
	m := app.Migration{Restrict: settings.Files.Restrict}
	var journals, keys []string
	asJSON := false
	c := inCluster(&cobra.Command{
		Use:   "migrate",
		Short: "Take a cluster of an earlier version over",
		Long: "Makes the store of a cluster of this version out of what the gateways shared in an earlier\n" +
			"one: accounts, history, keys, plans, budgets, jobs, sign-ins, webhooks and copies of the audit.\n" +
			"Stop the gateways on all hosts first. Run it on one of them, with the settings that it had; the\n" +
			"others join afterwards. It reads the mirror of this gateway, and says how far that goes: if the\n" +
			"mirror of another one goes further, copy that here and name it with --from. The files of the\n" +
			"earlier version stay as they are. If it is interrupted, run it again.\n\n" +
			"Changes that this gateway made while it could not reach the store (cluster.loss) are added to\n" +
			"the history; those of another one if --journal and --journal-key name its files.",
		Example: "  adgateway cluster migrate --host gw1=h1.corp.example --host gw2=h2.corp.example " +
			"--host gw3=h3.corp.example",
	}, func(ctx context.Context, c *cobra.Command, o app.Options) error {
		if len(journals) != len(keys) {
			return errors.New("each --journal has a --journal-key")
		}
		all := m
		for i, file := range journals {
			all.Journals = append(all.Journals, migrate.Journal{File: file, Key: keys[i]})
		}
		found, err := app.MigrateCluster(ctx, o, all)
		if err != nil {
			return err
		}
		if asJSON {
			return report.JSON(c.OutOrStdout(), found)
		}
		return showMigration(c.OutOrStdout(), o.Settings, found)
	})
	flags := c.Flags()
	flags.StringToStringVar(&m.Hosts, "host", nil, "`GATEWAY=HOST` of each gateway of the cluster, this one among them")
	flags.StringVar(&m.From, "from", "", "`FILE` of the mirror (default: the one of this gateway)")
	flags.StringArrayVar(&journals, "journal", nil, "`FILE` with changes that another gateway made without the store")
	flags.StringArrayVar(&keys, "journal-key", nil, "`FILE` of the key of --journal: store.file of that gateway, with .key")
	_ = c.MarkFlagRequired("host") // fails for unknown flags only
	jsonFlag(c, &asJSON)
	return c
}

// showMigration says what was taken over, and what to do then.
func showMigration(out io.Writer, s *config.Settings, r migrate.Result) error {
	cluster := s.Cluster.Name
	text := fmt.Sprintf("The mirror %s goes up to change %d of the store, of %s.\n", r.Mirror, r.Sequence,
		r.At.UTC().Format(time.RFC3339))
	if r.Done {
		text += fmt.Sprintf("The cluster %s was made of it before; nothing was changed.\n", cluster)
	} else {
		text += fmt.Sprintf("The cluster %s is made of it: %d values, %d entries of logs, %d changes that were made "+
			"without the store. Changes that were cut off, and are settled at the start: %d.\n",
			cluster, r.Values, r.Entries, r.Added, r.Open)
	}
	if r.Aside != "" {
		text += fmt.Sprintf("The store that this gateway had before it was of a cluster is %s now.\n", r.Aside)
	}
	text += fmt.Sprintf("If the mirror of another gateway goes further, remove the folder %s, and run the command\n"+
		"with --from. Otherwise start this gateway, and let the others join.\n", s.Store.ClusterFolder())
	_, err := io.WriteString(out, text)
	return err
}
