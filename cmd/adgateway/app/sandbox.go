package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/authn"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/gateway/identity"
	"adgateway/ps/sandbox"
	"adgateway/scripts"
)

// Sandbox is a gateway over a simulated domain.
type Sandbox struct {
	*Server
	Token      string // generated if no credentials were given; otherwise empty
	PowerShell string // path of the PowerShell that runs the scripts; empty for the built-in engine

	domain   simulated
	operator *signin.Person // signs in by the link; nil if nobody
}

// PrepareSandbox prepares a gateway over a simulated domain. Serve must be called
// with a context derived from ctx.
func PrepareSandbox(ctx context.Context, o ServerOptions) (*Sandbox, error) {
	live, err := o.Flags.Load()
	if err != nil {
		return nil, err
	}
	s, err := newServer(o, live)
	if err != nil {
		return nil, err
	}
	cfg := live.Now()
	static, token, err := staticCredentials(cfg)
	if err != nil {
		err = fmt.Errorf("credentials:\n%w", err)
	}
	engine, engineErr := NewEngine(cfg.Sandbox)
	_, rights := exposed(cfg, "")
	_, ticketErr := ticketsOf(cfg.SignIn, nil)
	faults := []error{err, engineErr, rights, ticketErr, checkFiles(ctx, cfg), checkListen(ctx, cfg),
		checkData(cfg.Sandbox), checkDomain(cfg)}
	store := program.CredentialFile(cfg.Auth, o.Flags.Path())
	if s.shared() && cfg.Auth.Store == "" {
		store.Path = cfg.Store.File + ".credentials" // the copy, next to the gateway's other files
	}
	if cfg.Auth.Store != "" && !s.shared() {
		faults = append(faults, checkStore(store))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if err := s.openLog(); err != nil {
		return nil, err
	}
	if err := s.addStore(ctx, static, store); err != nil {
		return nil, errors.Join(err, s.closeLog.Close())
	}
	s.log.WithField("engine", engine.Name).Warn(
		"this is the sandbox: a simulated domain, nothing real is read or changed")
	s.backend.name, s.backend.real, s.backend.sandbox = engine.Name, engine.Path != "", true
	s.openFolder()
	domain, groups, err := s.openDomain(ctx, engine)
	if err != nil {
		return nil, errors.Join(err, s.backend.close(), s.closeLog.Close())
	}
	operator, err := s.addPeople(ctx, domain, groups)
	if err != nil {
		s.log.WithError(err).Warn("this domain does not take the people of the sandbox: tokens sign in to the " +
			"pages")
	}
	s.backend.dial = domain.Dial
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.backend.close(), s.closeLog.Close())
	}
	return &Sandbox{Server: s, domain: domain, Token: token, PowerShell: engine.Path, operator: operator}, nil
}

// Example names objects of the domain to try the API with.
func (s *Sandbox) Example(ctx context.Context) sandbox.Example { return s.domain.Example(ctx) }

// Docs reports whether the API document and the manual are served.
func (s *Sandbox) Docs() bool { return s.live.Now().Docs.Enabled }

// staticCredentials returns the authenticator of the tokens and users in the
// settings. If there are no credentials at all, it generates a token and returns it.
func staticCredentials(cfg *config.Settings) (static *authn.Static, generated string, err error) {
	tokens := cfg.Sandbox.Tokens
	if len(tokens) == 0 && len(cfg.Sandbox.Users) == 0 && cfg.Auth.Store == "" {
		generated = authn.NewToken()
		tokens = []config.Token{{Value: generated}}
	}
	static = authn.NewStatic(authn.Header{AllowQuery: cfg.Auth.AllowQueryToken})
	var faults []error
	for i, token := range tokens {
		p, err := newPrincipal(identity.KindToken, fmt.Sprintf("token %d", i+1), token.Scopes)
		if err == nil {
			p.Dialect, p.SecretsInQuery = identity.Dialect(token.Dialect), token.InQuery
			p.Limits = identity.Limits(token.Limits)
			err = addToken(static, token, p)
		}
		faults = append(faults, err)
	}
	for _, user := range cfg.Sandbox.Users {
		p, err := newPrincipal(identity.KindUser, user.Name, user.Scopes)
		if err == nil {
			p.Limits = identity.Limits(user.Limits)
			err = static.AddUser(user.Password, p)
		}
		faults = append(faults, err)
	}
	return static, generated, errors.Join(faults...)
}

// addToken registers a token by its value, by the subject of a client
// certificate, or by both.
func addToken(static *authn.Static, token config.Token, p *identity.Principal) error {
	if token.Value == "" && token.Subject == "" {
		return fmt.Errorf("%s needs a value, or the subject of a client certificate", p.Name)
	}
	if token.Subject != "" {
		if err := static.AddCertificate(token.Subject, p); err != nil || token.Value == "" {
			return err
		}
	}
	return static.AddToken(token.Value, p)
}

// newPrincipal returns a principal with these scopes. Without scopes it has every scope, including the ones
// that * does not imply.
func newPrincipal(kind, name string, scopes []string) (*identity.Principal, error) {
	if len(scopes) == 0 {
		for _, scope := range identity.Everything() {
			scopes = append(scopes, string(scope))
		}
	}
	parsed, err := identity.ParseScopes(scopes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &identity.Principal{Kind: kind, Name: name, Scopes: parsed}, nil
}

// addStore makes the sandbox also accept the accounts of auth.store, if that is set.
func (s *Server) addStore(ctx context.Context, static *authn.Static, file authn.File) error {
	if c := s.live.Now().Auth; c.Store == "" && !s.shared() {
		s.backend.auth = static
		return nil
	}
	settings := s.live.Now().Sandbox
	store, err := s.openAccounts(ctx, file, len(settings.Tokens)+len(settings.Users) > 0)
	if err != nil {
		return err
	}
	s.backend.auth = authn.Chain{static, store}
	return nil
}

// checkData returns, joined, an error for each file of the sandbox's data that cannot be read.
func checkData(c config.Sandbox) error {
	var faults []error
	for _, file := range c.LDIF {
		faults = append(faults, filefault.Readable("--ldif (sandbox.ldif)", file))
	}
	for _, file := range c.Zones {
		faults = append(faults, filefault.Readable("--zone (sandbox.zones)", file))
	}
	return errors.Join(faults...)
}

// NewWorld creates the simulated domain. The error names every mistake in its
// files.
func NewWorld(ctx context.Context, c config.Sandbox, log *logrus.Logger) (*sandbox.World, error) {
	return newWorld(ctx, c, sandbox.Options{}, log)
}

// newWorld is NewWorld with further options.
func newWorld(
	ctx context.Context, c config.Sandbox, o sandbox.Options, log *logrus.Logger,
) (*sandbox.World, error) {
	if err := checkData(c); err != nil {
		return nil, err
	}
	world, err := sandbox.NewWorld(ctx, sandbox.Options{
		Replicas: o.Replicas, Writes: o.Writes, Service: c.Account,
		LDIF: c.LDIF, Zones: c.Zones, Users: c.GeneratedUsers, Empty: c.Empty, Seed: int64(c.Seed),
		Culture: c.Culture, ReplicationLag: c.ReplicationLag, NoRecycleBin: !c.RecycleBin,
		SetKeepsPTR: !c.SetRemovesPTR, Checked: scripts.Loaded,
		Progress: func(text string) { log.Info(text) },
		Warn:     func(text string) { log.Warn(text) },
	})
	if err != nil {
		return nil, fmt.Errorf("the sandbox's data:\n%w", err)
	}
	return world, nil
}
