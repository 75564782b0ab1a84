package story_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/zones"
	"adgateway/ps/sandbox/zones/zonestest"
	"adgateway/test/systemtest"
)

// fieldZone contains names that end with its own name.
const fieldZone = `; adgateway: zone=field.example scope=Domain dynamic=Secure
$ORIGIN field.example.
$TTL 3600
@                     IN SOA dc1.corp.example. hostmaster.corp.example. 5 900 600 86400 3600
@                     IN NS  dc1.corp.example.
test                  IN TXT "short"
test                  IN A   10.1.0.1
test.field.example    IN TXT "nested"
test.field.example    IN A   10.1.0.2
only.field.example    IN TXT "alone"
both                  IN TXT "same"
both.field.example 60 IN TXT "same"
sub                   IN NS  ns1.sub.field.example.
ns1.sub               IN A   10.1.0.3
sub.field.example     IN NS  ns1.other.example.
`

// fieldWorld returns a world with the zone field.example, whose servers read names that end with the name of
// their zone in the given way.
func fieldWorld(t *testing.T, way zones.Reading) sandbox.Options {
	t.Helper()
	file := filepath.Join(t.TempDir(), "field.example.zone")
	require.NoError(t, os.WriteFile(file, []byte(fieldZone), 0o600))
	return sandbox.Options{Zones: []string{file}, Reads: func(zones.Op) zones.Reading { return way }}
}

// readings are the ways in which a server may read a name that ends with the name of its zone.
var readings = map[string]zones.Reading{"strips": zones.Strips, "nests": zones.Nests,
	"refuses": zones.Refuses}

// since returns the difference to an earlier state of the DNS servers.
func since(s *systemtest.System, before zonestest.Snapshot) []string {
	return zonestest.Compare(before, zonestest.Take(s.World.DNS))
}

// A doubled name of a domain controller does not circumvent the guard of its records.
func TestADoubledNameOfAControllerIsGuarded(t *testing.T) {
	for name, way := range readings {
		t.Run(name, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Reads: func(zones.Op) zones.Reading { return way }})
			before := zonestest.Take(s.World.DNS)
			set := func(owner string) map[string]any {
				return map[string]any{"ZoneName": "corp.example", "DNS_HostName": owner, "Type": "A"}
			}
			record := func(owner, address string) map[string]any {
				return map[string]any{"ZoneName": "corp.example", "DNS_HostName": owner, "IP_Address": address}
			}
			for _, owner := range []string{"dc1", "dc1.corp.example", "dc1.corp.example.corp.example",
				"DC1.corp.example.CORP.example.corp.example."} {
				more := set(owner)
				more["Data"] = "6.6.6.6"
				for _, c := range []systemtest.Call{
					{Method: http.MethodPost, Path: "/api/DnsARecord", Params: record(owner, "6.6.6.6")},
					{Method: http.MethodDelete, Path: "/api/DnsARecord", Params: record(owner, "10.0.0.10")},
					{Method: http.MethodPut, Path: "/api/DnsRecordSet", Params: more},
					{Method: http.MethodDelete, Path: "/api/DnsRecordSet", Params: set(owner)},
				} {
					c.Token = systemtest.PlainToken
					a := s.Do(c)
					assert.Equal(t, http.StatusForbidden, a.Status, "%s %s %s: %s", c.Method, c.Path, owner, a.Body)
				}
			}
			assert.Empty(t, since(s, before))
		})
	}
}

// A removal removes exactly the named record, even if its name ends with the name of the zone.
// Each record can be named as lists show it, and a name that could mean two records is refused.
func TestARemovalTakesTheVeryRecordThatWasNamed(t *testing.T) {
	for name, way := range readings {
		t.Run(name, func(t *testing.T) {
			s := systemtest.New(t, fieldWorld(t, way))
			before := zonestest.Take(s.World.DNS)
			remove := func(owner string) systemtest.Answer {
				return s.Do(systemtest.Call{Method: http.MethodDelete, Path: "/api/DnsRecordSet",
					Params: map[string]any{"ZoneName": "field.example", "DNS_HostName": owner, "Type": "TXT"}})
			}
			a := remove("test.field.example")
			assert.Equal(t, http.StatusConflict, a.Status, "%s", a.Body)
			if assert.NotNil(t, a.Envelope.Error) {
				assert.Equal(t, "ambiguous", a.Envelope.Error.Code)
				assert.Contains(t, a.Envelope.Output, "'test.field.example.field.example.'")
			}
			require.Empty(t, since(s, before))

			a = s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsTxtRecord/field.example"})
			require.Equal(t, http.StatusOK, a.Status)
			names := map[string]string{}
			for _, record := range a.Envelope.Result {
				// if two have the same text, the second one
				names[systemtest.Text(record["data"])] = systemtest.Text(record["name"])
			}
			require.Equal(t, map[string]string{"short": "test", "nested": "test.field.example.field.example.",
				"alone": "only.field.example.field.example.", "same": "both.field.example.field.example."}, names)
			assert.Equal(t, http.StatusConflict, remove("only.field.example").Status)
			assert.Equal(t, http.StatusNotFound, remove("only.field.example.").Status)
			a = remove(names["nested"])
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			assert.Equal(t, []string{`- field.example: test.field.example.field.example. 3600 IN TXT "nested"`}, since(s, before))
			a = remove("only.field.example.field.example")
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			a = remove(names["short"])
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			assert.Len(t, since(s, before), 3)
		})
	}
}

// A delegation can be removed by its name in the list. No delegation can be created at a doubled name.
func TestADelegationOfADoubledName(t *testing.T) {
	for name, way := range readings {
		t.Run(name, func(t *testing.T) {
			s := systemtest.New(t, fieldWorld(t, way))
			before := zonestest.Take(s.World.DNS)
			a := s.Get("/api/DnsDelegation/field.example")
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			require.Len(t, a.Envelope.Result, 2)
			assert.Equal(t, "sub", a.Envelope.Result[0]["childName"])
			listed := a.Envelope.Result[1]["childName"]
			assert.Equal(t, "sub.field.example.field.example.", listed)
			call := func(method string, child any) systemtest.Answer {
				params := map[string]any{"ZoneName": "field.example", "ChildName": child}
				if method == http.MethodPost {
					params["NameServer"], params["IP_Address"] = "ns2.other.example", "10.1.0.9"
				}
				return s.Do(systemtest.Call{Method: method, Path: "/api/DnsDelegation", Params: params})
			}
			a = call(http.MethodPost, "new.field.example.field.example")
			assert.Equal(t, http.StatusUnprocessableEntity, a.Status, "%s", a.Body)
			a = call(http.MethodDelete, "sub.field.example")
			assert.Equal(t, http.StatusConflict, a.Status, "%s", a.Body)
			require.Empty(t, since(s, before))
			a = call(http.MethodDelete, listed)
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			assert.Equal(t, []string{"- field.example: sub.field.example.field.example. 3600 IN NS " +
				"ns1.other.example."}, since(s, before))
		})
	}
}

// If a server makes a change at a name other than the one sent, the change is undone.
func TestAChangeAtAnotherNameIsTakenBack(t *testing.T) {
	world := fieldWorld(t, zones.Strips)
	misread := zones.OpConnect
	world.Reads = func(op zones.Op) zones.Reading {
		if op == misread {
			return zones.Repeats
		}
		return zones.Strips
	}
	s := systemtest.New(t, world)
	before := zonestest.Take(s.World.DNS)
	record := func(owner, text string) map[string]any {
		return map[string]any{"ZoneName": "field.example", "DNS_HostName": owner, "Text": text}
	}
	set := func(owner string, data ...string) map[string]any {
		given := map[string]any{"ZoneName": "field.example", "DNS_HostName": owner, "Type": "TXT"}
		if len(data) > 0 {
			given["Data"] = data
		}
		return given
	}
	changed := record("both.field.example.field.example.", "same")
	changed["TimeToLive"] = 3600
	const records, sets, delegations = "/api/DnsTxtRecord", "/api/DnsRecordSet", "/api/DnsDelegation"
	for _, c := range []struct {
		op   zones.Op
		call systemtest.Call
	}{
		{zones.OpCreateRecord, systemtest.Call{Method: http.MethodPost, Path: records, Params: record("new.field.example.field.example.", "new")}},
		{zones.OpCreateRecord, systemtest.Call{Method: http.MethodPut, Path: sets, Params: set("new.field.example.field.example.", "one", "two")}},
		{zones.OpSetRecord, systemtest.Call{Method: http.MethodPut, Path: records, Params: changed}},
		{zones.OpRemoveRecord, systemtest.Call{Method: http.MethodDelete, Path: records, Params: record("both.field.example.field.example.", "same")}},
		{zones.OpRemoveRecord, systemtest.Call{Method: http.MethodDelete, Path: sets, Params: set("both.field.example.field.example.")}},
		{zones.OpRemoveDelegation, systemtest.Call{Method: http.MethodDelete, Path: delegations,
			Params: map[string]any{"ZoneName": "field.example", "ChildName": "sub.field.example.field.example."}}},
	} {
		misread = c.op
		a := s.Do(c.call)
		assert.Equal(t, http.StatusUnprocessableEntity, a.Status, "%s %s: %s", c.call.Method, c.call.Path, a.Body)
		if assert.NotNil(t, a.Envelope.Error, "%s", a.Body) {
			assert.Equal(t, "unprocessable", a.Envelope.Error.Code)
			assert.Equal(t, "none", a.Envelope.Error.Outcome, "%s", a.Body)
			assert.Regexp(t, `took the name '(\w+)\.field\.example\.field\.example\.' for '\w+\.field\.example\.'`, a.Envelope.Output)
		}
		misread = zones.OpConnect
		assert.Empty(t, since(s, before), "%s %s", c.call.Method, c.call.Path)
	}
}
