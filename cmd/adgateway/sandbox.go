package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"adgateway/cmd/adgateway/stack"
	"adgateway/gateway"
	"adgateway/gateway/auth"
	"adgateway/gateway/config"
	"adgateway/ps"
	"adgateway/ps/session"
	"adgateway/ps/sim"
	"adgateway/winsvc/host"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
)

// closeWait bounds how long sessions may take to end after the last request.
const closeWait = 10 * time.Second

// sandboxFlags are the flags of `adgateway sandbox`. All but the credentials
// are other spellings of settings.
type sandboxFlags struct {
	listen, config, logFormat, culture string
	engine                             string
	tokens, users, ldif, zones, set    []string
	generated, seed                    int
	empty, processes                   bool
	lag                                time.Duration
}

func sandboxCommand() *cobra.Command {
	var f sandboxFlags
	c := &cobra.Command{
		Use:   "sandbox",
		Short: "Serve the whole API over a simulated domain",
		Long: "Serves the whole API over a simulated domain and DNS server, with the same\n" +
			"scripts as in production. Nothing outside this process is read or changed.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return runSandbox(c.Context(), &f, c.Flags().Changed, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", "", "`HOST:PORT` to listen on (default 127.0.0.1:8080)")
	flags.StringArrayVar(&f.tokens, "token", nil, "a bearer token as `VALUE[=scope,...]`; without scopes: all (repeatable)")
	flags.StringArrayVar(&f.users, "user", nil, "a Basic user as `NAME:PASSWORD[=scope,...]`; without scopes: all (repeatable)")
	flags.StringVar(&f.config, "config", "", "read settings from this YAML `FILE`")
	flags.StringArrayVar(&f.set, "set", nil, "set one setting as `KEY=VALUE` (repeatable)")
	flags.StringArrayVar(&f.ldif, "ldif", nil, "load this LDIF `FILE` into the directory (repeatable)")
	flags.StringArrayVar(&f.zones, "zone", nil, "load this zone `FILE` into the DNS server (repeatable)")
	flags.IntVar(&f.generated, "users", 0, "generate so many more users")
	flags.BoolVar(&f.empty, "empty", false, "leave the built-in domain out; the domain is that of the LDIF files")
	flags.IntVar(&f.seed, "seed", 0, "seed of everything that is generated (default 1)")
	flags.StringVar(&f.culture, "culture", "", "language of the simulated Windows: en-US or de-DE")
	flags.DurationVar(&f.lag, "replication-lag", 0, "how long a change takes to reach the second domain controller")
	flags.BoolVar(&f.processes, "processes", false, "run every session in a process of its own")
	flags.StringVar(&f.engine, "engine", "", "run the scripts in `pwsh`, powershell or the PowerShell of a path (default: the sandbox's own engine)")
	flags.StringVar(&f.logFormat, "log-format", "", "text or json")
	return c
}

// settings are the file's, over them the flags', over them --set.
func (f *sandboxFlags) settings(changed func(string) bool) (*config.Settings, error) {
	var text []byte
	if f.config != "" {
		var err error
		if text, err = os.ReadFile(f.config); err != nil {
			return nil, err
		}
	}
	var overrides []string
	for _, flag := range []struct{ name, key, value string }{
		{"listen", "http.listen", f.listen},
		{"users", "sandbox.generatedUsers", strconv.Itoa(f.generated)},
		{"empty", "sandbox.empty", strconv.FormatBool(f.empty)},
		{"seed", "sandbox.seed", strconv.Itoa(f.seed)},
		{"culture", "sandbox.culture", f.culture},
		{"replication-lag", "sandbox.replicationLag", f.lag.String()},
		{"processes", "sandbox.processes", strconv.FormatBool(f.processes)},
		{"engine", "sandbox.engine", f.engine},
		{"log-format", "log.format", f.logFormat},
	} {
		if changed(flag.name) {
			overrides = append(overrides, flag.key+"="+flag.value)
		}
	}
	settings, err := config.Load(f.config, text, append(overrides, f.set...))
	if err != nil {
		return nil, err
	}
	settings.Sandbox.LDIF = append(settings.Sandbox.LDIF, f.ldif...)
	settings.Sandbox.Zones = append(settings.Sandbox.Zones, f.zones...)
	for _, token := range f.tokens {
		value, scopes := splitScopes(token)
		settings.Sandbox.Tokens = append(settings.Sandbox.Tokens, config.Token{Value: value, Scopes: scopes})
	}
	for _, user := range f.users {
		credential, scopes := splitScopes(user)
		name, password, ok := strings.Cut(credential, ":")
		if !ok {
			return nil, errors.New("--user takes NAME:PASSWORD[=scope,...]")
		}
		settings.Sandbox.Users = append(settings.Sandbox.Users, config.User{Name: name, Password: password, Scopes: scopes})
	}
	return settings, nil
}

// splitScopes takes "VALUE=scope,scope" apart at the last '=' that scopes
// follow, so that base64 tokens and passwords may hold '='.
func splitScopes(text string) (value string, scopes []string) {
	at := strings.LastIndexByte(text, '=')
	if at < 0 {
		return text, nil
	}
	names := strings.Split(text[at+1:], ",")
	if _, err := auth.ParseScopes(names); err != nil && !strings.ContainsAny(text[at+1:], ":*") {
		return text, nil // an ending such as '==' of base64, not scopes
	}
	return text[:at], names
}

// credentials makes the authenticator; generated is the token it had to make
// because none was given.
func credentials(settings *config.Settings) (static *auth.Static, generated string, err error) {
	tokens := settings.Sandbox.Tokens
	if len(tokens) == 0 && len(settings.Sandbox.Users) == 0 {
		generated = auth.NewToken()
		tokens = []config.Token{{Value: generated}}
	}
	static = auth.NewStatic(auth.Header{AllowQuery: settings.Auth.AllowQueryToken})
	var faults []error
	for i, token := range tokens {
		p, err := principal(fmt.Sprintf("token %d", i+1), token.Scopes)
		if err == nil {
			p.Dialect = auth.Dialect(token.Dialect)
			p.Limits = auth.Limits{OUs: token.Limits.OUs, Zones: token.Limits.Zones, Groups: token.Limits.Groups}
			err = addToken(static, token, p)
		}
		faults = append(faults, err)
	}
	for _, user := range settings.Sandbox.Users {
		p, err := principal(user.Name, user.Scopes)
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

func principal(name string, scopes []string) (*auth.Principal, error) {
	if len(scopes) == 0 {
		scopes = []string{string(auth.All)}
	}
	parsed, err := auth.ParseScopes(scopes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &auth.Principal{Name: name, Scopes: parsed}, nil
}

func runSandbox(ctx context.Context, f *sandboxFlags, changed func(string) bool, stdout, stderr io.Writer) error {
	settings, err := f.settings(changed)
	if err != nil {
		return fmt.Errorf("settings:\n%w", err)
	}
	authenticator, generated, err := credentials(settings)
	if err != nil {
		return fmt.Errorf("credentials:\n%w", err)
	}
	log := newLog(settings.Log, stderr)
	engine, err := engineOf(settings.Sandbox)
	if err != nil {
		return err
	}
	log.WithField("engine", engine.name).Warn("this is the sandbox: a simulated domain, nothing real is read or changed")
	world, err := sim.NewWorld(ctx, worldOptions(settings, log))
	if err != nil {
		return fmt.Errorf("the sandbox's data:\n%w", err)
	}
	starter, end, err := engine.starter(world)
	if err != nil {
		return err
	}
	return errors.Join(serveSandbox(ctx, settings, authenticator, generated, world, starter, engine, log, stdout), end())
}

func serveSandbox(ctx context.Context, settings *config.Settings, authenticator *auth.Static, generated string,
	world *sim.World, starter session.Starter, engine engine, log *logrus.Logger, stdout io.Writer) error {
	listener, err := stack.Listen(settings)
	if err != nil {
		return err
	}
	s, err := stack.New(ctx, stack.Options{
		Settings: settings, Auth: authenticator, Log: log,
		Engine: engine.name, Version: gateway.Version{Version: buildVersion()},
		Session: func(ps.Lane) session.Config { return session.Config{Starter: starter} },
		Dial:    world.Dial,

		Certificates: authenticator, Store: host.Certificates(),
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	engine.print(stdout)
	printTry(stdout, stack.Scheme(settings)+"://"+listener.Addr().String(), generated, world.Example(ctx))
	err = s.Gateway.Run(ctx, listener)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	return errors.Join(err, s.Close(closing))
}

func worldOptions(settings *config.Settings, log *logrus.Logger) sim.Options {
	s := settings.Sandbox
	return sim.Options{
		LDIF: s.LDIF, Zones: s.Zones, Users: s.GeneratedUsers, Empty: s.Empty, Seed: int64(s.Seed),
		Culture: s.Culture, ReplicationLag: s.ReplicationLag,
		Progress: func(text string) { log.Info(text) },
	}
}

// printTry prints where the sandbox listens and three calls to try.
func printTry(w io.Writer, url, token string, example sim.Example) {
	fmt.Fprintf(w, "listening on %s\n", url)
	header := "Auth-Token: Bearer <your token>"
	if token != "" {
		header = "Auth-Token: Bearer " + token
	}
	fmt.Fprintf(w, "curl -s '%s/api/ADUser/%s/Details' -H '%s'\n", url, example.User, header)
	fmt.Fprintf(w, "curl -s '%s/api/OU/All' -H '%s'\n", url, header)
	fmt.Fprintf(w, "curl -s '%s/api/DnsCNameRecord/%s' -H '%s'\n", url, example.Zone, header)
}

func newLog(c config.Log, w io.Writer) *logrus.Logger {
	log := logrus.New()
	log.SetOutput(w)
	level, err := logrus.ParseLevel(c.Level)
	if err != nil {
		level = logrus.InfoLevel
	}
	log.SetLevel(level)
	if c.Format == "json" {
		log.SetFormatter(&logrus.JSONFormatter{TimestampFormat: time.RFC3339Nano})
	} else {
		log.SetFormatter(&logrus.TextFormatter{FullTimestamp: true, DisableColors: true, TimestampFormat: time.RFC3339})
	}
	return log
}
