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
		Use:   "verify [[NAME=]FILE...]",
		Short: "Hold the audit logs of all gateways against each other",
		Long: "Compares the audit log of this gateway, or those that are given, with what the others have\n" +
			"witnessed: each gateway records the ends of the others' logs in its own. They are compared\n" +
			"with the copies that the cluster keeps of them, too, and of gateways whose files are not given\n" +
			"the copies are read. So a line that was changed, an end that was cut off, and a log that was\n" +
			"written anew or replaced with an older one are found, even with the key of the log. Files\n" +
			"that were copied from other hosts must be newer than what is witnessed, or their ends\n" +
			"seem to be missing: run this on each gateway instead.",
		Example: "  adgateway cluster verify\n  adgateway cluster verify gw1=audit1.jsonl gw2=audit2.jsonl " +
			"--no-store",
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
				return errors.New("this gateway is in no cluster: compare just files with --no-store")
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
		"compare just the files, without the copies that the cluster keeps")
	c.Flags().StringArrayVar(&keys, "key-of", nil,
		"the key of the log of one gateway, as `NAME=FILE`, if it is not in --key-file (repeatable)")
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
		Use:   "rotate-key",
		Short: "Replace the key that seals what the cluster keeps",
		Long: "Adds a version to the key and waits until all gateways that run have it and use it.\n" +
			"Credentials, sessions and jobs are then sealed anew; logs age out under the version that\n" +
			"they have. Names keep the sums that they have. Ctrl-C ends the waiting only.",
		Example: "  adgateway cluster rotate-key",
	}, func(ctx context.Context, c *cobra.Command, o app.Options) error {
		number, err := app.RotateKey(ctx, o, func(lacking []string) {
			if len(lacking) > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "waiting for %s\n", strings.Join(lacking, ", "))
			}
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "Version %d is used by all gateways that run.\n", number)
		return err
	})
}
