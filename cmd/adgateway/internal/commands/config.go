package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"

	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/winsvc"
	"adgateway/winsvc/host"

	"github.com/spf13/cobra"
)

func configCommand() *cobra.Command {
	return group("config", "Write, check and show the settings", configInitCommand(), configCheckCommand(), configShowCommand())
}

func configInitCommand() *cobra.Command {
	file, force := "", false
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a settings file with every setting as a comment",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := writeTemplate(file, force); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "%s is written; every setting in it is a comment with its default\n", file)
			return err
		},
	}
	c.Flags().StringVar(&file, "config", defaultSettingsFile(), "`FILE` to write")
	c.Flags().BoolVar(&force, "force", false, "overwrite the file")
	return c
}

func writeTemplate(file string, force bool) error {
	if err := makeSettingsFolder(filepath.Dir(file)); err != nil {
		return filefault.Explain("--config", err)
	}
	newline, mode := "\n", os.O_WRONLY|os.O_CREATE|os.O_EXCL
	if runtime.GOOS == "windows" {
		newline = "\r\n"
	}
	if force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(file, mode, 0o600) // settings can hold passwords
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; --force overwrites it", file)
	}
	if err != nil {
		return filefault.Explain("--config", err)
	}
	_, err = f.Write(config.Template(newline))
	return errors.Join(err, f.Close())
}

// makeSettingsFolder makes a folder that is not there. The gateway's own is closed
// to others at once: what is in ProgramData every user may read, and add to.
func makeSettingsFolder(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && isDataDir(dir) {
		return host.Files{Service: winsvc.Name}.RestrictFolder(dir)
	}
	return os.MkdirAll(dir, 0o750)
}

func configCheckCommand() *cobra.Command {
	f := settingFlags{fallback: defaultSettingsFile()}
	c := &cobra.Command{
		Use:   "check",
		Short: "Tell every mistake in the settings",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			src, _, from, err := f.read()
			if err != nil {
				return err
			}
			given := 0
			for _, origin := range from {
				if origin != config.FromDefault {
					given++
				}
			}
			where := f.path()
			if src.Text == nil {
				where += " (not there: 'adgateway config init' writes it)"
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: no mistakes; %d of %d settings are set, the others have their defaults\n", where, given, len(from))
			return err
		},
	}
	f.addTo(c)
	return c
}

// read reads the settings once.
func (f *settingFlags) read() (config.Sources, *config.Settings, map[string]config.Origin, error) {
	src, err := f.source()()
	if err != nil {
		return src, nil, nil, err
	}
	settings, from, err := src.Load()
	if err != nil {
		err = fmt.Errorf("settings:\n%w", err)
	}
	return src, settings, from, err
}

func configShowCommand() *cobra.Command {
	f := settingFlags{fallback: defaultSettingsFile()}
	asJSON := false
	c := &cobra.Command{
		Use:   "show",
		Short: "Show the settings in force and where each comes from; secrets are masked",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, settings, from, err := f.read()
			if err != nil {
				return err
			}
			rows := shownSettings(settings, from)
			if asJSON {
				encoder := json.NewEncoder(c.OutOrStdout())
				encoder.SetIndent("", "  ")
				encoder.SetEscapeHTML(false)
				return encoder.Encode(rows)
			}
			table := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, row := range rows {
				value, err := json.Marshal(row.Value)
				if err != nil {
					return err
				}
				_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", row.Key, row.Source, value) // Flush tells
			}
			return table.Flush()
		},
	}
	f.addTo(c)
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// shownSetting is one line of `adgateway config show`.
type shownSetting struct {
	Key      string        `json:"key"`
	Value    any           `json:"value"`
	Source   config.Origin `json:"source"`
	Default  string        `json:"default"`
	Live     bool          `json:"live"`
	Variable string        `json:"variable"`
	Allowed  string        `json:"allowed"`
	Doc      string        `json:"doc"`
}

func shownSettings(settings *config.Settings, from map[string]config.Origin) []shownSetting {
	var rows []shownSetting
	for _, row := range config.Rows() {
		rows = append(rows, shownSetting{
			Key: row.Key, Value: row.Value(settings), Source: from[row.Key], Default: row.Default,
			Live: row.Live(), Variable: row.Variable(), Allowed: row.Allowed(), Doc: row.Doc,
		})
	}
	return rows
}
