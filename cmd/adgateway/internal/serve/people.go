package serve

import (
	"context"
	"errors"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/auth"
	"adgateway/gateway/signin"
	"adgateway/ps/sandbox"
)

// helpdeskScopes are those of the role helpdesk of the sandbox: read everything, unlock,
// reset, enable, disable, and change memberships.
var helpdeskScopes = []auth.Scope{
	auth.UserRead, auth.GroupRead, auth.MemberRead, auth.ComputerRead, auth.OURead, auth.DNSRead, auth.ChangeRead, auth.BinRead, auth.OpsRead,
	auth.UserWrite, auth.UserPassword, auth.MemberWrite,
}

// addPeople adds the people of the sandbox to its world, and returns the operator.
func (s *Server) addPeople(ctx context.Context, world *sandbox.World) (*signin.Person, error) {
	groups, err := world.AddPeople(ctx)
	if err != nil {
		return nil, err
	}
	var operator []auth.Scope
	for _, scope := range auth.Scopes() {
		if scope != auth.All && scope != auth.Privileged {
			operator = append(operator, scope)
		}
	}
	s.backend.people = &app.People{
		Directory: worldDirectory{world},
		Roles: []signin.Role{
			{Group: groups[sandbox.HelpdeskGroup], Name: sandbox.HelpdeskGroup, Scopes: helpdeskScopes},
			{Group: groups[sandbox.OperatorGroup], Name: sandbox.OperatorGroup, Scopes: operator},
		},
		Hint: "People of the sandbox: " + sandbox.HelpdeskPerson + ", " + sandbox.OperatorPerson + " and " + sandbox.NoRightsPerson +
			". The password of each is " + sandbox.PersonsPassword + " and the name.",
	}
	return personOf(world.Lookup(ctx, sandbox.OperatorPerson))
}

// worldDirectory signs people in with the accounts of a simulated domain.
type worldDirectory struct{ world *sandbox.World }

// Check implements [signin.Directory].
func (d worldDirectory) Check(ctx context.Context, name string, password []byte) (*signin.Person, error) {
	return personOf(d.world.LogOn(ctx, name, string(password)))
}

// Accept implements [signin.Directory].
func (d worldDirectory) Accept(context.Context, []byte) (*signin.Person, error) {
	return nil, signin.ErrUnsupported
}

// Groups implements [signin.Directory].
func (d worldDirectory) Groups(ctx context.Context, sid string) (*signin.Person, error) {
	return personOf(d.world.Account(ctx, sid))
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

// SignInLink returns the address that signs the operator in once, within ten minutes;
// empty: nobody signs in to the pages with an account.
func (s *Sandbox) SignInLink() string {
	if s.operator == nil {
		return ""
	}
	return s.URL() + "/ui/link/" + s.stack.Gate.Link(s.operator)
}
