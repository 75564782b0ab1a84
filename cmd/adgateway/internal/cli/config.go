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
	"adgateway/gateway/config"
)

func configCommand() *cobra.Command {
	return group("config", configInitCommand(), configCheckCommand(),
		configShowCommand())
}

func configInitCommand() *cobra.Command {
	file, force := "", false
	c := &cobra.Command{
		Use:  "init",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := program.WriteTemplate(file, force); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(),
				"%s was created; it lists every setting as a comment with its default\n", file)
			return err
		},
	}
	c.Flags().StringVar(&file, "config", program.DefaultFile(), "`FILE` to create")
	c.Flags().BoolVar(&force, "force", false, "overwrite the file")
	return c
}

func configCheckCommand() *cobra.Command {
	f := program.Flags{Fallback: program.DefaultFile(), Beside: true}
	c := &cobra.Command{
		Use:  "check",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			src, cfg, from, err := f.Read()
			var advice []string
			if cfg != nil {
				advice = app.Advice(cfg, f.Path(), from)
				more := src.Place(checkSettings(c.Context(), cfg, &f), from)
				switch {
				case err == nil && more != nil:
					err = fmt.Errorf("settings:\n%w", more)
				case more != nil:
					err = errors.Join(err, more)
				}
			}
			result := output.NewConfigCheck(f.Path(), src.Text != nil, from, advice, err)
			if !asJSON(c) {
				if err != nil {
					return err
				}
				return result.Text(c.OutOrStdout())
			}
			if jsonErr := output.JSON(c.OutOrStdout(), result); jsonErr != nil || err == nil {
				return jsonErr
			}
			return codeFailed
		},
	}
	f.AddTo(c.Flags())
	c.Flags().BoolVar(&f.Sandbox, "sandbox", false, "check the settings for 'adgateway sandbox', "+
		"which needs no PowerShell")
	jsonFlag(c)
	return c
}

// checkSettings runs the checks that a gateway or a sandbox runs at startup.
func checkSettings(ctx context.Context, cfg *config.Settings, f *program.Flags) error {
	if f.Sandbox {
		return app.CheckSandbox(ctx, cfg)
	}
	return app.CheckStart(ctx, cfg, f.Path())
}

func configShowCommand() *cobra.Command {
	f := program.Flags{Fallback: program.DefaultFile()}
	c := &cobra.Command{
		Use:  "show",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, cfg, from, err := f.Read()
			if err != nil {
				return err
			}
			all := output.NewSettings(cfg, from)
			return show(c, all, func(w io.Writer) error { return output.Settings(w, all) })
		},
	}
	f.AddTo(c.Flags())
	jsonFlag(c)
	return c
}

// jsonFlag declares --json, which [asJSON] reads.
func jsonFlag(c *cobra.Command) { c.Flags().Bool("json", false, "print JSON") }

// asJSON reports whether the command is to print JSON.
func asJSON(c *cobra.Command) bool {
	set, err := c.Flags().GetBool("json")
	return set && err == nil
}

// show prints a value, as JSON if requested, otherwise as text.
func show(c *cobra.Command, value any, text func(io.Writer) error) error {
	if asJSON(c) {
		return output.JSON(c.OutOrStdout(), value)
	}
	return text(c.OutOrStdout())
}

// ofSettings returns a command that works with the settings of this gateway.
func ofSettings(
	c *cobra.Command, do func(*cobra.Command, *program.Flags, *config.Settings) error,
) *cobra.Command {
	f := program.Flags{Fallback: program.DefaultFile(), Beside: true}
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		live, err := f.Load()
		if err != nil {
			return err
		}
		return do(c, &f, live.Now())
	}
	f.AddTo(c.Flags())
	return c
}
