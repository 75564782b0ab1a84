package odd

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestStaleAccounts compares each account in the list with its known state, and checks every exclusion.
func TestStaleAccounts(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{})
	list := func(path string, params map[string]any) map[string]map[string]any {
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: path, Params: params})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		found := map[string]map[string]any{}
		for _, record := range a.Envelope.Result {
			found[systemtest.Text(record["distinguishedName"])] = record
		}
		return found
	}
	const days = 60
	since := time.Now().AddDate(0, 0, -days)
	for path, all := range map[string]string{
		"/api/Computers/Stale": "/api/Computers/All", "/api/ADUser/ListUsers/Stale": "",
	} {
		stale := list(path, map[string]any{"Days": days})
		require.NotEmpty(t, stale, path)
		reasons := map[any]int{}
		for dn, record := range stale {
			at, err := time.Parse(time.RFC3339, systemtest.Text(record["since"]))
			require.NoError(t, err, dn)
			assert.False(t, at.After(since), "%s: %s", dn, at)
			reasons[record["reason"]]++
		}
		t.Logf("%s: %v", path, reasons)
		if all == "" {
			continue
		}
		expected := 0
		for dn, record := range list(all, nil) {
			last, created := systemtest.Text(record["lastLogon"]), systemtest.Text(record["created"])
			text := last
			if record["lastLogon"] == nil {
				text = created
			}
			at, err := time.Parse(time.RFC3339, text)
			require.NoError(t, err, dn)
			if !at.After(since) && stale[dn] == nil {
				assert.Contains(t, systemtest.Text(record["distinguishedName"]),
					"Domain Controllers", "%s is missing", dn)
			}
			if stale[dn] != nil {
				expected++
			}
		}
		assert.Len(t, stale, expected)
	}
	whole := list("/api/Computers/Stale", map[string]any{"Days": 15})
	inOU := list("/api/Computers/Stale", map[string]any{"Days": 15, "OUPath": systemtest.ServersOU})
	without := list("/api/Computers/Stale", map[string]any{"Days": 15, "ExcludeOU": systemtest.ServersOU})
	assert.Len(t, without, len(whole)-len(inOU), "by OU")
	members := list("/api/Computers/Stale", map[string]any{"Days": 15, "ExcludeGroup": "Domain Computers"})
	assert.Empty(t, members, "by primary group")
	for _, record := range list("/api/Computers/Stale", map[string]any{"Days": 15, "ExcludeName": "*1,*2"}) {
		assert.NotRegexp(t, "[12]$", record["name"])
	}
	for _, few := range []int{0, 14} {
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Computers/Stale",
			Params: map[string]any{"Days": few}})
		assert.Equal(t, http.StatusBadRequest, a.Status)
		assert.Contains(t, a.Envelope.Output, "LastLogon")
	}
}

// TestAllThatNamesAHost: the answer has the records of the name and the records that refer
// to it, in all zones.
func TestAllThatNamesAHost(t *testing.T) {
	s := newSystem(t)
	for name, want := range map[string][]string{
		"web1.corp.example":        {"A", "AAAA", "CNAME", "PTR"},
		"münchen.odd.example":      {"A", "TXT", "CNAME", "MX", "PTR"},
		"MÜNCHEN.odd.example.":     {"A", "TXT", "CNAME", "MX", "PTR"},
		`two\032words.odd.example`: {"A", "SRV"},
		"nobody.odd.example":       {},
	} {
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsRecord/Host/" + escaped(name)})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		kinds := map[string]bool{}
		for _, record := range a.Envelope.Result {
			kinds[systemtest.Text(record["type"])] = true
		}
		for _, kind := range want {
			assert.True(t, kinds[kind], "%s %s: %s", name, kind, a.Body)
		}
		assert.Len(t, kinds, len(want), "%s: %s", name, a.Body)
	}
	a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsRecord/Host/web1"})
	assert.Equal(t, http.StatusBadRequest, a.Status)
	for before, want := range map[string]int{"2026-10-05T14:00:00Z": 0, "2026-10-05T14:00:01Z": 1} {
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsRecord/odd.example",
			Params: map[string]any{"StampedBefore": before}})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.Len(t, a.Envelope.Result, want, before)
	}
}
