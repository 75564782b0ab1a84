package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// domain is a sign-in directory with the accounts of the simulated domain.
type domain struct {
	signin.Directory
	world *sandbox.World
}

func (d domain) Check(ctx context.Context, _, name string, password []byte) (*signin.Person, error) {
	return d.person(d.world.LogOn(ctx, name, string(password)))
}

func (d domain) Groups(ctx context.Context, sid string) (*signin.Person, error) {
	return d.person(d.world.Account(ctx, sid))
}

func (d domain) person(a *sandbox.Account, err error) (*signin.Person, error) {
	if err != nil {
		return nil, errors.Join(signin.ErrRefused, err)
	}
	return &signin.Person{SID: a.SID, Name: a.Name, Groups: a.Groups}, nil
}

// startDomain starts a gateway for the people of the sandbox. They have the roles of a help desk and of
// operators, without the scope privileged.
func startDomain(t testing.TB, overrides ...string) *system {
	t.Helper()
	w, err := sandbox.NewWorld(context.Background(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	groups, err := w.AddPeople(context.Background())
	require.NoError(t, err)
	desk := []identity.Scope{identity.UserRead, identity.GroupRead, identity.MemberRead, identity.OpsRead,
		identity.UserWrite, identity.UserPassword, identity.MemberWrite}
	return &system{System: systemtest.NewWith(t, w, session.Config{Starter: w.Starter()}, func(o *app.Options) {
		o.Sandbox = true
		o.People = &app.People{Directory: domain{world: w}, Roles: []signin.Role{
			{Group: groups[sandbox.HelpdeskGroup], Name: "Help desk", Scopes: desk},
			{Group: groups[sandbox.OperatorGroup], Name: "Operators", Scopes: append([]identity.Scope{identity.UserDelete}, desk...)},
		}}
	}, append([]string{"store.file=" + t.TempDir() + "/store"}, overrides...)...)}
}

// as signs in a person of the sandbox.
func (s *system) as(t *testing.T, name string) *browser {
	t.Helper()
	b := s.browser(t)
	require.Equal(t, 200, b.get("/ui/signin"))
	require.Equal(t, 303, b.submit("/ui/signin", "username", name, "password", sandbox.PersonsPassword+name),
		b.page)
	return b
}

func (s *system) guid(path string) string {
	return s.OK(systemtest.Call{Method: http.MethodGet, Path: path}, http.StatusOK)["guid"].(string)
}

// TestNobodyGivesHimselfARole: the help desk can change memberships and passwords of ordinary people, but
// cannot make a change that gives anybody a role on the pages.
func TestNobodyGivesHimselfARole(t *testing.T) {
	s := startDomain(t)
	b := s.as(t, sandbox.HelpdeskPerson)
	own, operator := s.guid("/api/ADUser/helpdesk/Details"), s.guid("/api/ADUser/operator/Details")
	try := func(status int, person, action string, pairs ...string) {
		t.Helper()
		require.Equal(t, 200, b.get("/ui/people/"+person))
		require.Equal(t, status, b.sent(action, "Username", person, pairs...), b.page)
		if status == 403 {
			assert.Contains(t, b.page, "its members may use this gateway")
		}
	}
	for _, group := range []string{sandbox.OperatorGroup, sandbox.HelpdeskGroup} {
		try(403, s.guid("/api/ADUser/alee/Details"), "membership.add", "GroupName", group)
		try(403, own, "membership.add", "GroupName", group)
	}
	try(403, operator, "user.resetPassword")
	try(200, lea, "membership.add", "GroupName", "Project Phoenix")
	b.confirm()
	try(200, lea, "user.resetPassword")
	b.confirm()
	assert.Contains(t, b.page, `id="secret"`)
	s.as(t, sandbox.OperatorPerson)
}

// badPasswords returns the number of wrong passwords that a domain controller has counted for an account.
func (s *system) badPasswords(t *testing.T, name string) int64 {
	t.Helper()
	found, err := s.DC1().Search(t.Context(), directory.SearchRequest{
		Scope: directory.ScopeSubtree, Filter: "(sAMAccountName=" + name + ")",
		Attributes: []string{"badPwdCount"}})
	require.NoError(t, err)
	require.Len(t, found, 1)
	count, _ := found[0].Int("badPwdCount")
	return count
}

// TestNoPasswordIsTriedWhileAccountsCannotBeRead: passwords are not tried if the account cannot be
// determined. Otherwise, tries under the many names of an account could lock it out.
func TestNoPasswordIsTriedWhileAccountsCannotBeRead(t *testing.T) {
	s := startDomain(t, "pool.directorySessions=1", "pool.maxQueue=1", "pool.maxWait=20ms",
		"http.trustedProxies=[127.0.0.1]")
	s.World.Network.Slow("dc1.corp.example", systemtest.Patience)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go func() {
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/OU/All", nil)
		r.Header.Set("Auth-Token", "Bearer "+systemtest.AllToken)
		if answer, err := http.DefaultClient.Do(r); err == nil {
			answer.Body.Close()
		}
	}()
	require.Eventually(t, func() bool { return s.Stack.Pool.Stats()[ps.Directory].Busy == 1 },
		systemtest.Patience, time.Millisecond)

	b := s.browser(t)
	require.Equal(t, 200, b.get("/ui/signin"))
	form, from := b.form("/ui/signin", "password", "wrong"), 0
	for account, spellings := range map[string][]string{
		"clopez":   {"clopez", "CLOPEZ", "clópez", "clòpez@corp.example", "clöpez@corp.example", "clopez@CORP", `CORP\clopez`},
		"ckelly":   {"ckelly", "ckèlly", "ckelly@corp.example", "çkelly@corp.example", `CORP\ckélly`},
		"ejones":   {"ejones", "éjones", "èjones@corp.example", "ejönes@corp.example", "ejones@corp"},
		"aschmidt": {"aschmidt", "äschmidt@corp.example", "aschmidt@corp.example", "ASchmidt@Corp.Example"},
		"jmueller": {"jmueller", "jmüeller", "jmueller@corp.example", "jmuéller@corp.example", `CORP\jmueller`},
	} {
		for _, name := range spellings {
			form.Set("username", name)
			from++
			r, err := http.NewRequest(http.MethodPost, s.URL+"/ui/signin", strings.NewReader(form.Encode()))
			require.NoError(t, err)
			r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {s.URL},
				"X-Forwarded-For": {fmt.Sprint("192.0.2.", from)}}
			assert.Equal(t, 503, b.do(r), name)
			seconds, _ := strconv.Atoi(b.answer.Header.Get("Retry-After"))
			assert.Positive(t, seconds, name)
		}
		assert.Zero(t, s.badPasswords(t, account), account)
	}
}

// runs returns the number of scripts that have run.
func (s *system) runs(t *testing.T) (n int) {
	t.Helper()
	b := s.browser(t)
	r, err := http.NewRequest(http.MethodGet, s.URL+"/metrics", nil)
	require.NoError(t, err)
	r.Header.Set("Auth-Token", "Bearer "+systemtest.AllToken)
	require.Equal(t, 200, b.do(r))
	for _, m := range regexp.MustCompile(`(?m)^adgateway_script_runs_total\{.*\} (\d+)$`).FindAllStringSubmatch(b.page, -1) {
		one, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		n += one
	}
	return n
}

// TestStrangersRunFewScripts: requests without a session are counted before they run any script. A
// thorough run sends more of them.
func TestStrangersRunFewScripts(t *testing.T) {
	tries := 200
	if thorough.All() {
		tries = 1000
	}
	known := []string{"clopez", "ckelly", "ejones", "aschmidt", "jmueller", "lweber", "asato", "alee"}
	for kind, name := range map[string]func(i int) string{
		"one name":    func(int) string { return "clopez" },
		"one UPN":     func(int) string { return "clopez@corp.example" },
		"an unknown":  func(int) string { return "nobody.at.all@corp.example" },
		"known names": func(i int) string { return known[i%len(known)] + []string{"", "@corp.example", "@CORP"}[i%3] },
		"many names":  func(i int) string { return fmt.Sprintf("nobody%d@corp.example", i) },
	} {
		t.Run(kind, func(t *testing.T) {
			s := startDomain(t)
			b := s.browser(t)
			require.Equal(t, 200, b.get("/ui/signin"))
			form := b.form("/ui/signin", "password", "wrong")
			s.Expect(http.StatusOK, http.MethodGet, "/api/ADUser/alee/Details", nil) // finds the controllers
			before := s.runs(t)
			for i := range tries {
				form.Set("username", name(i))
				require.Contains(t, []int{401, 429}, b.post("/ui/signin", form), b.page)
			}
			assert.LessOrEqual(t, s.runs(t)-before, 20)
		})
	}
}

// TestAPasswordInTheWrongBox: a password typed as the user name is neither shown nor logged.
func TestAPasswordInTheWrongBox(t *testing.T) {
	file := t.TempDir() + "/audit.jsonl"
	s := startDomain(t, "audit.file="+file, "log.level=debug")
	b := s.browser(t)
	for _, name := range []string{"MyP4ssw0rd-typed-in-the-wrong-box", "MyP4ssw0rd-typed@corp.example",
		"MyP4ssw0rd typed", `CORP\MyP4ssw0rd`, "MyP4ssw0rd?", "MyP4ssw0rd@"} {
		require.Equal(t, 200, b.get("/ui/signin"))
		require.Equal(t, 401, b.submit("/ui/signin", "username", name, "password", "wrong"))
		assert.NotContains(t, b.page, "MyP4ssw0rd", name)
	}
	require.Equal(t, 200, b.get("/ui/signin"))
	require.Equal(t, 401, b.submit("/ui/signin", "username", "HelpDesk@corp.example", "password", "wrong"))
	audited, err := os.ReadFile(file)
	require.NoError(t, err)
	operator := s.as(t, sandbox.OperatorPerson)
	require.Equal(t, 200, operator.get("/ui/audit"))
	for where, text := range map[string]string{"log": s.Log.String(), "audit": string(audited),
		"page": operator.page} {
		assert.NotContains(t, text, "MyP4ssw0rd", where)
		assert.True(t, strings.Contains(text, "there is no such account"), where)
		assert.Contains(t, text, "helpdesk", where)
	}
}
