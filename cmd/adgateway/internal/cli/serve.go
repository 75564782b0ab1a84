package cli

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/gateway/identity"
)

func serveCommand() *cobra.Command {
	f := program.Flags{Fallback: program.DefaultFile(), Beside: true}
	var child *bool
	c := &cobra.Command{
		Use:  "serve",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if *child {
				return serveChild(c, &f)
			}
			run, _, err := prepareGateway(c, &f)(c.Context(), nil)
			if err != nil {
				return err
			}
			return run(c.Context())
		},
	}
	f.AddTo(c.Flags(), program.Common()...)
	child = addChild(c)
	return c
}

// sandboxFlags holds the flags of the sandbox that append to lists in the settings.
type sandboxFlags struct{ tokens, users, ldif, zones []string }

func sandboxCommand() *cobra.Command {
	var more sandboxFlags
	f := program.Flags{Sandbox: true, Amend: more.addTo}
	c := &cobra.Command{
		Use:  "sandbox",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			prepare := func(ctx context.Context) (*app.Sandbox, error) {
				return app.PrepareSandbox(ctx,
					app.ServerOptions{Flags: &f, Version: buildVersion(), Stderr: c.ErrOrStderr()})
			}
			s, err := prepare(c.Context())
			if err != nil {
				return err
			}
			printCalls(c, s, &more)
			printLink(c, s)
			return app.Run(c.Context(), s.Server, func(ctx context.Context) (*app.Server, error) {
				s, err := prepare(ctx)
				if err != nil {
					return nil, err
				}
				return s.Server, nil
			})
		},
	}
	f.AddTo(c.Flags(), slices.Concat(program.Common(), worldSpellings(), sandboxSpellings())...)
	flags := c.Flags()
	flags.StringArrayVar(&more.tokens, "token", nil,
		"a bearer token as `VALUE[=scope,...]`; without scopes, it has all (repeatable)")
	flags.StringArrayVar(&more.users, "user", nil,
		"a Basic user as `NAME:PASSWORD[=scope,...]`; without scopes, it has all (repeatable)")
	c.AddCommand(domainCommand(), orderCommand())
	flags.StringArrayVar(&more.ldif, "ldif", nil, "load this LDIF `FILE` into the directory (repeatable)")
	flags.StringArrayVar(&more.zones, "zone", nil, "load this zone `FILE` into the DNS server (repeatable)")
	return c
}

// worldSpellings are the flags that stand for settings of a simulated domain.
func worldSpellings() []program.Spelling {
	return []program.Spelling{
		{Flag: "users", Key: "sandbox.generatedUsers", Placeholder: "N", Doc: "number of additional users to generate"},
		{Flag: "empty", Key: "sandbox.empty", Doc: "leave out the built-in domain; the LDIF files define the domain"},
		{Flag: "seed", Key: "sandbox.seed", Placeholder: "N", Doc: "seed of all generated data"},
		{Flag: "culture", Key: "sandbox.culture", Placeholder: "NAME", Doc: "language of the simulated Windows: en-US or de-DE"},
		{Flag: "replication-lag", Key: "sandbox.replicationLag", Placeholder: "TIME", Doc: "time until a " +
			"change reaches " +
			"the second domain controller"},
	}
}

// sandboxSpellings are the flags that stand for settings of a sandbox gateway.
func sandboxSpellings() []program.Spelling {
	return []program.Spelling{
		{Flag: "processes", Key: "sandbox.processes", Doc: "run each session in its own process"},
		{Flag: "domain", Key: "sandbox.domain", Placeholder: "HOST:PORT", Doc: "use the domain of 'adgateway " +
			"sandbox domain' at this address"},
		{Flag: "ticket-file", Key: "sandbox.ticketFile", Placeholder: "FILE", Doc: "file with the ticket that " +
			"the " +
			"domain's process wrote"},
		{Flag: "gateway-name", Key: "sandbox.gatewayName", Placeholder: "NAME", Doc: "name of this gateway in that domain"},
		{Flag: "account", Key: "sandbox.account", Placeholder: "NAME", Doc: "account by which that domain " +
			"counts connections"},
		{Flag: "engine", Key: "sandbox.engine", Placeholder: "PATH", Doc: "run the scripts in pwsh, powershell or the PowerShell at this path instead of the built-in engine"},
	}
}

// addTo appends the values of the flags to the settings.
func (f *sandboxFlags) addTo(cfg *config.Settings) error {
	cfg.Sandbox.LDIF = append(cfg.Sandbox.LDIF, f.ldif...)
	cfg.Sandbox.Zones = append(cfg.Sandbox.Zones, f.zones...)
	for _, text := range f.tokens {
		token, err := app.ParseToken(text)
		if err != nil {
			return err
		}
		cfg.Sandbox.Tokens = append(cfg.Sandbox.Tokens, token)
	}
	for _, text := range f.users {
		user, err := app.ParseUser(text)
		if err != nil {
			return err
		}
		cfg.Sandbox.Users = append(cfg.Sandbox.Users, user)
	}
	return nil
}

// printCalls prints the sandbox's address, its page, and three calls to try, with the
// generated credential or the one given as a flag.
func printCalls(c *cobra.Command, s *app.Sandbox, given *sandboxFlags) {
	w := c.OutOrStdout()
	if s.PowerShell != "" {
		fmt.Fprintf(w, "scripts run in %s\n", s.PowerShell)
	}
	url, example := s.URL(), s.Example(c.Context())
	fmt.Fprintf(w, "listening on %s\n", url)
	if s.Docs() {
		fmt.Fprintf(w, "in a browser, with the API and the manual: %s/\n", url)
	}
	fmt.Fprintln(w)
	credential := "Bearer " + s.Token
	if s.Token == "" {
		credential = given.credential()
	}
	for _, path := range []string{"/api/ADUser/" + example.User + "/Details",
		"/api/ADUser/ListUsers/All?Limit=3", "/api/DnsCNameRecord/" + example.Zone} {
		printCall(w, url+path, credential)
	}
}

// printLink prints the address of the pages for people, with a link that signs in once.
func printLink(c *cobra.Command, s *app.Sandbox) {
	if link := s.SignInLink(); link != "" {
		fmt.Fprintf(c.OutOrStdout(), "\nhelp desk and status: %s/ui/\nsigns you in once, within 10 minutes: %s\n",
			s.URL(), link)
	}
}

// credential returns the Auth-Token value for the credential with the most scopes among the
// flags. Credentials of the settings and of files are not printed.
func (f *sandboxFlags) credential() string {
	best, header := -1, "Bearer <your token>"
	consider := func(credential string, scopes []string, err error) {
		number := len(scopes)
		if number == 0 || slices.Contains(scopes, string(identity.All)) {
			number = len(identity.Scopes()) + 1
		}
		if err == nil && number > best {
			best, header = number, credential
		}
	}
	for _, text := range f.tokens {
		token, err := app.ParseToken(text)
		consider("Bearer "+token.Value, token.Scopes, err)
	}
	for _, text := range f.users {
		user, err := app.ParseUser(text)
		consider("Basic "+base64.StdEncoding.EncodeToString([]byte(user.Name+":"+user.Password)), user.Scopes, err)
	}
	return header
}

func printCall(w io.Writer, url, credential string) {
	quoted := strings.ReplaceAll(credential, "'", `'\''`) // for a shell
	fmt.Fprintf(w, "curl -s '%s' -H 'Auth-Token: %s'\n", url, quoted)
}
