package faults

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/test/systemtest"
)

// TestTheFirstControllerServesIfTheOthersCannotBeListed: if the list of domain controllers
// cannot be read at all, the gateway logs a warning and uses the first controller (facts G13).
func TestTheFirstControllerServesIfTheOthersCannotBeListed(t *testing.T) {
	s := newHookedSystem(t, sandbox.Options{Seed: 1},
		func(cmdlet string, process func(*engine.Call) error) func(*engine.Call) error {
			if cmdlet != "Get-ADComputer" {
				return process
			}
			return func(c *engine.Call) error {
				thrown := dotnet.ExceptionNamed("Microsoft.ActiveDirectory.Management.ADIdentityNotFoundException",
					"Directory object not found")
				return c.Throw(dotnet.NewError(thrown, "odd", dotnet.ObjectNotFound, nil))
			}
		})
	s.Expect(http.StatusOK, http.MethodGet, "/api/ADUser/cplus/Details", nil)
	assert.Equal(t, http.StatusOK, s.Get("/api/DnsCNameRecord/corp.example").Status)
	ready := s.Get("/readyz")
	assert.Equal(t, http.StatusOK, ready.Status, "%s", ready.Body)
	assert.Contains(t, string(ready.Body),
		"The other domain controllers could not be listed: Directory object not found")
	controllers, _ := s.Stack.Servers.Status()
	assert.Equal(t, []string{"dc1.corp.example"}, controllers.Candidates)

	limited := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/readyz", Token: systemtest.ReadToken})
	assert.Equal(t, http.StatusOK, limited.Status)
	assert.NotContains(t, string(limited.Body), "could not be listed", "reasons need ops:read")
}
