package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/authn"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/gateway/identity"
)

func acmeCommand() *cobra.Command {
	return group("acme", group("account", acmeAddCommand()))
}

func acmeAddCommand() *cobra.Command {
	f := program.Flags{Fallback: program.DefaultFile(), Beside: true}
	var account config.ACMEAccount
	var secret bool
	c := &cobra.Command{
		Use:  "add --credential NAME --name _acme-challenge.HOST",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			key := ""
			if secret {
				var err error
				if key, err = program.PipedPassword(c.InOrStdin()); err != nil {
					return err
				}
			}
			if err := addAccount(&f, &account); err != nil {
				return fmt.Errorf("no account was added:\n%w", err)
			}
			return printClientAccount(c, account, cmp.Or(key, "<the secret of "+account.Credential+">"))
		},
	}
	f.AddTo(c.Flags())
	c.Flags().StringVar(&account.Credential, "credential", "", "`NAME` of the token or user")
	c.Flags().StringVar(&account.Name, "name", "", "full `NAME` of the record")
	c.Flags().BoolVar(&secret, "secret-stdin", false,
		"read the credential's token or password from standard input, and print it with the account")
	for _, name := range []string{"credential", "name"} {
		_ = c.MarkFlagRequired(name) // fails only for unknown flags
	}
	return c
}

// addAccount completes an account and adds it to the settings file. The settings must be
// valid before and after.
func addAccount(f *program.Flags, account *config.ACMEAccount) error {
	src, cfg, _, err := f.Read()
	if err != nil {
		return err
	}
	account.Name = strings.TrimSuffix(account.Name, ".")
	stored := *account
	if stored.Credential, account.Credential, err = knownCredential(f, cfg, account.Credential); err != nil {
		return err
	}
	account.Subdomain = uuid.NewString()
	stored.Name, stored.Subdomain = account.Name, account.Subdomain
	if src.Text, err = config.AppendAccount(src.Text, stored); err != nil {
		return err
	}
	if _, _, err := src.Load(); err != nil {
		return err
	}
	return filefault.Explain("--config", os.WriteFile(f.Path(), src.Text, 0o600))
}

// knownCredential finds the token or user that --credential names. It returns the name, and the reference to
// store in the settings, which does not match a later credential of the same name.
func knownCredential(f *program.Flags, cfg *config.Settings, given string) (kept, name string, err error) {
	if slices.ContainsFunc(cfg.Sandbox.Users,
		func(u config.User) bool { return strings.EqualFold(u.Name, given) }) {
		return given, given, nil // a credential of the sandbox has no id
	}
	meant, err := identity.ParseReference(given)
	if err != nil {
		return "", "", fmt.Errorf("--credential %s %w", given, err)
	}
	store, err := (&storeLocation{Config: f.File, Cluster: location().Cluster}).Open()
	if err != nil {
		return "", "", err
	}
	var found []*authn.Account
	for _, kind := range []accountKind{tokenKind, userKind} {
		all, _, err := store.List(kind)
		if err != nil {
			return "", "", err
		}
		for _, a := range all {
			if meant.Means(identity.Who{Name: a.Name, Kind: a.Kind(), ID: a.ID}) {
				found = append(found, a)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", "", fmt.Errorf(
			"--credential %s: there is no token or user with this name; create one with 'adgateway token "+
				"create'", given)
	case 1:
		return found[0].Kind() + ":" + found[0].ID, found[0].Name, nil
	}
	return "", "", fmt.Errorf("--credential %s is the name of a token and of a user: write token:%[1]s or "+
		"user:%[1]s, or the id", given)
}

// printClientAccount prints the account in the format that clients of acme-dns store, by certificate name.
func printClientAccount(c *cobra.Command, account config.ACMEAccount, key string) error {
	type stored struct {
		Username   string   `json:"username"`
		Password   string   `json:"password"`
		FullDomain string   `json:"fulldomain"`
		SubDomain  string   `json:"subdomain"`
		AllowFrom  []string `json:"allowfrom"`
	}
	_, host, _ := strings.Cut(account.Name, ".")
	encoder := json.NewEncoder(c.OutOrStdout())
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(map[string]stored{host: {account.Credential, key, account.Name, account.Subdomain,
		[]string{}}})
}
