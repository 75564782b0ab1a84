package story

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestKeysOfOtherControllers: the krbtgt accounts of read-only domain controllers and of
// Microsoft Entra Kerberos are guarded, although they look like ordinary users.
func TestKeysOfOtherControllers(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{"testdata/krbtgt.ldif"}})
	const root = "DC=corp,DC=example"
	for _, account := range []string{"krbtgt_17539", "krbtgt_AzureAD", "linked", "numbered"} {
		path := "/api/ADUser/" + account
		for _, c := range []systemtest.Call{
			put(path+"/ResetPassword", "newPassword", systemtest.GoodPassword), put(path, "City", "x"),
			put(path + "/Disable"), put(path + "/Unlock"), put(path + "/Rename/other"), {Method: http.MethodDelete, Path: path},
		} {
			a := s.Rejects(c.As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
			assert.Contains(t, a.Envelope.Output, "needs the scope 'privileged': it holds the key", "%s %s", c.Method,
				c.Path)
		}
		s.OK(put(path, "City", "x"), http.StatusOK)
		s.Expect(http.StatusOK, http.MethodGet, path+"/Details", nil)
	}
	for _, ou := range []string{"Branch", "Named", "Numbered"} {
		needsPrivilege(s, systemtest.RenameOU("OU="+ou+","+root, ou+" 2"), "guarded objects lie below it")
	}
	s.OK(put("/api/ADUser/krbtgtx", "City", "x").As(systemtest.PlainToken), http.StatusOK)

	gone := s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/numbered/Details"},
		http.StatusOK)["guid"].(string)
	s.OK(systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/numbered"}, http.StatusOK)
	needsPrivilege(s, put("/api/RecycleBin/"+gone+"/Restore", "Disabled", "false"), "it holds the key")
}
