package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn/signin"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
)

// TestEveryNameOfAnAccountCountsTowardsItsTries: wrong passwords under the account name, the UPN and the
// account's implicit names count as tries of one account.
func TestEveryNameOfAnAccountCountsTowardsItsTries(t *testing.T) {
	s := start(t)
	modify(t, s, "aschmidt", "userPrincipalName", "anna@corp.example")
	b := s.browser(t)
	names := []string{"aschmidt", "anna@corp.example", "ASchmidt@Corp.Example", `CORP\aschmidt`, "aschmidt@CORP",
		`CORP\ aschmidt`, "aschmidt@corp.example", "aschmidt"}
	for i, name := range names {
		require.Equal(t, 200, b.get("/ui/signin"))
		status := b.submit("/ui/signin", "username", name, "password", "wrong")
		require.Equal(t, i >= 3, status == 429, "%s: %d", name, status)
	}
	assert.Equal(t, 3, s.people.asked)
}

// TestANeighborAtTheSameAddressKeepsNobodyOut: while others at the same address must wait, a person can
// still sign in with a browser that this person has used before.
func TestANeighborAtTheSameAddressKeepsNobodyOut(t *testing.T) {
	s := start(t)
	mine := s.browser(t)
	mine.signIn("helpdesk")
	require.Equal(t, 200, mine.get("/ui/"))
	require.Equal(t, 303, mine.submit("/ui/signout"))
	neighbor := s.browser(t)
	require.Equal(t, 200, neighbor.get("/ui/signin"))
	for i, status := 0, 0; status != 429; i++ {
		status = neighbor.submit("/ui/signin", "username", fmt.Sprint("nobody", i), "password", "wrong")
		require.Less(t, i, 30)
	}
	require.Equal(t, 429, neighbor.submit("/ui/signin", "username", "operator", "password", password))
	require.Equal(t, 200, mine.get("/ui/signin"))
	require.Equal(t, 429, mine.submit("/ui/signin", "username", "operator", "password", password))
	require.Equal(t, 303, mine.submit("/ui/signin", "username", "helpdesk", "password", password), mine.page)
}

// TestNamesWithoutAnAccountAreAnsweredAlike: the responses to a name without an account are the same as those
// to a name with an account, and require as many scripts.
func TestNamesWithoutAnAccountAreAnsweredAlike(t *testing.T) {
	type answer struct {
		runs, status int
		text, retry  string
	}
	answers := func(s *system, name string) (all []answer) {
		b := s.browser(t)
		require.Equal(t, 200, b.get("/ui/signin"))
		for range 5 {
			form, before := b.form("/ui/signin", "username", name, "password", "wrong"), s.runs(t)
			status := b.post("/ui/signin", form)
			all = append(all, answer{s.runs(t) - before, status, alertOf(b.page), b.answer.Header.Get("Retry-After")})
		}
		return all
	}
	for unknown, known := range map[string]string{
		"nobody": "clopez", "nobody.at.all@corp.example": "ckelly@corp.example", `CORP\nobody2`: `CORP\ejones`,
	} {
		s := startDomain(t)
		s.Expect(http.StatusOK, http.MethodGet, "/api/ADUser/alee/Details", nil) // finds the controllers
		want, got := answers(s, known), answers(s, unknown)
		for i := range want { // the remaining time differs by seconds
			assert.Regexp(t, "^(|1[78][0-9]{2})$", want[i].retry)
			assert.Equal(t, want[i].retry == "", got[i].retry == "")
			want[i].retry, got[i].retry = "", ""
		}
		assert.Equal(t, want, got, unknown)
		assert.Equal(t, 2, want[0].runs, "the account, and its policy")
		assert.Equal(t, 429, want[4].status)
	}
}

// alertOf returns the error message on a page.
func alertOf(page string) string {
	return regexp.MustCompile(`(?s)class="alert[^>]*>.*?</`).FindString(page)
}

// BenchmarkNames compares the duration of sign-ins with wrong passwords for names with and without an
// account. Each sign-in comes from a different address.
func BenchmarkNames(b *testing.B) {
	s := startDomain(b)
	found, err := s.DC1().Search(b.Context(), directory.SearchRequest{
		Scope: directory.ScopeSubtree, Filter: "(&(objectCategory=person)(userPrincipalName=*))",
		Attributes: []string{"userPrincipalName"}})
	require.NoError(b, err)
	require.Greater(b, len(found), 200)
	from := netip.MustParseAddr("10.0.0.1")
	for _, one := range found[200:] { // warm up, so that neither kind is slower than the other at first
		from = from.Next()
		_, _ = s.Stack.Gate.Password(b.Context(), one.String("userPrincipalName"), []byte("wrong"), from, "")
	}
	names := map[string][]string{}
	for i := range 200 {
		names["known"] = append(names["known"], found[i].String("userPrincipalName"))
		names["unknown"] = append(names["unknown"], fmt.Sprintf("nobody%d@corp.example", i))
	}
	for _, kind := range []string{"first", "again"} {
		b.Run(kind, func(b *testing.B) {
			took := map[string][]time.Duration{}
			for b.Loop() {
				clear(took)
				for i := range 400 { // in turn, so that what slows the machine down slows both down
					account := []string{"known", "unknown"}[(i+i/2)%2]
					from = from.Next()
					begin := time.Now()
					_, _ = s.Stack.Gate.Password(b.Context(), names[account][i/2], []byte("wrong"), from, "")
					took[account] = append(took[account], time.Since(begin))
				}
			}
			for account, times := range took {
				slices.Sort(times)
				for quarter, name := range map[int]string{1: "first-quartile", 2: "median", 3: "third-quartile"} {
					b.ReportMetric(float64(times[quarter*len(times)/4].Microseconds()), "µs/"+account+"-"+name)
				}
			}
		})
	}
}

// modify replaces a value of an account directly in the directory.
func modify(t testing.TB, s *system, name, attribute string, value any) {
	t.Helper()
	dc := s.World.Directory.DCs()[0]
	found, err := dc.Search(t.Context(),
		directory.SearchRequest{Scope: directory.ScopeSubtree, Filter: "(sAMAccountName=" + name + ")"})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, dc.Modify(t.Context(), found[0].DN,
		[]directory.Change{{Op: directory.OpReplace, Name: attribute, Values: []any{value}}},
		directory.ModifyOptions{}))
}

// TestDomainsOfPeople: an account of a domain that is not in signIn.domains is refused without asking the
// directory.
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

// schmidt is a directory that accepts any password for one account of the sandbox, and contains only the
// groups of that account.
type schmidt struct {
	signin.Directory
	person signin.Person
}

func (d *schmidt) Check(context.Context, string, string, []byte) (*signin.Person, error) {
	return &d.person, nil
}

func (d *schmidt) Groups(context.Context, string) (*signin.Person, error) { return &d.person, nil }

// TestAccountsThatTheAPIKnows: when a session is checked again, the API is also asked, because the directory
// cannot tell whether an account is disabled or has expired.
func TestAccountsThatTheAPIKnows(t *testing.T) {
	for name, c := range map[string]struct {
		attribute string
		value     any
	}{"disabled": {"userAccountControl", 514}, "expired": {"accountExpires", int64(1)}} {
		t.Run(name, func(t *testing.T) {
			d := &schmidt{person: signin.Person{Name: "aschmidt", Groups: []string{"group of helpdesk"}}}
			s := startWith(t, func(p *app.People) { p.Directory, p.ByName = d, true }, "signIn.recheck=1s")
			found, err := s.World.Directory.DCs()[0].Search(t.Context(),
				directory.SearchRequest{Scope: directory.ScopeSubtree, Filter: "(sAMAccountName=aschmidt)"})
			require.NoError(t, err)
			d.person.SID = found[0].SID.String()
			b := s.browser(t)
			require.Equal(t, 200, b.get("/ui/signin"))
			require.Equal(t, 303, b.submit("/ui/signin", "username", "aschmidt", "password", password))
			require.Equal(t, 200, b.get("/ui/people"))
			modify(t, s, "aschmidt", c.attribute, c.value)
			assert.Eventually(t, func() bool { return b.get("/ui/people") == 401 }, systemtest.Patience,
				50*time.Millisecond)
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
	assert.Eventually(t, func() bool { return b.get("/ui/people") == 401 }, systemtest.Patience,
		50*time.Millisecond)
}
