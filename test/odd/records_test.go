package odd

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// oddZones are the zones with odd records.
func oddZones(t testing.TB) []string {
	files, err := filepath.Glob(filepath.FromSlash("../../ps/sandbox/testdata/odd/*.zone"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// shown is a record as lists show it.
type shown map[string]any

func (r shown) text(field string) string { return systemtest.Text(r[field]) }

// set returns the parameters that identify the record's set.
func (r shown) set() map[string]any {
	return map[string]any{"ZoneName": r["zone"], "DNS_HostName": r["name"], "Type": r["type"]}
}

func (r shown) String() string {
	return fmt.Sprintf("%s %s %q in %s", r.text("name"), r.text("type"), r.text("data"), r.text("zone"))
}

// oddRecords lists the records of all zones of this test.
func oddRecords(s *systemtest.System) []shown {
	s.T.Helper()
	zones := s.Get("/api/DnsZones/All")
	require.Equal(s.T, http.StatusOK, zones.Status, "%s", zones.Body)
	var all []shown
	for _, zone := range zones.Envelope.Result {
		name := systemtest.Text(zone["zoneName"])
		if zone["zoneType"] != "Primary" || !odd(name) {
			continue
		}
		a := s.Get("/api/DnsRecord/" + url.PathEscape(name))
		require.Equal(s.T, http.StatusOK, a.Status, "%s: %s", name, a.Body)
		require.Empty(s.T, a.Envelope.Warnings)
		for _, record := range a.Envelope.Result {
			all = append(all, shown(record))
		}
	}
	return all
}

func odd(zone string) bool {
	for _, name := range []string{
		"odd.example", "intranet", "münchen.example", "8.10.in-addr.arpa", "8.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
	} {
		if zone == name {
			return true
		}
	}
	return false
}

func newSystem(t testing.TB) *systemtest.System {
	return systemtest.New(t, sandbox.Options{Zones: oddZones(t)})
}

// setsOf groups records by name and type.
func setsOf(records []shown) (keys []string, sets map[string][]shown) {
	sets = map[string][]shown{}
	for _, r := range records {
		key := r.text("zone") + " " + r.text("name") + " " + r.text("type")
		if sets[key] == nil {
			keys = append(keys, key)
		}
		sets[key] = append(sets[key], r)
	}
	return keys, sets
}

// TestEveryListedRecordIsReadByItsName: every record in a list can be read by its name.
// Writing a record back as shown changes nothing.
func TestEveryListedRecordIsReadByItsName(t *testing.T) {
	s := newSystem(t)
	records := oddRecords(s)
	keys, sets := setsOf(records)
	require.GreaterOrEqual(t, len(keys), 60, "sets")
	before := s.Snapshot()
	for _, key := range keys {
		var data []any
		for _, r := range sets[key] {
			assert.NotEqual(t, "UNKNOWN", r["type"], "%s", r)
			data = append(data, r["data"])
		}
		first := sets[key][0]
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsRecordSet", Params: first.set()})
		if assert.Equal(t, http.StatusOK, a.Status, "%s: %s", first, a.Body) {
			assert.ElementsMatch(t, data, a.Envelope.Result[0]["data"], "%s", first)
		}
		whole := first.set()
		whole["Data"] = data
		a = s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/DnsRecordSet", Params: whole})
		if assert.Equal(t, http.StatusOK, a.Status, "%s: %s", first, a.Body) {
			assert.Contains(t, a.Envelope.Output, "nothing was changed", "%s", first)
		}
		zone := url.PathEscape(first.text("zone"))
		a = s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsRecord/" + zone,
			Params: map[string]any{"DNS_HostName": first["name"], "Type": first["type"]}})
		if assert.Equal(t, http.StatusOK, a.Status, "%s: %s", first, a.Body) {
			assert.Len(t, a.Envelope.Result, len(data), "%s", first)
		}
	}
	for _, r := range records {
		readAlone(s, r)
	}
	assert.Equal(t, before, s.Snapshot())
}

// readAlone reads a record with the operation for its type, if there is one.
func readAlone(s *systemtest.System, r shown) {
	kind := schema.RecordTypeNamed(r.text("type"))
	if kind == nil || kind.Resource == "" || r["data"] == "" { // an empty value cannot be passed
		return
	}
	given := map[string]any{"ZoneName": r["zone"], "DNS_HostName": r["name"]}
	fields, problem := kind.Listed(r.text("data"))
	if !assert.Nil(s.T, problem, "%s", r) {
		return
	}
	for i, f := range kind.Fields {
		given[f.Name] = fields[i]
	}
	a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/" + kind.Path, Params: given})
	if assert.Equal(s.T, http.StatusOK, a.Status, "%s: %s", r, a.Body) {
		assert.Equal(s.T, r["data"], a.Envelope.Result[0]["data"], "%s", r)
	}
}

// unchangeable contains the sets that the module cannot change because it shows only a part of them. They
// have texts of several strings, or texts longer than the module can write.
var unchangeable = map[string]bool{"several": true, "beside": true, "long": true}

// TestEveryListedSetIsChanged changes the time to live of each set, and changes it back. A
// set that cannot be written is refused with its name and a way to write it.
func TestEveryListedSetIsChanged(t *testing.T) {
	s := newSystem(t)
	keys, sets := setsOf(oddRecords(s))
	changed, refused := 0, 0
	for _, key := range keys {
		first := sets[key][0]
		var data []any
		ttl := first["ttl"]
		for _, r := range sets[key] {
			data = append(data, r["data"])
		}
		give := func(ttl any) systemtest.Answer {
			whole := first.set()
			whole["Data"], whole["TimeToLive"], whole["MakeStatic"] = data, ttl, true
			return s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/DnsRecordSet", Params: whole})
		}
		kind := schema.RecordTypeNamed(first.text("type"))
		a := give(4711)
		switch {
		case kind == nil || kind.Resource == "":
			assert.Equal(t, http.StatusUnprocessableEntity, a.Status, "%s: %s", first, a.Body)
			assert.Contains(t, a.Envelope.Output, schema.HowToWrite(first.text("type")), "%s", first)
			refused++
		case unchangeable[first.text("name")]:
			assert.Equal(t, http.StatusConflict, a.Status, "%s: %s", first, a.Body)
			refused++
		case first["name"] == "ns1.child": // glue of a delegation
			assert.Equal(t, http.StatusConflict, a.Status, "%s: %s", first, a.Body)
			refused++
		default:
			if assert.Equal(t, http.StatusOK, a.Status, "%s: %s", first, a.Body) {
				assert.EqualValues(t, 4711, a.Envelope.Result[0]["ttl"], "%s", first)
			}
			a = give(ttl)
			assert.Equal(t, http.StatusOK, a.Status, "%s: %s", first, a.Body)
			changed++
		}
	}
	t.Logf("%d sets changed, %d refused", changed, refused)
	assert.GreaterOrEqual(t, changed, 60)
}

// TestEveryListedSetIsRemovedByItsOwnText: every set in a list can be removed by its text in the list, and
// nothing else is removed.
func TestEveryListedSetIsRemovedByItsOwnText(t *testing.T) {
	s := newSystem(t)
	keys, sets := setsOf(oddRecords(s))
	left, removed := len(keys), 0
	for _, key := range keys {
		first := sets[key][0]
		a := s.Do(systemtest.Call{Method: http.MethodDelete, Path: "/api/DnsRecordSet", Params: first.set()})
		if first["type"] == "SOA" || first["type"] == "NS" {
			assert.Equal(t, http.StatusConflict, a.Status, "%s: %s", first, a.Body)
			continue
		}
		if assert.Equal(t, http.StatusOK, a.Status, "%s: %s", first, a.Body) {
			left, removed = left-1, removed+1
		}
		now, _ := setsOf(oddRecords(s))
		require.Len(t, now, left, "%s", first)
		require.NotContains(t, now, key)
	}
	t.Logf("%d of %d sets removed", removed, len(keys))
	assert.GreaterOrEqual(t, removed, 60)
}

// TestNewRecordsObeyStricterRules: new records must obey stricter rules than existing ones.
func TestNewRecordsObeyStricterRules(t *testing.T) {
	s := newSystem(t)
	before := s.Snapshot()
	for _, c := range []struct {
		zone, name, kind, data, says string
	}{
		{"odd.example", "köln", "A", "10.8.9.1", "punycode"},
		{"odd.example", `new\.dot`, "A", "10.8.9.1", "letters, digits"},
		{"odd.example", "10.8.0.99", "A", "10.8.9.1", "not an address"},
		{"8.10.in-addr.arpa", "300.2", "PTR", "x.odd.example", "octet"},
		{"odd.example", "under_score", "TXT", "", "must not be empty"},
		{"odd.example", "@", "MX", "10 köln.odd.example", "punycode"},
		{"odd.example", "below.dname", "A", "10.8.9.1", "DNAME"},
		{"odd.example", "child", "NAPTR", "x", "dnscmd"},
		{"odd.example", "x", "TYPE65", "x", "-RecordData"},
	} {
		a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/DnsRecordSet", Params: map[string]any{
			"ZoneName": c.zone, "DNS_HostName": c.name, "Type": c.kind, "Data": []any{c.data}}})
		refused := []int{http.StatusUnprocessableEntity, http.StatusConflict}
		assert.Contains(t, refused, a.Status, "%v: %s", c, a.Body)
		assert.Contains(t, a.Envelope.Output, c.says, "%v", c)
	}
	assert.Equal(t, before, s.Snapshot())
}

func escaped(name string) string { return url.PathEscape(name) }
