package odd

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// hostCall returns a call about all records that refer to a host.
func hostCall(method, host, rest string, params map[string]any) systemtest.Call {
	return systemtest.Call{Method: method, Path: "/api/DnsRecord/Host/" + escaped(host) + rest, Params: params}
}

// lines returns each record as one text, without its time stamp.
func lines(a systemtest.Answer) []string {
	all := []string{}
	for _, record := range a.Envelope.Result {
		if record["type"] == "SOA" { // the serial number counts the changes
			continue
		}
		all = append(all, shown(record).String()+" "+systemtest.Text(record["ttl"]))
	}
	return all
}

// TestAHostIsRemovedInOneChange: the dry run lists the records to be removed, exactly these records are
// removed, and one undo restores them. A record that cannot be restored is kept and named. If no call can
// create one of the values, the plan states that there is no undo.
func TestAHostIsRemovedInOneChange(t *testing.T) {
	s := newSystem(t)
	for host, c := range map[string]struct {
		stay int
		back bool
	}{
		"app3.corp.example": {back: true}, "web1.corp.example": {back: true},
		"münchen.odd.example": {}, `two\032words.odd.example`: {}, "odd.example": {stay: 2},
	} {
		t.Run(host, func(t *testing.T) {
			s := s.In(t)
			exists := s.Do(hostCall(http.MethodGet, host, "/Exists", nil))
			require.Equal(t, http.StatusOK, exists.Status, "%s", exists.Body)
			assert.Equal(t, true, exists.Envelope.Result[0]["exists"])
			listed := lines(s.Do(hostCall(http.MethodGet, host, "", nil)))
			before := s.Snapshot()
			dry := s.Do(hostCall(http.MethodDelete, host, "", map[string]any{"DryRun": true}))
			require.Equal(t, http.StatusOK, dry.Status, "%s", dry.Body)
			require.Empty(t, before.Compare(s.Snapshot()))
			assert.Equal(t, len(listed)-c.stay, strings.Count(string(dry.Body), `"kind":"remove"`), "%s", dry.Body)
			gone := s.Do(hostCall(http.MethodDelete, host, "", nil))
			require.Equal(t, http.StatusOK, gone.Status, "%s", gone.Body)
			assert.Len(t, gone.Envelope.Result, len(listed)-c.stay)
			assert.Subset(t, listed, lines(gone))
			assert.GreaterOrEqual(t, len(gone.Envelope.Warnings), c.stay, "%s", gone.Body)
			left := lines(s.Do(hostCall(http.MethodGet, host, "", nil)))
			assert.Len(t, left, c.stay)
			if !c.back { // no call creates these names or values
				assert.Contains(t, string(dry.Body), `"state":"open","reason":null,"undo":"none"`)
				return
			}
			assert.Contains(t, string(dry.Body), `"state":"open","reason":null,"undo":"full"`)
			undone := s.Do(systemtest.UndoOf(gone.Header.Get("X-Change-Id")))
			require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
			assert.Equal(t, listed, lines(s.Do(hostCall(http.MethodGet, host, "", nil))))
		})
	}
	// A caller who is limited to zones removes the records in these zones, and restores them.
	mine := s.Do(hostCall(http.MethodDelete, "app3.corp.example", "", nil).As(systemtest.LimitedToken))
	require.Equal(t, http.StatusOK, mine.Status, "%s", mine.Body)
	assert.Len(t, mine.Envelope.Result, 5, "all but the PTR record")
	undone := s.Do(systemtest.UndoOf(mine.Header.Get("X-Change-Id")).As(systemtest.LimitedToken))
	assert.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
	none := s.Do(hostCall(http.MethodDelete, "nobody.odd.example", "", nil))
	require.Equal(t, http.StatusOK, none.Status, "%s", none.Body)
	assert.Empty(t, none.Envelope.Result)
	exists := s.Do(hostCall(http.MethodGet, "nobody.odd.example", "/Exists", nil))
	assert.Equal(t, false, exists.Envelope.Result[0]["exists"], "%s", exists.Body)
}

// TestTheRemovalOfAHostKeepsGuards: the guards for names, zones and numbers apply to the removal of a host.
func TestTheRemovalOfAHostKeepsGuards(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{}, "limits.bulkDelete=3")
	before := s.Snapshot()
	many := s.Do(hostCall(http.MethodDelete, "app3.corp.example", "", nil))
	assert.Equal(t, http.StatusConflict, many.Status, "%s", many.Body)
	assert.Equal(t, "too_many", many.Envelope.Error.Code)
	assert.Empty(t, before.Compare(s.Snapshot()))
	params := map[string]any{"Type": "A,PTR", "DryRun": true}
	for host, c := range map[string]struct {
		token, code string
	}{
		"dc1.corp.example":           {systemtest.PlainToken, "forbidden"}, // a domain controller
		"wpad.corp.example":          {systemtest.PlainToken, "forbidden"},
		"app3.corp.example":          {systemtest.HostToken, "limit"}, // the limit allows another name only
		"_ldap._tcp.dc.corp.example": {systemtest.PlainToken, "forbidden"},
	} {
		a := s.Do(hostCall(http.MethodDelete, host, "", nil).As(c.token))
		require.NotNil(t, a.Envelope.Error, "%s: %s", host, a.Body)
		assert.Equal(t, c.code, a.Envelope.Error.Code, "%s: %s", host, a.Body)
	}
	gone := systemtest.Call{Method: http.MethodDelete, Path: "/api/DnsRecord/Controller/app3.corp.example"}
	assert.Equal(t, http.StatusForbidden, s.Do(gone.As(systemtest.PlainToken)).Status)
	// An alias that refers to the host has another name, so the limit does not allow its removal.
	alias := systemtest.Call{Method: http.MethodPost, Path: "/api/DnsCNameRecord", Params: map[string]any{
		"ZoneName": "corp.example", "DNS_HostName": "elsewhere", "DNS_HostName_Alias": systemtest.LimitedName,
	}}
	require.Equal(t, http.StatusCreated, s.Do(alias).Status)
	before = s.Snapshot()
	outside := s.Do(hostCall(http.MethodDelete, systemtest.LimitedName, "", nil).As(systemtest.HostToken))
	require.NotNil(t, outside.Envelope.Error, "%s", outside.Body)
	assert.Equal(t, "limit", outside.Envelope.Error.Code, "%s", outside.Body)
	assert.Empty(t, before.Compare(s.Snapshot()))
	// Type selects fewer records than limits.bulkDelete.
	few := s.Do(hostCall(http.MethodDelete, "app3.corp.example", "", params))
	assert.Equal(t, http.StatusOK, few.Status, "%s", few.Body)
	assert.Equal(t, 2, strings.Count(string(few.Body), `"kind":"remove"`), "%s", few.Body)
}

// TestWhatIsLeftOfAController: the records left by a removed controller are removed in one
// change, which one undo reverts. No record of an existing controller is removed.
func TestWhatIsLeftOfAController(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{})
	const zone, msdcs, gone = "corp.example", "_msdcs.corp.example", "dc9.corp.example"
	post := func(path string, params map[string]any) {
		a := s.Do(systemtest.Call{Method: http.MethodPost, Path: path, Params: params})
		require.Equal(t, http.StatusCreated, a.Status, "%s %s", path, a.Body)
	}
	address := func(zone, name, ip string) {
		post("/api/DnsARecord", map[string]any{"ZoneName": zone, "DNS_HostName": name, "IP_Address": ip})
	}
	const ip = "10.0.0.19"
	address(zone, "dc9", ip)
	address(zone, "dc9", "10.0.0.10") // also an address of dc1
	address(zone, "@", ip)
	address(zone, "DomainDnsZones", ip)
	address(msdcs, "gc", ip)
	post("/api/DnsPtrRecord", map[string]any{"IP_Address": ip, "DNS_TargetName": gone})
	post("/api/DnsCNameRecord", map[string]any{
		"ZoneName": msdcs, "DNS_HostName": "5f0e2a44-7d1c-4be0-9a3d-0c1f6f1b9a01", "DNS_HostName_Alias": gone,
	})
	for _, name := range []string{"_ldap._tcp", "_kerberos._tcp.Default-First-Site-Name._sites"} {
		post("/api/DnsSrvRecord", map[string]any{
			"ZoneName": zone, "DNS_HostName": name, "DNS_TargetName": gone, "Port": 389, "Weight": 100,
		})
	}
	for _, of := range []string{zone, msdcs, "10.in-addr.arpa"} {
		post("/api/DnsNameServer", map[string]any{"ZoneName": of, "NameServer": gone})
	}
	const left = 12
	path := "/api/DnsRecord/Controller/"
	before := s.Snapshot()
	for host, code := range map[string]string{
		"dc1.corp.example": "protected", "DC2.corp.example.": "protected", "dc9.sub.corp.example": "unprocessable",
	} {
		a := s.Do(systemtest.Call{Method: http.MethodDelete, Path: path + host})
		require.NotNil(t, a.Envelope.Error, "%s: %s", host, a.Body)
		assert.Equal(t, code, string(a.Envelope.Error.Code), "%s: %s", host, a.Body)
	}
	call := systemtest.Call{Method: http.MethodDelete, Path: path + gone, Params: map[string]any{"DryRun": true}}
	dry := s.Do(call)
	require.Equal(t, http.StatusOK, dry.Status, "%s", dry.Body)
	assert.Equal(t, left, strings.Count(string(dry.Body), `"kind":"remove"`), "%s", dry.Body)
	assert.Contains(t, string(dry.Body), `"state":"open","reason":null,"undo":"full"`)
	require.Empty(t, before.Compare(s.Snapshot()))
	call.Params = nil
	a := s.Do(call)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Len(t, a.Envelope.Result, left)
	for _, record := range a.Envelope.Result {
		text := shown(record).String()
		assert.True(t, strings.Contains(text, "dc9") || strings.Contains(text, ip), "%s", text)
	}
	exists := s.Do(hostCall(http.MethodGet, gone, "/Exists", nil))
	assert.Equal(t, false, exists.Envelope.Result[0]["exists"], "%s", exists.Body)
	undone := s.Do(systemtest.UndoOf(a.Header.Get("X-Change-Id")))
	require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
	call.Params = map[string]any{"DryRun": true}
	again := s.Do(call)
	assert.Equal(t, left, strings.Count(string(again.Body), `"kind":"remove"`), "%s", again.Body)
	for _, server := range []string{"dc9", "dc2", "dc1"} {
		params := map[string]any{"ZoneName": zone, "NameServer": server + ".corp.example"}
		a := s.Do(systemtest.Call{Method: http.MethodDelete, Path: "/api/DnsNameServer", Params: params})
		if server != "dc1" {
			assert.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			continue
		}
		require.Equal(t, http.StatusConflict, a.Status, "the last one: %s", a.Body)
		assert.Equal(t, "protected", string(a.Envelope.Error.Code))
	}
}
