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
	return group("changes", changesRebuildCommand())
}

func changesRebuildCommand() *cobra.Command {
	var f auditFlags
	c := &cobra.Command{
		Use: "rebuild [FILES]",
		RunE: func(c *cobra.Command, files []string) error {
			live, err := f.Load()
			if err != nil {
				return err
			}
			if live.Now().Store.File == "" {
				return errors.New("the settings name no store.file, so there is no history to add to: it is only in " +
					"memory")
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
				_, err := fmt.Fprintf(w, "changes added: %d, already there: %d, older than changes.keep: %d\n",
					found.Added, found.Present, found.Expired)
				return err
			})
		},
	}
	f.add(c)
	jsonFlag(c)
	return c
}
