package app

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/authn/negotiate/negotiatetest"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/config"
	"adgateway/gateway/identity"
	"adgateway/winsvc/host"
)

// Each answer of Windows becomes the error that the gate expects.
func TestWindowsDirectory(t *testing.T) {
	down := errors.New("no logon servers")
	for name, c := range map[string]struct {
		domain, name string // typed
		asked        string // domain that LogonUser was called with
		err, want    error
	}{
		"account name": {"", "anna", "CORP", nil, nil},
		"domain":       {"OTHER", "anna", "OTHER", nil, nil},
		"UPN":          {"", "anna@corp.example", "", nil, nil},
		"wrong":        {"", "anna", "CORP", &host.LogonError{Code: 1326}, signin.ErrRefused},
		"disabled":     {"", "anna", "CORP", &host.LogonError{Code: 1331}, signin.ErrRefused},
		"locked":       {"", "anna", "CORP", &host.LogonError{Code: 1909}, signin.ErrRefused},
		"must change":  {"", "anna", "CORP", &host.LogonError{Code: 1907}, signin.ErrMustChange},
		"expired":      {"", "anna", "CORP", &host.LogonError{Code: 1330}, signin.ErrExpired},
		"down":         {"", "anna", "CORP", down, down},
	} {
		t.Run(name, func(t *testing.T) {
			d := windowsDirectory{domain: "CORP",
				logOn: func(_ context.Context, domain, name string, password []byte) (host.Logon, error) {
					assert.Equal(t, []string{c.asked, c.name, "secret"}, []string{domain, name, string(password)})
					return host.Logon{SID: "S-1-5-21-1", Name: "anna", Groups: []string{"S-1-5-21-2"}}, c.err
				}}
			person, err := d.Check(t.Context(), c.domain, c.name, []byte("secret"))
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
				assert.Equal(t, c.want != down,
					errors.Is(err, signin.ErrRefused) || errors.Is(err, signin.ErrMustChange) ||
						errors.Is(err, signin.ErrExpired))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, &signin.Person{SID: "S-1-5-21-1", Name: "anna", Groups: []string{"S-1-5-21-2"}}, person)
		})
	}
	d := windowsDirectory{groups: func(_ context.Context, sid string) (host.Logon,
		error) {
		return host.Logon{SID: sid}, nil
	}}
	person, err := d.Groups(t.Context(), "S-1-5-21-7")
	require.NoError(t, err)
	assert.Equal(t, "S-1-5-21-7", person.SID)
	_, _, err = d.Accept(t.Context(), negotiate.Token{})
	assert.ErrorIs(t, err, signin.ErrUnsupported)
}

func TestRolesOfTheSettings(t *testing.T) {
	sid := func(group string) (string, error) {
		if group == `CORP\none` {
			return "", errors.New("no such group")
		}
		return "S-1-5-21-" + group, nil
	}
	roles, err := rolesOf([]config.Role{
		{Group: `CORP\desk`, Scopes: []string{"user:read"}, Limits: config.TokenLimits{OUs: []string{"OU=Staff,DC=corp,DC=example"}}},
		{Group: `CORP\ops`, Name: "Operators", Scopes: []string{"*"}},
	}, sid)
	require.NoError(t, err)
	assert.Equal(t, []signin.Role{
		{Group: `S-1-5-21-CORP\desk`, Name: `CORP\desk`, Scopes: []identity.Scope{identity.UserRead}, Limits: identity.Limits{OUs: []string{"OU=Staff,DC=corp,DC=example"}}, Quota: &identity.Quota{}},
		{Group: `S-1-5-21-CORP\ops`, Name: "Operators", Scopes: []identity.Scope{identity.All}, Quota: &identity.Quota{}},
	}, roles)

	_, err = rolesOf([]config.Role{
		{Group: `CORP\none`, Scopes: []string{"user:raed"}}, {Group: "x", Scopes: []string{"user:read"}, Limits: config.TokenLimits{OUs: []string{"Staff"}}},
	}, sid)
	for _, want := range []string{`signIn.roles: the role of CORP\none: no such group`, "user:raed", `the OU "Staff"`} {
		assert.ErrorContains(t, err, want)
	}
	mistaken := []config.Role{{Group: `CORP\desk`, Scopes: []string{"user:raed"}}}
	_, err = domainPeople(config.SignIn{Mode: config.SignInForm, Roles: mistaken})
	assert.ErrorContains(t, err, "signIn.mode: this computer is in no domain")
	assert.ErrorContains(t, err, "user:raed", "where there is no domain, too")
	_, err = domainPeople(config.SignIn{Mode: config.SwitchOff, Roles: mistaken})
	assert.ErrorContains(t, err, "user:raed", "and before it is turned on")
	people, err := domainPeople(config.SignIn{Mode: config.SwitchOff,
		Roles: []config.Role{{Group: `CORP\desk`, Scopes: []string{"user:read"}}}})
	assert.NoError(t, err)
	assert.Nil(t, people)
}

// A missing means to check tickets is reported before the gateway listens.
func TestWhatTicketsAreCheckedWith(t *testing.T) {
	none, err := ticketsOf(config.SignIn{Mode: config.SignInForm}, nil)
	require.NoError(t, err)
	assert.Nil(t, none)
	_, err = ticketsOf(config.SignIn{Mode: config.SignInKerberos, Keytab: "/none/such"}, nil)
	assert.ErrorContains(t, err, "signIn.keytab: the keytab /none/such cannot be read")
	both := config.SignIn{Mode: config.SignInBoth, Keytab: negotiatetest.New(t).Keytab}
	found, err := ticketsOf(both, []string{"CORP"})
	require.NoError(t, err)
	assert.Equal(t, []string{"CORP", negotiatetest.Realm}, found.Domains)
	d := windowsDirectory{tickets: found}
	_, _, err = d.Accept(t.Context(), negotiate.Token{Value: []byte("NTLMSSP\x00\x01")})
	var refused *negotiate.Refusal
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, negotiate.NotKerberos, refused.Reason)
	for code, want := range map[uint32]negotiate.Reason{
		0x80090324: negotiate.ClockOff, 0x80090346: negotiate.Relayed, 0x8009030c: negotiate.Invalid,
	} {
		assert.Equal(t, want, ticketReason(code))
	}
}
