package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/report"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
)

func changesCommand() *cobra.Command {
	return group("changes", "Manage the history of changes", changesRebuildCommand(), changesMoveCommand())
}

func changesRebuildCommand() *cobra.Command {
	var f auditFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "rebuild [FILES]",
		Short: "Read lost changes back from the audit log",
		Long: "Adds the changes in the audit log, rotated files included, to the history (store.file),\n" +
			"but those that it has and those older than changes.keep. The log has no images of what\n" +
			"was there before, so that these changes are shown and cannot be undone. The gateway\n" +
			"must not run meanwhile: it has the store open.",
		Example: "  adgateway changes rebuild\n  adgateway changes rebuild --json backup/audit-*.jsonl",
		RunE: func(c *cobra.Command, files []string) error {
			live, err := f.Load()
			if err != nil {
				return err
			}
			if live.Now().Store.File == "" {
				return errors.New("the settings name no store.file, so that there is no history to add to: without it, it is in memory")
			}
			log := logrus.New()
			log.SetOutput(c.ErrOrStderr())
			found, err := app.RebuildHistory(c.Context(), app.Options{Settings: live.Now(), Log: log}, files)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				return explainAudit(files, err)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return report.JSON(c.OutOrStdout(), found)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "changes added: %d, there already: %d, older than changes.keep: %d\n", found.Added, found.Present, found.Expired)
			return err
		},
	}
	f.add(c)
	jsonFlag(c, &asJSON)
	return c
}

func changesMoveCommand() *cobra.Command {
	var to string
	var asJSON bool
	c := inCluster(&cobra.Command{
		Use:   "move --to cluster|embedded",
		Short: "Take the history over into the shared store, or out of it",
		Long: "Adds the changes of the history in store.file, which a gateway has kept as long as it was\n" +
			"alone, to the history that the gateways of the cluster share, so that they can be found and\n" +
			"undone as before; with --to embedded the other way round. Where they come from they stay.\n" +
			"The gateway must not run meanwhile. Keys, plans, budgets and jobs are not taken along: let\n" +
			"jobs end first. Callers that follow the changes get 410 once, and begin anew.",
		Example: "  adgateway changes move --to cluster",
	}, func(ctx context.Context, c *cobra.Command, o app.Options) error {
		if to != "cluster" && to != "embedded" {
			return fmt.Errorf("--to takes cluster or embedded, not %q", to)
		}
		moved, err := app.MoveHistory(ctx, o, to == "cluster")
		if err != nil {
			return err
		}
		if asJSON {
			return report.JSON(c.OutOrStdout(), moved)
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "changes added: %d, there already: %d\n", moved.Added, moved.Present)
		return err
	})
	c.Flags().StringVar(&to, "to", "", "`PLACE` to move to: cluster or embedded")
	jsonFlag(c, &asJSON)
	return c
}
