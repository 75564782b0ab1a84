package commands

import (
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/auth"

	"github.com/spf13/cobra"
)

func tokenCommand() *cobra.Command {
	f := &storeFlags{}
	of := func(d *auth.Document) []*auth.Account { return d.Tokens }
	c := group("token", "Manage the tokens that may call the API",
		tokenCreateCommand(f), listCommand(f, auth.KindToken, of), showCommand(f, auth.KindToken, of),
		setCommand(f, auth.KindToken, of), tokenRotateCommand(f), tokenRevokeCommand(f))
	c.Long = "Manages the tokens that may call the API. A gateway that runs takes every\nchange within a second."
	f.addTo(c)
	return c
}

func tokenCreateCommand(f *storeFlags) *cobra.Command {
	var rights rightsFlags
	var subject string
	c := &cobra.Command{
		Use:   "create NAME --scope SCOPE,...",
		Short: "Make a token and print it, this one time",
		Long: "Makes a token and prints it on standard output, this one time: only its\n" +
			"digest is kept. With --certificate-subject no token is made: the holder of a\n" +
			"verified client certificate of that subject has the rights.",
		Example: "  adgateway token create portal --scope user:read,user:write --expires 90d \\\n" +
			"      --network 10.20.0.0/16 --ou 'OU=Sales,DC=corp,DC=example' --max-deletions 20",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			now := time.Now()
			allowed, wrong := rights.rights(now)
			a := auth.NewAccount(args[0], now, allowed)
			token := ""
			if a.Subject = subject; subject == "" {
				token = a.AddToken(now, now)
			}
			if err := errors.Join(a.Check(), wrong); err != nil {
				return fmt.Errorf("no token was made:\n%w", err)
			}
			err := f.edit(c.Context(), func(d *auth.Document) error {
				d.Tokens = append(d.Tokens, a)
				return nil
			})
			if err != nil {
				return fmt.Errorf("no token was made:\n%w", err)
			}
			return handOver(c, a, token, now)
		},
	}
	rights.addTo(c, "90d")
	c.Flags().StringVar(&subject, "certificate-subject", "", "`SUBJECT` of the client certificate that stands for it, such as CN=portal,O=Example")
	return c
}

// handOver prints a new token on standard output and what it is on the other
// stream, so that a script can take the token.
func handOver(c *cobra.Command, a *auth.Account, token string, now time.Time) error {
	err := writeAccount(c.ErrOrStderr(), show(a, nil), now)
	if token == "" || err != nil {
		return err
	}
	if _, err := fmt.Fprintln(c.ErrOrStderr(), "The token is shown this one time:"); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), token)
	return err
}

func tokenRotateCommand(f *storeFlags) *cobra.Command {
	var grace, expires string
	c := &cobra.Command{
		Use:   "rotate NAME",
		Short: "Make a new token in place of one, with the same rights, and print it",
		Long: "Makes a new token in place of one, with the same rights and counters, and\n" +
			"prints it, this one time. The old one ends at once, or after --grace.",
		Example: "  adgateway token rotate portal --grace 24h --expires 90d",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			now := time.Now()
			overlap, err := parseSpan(grace)
			if err != nil {
				return fmt.Errorf("--grace: %w", err)
			}
			var end *time.Time
			if expires != "" {
				if end, err = parseExpiry(expires, now); err != nil {
					return fmt.Errorf("--expires: %w", err)
				}
			}
			var a *auth.Account
			var token string
			err = f.edit(c.Context(), func(d *auth.Document) error {
				found, err := find(d.Tokens, auth.KindToken, args[0])
				if err != nil {
					return err
				}
				if found.Subject != "" {
					return fmt.Errorf("'%s' is proved by a client certificate: renew that", found.Name)
				}
				if a = found; expires != "" {
					a.Expires = end
				}
				if a.Expires != nil && !a.Expires.After(now) {
					return fmt.Errorf("'%s' expired at %s, and so would the new token: give it an end with --expires, such as 90d",
						a.Name, a.Expires.Format(time.RFC3339))
				}
				token = a.AddToken(now, now.Add(overlap))
				return nil
			})
			if err != nil {
				return err
			}
			return handOver(c, a, token, now)
		},
	}
	c.Flags().StringVar(&grace, "grace", "0s", "how long the old token works on, such as 24h")
	c.Flags().StringVar(&expires, "expires", "", "when it ends from now on: 90d, 12h, 2027-01-31 or never (default: as before)")
	return c
}

func tokenRevokeCommand(f *storeFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME...",
		Short: "End tokens for good; they are refused within a second",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			err := f.edit(c.Context(), func(d *auth.Document) (err error) {
				d.Tokens, err = remove(d.Tokens, auth.KindToken, args)
				return err
			})
			if err != nil {
				return err
			}
			for _, name := range args {
				fmt.Fprintf(c.OutOrStdout(), "token '%s' is revoked\n", name)
			}
			return nil
		},
	}
}
