package story

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// places is an LDIF file with containers of every class that can contain objects, and with a
// user in the container for orphaned objects.
const places = `dn: CN=orphan,CN=LostAndFound,DC=corp,DC=example
objectClass: user
sAMAccountName: orphan

dn: CN=NTDS Quotas,DC=corp,DC=example
objectClass: msDS-QuotaContainer

dn: CN=Password Settings Container,CN=System,DC=corp,DC=example
objectClass: msDS-PasswordSettingsContainer

dn: CN=Managed Service Accounts,DC=corp,DC=example
objectClass: container

dn: CN=ForeignSecurityPrincipals,DC=corp,DC=example
objectClass: container
`

// TestContainersOfEveryClass: objects that contain others but are neither OUs nor of class
// container are listed, found and searched (facts C30).
func TestContainersOfEveryClass(t *testing.T) {
	file := filepath.Join(t.TempDir(), "places.ldif")
	require.NoError(t, os.WriteFile(file, []byte(places), 0o600))
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{file}})

	where := s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/orphan/Details?ShowFields=ouPath"},
		http.StatusOK)["ouPath"].(string)
	assert.Equal(t, "CN=LostAndFound,"+domainDN, where)

	listed := func(call string) map[string]bool {
		a := s.Get("/api/OU/All" + call)
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		paths := map[string]bool{}
		for _, record := range a.Envelope.Result {
			paths[record["path"].(string)] = record["container"].(bool)
		}
		return paths
	}
	all, ous := listed("?ListContainers=true"), listed("")
	assert.NotContains(t, all, domainDN, "the domain is none")
	for _, dn := range []string{where, "CN=NTDS Quotas," + domainDN,
		"CN=Password Settings Container,CN=System," + domainDN, "CN=Managed Service Accounts," + domainDN,
		"CN=ForeignSecurityPrincipals," + domainDN, "CN=Users," + domainDN, "CN=Builtin," + domainDN,
		"CN=System," + domainDN} {
		assert.True(t, all[dn], dn)
		assert.NotContains(t, ous, dn)
		found := s.OK(systemtest.Call{Method: http.MethodGet,
			Path: "/api/OU/Path/Details?OUPath=" + url.QueryEscape(dn)}, http.StatusOK)
		assert.Equal(t, true, found["container"], dn)
		assert.Equal(t, found, s.OK(systemtest.Call{Method: http.MethodGet,
			Path: "/api/OU/Guid/Details?OUGuid=" + found["guid"].(string)}, http.StatusOK))
		assert.Equal(t, true, s.OK(systemtest.Call{Method: http.MethodGet,
			Path: "/api/OU/Path/Exists?OUPath=" + url.QueryEscape(strings.ToLower(dn))}, http.StatusOK)["exists"], dn)
		for _, list := range []string{"/api/ADUser/ListUsers", "/api/ADGroups", "/api/Computers"} {
			assert.Equal(t, http.StatusOK, s.Get(list+"?OUPath="+url.QueryEscape(dn)).Status, "%s in %s", list, dn)
		}
	}
	names := s.Get("/api/ADUser/ListUsers?ShowFields=username&OUPath=" + url.QueryEscape(where)).Envelope.Result
	assert.Equal(t, []map[string]any{{"username": "orphan"}}, names)

	// An object that contains others may be searched; a leaf may not.
	for _, c := range []struct {
		dn     string
		status int
	}{{"CN=PRINT1," + systemtest.ServersOU, http.StatusOK}, {systemtest.SampleUserDN, http.StatusNotFound},
		{"CN=None," + domainDN, http.StatusNotFound}} {
		a := s.Get("/api/Computers?OUPath=" + url.QueryEscape(c.dn))
		assert.Equal(t, c.status, a.Status, "%s: %s", c.dn, a.Body)
	}
	s.Rejects(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/new",
		Params: map[string]any{"OUPath": "CN=NTDS Quotas," + domainDN}}, http.StatusUnprocessableEntity,
		"unprocessable")
	s.Rejects(systemtest.Call{Method: http.MethodDelete,
		Path: "/api/OU/Path/Remove?Force=true&OUPath=" + url.QueryEscape(where)}, http.StatusConflict, "protected")
}
