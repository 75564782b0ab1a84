package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"adgateway/gateway/auth"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/ps/sandbox"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
)

// sandboxFlags are the flags of `adgateway sandbox` that are no settings.
type sandboxFlags struct {
	settingFlags
	tokens, users, ldif, zones []string
}

func sandboxCommand() *cobra.Command {
	var f sandboxFlags
	c := &cobra.Command{
		Use:   "sandbox",
		Short: "Serve the whole API over a simulated domain",
		Long: "Serves the whole API over a simulated domain and DNS server, with the same\n" +
			"scripts as in production. Nothing outside this process is read or changed.",
		Example: "  adgateway sandbox\n" +
			"  adgateway sandbox --listen 127.0.0.1:9000 --token reader=user:read,group:read --users 10000",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return runSandbox(c.Context(), &f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.amend = f.add
	f.addTo(c, append(slices.Clone(commonSpellings),
		spelling{"users", "sandbox.generatedUsers", "N", "generate so many more users"},
		spelling{"empty", "sandbox.empty", "", "leave the built-in domain out; the domain is that of the LDIF files"},
		spelling{"seed", "sandbox.seed", "N", "seed of everything that is generated"},
		spelling{"culture", "sandbox.culture", "NAME", "language of the simulated Windows: en-US or de-DE"},
		spelling{"replication-lag", "sandbox.replicationLag", "TIME", "how long a change takes to reach the second domain controller"},
		spelling{"processes", "sandbox.processes", "", "run every session in a process of its own"},
		spelling{"engine", "sandbox.engine", "PATH", "run the scripts in pwsh, powershell or the PowerShell of a path, not in the sandbox's own engine"})...)
	flags := c.Flags()
	flags.StringArrayVar(&f.tokens, "token", nil, "a bearer token as `VALUE[=scope,...]`; without scopes: all (repeatable)")
	flags.StringArrayVar(&f.users, "user", nil, "a Basic user as `NAME:PASSWORD[=scope,...]`; without scopes: all (repeatable)")
	flags.StringArrayVar(&f.ldif, "ldif", nil, "load this LDIF `FILE` into the directory (repeatable)")
	flags.StringArrayVar(&f.zones, "zone", nil, "load this zone `FILE` into the DNS server (repeatable)")
	return c
}

// add adds to the settings what the flags say.
func (f *sandboxFlags) add(settings *config.Settings) error {
	settings.Sandbox.LDIF = append(settings.Sandbox.LDIF, f.ldif...)
	settings.Sandbox.Zones = append(settings.Sandbox.Zones, f.zones...)
	for _, token := range f.tokens {
		value, scopes, err := splitScopes("token", token)
		if err != nil {
			return err
		}
		settings.Sandbox.Tokens = append(settings.Sandbox.Tokens, config.Token{Value: value, Scopes: scopes})
	}
	for _, user := range f.users {
		credential, scopes, err := splitScopes("user", user)
		if err != nil {
			return err
		}
		name, password, ok := strings.Cut(credential, ":")
		if !ok {
			return errors.New("--user takes NAME:PASSWORD[=scope,...]")
		}
		settings.Sandbox.Users = append(settings.Sandbox.Users, config.User{Name: name, Password: password, Scopes: scopes})
	}
	return nil
}

// splitScopes takes "VALUE=scope,scope" apart at the last '='. A value may end
// in '=', as base64 does; anything else behind it must be scopes, so that a
// mistyped one gives no rights.
func splitScopes(flag, text string) (value string, scopes []string, err error) {
	at := strings.LastIndexByte(text, '=')
	if at < 0 || at == len(text)-1 {
		return text, nil, nil
	}
	scopes = strings.Split(text[at+1:], ",")
	if _, err := auth.ParseScopes(scopes); err != nil { // err shows what may be a secret
		return "", nil, fmt.Errorf("--%s: what follows the last '=' is not all scopes%s; a value that holds '=' itself needs them behind it, such as VALUE=*",
			flag, didYouMean(scopes[len(scopes)-1], scopeNames()))
	}
	return text[:at], scopes, nil
}

func scopeNames() []string {
	var names []string
	for _, scope := range auth.Scopes() {
		names = append(names, string(scope))
	}
	return names
}

// credentials makes the authenticator; generated is the token it had to make
// because none was given.
func credentials(settings *config.Settings) (static *auth.Static, generated string, err error) {
	tokens := settings.Sandbox.Tokens
	if len(tokens) == 0 && len(settings.Sandbox.Users) == 0 && settings.Auth.Store == "" {
		generated = auth.NewToken()
		tokens = []config.Token{{Value: generated}}
	}
	static = auth.NewStatic(auth.Header{AllowQuery: settings.Auth.AllowQueryToken})
	var faults []error
	for i, token := range tokens {
		p, err := principal(auth.KindToken, fmt.Sprintf("token %d", i+1), token.Scopes)
		if err == nil {
			p.Dialect = auth.Dialect(token.Dialect)
			p.Limits = auth.Limits{OUs: token.Limits.OUs, Zones: token.Limits.Zones, Groups: token.Limits.Groups}
			err = addToken(static, token, p)
		}
		faults = append(faults, err)
	}
	for _, user := range settings.Sandbox.Users {
		p, err := principal(auth.KindUser, user.Name, user.Scopes)
		if err == nil {
			err = static.AddUser(user.Password, p)
		}
		faults = append(faults, err)
	}
	return static, generated, errors.Join(faults...)
}

// addToken makes a token known by its value, by the subject of a client
// certificate, or by both.
func addToken(static *auth.Static, token config.Token, p *auth.Principal) error {
	if token.Value == "" && token.Subject == "" {
		return fmt.Errorf("%s needs a value, or the subject of a client certificate", p.Name)
	}
	if token.Subject != "" {
		if err := static.AddSubject(token.Subject, p); err != nil || token.Value == "" {
			return err
		}
	}
	return static.AddToken(token.Value, p)
}

func principal(kind, name string, scopes []string) (*auth.Principal, error) {
	if len(scopes) == 0 {
		scopes = []string{string(auth.All)}
	}
	parsed, err := auth.ParseScopes(scopes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &auth.Principal{Kind: kind, Name: name, Scopes: parsed}, nil
}

func runSandbox(ctx context.Context, f *sandboxFlags, stdout, stderr io.Writer) error {
	live, err := f.load()
	if err != nil {
		return err
	}
	settings := live.Now()
	own, generated, err := credentials(settings)
	if err != nil {
		return fmt.Errorf("credentials:\n%w", err)
	}
	engine, err := engineOf(settings.Sandbox)
	if err != nil {
		return err
	}
	log, closeLog, err := openLog(settings.Log, stderr)
	if err != nil {
		return err
	}
	log.WithField("engine", engine.name).Warn("this is the sandbox: a simulated domain, nothing real is read or changed")
	world, err := newWorld(ctx, settings, log)
	if err != nil {
		return errors.Join(err, closeLog.Close())
	}
	starter, end, err := engine.starter(world)
	if err != nil {
		return errors.Join(err, closeLog.Close())
	}
	s := &server{live: live, log: log, closeLog: closeLog, backend: backend{
		name: engine.name, starter: starter, dial: world.Dial, end: end,
	}}
	if err := s.backend.addStore(own, storeFile(settings.Auth, f.path()), settings.Auth, log); err != nil {
		return errors.Join(err, s.backend.close(), closeLog.Close())
	}
	if err := s.open(ctx); err != nil {
		return errors.Join(err, closeLog.Close())
	}
	engine.print(stdout)
	printTry(stdout, s.url(), generated, world.Example(ctx))
	return s.serve(ctx)
}

// newWorld makes the simulated domain. The error tells every fault of its files.
func newWorld(ctx context.Context, settings *config.Settings, log *logrus.Logger) (*sandbox.World, error) {
	s := settings.Sandbox
	var faults []error
	for _, file := range s.LDIF {
		faults = append(faults, filefault.Readable("--ldif (sandbox.ldif)", file))
	}
	for _, file := range s.Zones {
		faults = append(faults, filefault.Readable("--zone (sandbox.zones)", file))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	world, err := sandbox.NewWorld(ctx, sandbox.Options{
		LDIF: s.LDIF, Zones: s.Zones, Users: s.GeneratedUsers, Empty: s.Empty, Seed: int64(s.Seed),
		Culture: s.Culture, ReplicationLag: s.ReplicationLag,
		Progress: func(text string) { log.Info(text) },
	})
	if err != nil {
		return nil, fmt.Errorf("the sandbox's data:\n%w", err)
	}
	return world, nil
}

// printTry prints where the sandbox listens and three calls to try.
func printTry(w io.Writer, url, token string, example sandbox.Example) {
	fmt.Fprintf(w, "listening on %s\n", url)
	header := "Auth-Token: Bearer <your token>"
	if token != "" {
		header = "Auth-Token: Bearer " + token
	}
	fmt.Fprintf(w, "curl -s '%s/api/ADUser/%s/Details' -H '%s'\n", url, example.User, header)
	fmt.Fprintf(w, "curl -s '%s/api/OU/All' -H '%s'\n", url, header)
	fmt.Fprintf(w, "curl -s '%s/api/DnsCNameRecord/%s' -H '%s'\n", url, example.Zone, header)
}
