package story_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// A credential that is limited to names can change only records with these names, but can read
// all records. Its changes do not reveal which other names exist.
func TestChangesInDNSStayWithinTheNamesOfACredential(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{})
	const token = systemtest.HostToken
	record := func(method, name string) systemtest.Answer {
		return s.Do(systemtest.Call{Method: method, Path: "/api/DnsCNameRecord", Token: token,
			Params: map[string]any{"DNS_HostName": name, "DNS_HostName_Alias": "web1.corp.example",
				"ZoneName": "corp.example"}})
	}
	for _, name := range []string{"host", "HOST.corp.example", "a.b.host", "_acme-challenge.host",
		"a.host.corp.example."} {
		a := record(http.MethodPost, name)
		require.Equal(t, http.StatusCreated, a.Status, "%s: %s", name, a.Body)
		require.Equal(t, http.StatusOK, record(http.MethodDelete, name).Status, name)
	}
	for _, name := range []string{"www", "ghost", "absent", "@", "_acme-challenge", "host.other.example."} {
		for _, method := range []string{http.MethodPost, http.MethodDelete} {
			a := record(method, name)
			require.Equal(t, http.StatusForbidden, a.Status, "%s %s: %s", method, name, a.Body)
			assert.Equal(t, "limit", a.Envelope.Error.Code)
			assert.Contains(t, a.Envelope.Output, "limited to the name 'host.corp.example'")
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		a := s.Do(systemtest.Call{Method: method, Path: "/api/DnsReverseLookupZone/172.16.0.0/16", Token: token})
		assert.Equal(t, http.StatusForbidden, a.Status, "%s of a zone: %s", method, a.Body)
	}
	a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsCNameRecord/corp.example", Token: token})
	assert.Equal(t, http.StatusOK, a.Status)
	assert.NotEmpty(t, a.Envelope.Result)
}
