package protocols_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

const (
	webhook = "/api/ExternalDns"
	media   = "application/external.dns.webhook+json;version=1"
)

// set is a record set as ExternalDNS writes it.
type set struct {
	DNSName          string            `json:"dnsName"`
	Targets          []string          `json:"targets"`
	RecordType       string            `json:"recordType"`
	SetIdentifier    string            `json:"setIdentifier,omitempty"`
	RecordTTL        int64             `json:"recordTTL,omitempty"`
	Labels           map[string]string `json:"labels,omitempty"`
	ProviderSpecific []any             `json:"providerSpecific,omitempty"`
}

func ask(s *systemtest.System, user, path string) systemtest.Answer {
	s.T.Helper()
	return send(s, user, http.MethodGet, webhook+path, "", "Accept", media)
}

func tell(s *systemtest.System, user, path string, body any) systemtest.Answer {
	s.T.Helper()
	text, isText := body.(string)
	if !isText {
		encoded, err := json.Marshal(body)
		require.NoError(s.T, err)
		text = string(encoded)
	}
	return send(s, user, http.MethodPost, webhook+path, text, "Content-Type", media, "Accept", media)
}

// applied sends changes that must succeed.
func applied(s *systemtest.System, user string, changes map[string][]set) {
	s.T.Helper()
	a := tell(s, user, "/records", changes)
	require.Equal(s.T, http.StatusNoContent, a.Status, "%s", a.Body)
	require.Empty(s.T, a.Body)
}

// sets returns the record sets in the credential's zones by name and type.
func sets(s *systemtest.System, user string) map[string]set {
	s.T.Helper()
	a := ask(s, user, "/records")
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	require.Equal(s.T, media, a.Header.Get("Content-Type"))
	var all []set
	require.NoError(s.T, json.Unmarshal(a.Body, &all))
	found := map[string]set{}
	for _, one := range all {
		found[one.DNSName+" "+one.RecordType] = one
	}
	require.Len(s.T, found, len(all), "one of each name and type")
	return found
}

func TestNegotiationWithExternalDNS(t *testing.T) {
	s := systemtest.NewForDNS(t)
	a := ask(s, systemtest.ClusterUser, "")
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Equal(t, []string{media}, a.Header["Content-Type"], "compared as a text")
	assert.JSONEq(t, `{"include":["corp.example"]}`, string(a.Body))
	for _, accept := range []string{"", "*/*", "application/*", "text/html, " + media,
		strings.ReplaceAll(media, ";", "; ")} {
		assert.Equal(t, http.StatusOK,
			send(s, systemtest.ClusterUser, http.MethodGet, webhook, "", "Accept", accept).Status, accept)
	}
	for _, accept := range []string{"text/html", "application/json", strings.Replace(media, "=1", "=2", 1)} {
		refused := send(s, systemtest.ClusterUser, http.MethodGet, webhook, "", "Accept", accept)
		require.Equal(t, http.StatusNotAcceptable, refused.Status, accept)
		assert.Equal(t, "not_acceptable", refused.Envelope.Error.Code)
	}
	for _, path := range []string{"", "/records"} {
		whole := ask(s, systemtest.EveryUser, path)
		require.Equal(t, http.StatusForbidden, whole.Status)
		assert.Equal(t, "limit", whole.Envelope.Error.Code, "a whole estate is not offered")
		assert.Equal(t, http.StatusForbidden, ask(s, systemtest.AcmeUser, path).Status)
		assert.Equal(t, http.StatusUnauthorized, ask(s, "", path).Status)
	}
}

// Sets of every type are written and then shown as written.
func TestRecordSetsOfExternalDNS(t *testing.T) {
	s := systemtest.NewForDNS(t)
	wanted := []set{
		{DNSName: "e.corp.example", RecordType: "A", RecordTTL: 300, Targets: []string{"10.0.9.1", "10.0.9.2"}},
		{DNSName: "e.corp.example", RecordType: "AAAA", RecordTTL: 300, Targets: []string{"2001:db8::9"}},
		{DNSName: "e.corp.example", RecordType: "MX", RecordTTL: 300, Targets: []string{"10 mail.corp.example", "20 relay.corp.example"}},
		{DNSName: "e.corp.example", RecordType: "TXT", RecordTTL: 300, Targets: []string{"heritage=external-dns,external-dns/owner=x", "Another Text"}},
		{DNSName: "_sip._udp.e.corp.example", RecordType: "SRV", RecordTTL: 300, Targets: []string{"0 5 5060 e.corp.example."}},
		{DNSName: "alias.e.corp.example", RecordType: "CNAME", RecordTTL: 300, Targets: []string{"e.corp.example"}},
	}
	sent := slices.Clone(wanted)
	sent[1].Targets = []string{"2001:0db8:0:0::9"}
	sent[3].Targets = []string{"Another Text", `"heritage=external-dns,external-dns/owner=x"`}
	sent[5] = set{DNSName: "Alias.E.corp.example.", RecordType: "cname", RecordTTL: 300,
		Targets: []string{"E.Corp.example."}}
	before := sets(s, systemtest.ClusterUser)
	for range 2 { // the second call finds all sets
		applied(s, systemtest.ClusterUser, map[string][]set{"create": sent})
		found := sets(s, systemtest.ClusterUser)
		for _, one := range wanted {
			assert.Equal(t, one, found[one.DNSName+" "+one.RecordType])
		}
	}
	for range 2 {
		applied(s, systemtest.ClusterUser, map[string][]set{"delete": sent})
		assert.Equal(t, before, sets(s, systemtest.ClusterUser))
	}
	assert.NotContains(t, before, "corp.example NS", "of the zone itself")
	assert.NotContains(t, before, "corp.example SOA")
	assert.Contains(t, before, "corp.example A")
}

// Values that ExternalDNS does not name belong to others and are kept.
func TestForeignValuesSurviveExternalDNS(t *testing.T) {
	s := systemtest.NewForDNS(t)
	foreign := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/DnsARecord",
		Params: map[string]any{"DNS_HostName": "both", "IP_Address": "10.0.9.99", "ZoneName": "corp.example",
			"TimeToLive": "300"}})
	require.Equal(t, http.StatusCreated, foreign.Status, "%s", foreign.Body)
	one := func(ttl int64, targets ...string) []set {
		return []set{{DNSName: "both.corp.example", RecordType: "A", RecordTTL: ttl, Targets: targets}}
	}
	applied(s, systemtest.ClusterUser, map[string][]set{"create": one(300, "10.0.9.1", "10.0.9.2")})
	applied(s, systemtest.ClusterUser,
		map[string][]set{"updateOld": one(300, "10.0.9.1", "10.0.9.2"),
			"updateNew": one(600, "10.0.9.2", "10.0.9.3")})
	assert.Equal(t, set{DNSName: "both.corp.example", RecordType: "A", RecordTTL: 300,
		Targets: []string{"10.0.9.2", "10.0.9.3", "10.0.9.99"}},
		sets(s, systemtest.ClusterUser)["both.corp.example A"],
		"the lowest time to live is that of the foreign one")
	applied(s, systemtest.ClusterUser, map[string][]set{"delete": one(600, "10.0.9.2", "10.0.9.3")})
	assert.Equal(t, []string{"10.0.9.99"}, sets(s, systemtest.ClusterUser)["both.corp.example A"].Targets)
}

// An alias changes in place. A name can change its type, because removals are made first.
func TestUpdatesOfExternalDNS(t *testing.T) {
	s := systemtest.NewForDNS(t)
	alias := func(target string, ttl int64) set {
		return set{DNSName: "x.corp.example", RecordType: "CNAME", RecordTTL: ttl, Targets: []string{target}}
	}
	address := set{DNSName: "x.corp.example", RecordType: "A", RecordTTL: 60, Targets: []string{"10.0.9.7"}}
	applied(s, systemtest.ClusterUser, map[string][]set{"create": {alias("a.corp.example", 60)}})
	applied(s, systemtest.ClusterUser,
		map[string][]set{"updateOld": {alias("a.corp.example", 60)}, "updateNew": {alias("b.corp.example", 90)}})
	assert.Equal(t, alias("b.corp.example", 90), sets(s, systemtest.ClusterUser)["x.corp.example CNAME"])
	applied(s, systemtest.ClusterUser,
		map[string][]set{"updateOld": {alias("b.corp.example", 90)}, "updateNew": {alias("b.corp.example", 120)}})
	assert.Equal(t, alias("b.corp.example", 120), sets(s, systemtest.ClusterUser)["x.corp.example CNAME"],
		"its time to live alone")
	applied(s, systemtest.ClusterUser,
		map[string][]set{"create": {address}, "delete": {alias("b.corp.example", 120)}})
	assert.Equal(t, address, sets(s, systemtest.ClusterUser)["x.corp.example A"])
	assert.NotContains(t, sets(s, systemtest.ClusterUser), "x.corp.example CNAME")
}

// The valid sets are created. For the others the answer is 500, which makes ExternalDNS retry, whereas a 4xx
// would stop it.
func TestPartOfTheChangesFails(t *testing.T) {
	file := t.TempDir() + "/audit.jsonl"
	s := systemtest.NewForDNS(t, "audit.file="+file)
	good := []set{
		{DNSName: "good1.corp.example", RecordType: "A", Targets: []string{"10.0.9.1"}},
		{DNSName: "good2.corp.example", RecordType: "TXT", Targets: []string{"x"}},
	}
	bad := []set{
		{DNSName: "www.corp.example", RecordType: "A", Targets: []string{"10.0.9.1"}},    // is an alias
		{DNSName: "*.corp.example", RecordType: "A", Targets: []string{"10.0.9.1"}},      // needs privileged
		{DNSName: "good1.corp.example", RecordType: "CNAME", Targets: []string{"a.b.c"}}, // another type exists
	}
	a := tell(s, systemtest.ClusterUser, "/records",
		map[string][]set{"create": {good[0], bad[0], bad[1], bad[2], good[1]}})
	require.Equal(t, http.StatusInternalServerError, a.Status, "%s", a.Body)
	assert.Equal(t, "partial", a.Envelope.Error.Code)
	assert.Equal(t, "partial", a.Envelope.Error.Outcome)
	require.Len(t, a.Envelope.Error.Details, 3)
	for i, one := range bad {
		assert.Contains(t, a.Envelope.Error.Details[i].Message, "'"+one.DNSName+" "+one.RecordType+"'")
	}
	found := sets(s, systemtest.ClusterUser)
	assert.Contains(t, found, "good1.corp.example A")
	assert.Contains(t, found, "good2.corp.example TXT")

	outcomes := map[string]string{}
	names := map[uint64]string{}
	for _, line := range audited(t, file) {
		if line.Intent == 0 {
			names[line.Seq] = line.Parameters["DNS_HostName"] + " " + line.Parameters["Type"]
			continue
		}
		outcomes[names[line.Intent]] = line.Outcome + " " + line.Code
	}
	assert.Equal(t, map[string]string{
		"good1.corp.example A": "done ", "good2.corp.example TXT": "done ",
		"www.corp.example A": "none conflict", "*.corp.example A": "none forbidden", "good1.corp.example CNAME": "none conflict",
	}, outcomes, "one line for each set, and what became of it")
}

func TestChangesOutsideTheZonesAreRefusedAsAWhole(t *testing.T) {
	s := systemtest.NewForDNS(t)
	inside := set{DNSName: "in.corp.example", RecordType: "A", Targets: []string{"10.0.9.1"}}
	for _, name := range []string{"www._msdcs.corp.example", "1.0.0.10.in-addr.arpa", "www.invalid",
		"xcorp.example"} {
		outside := set{DNSName: name, RecordType: "TXT", Targets: []string{"x"}}
		a := tell(s, systemtest.ClusterUser, "/records", map[string][]set{"create": {inside, outside}})
		require.Equal(t, http.StatusForbidden, a.Status, "%s: %s", name, a.Body)
		assert.Equal(t, "limit", a.Envelope.Error.Code)
	}
	assert.NotContains(t, sets(s, systemtest.ClusterUser), "in.corp.example A", "nothing is done")
}

func TestRemovalsNeedTheirScope(t *testing.T) {
	s := systemtest.NewForDNS(t)
	one := []set{{DNSName: "u.corp.example", RecordType: "A", Targets: []string{"10.0.9.1"}}}
	applied(s, systemtest.UpsertUser, map[string][]set{"create": one})
	a := tell(s, systemtest.UpsertUser, "/records", map[string][]set{"delete": one})
	require.Equal(t, http.StatusForbidden, a.Status)
	assert.Contains(t, a.Envelope.Output, "dns:delete")
	assert.Contains(t, sets(s, systemtest.ClusterUser), "u.corp.example A")
	applied(s, systemtest.UpsertUser, nil)
	applied(s, systemtest.UpsertUser, map[string][]set{"create": {}})
}

// Properties that the server cannot store are removed before ExternalDNS compares. Otherwise
// it would update the set in every loop.
func TestAdjustedEndpoints(t *testing.T) {
	s := systemtest.NewForDNS(t)
	adjust := func(wanted string) string {
		a := tell(s, systemtest.ClusterUser, "/adjustendpoints", wanted)
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		require.Equal(t, media, a.Header.Get("Content-Type"))
		return string(a.Body)
	}
	assert.JSONEq(t, `[]`, adjust(`[]`))
	assert.JSONEq(t, `[]`, adjust(`null`))
	assert.JSONEq(t, `[
		{"dnsName":"a.corp.example","recordType":"A","targets":["10.0.0.1"],"recordTTL":60,"labels":{"owner":"me"}},
		{"dnsName":"t.corp.example","recordType":"TXT","targets":["v=spf1 -all"]},
		{"dnsName":"s.corp.example","recordType":"SRV","targets":["0 5 5060 h.corp.example."]},
		{"dnsName":"c.corp.example","recordType":"CNAME","targets":["target.example"],"recordTTL":2147483647}]`,
		adjust(`[
		{"dnsName":"A.Corp.example.","recordType":"A","targets":["10.0.0.1"],"recordTTL":60,"labels":{"owner":"me"},"setIdentifier":"one","providerSpecific":[{"name":"aws/weight","value":"1"}],"later":true},
		{"dnsName":"a.corp.example","recordType":"A","targets":["10.0.0.2"],"setIdentifier":"two"},
		{"dnsName":"t.corp.example","recordType":"TXT","targets":["\"v=spf1 -all\""],"recordTTL":-5},
		{"dnsName":"s.corp.example","recordType":"SRV","targets":["0 5 5060 H.corp.example"]},
		{"dnsName":"n.corp.example","recordType":"NAPTR","targets":["x"]},
		{"dnsName":"d.corp.example","recordType":"NS","targets":["ns1.corp.example"]},
		{"dnsName":"c.corp.example","recordType":"CNAME","targets":["Target.example."],"recordTTL":99999999999}]`))
	log := s.Log.String()
	for _, name := range []string{"a.corp.example", "n.corp.example", "d.corp.example"} {
		assert.Contains(t, log, "'"+name+"' was left out")
	}
}

func TestBodiesOfExternalDNS(t *testing.T) {
	s := systemtest.NewForDNS(t)
	for name, c := range map[string]struct {
		path, body, mediaType string
		status                int
	}{
		"no JSON":               {"/records", `{`, media, 400},
		"a list of changes":     {"/records", `[]`, media, 400},
		"a text for a list":     {"/records", `{"create":"x"}`, media, 400},
		"null in a list":        {"/records", `{"create":[null]}`, media, 400},
		"unequal updates":       {"/records", `{"updateOld":[],"updateNew":[{"dnsName":"a.corp.example","recordType":"A","targets":["10.0.0.1"]}]}`, media, 400},
		"an update renames":     {"/records", `{"updateOld":[{"dnsName":"b.corp.example","recordType":"A","targets":["10.0.0.1"]}],"updateNew":[{"dnsName":"a.corp.example","recordType":"A","targets":["10.0.0.1"]}]}`, media, 400},
		"a type it cannot keep": {"/records", `{"create":[{"dnsName":"a.corp.example","recordType":"NS","targets":["a.b"]}]}`, media, 400},
		"no address":            {"/records", `{"create":[{"dnsName":"a.corp.example","recordType":"A","targets":["x"]}]}`, media, 400},
		"no name":               {"/records", `{"create":[{"recordType":"A","targets":["10.0.0.1"]}]}`, media, 400},
		"a wildcard inside":     {"/records", `{"create":[{"dnsName":"a-*.corp.example","recordType":"TXT","targets":["x"]}]}`, media, 400},
		"a text that is long":   {"/records", `{"create":[{"dnsName":"a.corp.example","recordType":"TXT","targets":["` + strings.Repeat("x", 255) + `"]}]}`, media, 400},
		"unknown members":       {"/records", `{"create":[],"more":[{}]}`, media, 204},
		"a media type of JSON":  {"/records", `{}`, "application/json", 415},
		"another version":       {"/records", `{}`, strings.Replace(media, "=1", "=2", 1), 415},
		"an object to adjust":   {"/adjustendpoints", `{}`, media, 400},
		"null to adjust":        {"/adjustendpoints", `[null]`, media, 400},
		"another type":          {"/adjustendpoints", `[]`, "text/plain", 415},
		"no body to adjust":     {"/adjustendpoints", ``, media, 400},
		"no body":               {"/records", ``, media, 400},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			a := send(s, systemtest.ClusterUser, http.MethodPost, webhook+c.path, c.body, "Content-Type", c.mediaType)
			assert.Equal(t, c.status, a.Status, "%s", a.Body)
		})
	}
}

// The first loop sends hundreds of records in one body, which may be larger than other bodies.
func TestLargeBodiesOfExternalDNS(t *testing.T) {
	s := systemtest.NewForDNS(t)
	var wanted []set
	for i := range 20000 {
		wanted = append(wanted, set{DNSName: fmt.Sprintf("n%d.corp.example", i), RecordType: "A",
			Targets: []string{"10.0.0.1"}})
	}
	body, err := json.Marshal(wanted)
	require.NoError(t, err)
	require.Greater(t, len(body), 1<<20, "more than the limit of other rows")
	a := tell(s, systemtest.ClusterUser, "/adjustendpoints", string(body))
	require.Equal(t, http.StatusOK, a.Status)
	a = tell(s, systemtest.ClusterUser, "/adjustendpoints", "["+strings.Repeat(" ", 32<<20)+"]")
	assert.Equal(t, http.StatusRequestEntityTooLarge, a.Status)
}

// When the time limit of a request is reached, the remaining sets are left to the next loop. Each loop makes
// progress, even if it writes only a few sets.
func TestTheBudgetOfExternalDNS(t *testing.T) {
	s := systemtest.NewForDNS(t, "externaldns.budget=1s")
	wanted := map[string]set{}
	for i := range 8 {
		name := fmt.Sprintf("n%d.corp.example", i)
		wanted[name] = set{DNSName: name, RecordType: "A", Targets: []string{"10.0.0.1"}}
	}
	missing := func() (missing []set) {
		found := sets(s, systemtest.ClusterUser)
		for name, one := range wanted {
			if _, there := found[name+" A"]; !there {
				missing = append(missing, one)
			}
		}
		return missing
	}
	loops := 0
	for left := missing(); len(left) > 0; loops++ {
		s.World.Network.Slow("dc1.corp.example", 300*time.Millisecond) // at most four sets in a second
		a := tell(s, systemtest.ClusterUser, "/records", map[string][]set{"create": left})
		s.World.Network.Slow("dc1.corp.example", 0)
		now := missing()
		require.Less(t, len(now), len(left), "each loop gets further: %s", a.Body)
		if left = now; len(left) == 0 {
			require.Equal(t, http.StatusNoContent, a.Status, "%s", a.Body)
			continue
		}
		require.Equal(t, http.StatusInternalServerError, a.Status, "%s", a.Body)
		assert.Contains(t, a.Envelope.Error.Details[0].Message, "externaldns.budget")
		assert.Len(t, a.Envelope.Error.Details, len(left))
	}
	assert.Greater(t, loops, 1, "the time was too short for all")
}
