package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
)

func changesCommand() *cobra.Command {
	return group("changes", "Manage the history of changes", changesRebuildCommand())
}

func changesRebuildCommand() *cobra.Command {
	var f auditFlags
	c := &cobra.Command{
		Use:   "rebuild [FILES]",
		Short: "Read lost changes back from the audit log",
		Long: "Adds the changes in the audit log, rotated files included, to the history (store.file),\n" +
			"but those that it has and those older than changes.keep. The log has no images of what\n" +
			"was there before, so these changes are shown and cannot be undone. The gateway\n" +
			"must not run meanwhile: it has the store open.",
		Example: "  adgateway changes rebuild\n  adgateway changes rebuild --json backup/audit-*.jsonl",
		RunE: func(c *cobra.Command, files []string) error {
			live, err := f.Load()
			if err != nil {
				return err
			}
			if live.Now().Store.File == "" {
				return errors.New("the settings name no store.file, so there is no history to add to: without " +
					"it, it is in memory")
			}
			o, err := clusterOptions(c.ErrOrStderr(), live.Now())
			if err != nil {
				return err
			}
			found, err := app.RebuildHistory(c.Context(), o, files)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				return explainAudit(files, err)
			}
			if err != nil {
				return err
			}
			return show(c, found, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "changes added: %d, there already: %d, older than changes.keep: %d\n",
					found.Added, found.Present, found.Expired)
				return err
			})
		},
	}
	f.add(c)
	jsonFlag(c)
	return c
}
