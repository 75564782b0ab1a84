package story

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
)

const (
	gatewayUsers = "its members may use this gateway"
	limitsName   = "limits of credentials name it"
)

// withRoles starts a system whose pages give roles to the groups of the sandbox, and the given roles.
func withRoles(t *testing.T, credentials authn.Authenticator, more ...signin.Role) *systemtest.System {
	t.Helper()
	w, err := sandbox.NewWorld(context.Background(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	groups, err := w.AddPeople(context.Background())
	require.NoError(t, err)
	return systemtest.NewWith(t, w, session.Config{Starter: w.Starter()}, func(o *app.Options) {
		if credentials != nil {
			o.Auth = authn.Chain{o.Auth.(authn.Source), credentials.(authn.Source)}
		}
		o.People = &app.People{Roles: append([]signin.Role{
			{Group: groups[sandbox.HelpdeskGroup], Name: "Help desk", Scopes: []identity.Scope{identity.UserRead}},
			{Group: groups[sandbox.OperatorGroup], Name: "Operators", Scopes: []identity.Scope{identity.All}},
		}, more...)}
	})
}

func remove(path string) systemtest.Call {
	return systemtest.Call{Method: http.MethodDelete, Path: path}
}

// TestGroupsThatGiveRoles: changing a group that a role names, a group nested in it, or one
// of its members needs the scope privileged, because it grants rights at the gateway.
func TestGroupsThatGiveRoles(t *testing.T) {
	s := withRoles(t, nil)
	s.OK(post(systemtest.GroupPath("inner", "/Security"), "OUPath", systemtest.SecurityOU), http.StatusCreated)
	s.OK(post(systemtest.GroupInGroupPath("inner", sandbox.OperatorGroup)), http.StatusCreated)
	s.OK(post(systemtest.UserInGroupPath("jmueller", "inner")), http.StatusCreated)
	for _, group := range []string{sandbox.HelpdeskGroup, sandbox.OperatorGroup, "inner"} {
		for _, c := range []systemtest.Call{
			post(systemtest.UserInGroupPath("alee", group)), post(systemtest.GroupInGroupPath("VPN Users", group)),
			put(systemtest.GroupPath(group, "/Rename/other")), put(systemtest.GroupPath(group, ""), "Description", "x"),
			remove(systemtest.GroupPath(group, "/Remove")),
		} {
			a := s.Rejects(c.As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
			assert.Contains(t, a.Envelope.Output, "needs the scope 'privileged'", "%s %s", c.Method, c.Path)
			assert.Contains(t, a.Envelope.Output, gatewayUsers, "%s %s", c.Method, c.Path)
		}
		s.Expect(http.StatusOK, http.MethodGet, systemtest.GroupPath(group, ""), nil)
	}
	for _, user := range []string{sandbox.OperatorPerson, sandbox.HelpdeskPerson, "jmueller"} {
		path := "/api/ADUser/" + user
		for _, c := range []systemtest.Call{
			put(path+"/ResetPassword", "newPassword", systemtest.GoodPassword), put(path, "City", "x"), put(path + "/Disable"),
			put(path + "/Unlock"), put(path + "/Rename/other"), remove(path),
		} {
			a := s.Rejects(c.As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
			assert.Contains(t, a.Envelope.Output, gatewayUsers, "%s %s", c.Method, c.Path)
		}
		s.Expect(http.StatusOK, http.MethodGet, path+"/Details", nil)
	}
	copied := s.Do(post("/api/ADUser/alee/CopyGroups", "From", "jmueller").As(systemtest.PlainToken))
	require.Equal(t, http.StatusOK, copied.Status, "%s", copied.Body)
	assert.Contains(t, string(copied.Body), gatewayUsers)
	s.OK(put("/api/ADUser/alee/ResetPassword", "newPassword", systemtest.GoodPassword).As(systemtest.PlainToken),
		http.StatusOK)
	s.OK(post(systemtest.UserInGroupPath("alee", "Project Phoenix")).As(systemtest.PlainToken),
		http.StatusCreated)

	s.SetAttribute("CN="+sandbox.OperatorGroup+","+administrationOU, "member", "CN=helpdesk,"+administrationOU,
		"CN=inner,"+systemtest.SecurityOU)
	s.OK(post(systemtest.UserInGroupPath("alee", sandbox.OperatorGroup)), http.StatusCreated)
	needsPrivilege(s, put("/api/ADUser/alee/Disable"), gatewayUsers)
	needsPrivilege(s, systemtest.RenameOU(administrationOU, "Renamed"), "guarded objects lie below it")
}

// TestRolesComeBackFromTheBin: restoring a group that a role names, or a member of such a group, needs the
// scope privileged, because memberships are restored as well.
func TestRolesComeBackFromTheBin(t *testing.T) {
	s := withRoles(t, nil)
	guid := func(path string) string {
		return s.OK(systemtest.Call{Method: http.MethodGet, Path: path}, http.StatusOK)["guid"].(string)
	}
	operator, group := guid("/api/ADUser/operator/Details"), guid(systemtest.GroupPath(sandbox.HelpdeskGroup,
		""))
	s.OK(remove("/api/ADUser/operator"), http.StatusOK)
	s.OK(remove(systemtest.GroupPath(sandbox.HelpdeskGroup, "/Remove")), http.StatusOK)
	needsPrivilege(s, put("/api/RecycleBin/"+operator+"/Restore", "Disabled", "false"), gatewayUsers)
	needsPrivilege(s, put("/api/RecycleBin/"+group+"/Restore"), gatewayUsers)
}

// TestAPrimaryGroupGivesARole: members by primary group are guarded as well, although
// memberOf omits that group.
func TestAPrimaryGroupGivesARole(t *testing.T) {
	s := withRoles(t, nil)
	group := s.Stored("CN="+sandbox.OperatorGroup+","+administrationOU, "objectSid").SID
	s.OK(post(systemtest.UserInGroupPath("alee", sandbox.OperatorGroup)), http.StatusCreated)
	alee := s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/alee/Details"},
		http.StatusOK)["distinguishedName"].(string)
	s.SetAttribute(alee, "primaryGroupID", int(group.RID()))
	needsPrivilege(s, put("/api/ADUser/alee/ResetPassword", "newPassword", systemtest.GoodPassword),
		gatewayUsers)
}

// TestARoleForEverybody: if everybody has a role, accounts are not guarded because of it, because a
// membership gives nobody new rights.
func TestARoleForEverybody(t *testing.T) {
	everybody, err := sandbox.NewWorld(context.Background(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	domain := everybody.Directory.SID().String()
	for _, sid := range []string{domain + "-513", "S-1-5-32-545"} {
		s := withRoles(t, nil, signin.Role{Group: sid, Name: "Everybody",
			Scopes: []identity.Scope{identity.UserRead}})
		s.OK(put("/api/ADUser/alee/ResetPassword", "newPassword",
			systemtest.GoodPassword).As(systemtest.PlainToken), http.StatusOK)
	}
}

// TestGroupsThatLimitsName: groups named by the limits of a credential are guarded, because they decide which
// objects the credential may change. Tokens created while the gateway runs count as well.
func TestGroupsThatLimitsName(t *testing.T) {
	file := authn.File{Path: filepath.Join(t.TempDir(), "credentials.json")}
	require.NoError(t, file.Edit(context.Background(), func(*authn.Document) error { return nil }))
	store, err := authn.OpenStore(authn.StoreOptions{File: file})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); store.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	s := withRoles(t, store)
	join := post(systemtest.UserInGroupPath("alee", "Project Phoenix"))
	s.OK(join.As(systemtest.PlainToken), http.StatusCreated)
	s.OK(remove(join.Path), http.StatusOK)

	token := ""
	require.NoError(t, file.Edit(context.Background(), func(d *authn.Document) error {
		rights := authn.Rights{Scopes: []string{"member:write", "member:read"},
			Limits: &identity.Limits{Groups: []string{"project phoenix"}}}
		account := authn.NewAccount("phoenix", time.Now(), rights)
		token = account.AddToken(time.Now(), time.Now())
		d.Tokens = append(d.Tokens, account)
		return nil
	}))
	require.Eventually(t, func() bool { return !store.Empty() }, systemtest.Patience, systemtest.Patience/1000)
	needsPrivilege(s, put(systemtest.GroupPath("Project Phoenix", "/Rename/other")), limitsName)
	s.OK(put(systemtest.GroupPath("other", "/Rename/"+"Project Phoenix")), http.StatusOK)
	s.Rejects(join.As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
	s.OK(join.As(token), http.StatusCreated)
	// Membership gives the members themselves no rights.
	s.OK(put("/api/ADUser/alee/ResetPassword", "newPassword", systemtest.GoodPassword).As(systemtest.PlainToken),
		http.StatusOK)
}
