package story

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestZonesThatAnswerForOthers: like a forwarder, a zone can divert the names of other owners, so creating a
// zone needs the same rights as creating a forwarder.
func TestZonesThatAnswerForOthers(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	zone := func(name string) systemtest.Call {
		return systemtest.Call{Method: http.MethodPost, Path: "/api/DnsLookupZone/" + name}
	}
	for _, name := range []string{"com", "COM", "microsoft.com", "login.microsoft.com", "example", "corp",
		"bank.de"} {
		for _, dry := range []string{"true", "false"} {
			call := zone(name)
			call.Params = map[string]any{"DryRun": dry}
			a := s.Rejects(call.As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
			assert.Contains(t, a.Envelope.Output, "needs the scope 'privileged'", name)
		}
	}
	for _, name := range []string{"branch.corp.example", "lab.internal", "printers.local", "other.example",
		"a.b.TEST"} {
		s.OK(zone(name).As(systemtest.PlainToken), http.StatusCreated)
	}
	for _, name := range []string{"microsoft.com", "contoso"} {
		s.OK(zone(name), http.StatusCreated)
	}
	s.OK(zone("lab.microsoft.com").As(systemtest.PlainToken), http.StatusCreated)
}
