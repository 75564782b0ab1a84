package story

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestASetDropsADynamicValue: removing a dynamic value from a set does not make the others static.
func TestASetDropsADynamicValue(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dyn.example.dns")
	text := "@ IN SOA ns.dyn.example. admin.dyn.example. 1 900 600 86400 3600\n@ NS dc1.corp.example.\n" +
		"host [AGE:3700000] A 10.0.0.1\nhost [AGE:3700000] A 10.0.0.2\n" +
		"times [AGE:3700000] 300 A 10.1.0.1\ntimes [AGE:3700000] 600 A 10.1.0.2\n" +
		"times [AGE:3700000] 900 A 10.1.0.3\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	s := systemtest.New(t, sandbox.Options{Seed: 1, Zones: []string{file}})
	set := func(host string, values ...any) systemtest.Call {
		return systemtest.Call{Method: http.MethodPut, Path: "/api/DnsRecordSet", Params: map[string]any{
			"ZoneName": "dyn.example", "DNS_HostName": host, "Type": "A", "Data": values}}
	}
	left := s.OK(set("host", "10.0.0.1"), http.StatusOK)
	require.Equal(t, []any{"10.0.0.1"}, left["data"])

	// The same applies if a value has another time to live than the other values and the removed one.
	left = s.OK(set("times", "10.1.0.2", "10.1.0.3"), http.StatusOK)
	require.Equal(t, []any{"10.1.0.2", "10.1.0.3"}, left["data"])
	asked := set("times", "10.1.0.2", "10.1.0.3")
	asked.Params["TimeToLive"] = 700
	s.Rejects(asked, http.StatusConflict, "conflict")
	s.OK(set("times", "10.1.0.3"), http.StatusOK)
}
