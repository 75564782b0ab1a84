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

// redirected is a domain after redirusr and redircmp.
const redirected = `dn: DC=corp,DC=example
objectClass: domainDNS
wellKnownObjects: B:32:A9D1CA15768811D1ADED00C04FD8D5CD:OU=People,OU=Defaults,DC=corp,DC=example
wellKnownObjects: B:32:AA312825768811D1ADED00C04FD8D5CD:OU=Machines,OU=Defaults,DC=corp,DC=example
otherWellKnownObjects: B:32:683A24E2E8164BD3AF86AC3C2CF3F981:OU=People,OU=Defaults,DC=corp,DC=example

dn: OU=Defaults,DC=corp,DC=example
objectClass: organizationalUnit

dn: OU=Elsewhere,DC=corp,DC=example
objectClass: organizationalUnit
`

// redirectedPlaces are the containers that redirected refers to.
const redirectedPlaces = `
dn: OU=People,OU=Defaults,DC=corp,DC=example
objectClass: organizationalUnit

dn: OU=Machines,OU=Defaults,DC=corp,DC=example
objectClass: organizationalUnit
`

// creations are all calls that create an account without naming a container.
var creations = map[string]struct {
	call     systemtest.Call
	computer bool
}{
	"user":         {call: systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/newcomer"}},
	"security":     {call: systemtest.Call{Method: http.MethodPost, Path: "/api/ADGroups/Newcomers/Security"}},
	"distribution": {call: systemtest.Call{Method: http.MethodPost, Path: "/api/ADGroups/Readers/Distribution"}},
	"computer":     {call: systemtest.RegisterComputer("WORKPLACE"), computer: true},
}

func redirectedDomain(t *testing.T, ldif string) *systemtest.System {
	file := filepath.Join(t.TempDir(), "redirected.ldif")
	require.NoError(t, os.WriteFile(file, []byte(ldif), 0o600))
	return systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{file}})
}

// TestCreationsFollowTheDefaultContainers: the default containers are references to objects,
// so they follow a container that is renamed or moved.
func TestCreationsFollowTheDefaultContainers(t *testing.T) {
	const people, machines = "OU=People,OU=Defaults," + domainDN, "OU=Machines,OU=Defaults," + domainDN
	for name, c := range map[string]struct {
		before           []systemtest.Call
		people, machines string
	}{
		"as they are": {people: people, machines: machines},
		"renamed": {
			before: []systemtest.Call{systemtest.RenameOU(people, "Persons"), systemtest.RenameOU(machines, "Hosts")},
			people: "OU=Persons,OU=Defaults," + domainDN, machines: "OU=Hosts,OU=Defaults," + domainDN,
		},
		"moved": {
			before: []systemtest.Call{
				systemtest.MoveOU(people, "OU=Elsewhere,"+domainDN), systemtest.MoveOU(machines, domainDN),
			},
			people: "OU=People,OU=Elsewhere," + domainDN, machines: "OU=Machines," + domainDN,
		},
		"below a renamed OU": {
			before: []systemtest.Call{systemtest.RenameOU("OU=Defaults,"+domainDN, "New")},
			people: "OU=People,OU=New," + domainDN, machines: "OU=Machines,OU=New," + domainDN,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := redirectedDomain(t, redirected+redirectedPlaces)
			// makes the session read the domain
			s.Expect(http.StatusOK, http.MethodGet, "/api/ADUser/krbtgt/Exists", nil)
			for _, call := range c.before {
				s.OK(call, http.StatusOK)
			}
			for kind, create := range creations {
				place := c.people
				if create.computer {
					place = c.machines
				}
				made := s.OK(create.call, http.StatusCreated)
				assert.Contains(t, made["distinguishedName"], ","+place, kind)
			}
			root := s.Stored(domainDN, "wellKnownObjects", "otherWellKnownObjects")
			assert.Contains(t, root.Strings("wellKnownObjects"), "B:32:A9D1CA15768811D1ADED00C04FD8D5CD:"+c.people)
			assert.Contains(t, root.Strings("wellKnownObjects"), "B:32:AA312825768811D1ADED00C04FD8D5CD:"+c.machines)
			assert.Equal(t, []string{"B:32:683A24E2E8164BD3AF86AC3C2CF3F981:" + c.people},
				root.Strings("otherWellKnownObjects"))
		})
	}
}

// TestDefaultContainersAreNotRemoved: a default container cannot be removed, because without
// it an account could be created only in a named container.
func TestDefaultContainersAreNotRemoved(t *testing.T) {
	s := redirectedDomain(t, redirected+redirectedPlaces)
	for _, ou := range []string{"OU=People,OU=Defaults,", "OU=Machines,OU=Defaults,", "OU=Defaults,"} {
		for _, more := range [][]string{nil, {"Force", "true"}, {"Force", "true", "Recursive", "true"},
			{"Force", "true", "Recursive", "true", "DryRun", "true"}} {
			a := s.Rejects(systemtest.RemoveOU(ou+domainDN, more...), http.StatusConflict, "protected")
			assert.Contains(t, a.Envelope.Output, "the default container of the domain")
			assert.Contains(t, a.Envelope.Output, ".exe")
		}
		assert.Error(t, s.DC1().Delete(t.Context(), ou+domainDN), "by the directory itself")
		assert.Error(t, s.DC1().DeleteTree(t.Context(), ou+domainDN), "by the directory itself")
	}
	s.OK(systemtest.RemoveOU("OU=Elsewhere,"+domainDN), http.StatusOK)
	for _, create := range creations {
		s.OK(create.call, http.StatusCreated)
	}
}

// TestCreationsNameADefaultContainerThatIsGone: if the default container is missing, the error names the
// container instead of the new object.
func TestCreationsNameADefaultContainerThatIsGone(t *testing.T) {
	s := redirectedDomain(t, redirected)
	for kind, create := range creations {
		tool, place := "redirusr.exe", "OU=People,OU=Defaults,"+domainDN
		if create.computer {
			tool, place = "redircmp.exe", "OU=Machines,OU=Defaults,"+domainDN
		}
		a := s.Rejects(create.call, http.StatusUnprocessableEntity, "unprocessable")
		assert.Equal(t, "OUPath", systemtest.FirstField(a), kind)
		assert.Contains(t, a.Envelope.Output, "'"+place+"', does not exist", kind)
		assert.Contains(t, a.Envelope.Output, tool, kind)

		there := create.call
		there.Params = map[string]any{"OUPath": "OU=Elsewhere," + domainDN}
		s.OK(there, http.StatusCreated)
	}
}
