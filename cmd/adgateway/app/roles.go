package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"adgateway/cmd/adgateway/app/options"
	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/config"
	"adgateway/gateway/identity"
	"adgateway/ps/sandbox"
	"adgateway/winsvc/host"
)

// helpdeskScopes are the scopes of the sandbox's role helpdesk: reading everything
// but secrets, unlocking, resetting, enabling, disabling, and changing memberships.
var helpdeskScopes = []identity.Scope{
	identity.UserRead, identity.GroupRead, identity.MemberRead, identity.ComputerRead, identity.OURead, identity.DNSRead, identity.ChangeRead, identity.BinRead, identity.OpsRead,
	identity.UserWrite, identity.UserPassword, identity.UserLockouts, identity.MemberWrite,
}

// addPeople lets people of the simulated domain sign in: the sandbox's own
// people, unless the domain is a custom one, and people with a role of the
// settings. It returns the sandbox's operator, or nil if there is none.
func (s *Server) addPeople(
	ctx context.Context, world simulated, people func() (groups map[string]string, err error),
) (*signin.Person, error) {
	configured := s.live.Now().SignIn.Roles
	groups, err := people()
	if err != nil && len(configured) == 0 {
		return nil, err
	}
	roles := sandboxRoles(groups)
	if len(configured) > 0 {
		if roles, err = rolesOf(configured,
			func(group string) (string, error) { return sidIn(ctx, world, group) }); err != nil {
			return nil, err
		}
	}
	if len(roles) == 0 {
		return nil, nil
	}
	signIn := s.live.Now().SignIn
	tickets, err := ticketsOf(signIn, signIn.Domains)
	if err != nil {
		return nil, err
	}
	s.backend.people = &People{
		Directory: worldDirectory{world, tickets}, Roles: roles, Domains: signIn.Domains, ByName: tickets != nil,
		Hint: "Your account of the simulated domain.",
	}
	if groups == nil {
		return nil, nil
	}
	s.backend.people.Hint = "People of the sandbox: " + sandbox.HelpdeskPerson + ", " + sandbox.OperatorPerson +
		" and " + sandbox.NoRightsPerson +
		". The password of each is " + sandbox.PersonsPassword + " and the name."
	return personOf(world.Lookup(ctx, sandbox.OperatorPerson))
}

// sandboxRoles are the roles of the sandbox's own people. groups maps their groups to SIDs.
func sandboxRoles(groups map[string]string) []signin.Role {
	if groups == nil {
		return nil
	}
	var operator []identity.Scope
	for _, scope := range identity.Scopes() {
		if scope != identity.All && scope != identity.Privileged {
			operator = append(operator, scope)
		}
	}
	return []signin.Role{
		{Group: groups[sandbox.HelpdeskGroup], Name: sandbox.HelpdeskGroup, Scopes: helpdeskScopes},
		{Group: groups[sandbox.OperatorGroup], Name: sandbox.OperatorGroup, Scopes: operator},
	}
}

// worldDirectory signs people in with the accounts of a simulated domain.
type worldDirectory struct {
	world   simulated
	tickets *negotiate.Acceptor // if nil, tickets are not accepted
}

// Check implements [signin.Directory].
func (d worldDirectory) Check(ctx context.Context, _, name string, password []byte) (*signin.Person, error) {
	return personOf(d.world.LogOn(ctx, name, string(password)))
}

// Groups implements [signin.Directory].
func (d worldDirectory) Groups(ctx context.Context, sid string) (*signin.Person, error) {
	return personOf(d.world.Account(ctx, sid))
}

// sidIn returns the SID of a group of a simulated domain. group is DOMAIN\name or a SID.
func sidIn(ctx context.Context, world simulated, group string) (string, error) {
	if strings.HasPrefix(group, "S-1-") {
		return group, nil
	}
	found, err := world.Lookup(ctx, group[strings.LastIndexByte(group, '\\')+1:])
	if err != nil {
		return "", err
	}
	return found.SID, nil
}

// rolesOf returns the roles of the settings. The error names every invalid one.
func rolesOf(roles []config.Role, sid func(group string) (string, error)) ([]signin.Role, error) {
	var all []signin.Role
	var faults []error
	for _, r := range roles {
		fault := func(err error) {
			if err != nil {
				faults = append(faults, fmt.Errorf("signIn.roles: the role of %s: %w", r.Group, err))
			}
		}
		role := signin.Role{Name: cmp.Or(r.Name, r.Group), Limits: identity.Limits(r.Limits),
			Quota: options.RoleQuota(r.Quota)}
		var err error
		role.Group, err = sid(r.Group)
		fault(err)
		role.Scopes, err = identity.ParseScopes(r.Scopes)
		fault(err)
		fault(errors.Join(authn.CheckLimits(&role.Limits)...))
		fault(role.Quota.Check())
		all = append(all, role)
	}
	return all, errors.Join(faults...)
}

// asGiven returns a group unchanged. It replaces the lookup where there is no domain, so that scopes and
// limits can still be checked.
func asGiven(group string) (string, error) { return group, nil }

// domainPeople configures sign-in with accounts of this computer's
// domain. It returns nil if the settings switch that off.
func domainPeople(s config.SignIn) (*People, error) {
	if s.Mode == config.SwitchOff {
		_, err := rolesOf(s.Roles, asGiven)
		return nil, err
	}
	system, err := host.ReadSystem()
	if err != nil {
		return nil, err
	}
	if system.Domain == "" {
		_, err := rolesOf(s.Roles, asGiven)
		return nil, errors.Join(errors.New(
			"signIn.mode: this computer is in no domain, so nobody can sign in with an account of one"), err)
	}
	roles, err := rolesOf(s.Roles, host.SIDOf)
	if err != nil {
		return nil, err
	}
	domains := s.Domains
	if len(domains) == 0 {
		domains = append(domains, system.Domain)
		for _, name := range host.Names() {
			if _, suffix, ok := strings.Cut(name, "."); ok {
				domains = append(domains, suffix)
			}
		}
	}
	tickets, err := ticketsOf(s, domains)
	if err != nil {
		return nil, err
	}
	return &People{
		Directory: windowsDirectory{domain: system.Domain, logOn: host.LogOn, groups: host.GroupsOf,
			tickets: tickets}, Roles: roles, Domains: domains, ByName: true,
		Hint: "Your account of the domain " + system.Domain + ".",
	}, nil
}

// windowsDirectory signs people in with accounts of this computer's domain.
type windowsDirectory struct {
	domain string // for names that contain no domain
	logOn  func(ctx context.Context, domain, name string, password []byte) (host.Logon, error)
	groups func(ctx context.Context, sid string) (host.Logon, error)

	tickets *negotiate.Acceptor // if nil, tickets are not accepted
}

// The error codes of Windows for a correct password of an account that may not log on.
const (
	codePasswordExpired    = 1330
	codePasswordMustChange = 1907
)

// Check implements [signin.Directory].
func (d windowsDirectory) Check(
	ctx context.Context, domain, name string, password []byte,
) (*signin.Person, error) {
	if domain == "" && !strings.Contains(name, "@") {
		domain = d.domain
	}
	found, err := d.logOn(ctx, domain, name, password)
	var refused *host.LogonError
	switch {
	case err == nil:
		return &signin.Person{SID: found.SID, Name: found.Name, Groups: found.Groups}, nil
	case !errors.As(err, &refused):
		return nil, err
	case refused.Code == codePasswordMustChange:
		return nil, signin.ErrMustChange
	case refused.Code == codePasswordExpired:
		return nil, signin.ErrExpired
	}
	return nil, errors.Join(signin.ErrRefused, err)
}

// Groups implements [signin.Directory].
func (d windowsDirectory) Groups(ctx context.Context, sid string) (*signin.Person, error) {
	found, err := d.groups(ctx, sid)
	if err != nil {
		return nil, err
	}
	return &signin.Person{SID: found.SID, Name: found.Name, Groups: found.Groups}, nil
}

func personOf(a *sandbox.Account, err error) (*signin.Person, error) {
	switch {
	case err == nil:
		return &signin.Person{SID: a.SID, Name: a.Name, Groups: a.Groups}, nil
	case errors.Is(err, sandbox.ErrMustChange):
		return nil, signin.ErrMustChange
	case errors.Is(err, sandbox.ErrPasswordExpiry):
		return nil, signin.ErrExpired
	case errors.Is(err, sandbox.ErrLogon):
		return nil, errors.Join(signin.ErrRefused, err)
	}
	return nil, err
}

// SignInLink returns an address that signs the operator in once, within
// ten minutes, or "" if nobody can sign in to the pages with an account.
func (s *Sandbox) SignInLink() string {
	if s.operator == nil {
		return ""
	}
	return s.URL() + "/ui/link/" + s.stack.Gate.Link(s.operator)
}
