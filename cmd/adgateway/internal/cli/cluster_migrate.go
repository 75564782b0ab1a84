package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/cmd/adgateway/setup"
	"adgateway/gateway/cluster/migrate"
	"adgateway/gateway/config"
)

func clusterMigrateCommand() *cobra.Command {
	var (
		from                     string
		gateways, journals, keys []string
	)
	c := ofSettings(&cobra.Command{
		Use: "migrate",
	}, func(c *cobra.Command, f *program.Flags, s *config.Settings) error {
		o := setup.Options{Settings: s, KeyGroup: app.KeyGroup, Accounts: program.CredentialFile(s.Auth, f.Path())}
		if s.Former.Name == "" {
			return errors.New("the settings name no cluster (cluster.name): use the settings of the earlier " +
				"version's gateway. The store of a gateway without a cluster needs no migration")
		}
		m, err := migrationOf(from, gateways, journals, keys)
		if err != nil {
			return err
		}
		done, err := setup.Migrate(c.Context(), o, m)
		if err != nil {
			return err
		}
		return show(c, done.Result, func(w io.Writer) error { return showMigration(w, o, done) })
	})
	flags := c.Flags()
	flags.StringArrayVar(&gateways, "gateway", nil,
		"`NAME=HOST` of a gateway, with its HOST as the others reach it (repeatable, this host first); a port "+
			"is the port of engine.cluster there")
	flags.StringVar(&from, "from", "", "`FILE` of the mirror (default: the one of this gateway)")
	flags.StringArrayVar(&journals, "journal", nil,
		"`FILE` with changes that another gateway made without the store (repeatable)")
	flags.StringArrayVar(&keys, "journal-key", nil,
		"`FILE` of the key of --journal: store.file of that gateway, with .key")
	_ = c.MarkFlagRequired("gateway") // fails only for unknown flags
	jsonFlag(c)
	return c
}

// migrationOf returns the migration that the flags describe.
func migrationOf(from string, gateways, journals, keys []string) (setup.Migration, error) {
	m := setup.Migration{From: from}
	for _, text := range gateways {
		h, err := parseHost(text)
		if err != nil {
			return m, err
		}
		m.Hosts = append(m.Hosts, h)
	}
	if len(journals) != len(keys) {
		return m, errors.New("each --journal needs a --journal-key")
	}
	for i, file := range journals {
		m.Journals = append(m.Journals, migrate.Journal{File: file, Key: keys[i]})
	}
	return m, nil
}

// showMigration prints the migrated data and the next steps.
func showMigration(w io.Writer, o setup.Options, done *setup.Migrated) error {
	cluster, folder := o.Settings.Former.Name, o.Settings.Store.ClusterFolder()
	fmt.Fprintf(w, "The mirror %s goes up to change %d of the store, of %s.\n", done.Mirror, done.Sequence,
		done.At.UTC().Format(time.RFC3339))
	if done.Made == nil {
		printLog(w, done.Log)
		_, err := fmt.Fprintf(w, "The cluster %s was already created from it; nothing was changed. Start the "+
			"gateway, and run 'adgateway cluster invite' for each host that should join.\n", cluster)
		return err
	}
	fmt.Fprintf(w, "The cluster %s was created from it: %d values, %d log entries, %d changes that were made "+
		"without the store.\n"+
		"Interrupted changes, whose outcome is determined at the start: %d.\n",
		cluster, done.Values, done.Entries, done.Added, done.Open)
	if done.Aside != "" {
		fmt.Fprintf(w, "The store that this gateway had before the cluster is now %s.\n", done.Aside)
	}
	fmt.Fprintf(w, "If the mirror of another gateway goes further, remove the folder %s, and run the command "+
		"with --from.\n\n"+
		"Take these settings out of the file, here and on the other hosts: cluster.name, cluster.gateway, "+
		"cluster.keyFile,\n"+
		"cluster.certificate, cluster.key, cluster.ca, engine.node, engine.peers, engine.gateways, "+
		"engine.certificate,\n"+
		"engine.key, engine.ca, and cluster.servers unless the nodes are a NATS of your own. Then start it:\n"+
		"adgateway service start\n", folder)
	printMade(w, done.Made, done.Log)
	return nil
}
