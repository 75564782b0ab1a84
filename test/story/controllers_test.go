package story

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// oddControllers contains computers that are, or look like, domain controllers. Such objects accumulate in a
// domain over the years.
const oddControllers = `dn: CN=STALE1,OU=Domain Controllers,DC=corp,DC=example
objectClass: computer
sAMAccountName: STALE1$
userAccountControl: 532480
dNSHostName: stale1.corp.example

dn: CN=WAN1,OU=Domain Controllers,DC=corp,DC=example
objectClass: computer
sAMAccountName: WAN1$
userAccountControl: 83955712
primaryGroupID: 521
dNSHostName: wan1.corp.example

dn: CN=FAKE1,CN=Computers,DC=corp,DC=example
objectClass: computer
sAMAccountName: FAKE1$
userAccountControl: 532480

dn: CN=STAGED1,OU=Domain Controllers,DC=corp,DC=example
objectClass: computer
sAMAccountName: STAGED1$
userAccountControl: 83890178
primaryGroupID: 521
dNSHostName: staged1.corp.example

dn: CN=OLDNAME,OU=Domain Controllers,DC=corp,DC=example
objectClass: computer
sAMAccountName: OLDNAME$
userAccountControl: 532480
dNSHostName: newname.corp.example
serverReferenceBL: CN=NEWNAME,CN=Servers,CN=Default-First-Site-Name,CN=Sites,CN=Configuration,DC=corp,DC=example

dn: CN=RODC1,OU=Domain Controllers,DC=corp,DC=example
objectClass: computer
sAMAccountName: RODC1$
userAccountControl: 83890176
primaryGroupID: 521
dNSHostName: rodc1.corp.example
serverReferenceBL: CN=RODC1,CN=Servers,CN=Default-First-Site-Name,CN=Sites,CN=Configuration,DC=corp,DC=example
`

// Odd domain controllers are reported, and the gateway continues to work (facts G13).
func TestOddDomainControllersStopNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "odd.ldif")
	require.NoError(t, os.WriteFile(file, []byte(oddControllers), 0o600))
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{file}})
	s.Expect(http.StatusOK, http.MethodGet, "/api/ADUser/cplus/Details", nil)
	assert.Equal(t, http.StatusOK, s.Get("/api/DnsCNameRecord/corp.example").Status)

	ready := s.Get("/readyz")
	assert.Equal(t, http.StatusOK, ready.Status)
	reason := ""
	for _, check := range ready.Envelope.Result {
		assert.Equal(t, true, check["ok"], check["name"])
		if check["name"] == "domainController" {
			reason, _ = check["reason"].(string)
		}
	}
	assert.Contains(t, reason, "'CN=FAKE1,CN=Computers,DC=corp,DC=example' has no dNSHostName")
	assert.Contains(t, reason, "'CN=STAGED1,OU=Domain Controllers,DC=corp,DC=example' is disabled")

	controllers, _ := s.Stack.Servers.Status()
	assert.Equal(t, "dc1.corp.example", controllers.Pinned)
	assert.ElementsMatch(t, []string{"dc1.corp.example", "dc2.corp.example", "newname.corp.example",
		"stale1.corp.example"}, controllers.Candidates)
	for _, dc := range s.World.Directory.DCs()[:2] {
		dc.SetAlive(false)
	}
	s.Expect(http.StatusOK, http.MethodGet, "/api/ADUser/cplus/Details", nil)
	controllers, _ = s.Stack.Servers.Status()
	assert.Equal(t, "newname.corp.example", controllers.Pinned,
		"the one that answers, under the name it has now")
}
