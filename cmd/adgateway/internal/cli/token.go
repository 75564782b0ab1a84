package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
)

func tokenCommand() *cobra.Command {
	at := location()
	c := group("token", tokenCreateCommand(at), listCommand(at, tokenKind), showCommand(at, tokenKind),
		setCommand(at, tokenKind), tokenRotateCommand(at), removeCommand(at, tokenKind, "revoke", "is revoked"),
		tokenMoveCommand(at))
	at.AddTo(c.PersistentFlags())
	return c
}

func tokenCreateCommand(at *storeLocation) *cobra.Command {
	var flags rightsFlags
	var certificate certificateName
	var issued issuedFlags
	c := &cobra.Command{
		Use:  "create NAME --scope SCOPE,...",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			now := time.Now()
			store, err := at.Open()
			if err != nil {
				return fmt.Errorf("no token was created:\n%w", err)
			}
			release, err := issued.Reserve()
			if err != nil {
				return fmt.Errorf("no token was created:\n%w", err)
			}
			rights, invalid := flags.Parse(now)
			a, token, err := store.CreateToken(c.Context(), args[0], certificate, rights, invalid, now)
			if err != nil {
				release()
				return fmt.Errorf("no token was created:\n%w", err)
			}
			return issued.Print(c, a, token, store.in.Place(), now)
		},
	}
	flags.AddTo(c.Flags(), "90d")
	issued.AddTo(c)
	c.Flags().StringVar(&certificate.Subject, "certificate-subject", "",
		"`SUBJECT` of the client certificate to accept instead of a token: CN=portal,O=Example, dns:NAME, "+
			"uri:URI, email:ADDRESS or sha256:DIGEST")
	c.Flags().StringVar(&certificate.Issuer, "certificate-issuer", "",
		"`ISSUER` that this certificate must have: its subject, or sha256:DIGEST of an authority (default: any)")
	return c
}

func tokenRotateCommand(at *storeLocation) *cobra.Command {
	var grace, expires string
	var issued issuedFlags
	c := &cobra.Command{
		Use:  "rotate NAME",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			now := time.Now()
			r := rotation{SetExpiry: expires != ""}
			var err error
			if r.Grace, err = program.ParseDuration(grace); err != nil {
				return fmt.Errorf("--grace: %w", err)
			}
			if r.SetExpiry {
				if r.Expires, err = program.ParseExpiry(expires, now); err != nil {
					return fmt.Errorf("--expires: %w", err)
				}
			}
			store, err := at.Open()
			if err != nil {
				return err
			}
			release, err := issued.Reserve()
			if err != nil {
				return err
			}
			a, token, err := store.Rotate(c.Context(), args[0], r, now)
			if err != nil {
				release()
				return err
			}
			return issued.Print(c, a, token, store.in.Place(), now)
		},
	}
	issued.AddTo(c)
	c.Flags().StringVar(&grace, "grace", "0s", "how long the old token remains valid, such as 24h")
	c.Flags().StringVar(&expires, "expires", "",
		"new expiry: 90d, 12h, 2027-01-31 or never (default: unchanged)")
	return c
}

func tokenMoveCommand(at *storeLocation) *cobra.Command {
	to := ""
	c := &cobra.Command{
		Use:  "move --to cluster",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if to != "cluster" {
				return fmt.Errorf("--to takes cluster, not %q", to)
			}
			file, cluster, err := at.OpenBoth()
			if err != nil {
				return err
			}
			document, _, err := file.Read()
			if err != nil {
				return err
			}
			moved, err := app.MoveCredentials(c.Context(), cluster, document)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "moved: %d of %d tokens and users; the others were already there\n",
				moved, len(document.Tokens)+len(document.Users))
			return err
		},
	}
	c.Flags().StringVar(&to, "to", "", "`PLACE` to move to: cluster")
	return c
}

// location returns the location of the accounts. It must be called before the flags are parsed.
func location() *storeLocation {
	return &storeLocation{Cluster: func(s *config.Settings) (app.Options,
		error) {
		return clusterOptions(os.Stderr, s)
	}}
}
