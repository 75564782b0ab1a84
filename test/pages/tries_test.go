package pages

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn/signin"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
)

// TestEveryNameOfAnAccountCountsTowardsItsTries: for the domain wrong passwords under the
// account name, under its UPN and under the names that every account has besides are those
// of one account.
func TestEveryNameOfAnAccountCountsTowardsItsTries(t *testing.T) {
	s := start(t)
	modify(t, s, "aschmidt", "userPrincipalName", "anna@corp.example")
	b := s.browser(t)
	names := []string{"aschmidt", "anna@corp.example", "ASchmidt@Corp.Example", `CORP\aschmidt`, "aschmidt@CORP", `CORP\ aschmidt`, "aschmidt@corp.example", "aschmidt"}
	for _, name := range names {
		require.Equal(t, 200, b.get("/ui/signin"))
		require.Equal(t, 401, b.submit("/ui/signin", "username", name, "password", "wrong"))
	}
	assert.Equal(t, 3, s.people.asked)
}

// modify replaces a value of an account in the directory, past the API.
func modify(t testing.TB, s *system, name, attribute string, value any) {
	t.Helper()
	dc := s.World.Directory.DCs()[0]
	found, err := dc.Search(t.Context(), directory.SearchRequest{Scope: directory.ScopeSubtree, Filter: "(sAMAccountName=" + name + ")"})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, dc.Modify(t.Context(), found[0].DN, []directory.Change{{Op: directory.OpReplace, Name: attribute, Values: []any{value}}}, directory.ModifyOptions{}))
}

// TestDomainsOfPeople: an account of a domain that is not in signIn.domains is refused
// before anybody is asked.
func TestDomainsOfPeople(t *testing.T) {
	s := startWith(t, func(p *app.People) { p.Domains = []string{"CORP", "corp.example"} })
	b := s.browser(t)
	for name, asked := range map[string]bool{
		"helpdesk": true, `corp\helpdesk`: true, "helpdesk@CORP.example": true,
		`OTHER\helpdesk`: false, "helpdesk@other.example": false, `\helpdesk`: false, "helpdesk@": false, "helpdesk@corp.example@other.example": false,
	} {
		before := s.people.asked
		require.Equal(t, 200, b.get("/ui/signin"))
		require.Equal(t, 401, b.submit("/ui/signin", "username", name, "password", "wrong"), name)
		assert.Equal(t, asked, s.people.asked > before, name)
	}
}

// schmidt signs in one account of the sandbox, whatever the password, and knows nothing of
// it but its groups.
type schmidt struct {
	signin.Directory
	person signin.Person
}

func (d *schmidt) Check(context.Context, string, string, []byte) (*signin.Person, error) {
	return &d.person, nil
}

func (d *schmidt) Groups(context.Context, string) (*signin.Person, error) { return &d.person, nil }

// TestAccountsThatTheAPIKnows: a directory that cannot tell whether an account is disabled
// or has expired is not believed alone when a session is checked again.
func TestAccountsThatTheAPIKnows(t *testing.T) {
	for name, c := range map[string]struct {
		attribute string
		value     any
	}{"disabled": {"userAccountControl", 514}, "expired": {"accountExpires", int64(1)}} {
		t.Run(name, func(t *testing.T) {
			d := &schmidt{person: signin.Person{Name: "aschmidt", Groups: []string{"group of helpdesk"}}}
			s := startWith(t, func(p *app.People) { p.Directory, p.ByName = d, true }, "signIn.recheck=1s")
			found, err := s.World.Directory.DCs()[0].Search(t.Context(), directory.SearchRequest{Scope: directory.ScopeSubtree, Filter: "(sAMAccountName=aschmidt)"})
			require.NoError(t, err)
			d.person.SID = found[0].SID.String()
			b := s.browser(t)
			require.Equal(t, 200, b.get("/ui/signin"))
			require.Equal(t, 303, b.submit("/ui/signin", "username", "aschmidt", "password", password))
			require.Equal(t, 200, b.get("/ui/people"))
			modify(t, s, "aschmidt", c.attribute, c.value)
			assert.Eventually(t, func() bool { return b.get("/ui/people") == 401 }, systemtest.Patience, 50*time.Millisecond)
		})
	}
}

func TestDisabledPersonIsSignedOut(t *testing.T) {
	s := start(t, "signIn.recheck=1s")
	b := s.browser(t)
	b.signIn("helpdesk")
	s.people.mu.Lock()
	s.people.off["helpdesk"] = true
	s.people.mu.Unlock()
	assert.Eventually(t, func() bool { return b.get("/ui/people") == 401 }, systemtest.Patience, 50*time.Millisecond)
}
