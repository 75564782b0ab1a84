package pages

import (
	"encoding/base64"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/test/systemtest"
)

// TestTheAuditOfANamesakeIsNotShown: without ops:read, a person sees the lines of their own calls, but not
// those of an API user with the same name.
func TestTheAuditOfANamesakeIsNotShown(t *testing.T) {
	const name = "helpdesk"
	s := startOptions(t, func(o *app.Options) {
		namesake := authn.NewStatic(authn.Header{})
		user := &identity.Principal{ID: "77aa", Name: name, Scopes: []identity.Scope{identity.All}}
		require.NoError(t, namesake.AddUser("secret", user))
		o.Auth = authn.Chain{namesake, o.Auth.(authn.Source)}
		scopes := []identity.Scope{identity.UserRead, identity.UserWrite}
		o.People.Roles = []signin.Role{{Group: "group of " + name, Name: "Clerks", Scopes: scopes}}
	}, "audit.file="+filepath.Join(t.TempDir(), "audit.jsonl"))
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":secret"))
	made := s.Do(systemtest.Call{
		Method: http.MethodPut, Path: "/api/ADUser/aschmidt", Token: "none", Params: map[string]any{"City": "Rome"},
		Headers: map[string]string{"Auth-Token": basic},
	})
	require.Equal(t, http.StatusOK, made.Status, "%s", made.Body)
	b := s.browser(t)
	b.signIn(name)
	b.person(t)
	b.preview("user.disable")
	require.Equal(t, http.StatusOK, b.get("/ui/audit?view=calls&who="+name))
	assert.Contains(t, b.page, "signin.start")
	assert.Contains(t, b.page, "user.disable")
	assert.NotContains(t, b.page, "user.update")
	assert.NotContains(t, b.page, "(API user)")
}
