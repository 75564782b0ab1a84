package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/backup"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
)

func backupCommand() *cobra.Command {
	to, wait := "", time.Duration(0)
	c := ofSettings(&cobra.Command{
		Use: "backup --to FOLDER|FILE.zip",
	}, func(c *cobra.Command, f *program.Flags, s *config.Settings) error {
		if to == "" {
			return errors.New("--to is missing: name the folder or .zip file to create")
		}
		m, err := backup.Write(c.Context(),
			backup.Options{Settings: s, File: f.Path(), Version: buildVersion(), Wait: wait}, to)
		if err != nil {
			return err
		}
		return show(c, m, func(w io.Writer) error { return printBackup(w, m, to) })
	})
	c.Flags().StringVar(&to, "to", "", "new folder, or new `FILE` that ends in .zip")
	c.Flags().DurationVar(&wait, "wait", 5*time.Minute,
		"maximum `TIME` for a running gateway to copy its store")
	jsonFlag(c)
	return c
}

func printBackup(w io.Writer, m *backup.Manifest, to string) error {
	size := int64(0)
	for _, f := range m.Files {
		size += f.Size
	}
	_, err := fmt.Fprintf(w, "%d files, %d bytes: %s\n", len(m.Files), size, to)
	for _, l := range m.NotCopied {
		fmt.Fprintf(w, "not copied: %s %s: %s\n", l.Setting, l.What, l.Reason)
	}
	return err
}

func restoreCommand() *cobra.Command {
	from, file := "", program.DefaultFile()
	c := &cobra.Command{
		Use:  "restore --from FOLDER|FILE.zip",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if from == "" {
				return errors.New("--from is missing: name the folder or .zip file of a backup")
			}
			path, err := filepath.Abs(file)
			if err != nil {
				return err
			}
			r, err := backup.Restore(c.Context(), from, path)
			if err != nil {
				return err
			}
			shown := map[string]any{"settings": r.Settings, "replaced": append([]string{}, r.Replaced...),
				"backup": r.Manifest}
			return show(c, shown, func(w io.Writer) error { return printRestored(w, r) })
		},
	}
	c.Flags().StringVar(&from, "from", "", "folder or zip `FILE` of the backup")
	c.Flags().StringVar(&file, "config", file,
		"settings `FILE` of the gateway; restored files go next to it, unless its settings name other places")
	jsonFlag(c)
	return c
}

// afterRestore describes the next steps.
const afterRestore = `Next:
  adgateway service install   as before: gives the files to the account of the service
  adgateway audit verify      what of the audit log was lost since the backup
  adgateway changes rebuild   adds changes that only the audit log has, and ends the notice that the store is older
What was sent since the backup with an Idempotency-Key or a plan must not be repeated.
`

// afterClusterRestore describes the next steps for a gateway of a cluster.
const afterClusterRestore = `Next, as all hosts of the cluster %s are lost:
  adgateway service install           as before, on each host: gives the files to the account of the service
  adgateway cluster recover           on each host that was restored: says how far its copy of the store goes
  adgateway cluster recover --first   once more where it goes furthest; start this host first, and then the others
With a single backup, run 'adgateway cluster alone' and 'adgateway changes rebuild', and make the cluster again.
What was sent since the backup with an Idempotency-Key or a plan must not be repeated.
`

func printRestored(w io.Writer, r *backup.Restored) error {
	fmt.Fprintf(w, "restored: %d files of %s, settings %s\n", len(r.Manifest.Files),
		r.Manifest.Made.Format(time.RFC3339), r.Settings)
	for _, folder := range r.Replaced {
		fmt.Fprintf(w, "replaced files: %s\n", folder)
	}
	for _, l := range r.Manifest.NotCopied {
		fmt.Fprintf(w, "not in the backup: %s %s: %s\n", l.Setting, l.What, l.Reason)
	}
	if r.Cluster != "" {
		_, err := fmt.Fprintf(w, afterClusterRestore, r.Cluster)
		return err
	}
	_, err := fmt.Fprint(w, afterRestore)
	return err
}
