package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/output"
	"adgateway/gateway/audit"
	"adgateway/gateway/auditmirror"
)

func clusterVerifyCommand() *cobra.Command {
	var f auditFlags
	noStore := false
	var keys []string
	c := &cobra.Command{
		Use: "verify [[NAME=]FILE...]",
		RunE: func(c *cobra.Command, files []string) error {
			live, err := f.Load()
			if err != nil {
				return err
			}
			s := live.Now()
			o, err := clusterOptions(c.ErrOrStderr(), s)
			if err != nil {
				return err
			}
			if o.Identity == nil && !noStore {
				return errors.New("this gateway is not in a cluster: compare only files, with --no-store")
			}
			chains, key, err := f.chains(c, o, files, keys)
			if err != nil {
				return err
			}
			var found *auditmirror.Result
			if noStore {
				found, err = auditmirror.Verify(c.Context(), nil, chains, key)
			} else {
				found, err = app.VerifyCluster(c.Context(), o, chains, key)
			}
			if err != nil {
				return explainAudit(files, err)
			}
			err = show(c, output.NewClusterVerification(found), func(w io.Writer) error {
				output.ClusterVerification(w, found)
				return nil
			})
			if err == nil && len(found.Findings) > 0 {
				return codeFailed
			}
			return err
		},
	}
	f.add(c)
	c.Flags().BoolVar(&noStore, "no-store", false,
		"compare only the files, without the copies that the cluster stores")
	c.Flags().StringArrayVar(&keys, "key-of", nil,
		"key of the log of one gateway, as `NAME=FILE`, if it is not in --key-file (repeatable)")
	jsonFlag(c)
	return c
}

// chains returns the logs to verify: the given ones, or the log of the settings.
func (f *auditFlags) chains(
	c *cobra.Command, o app.Options, files, keys []string,
) (chains []auditmirror.Chain, key []byte, err error) {
	if key, err = app.AuditKey(o.Settings.Audit.KeyFile); err != nil {
		return nil, nil, err
	}
	if len(files) == 0 {
		check, err := f.check(c, nil)
		if err != nil {
			return nil, nil, err
		}
		return []auditmirror.Chain{{Gateway: app.GatewayName(o), Check: check}}, key, nil
	}
	keyOf := map[string][]byte{}
	for _, text := range keys {
		name, file, ok := strings.Cut(text, "=")
		if !ok {
			return nil, nil, fmt.Errorf("--key-of takes NAME=FILE, not %q", text)
		}
		if keyOf[name], err = app.AuditKey(file); err != nil {
			return nil, nil, err
		}
	}
	seen := map[string]bool{}
	for _, text := range files {
		name, file, named := strings.Cut(text, "=")
		if !named {
			name, file = "", text
		}
		if seen[name] && name != "" {
			return nil, nil, fmt.Errorf("the gateway %s is given twice", name)
		}
		seen[name] = true
		chain := auditmirror.Chain{Gateway: name, Check: audit.Check{File: file, Key: key}}
		if given, ok := keyOf[name]; ok {
			chain.Key = given
		}
		chains = append(chains, chain)
	}
	return chains, key, nil
}

func clusterRotateKeyCommand() *cobra.Command {
	return inCluster(&cobra.Command{
		Use: "rotate-key",
	}, func(ctx context.Context, c *cobra.Command, o app.Options) error {
		number, err := app.RotateKey(ctx, o, func(lacking []string) {
			if len(lacking) > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "waiting for %s\n", strings.Join(lacking, ", "))
			}
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "All running gateways use version %d.\n", number)
		return err
	})
}
