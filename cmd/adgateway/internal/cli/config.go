package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/output"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
)

func configCommand() *cobra.Command {
	return group("config", "Create, check and show the settings", configInitCommand(), configCheckCommand(),
		configShowCommand())
}

func configInitCommand() *cobra.Command {
	file, force := "", false
	c := &cobra.Command{
		Use:   "init",
		Short: "Create a settings file with every setting as a comment",
		Args:  cobra.NoArgs,
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
	asJSON := false
	c := &cobra.Command{
		Use:   "check",
		Short: "Report every mistake in the settings and in what they name, with its line",
		Long: "Checks what 'adgateway serve' checks when it starts: the settings, that they fit together,\n" +
			"and the files, programs, credentials and addresses that they name.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			src, cfg, from, err := f.Read()
			var advice []string
			if cfg != nil {
				advice = app.Advice(cfg, f.Path(), from)
				if more := checkSettings(c.Context(), cfg, &f); more != nil {
					err = errors.Join(cmp.Or(err, errors.New("settings:")), src.Place(more, from))
				}
			}
			result := output.NewConfigCheck(f.Path(), src.Text != nil, from, advice, err)
			if !asJSON {
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
	jsonFlag(c, &asJSON)
	return c
}

// checkSettings runs the checks that a gateway, or a sandbox, runs at its start.
func checkSettings(ctx context.Context, cfg *config.Settings, f *program.Flags) error {
	if f.Sandbox {
		return app.CheckSandbox(ctx, cfg)
	}
	return app.CheckStart(ctx, cfg, f.Path())
}

func configShowCommand() *cobra.Command {
	f := program.Flags{Fallback: program.DefaultFile()}
	asJSON := false
	c := &cobra.Command{
		Use:   "show",
		Short: "Show the settings in effect and where each comes from; secrets are masked",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, cfg, from, err := f.Read()
			if err != nil {
				return err
			}
			all := output.NewSettings(cfg, from)
			if asJSON {
				return output.JSON(c.OutOrStdout(), all)
			}
			return output.Settings(c.OutOrStdout(), all)
		},
	}
	f.AddTo(c.Flags())
	jsonFlag(c, &asJSON)
	return c
}

// jsonFlag declares --json.
func jsonFlag(c *cobra.Command, into *bool) {
	c.Flags().BoolVar(into, "json", false, "print JSON")
}
