// Package protocols_test tests the routes for third-party protocols. It sends the same requests as the
// clients of these protocols, and checks the same parts of the answers. It also replays the calls of two
// clients of the older interface family, its Terraform provider and its generated client. Both send every
// optional argument, with an empty value if the user has not set it.
package protocols_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/zones"
	"adgateway/test/systemtest"
)

// post sends a JSON body as a user.
func post(s *systemtest.System, user, path, body string, headers ...string) systemtest.Answer {
	return send(s, user, http.MethodPost, path, body,
		append([]string{"Content-Type", "application/json"}, headers...)...)
}

func send(s *systemtest.System, user, method, path, body string, headers ...string) systemtest.Answer {
	s.T.Helper()
	request, err := http.NewRequestWithContext(s.T.Context(), method, s.URL+path, strings.NewReader(body))
	require.NoError(s.T, err)
	if user != "" {
		request.SetBasicAuth(user, user)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return s.Send(request)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

const (
	present = "/api/Acme/HttpReq/present"
	cleanup = "/api/Acme/HttpReq/cleanup"
	update  = "/api/Acme/AcmeDns/update"
)

func challenge(fqdn, value string) string { return fmt.Sprintf(`{"fqdn":%q,"value":%q}`, fqdn, value) }

// While a certificate for a name and its wildcard is issued, two values exist at that name.
func TestChallengesStandBesideEachOther(t *testing.T) {
	s := systemtest.NewForDNS(t)
	const name = "_acme-challenge.shop.corp.example"
	one, two := digest("1"), digest("2")
	for range 2 { // the second call changes nothing
		require.Equal(t, http.StatusOK, post(s, systemtest.AcmeUser, present, challenge(name+".", one)).Status)
		require.Equal(t, http.StatusOK, post(s, systemtest.AcmeUser, present, challenge(name, two)).Status)
	}
	both := []string{one, two}
	slices.Sort(both)
	assert.Equal(t, both, s.Texts(name, "corp.example"))
	for range 2 {
		require.Equal(t, http.StatusOK, post(s, systemtest.AcmeUser, cleanup, challenge(name+".", one)).Status)
		assert.Equal(t, []string{two}, s.Texts(name, "corp.example"))
	}
	require.Equal(t, http.StatusOK, post(s, systemtest.AcmeUser, cleanup, challenge(name+".", two)).Status)
	assert.Empty(t, s.Texts(name, "corp.example"))
}

// In RAW mode, lego sends the input from which the value is computed.
func TestRawChallenges(t *testing.T) {
	s := systemtest.NewForDNS(t)
	key := "DGyRejmCefe7v4NfDGDKfA." + digest("thumbprint")
	for domain, name := range map[string]string{
		"raw.corp.example": "_acme-challenge.raw.corp.example", "*.star.corp.example": "_acme-challenge.star.corp.example", "apps.corp.example.": "_acme-challenge.apps.corp.example",
	} {
		body := fmt.Sprintf(`{"domain":%q,"token":"DGyRejmCefe7v4NfDGDKfA","keyAuth":%q}`, domain, key)
		a := post(s, systemtest.AcmeUser, present, body)
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.JSONEq(t, body, string(a.Body), "what was sent")
		assert.Equal(t, []string{digest(key)}, s.Texts(name, "corp.example"))
		require.Equal(t, http.StatusOK, post(s, systemtest.AcmeUser, cleanup, body).Status)
		assert.Empty(t, s.Texts(name, "corp.example"))
	}
}

// acme.sh treats a call as failed unless the answer contains the value in double quotes.
func TestAnswersThatAcmeShAccepts(t *testing.T) {
	s := systemtest.NewForDNS(t)
	for _, action := range []string{present, cleanup} {
		a := send(s, systemtest.AcmeUser, http.MethodPost, action, fmt.Sprintf(`{"fqdn": "_acme-challenge.sh.corp.example.", "value": %q}`, digest("sh")),
			"Accept", "application/json", "Content-Type", "application/json")
		assert.Contains(t, string(a.Body), `"`+digest("sh")+`"`)
		refused := post(s, systemtest.AcmeUser, action, challenge("_acme-challenge.other.invalid.", digest("no")))
		assert.NotContains(t, string(refused.Body), `"`+digest("no")+`"`, "of a refusal, it would count as success")
	}
}

// libdns (Caddy) spells member names differently, requires the status 200, and compares both members with the
// request.
func TestAnswersThatLibdnsAccepts(t *testing.T) {
	s := systemtest.NewForDNS(t)
	type acmeProxy struct {
		FQDN  string `json:"FQDN"`
		Value string `json:"Value"`
	}
	for _, action := range []string{present, cleanup} {
		sent := acmeProxy{FQDN: "_Acme-Challenge.Caddy.corp.example.", Value: digest("caddy")}
		body, err := json.Marshal(sent)
		require.NoError(t, err)
		a := post(s, systemtest.AcmeUser, action, string(body), "Accept", "application/json")
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		var got acmeProxy
		require.NoError(t, json.Unmarshal(a.Body, &got))
		assert.Equal(t, sent, got)
	}
}

func TestChallengesStayWithinTheirBounds(t *testing.T) {
	s := systemtest.NewForDNS(t, `acme.zones=["branch.corp.example"]`)
	good := digest("x")
	for name, c := range map[string]struct {
		user, fqdn, value string
		status            int
		code              string
	}{
		"another name":              {systemtest.AcmeUser, "www.corp.example.", good, 403, "limit"},
		"a label that only ends so": {systemtest.AcmeUser, "x_acme-challenge.corp.example.", good, 403, "limit"},
		"not the first label":       {systemtest.AcmeUser, "a._acme-challenge.corp.example.", good, 403, "limit"},
		"everything is no escape":   {systemtest.EveryUser, "www.corp.example.", good, 403, "limit"},
		"another zone":              {systemtest.AcmeUser, "_acme-challenge.10.in-addr.arpa.", good, 404, "not_found"},
		"no zone":                   {systemtest.AcmeUser, "_acme-challenge.www.invalid.", good, 404, "not_found"},
		"another host":              {systemtest.HostUser, "_acme-challenge.other.corp.example.", good, 403, "limit"},
		"a short value":             {systemtest.AcmeUser, "_acme-challenge.corp.example.", good[:42], 400, "invalid_request"},
		"a long value":              {systemtest.AcmeUser, "_acme-challenge.corp.example.", good + "x", 400, "invalid_request"},
		"a value of other letters":  {systemtest.AcmeUser, "_acme-challenge.corp.example.", good[:42] + "=", 400, "invalid_request"},
		"no such scope":             {systemtest.WriteUser, "_acme-challenge.corp.example.", good, 403, "forbidden"},
		"nobody":                    {"", "_acme-challenge.corp.example.", good, 401, "unauthenticated"},
		"a name that is too long":   {systemtest.AcmeUser, "_acme-challenge." + strings.Repeat("a.", 130) + "corp.example.", good, 400, "invalid_request"},
		"an empty label":            {systemtest.AcmeUser, "_acme-challenge..corp.example.", good, 400, "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			for _, action := range []string{present, cleanup} {
				a := post(s, c.user, action, challenge(c.fqdn, c.value))
				require.Equal(t, c.status, a.Status, "%s", a.Body)
				assert.Equal(t, c.code, a.Envelope.Error.Code)
				assert.Equal(t, "none", a.Envelope.Error.Outcome)
			}
		})
	}
	for name, c := range map[string][2]string{
		"in any case":      {systemtest.AcmeUser, "_ACME-Challenge.WWW.corp.example."},
		"a host's own":     {systemtest.HostUser, "_acme-challenge.host.corp.example."},
		"below a host":     {systemtest.HostUser, "_acme-challenge.a.host.corp.example"},
		"the apex, a zone": {systemtest.AcmeUser, "_acme-challenge.branch.corp.example"},
	} {
		a := post(s, c[0], present, challenge(c[1], good))
		assert.Equal(t, http.StatusOK, a.Status, "%s: %s", name, a.Body)
	}
}

func TestBodiesOfChallenges(t *testing.T) {
	s := systemtest.NewForDNS(t)
	good := challenge("_acme-challenge.www.corp.example.", digest("x"))
	for name, c := range map[string]struct {
		body, mediaType string
		status          int
		fields          []string
	}{
		"unknown members":    {strings.Replace(good, "{", `{"extra":{"a":[1]},"ZoneName":"other.invalid",`, 1), "application/json", 200, nil},
		"a charset":          {good, "application/json; charset=utf-8", 200, nil},
		"no JSON":            {"{", "application/json", 400, []string{}},
		"a list":             {"[" + good + "]", "application/json", 400, []string{}},
		"nothing":            {"", "application/json", 400, []string{"fqdn", "value"}},
		"null":               {"null", "application/json", 400, []string{}},
		"an empty object":    {"{}", "application/json", 400, []string{"fqdn", "value"}},
		"half of a mode":     {`{"fqdn":"_acme-challenge.www.corp.example."}`, "application/json", 400, []string{"value"}},
		"half of RAW":        {`{"domain":"www.corp.example"}`, "application/json", 400, []string{"token", "keyAuth"}},
		"a number":           {`{"fqdn":7,"value":true}`, "application/json", 400, []string{"fqdn", "value"}},
		"two names":          {strings.Replace(good, "{", `{"FQDN":"_acme-challenge.other.corp.example.",`, 1), "application/json", 400, []string{"fqdn"}},
		"a form":             {"fqdn=_acme-challenge.www.corp.example.&value=" + digest("x"), "application/x-www-form-urlencoded", 415, []string{}},
		"another media type": {good, "text/plain", 415, []string{}},
		"no media type":      {good, "", 415, []string{}},
		"too large":          {strings.Replace(good, "{", `{"a":"`+strings.Repeat("a", 1<<20)+`",`, 1), "application/json", 413, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			a := send(s, systemtest.AcmeUser, http.MethodPost, present, c.body, "Content-Type", c.mediaType)
			require.Equal(t, c.status, a.Status, "%s", a.Body)
			if c.fields == nil {
				return
			}
			fields := []string{}
			for _, d := range a.Envelope.Error.Details {
				fields = append(fields, d.Field)
			}
			assert.ElementsMatch(t, c.fields, fields)
		})
	}
	a := send(s, systemtest.AcmeUser, http.MethodGet, present, "")
	assert.Equal(t, http.StatusMethodNotAllowed, a.Status)
	a = send(s, systemtest.AcmeUser, http.MethodPost, present, good, "Content-Type", "application/json",
		"Accept", "text/html")
	assert.Equal(t, http.StatusNotAcceptable, a.Status)
}

// The record cannot be created at an alias. The answer names the target of the alias, where it can be
// created.
func TestChallengeAtAnAlias(t *testing.T) {
	s := systemtest.NewForDNS(t)
	a := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/DnsCNameRecord",
		Params: map[string]any{"DNS_HostName": "_acme-challenge.alias",
			"DNS_HostName_Alias": "x.acme.corp.example.", "ZoneName": "corp.example"}})
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	a = post(s, systemtest.AcmeUser, present, challenge("_acme-challenge.alias.corp.example.", digest("x")))
	require.Equal(t, http.StatusConflict, a.Status)
	assert.Contains(t, a.Envelope.Output, "Present the challenge at its target, 'x.acme.corp.example'")
}

// accounts is the setting acme.accounts in these tests.
const accounts = `acme.accounts=[` +
	`{"subdomain":"c36f50e8-4632-44f0-83fe-e070fef28a10","credential":"acme","name":"_acme-challenge.site.corp.example"},` +
	`{"subdomain":"other","credential":"host","name":"_acme-challenge.host.corp.example"}]`

// The two newest values of a name are kept, even with equal values and after a restart of
// the gateway. After a restart only the order of the records is known.
func TestAcmeDNSKeepsTheTwoNewestValues(t *testing.T) {
	s := systemtest.NewForDNS(t, accounts)
	const name = "_acme-challenge.site.corp.example"
	put := func(value string) {
		t.Helper()
		a := post(s, "", update, fmt.Sprintf(`{"subdomain":"c36f50e8-4632-44f0-83fe-e070fef28a10","txt":%q}`,
			value), "X-Api-User", systemtest.AcmeUser, "X-Api-Key", systemtest.AcmeUser)
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.JSONEq(t, fmt.Sprintf(`{"txt":%q}`, value), string(a.Body))
	}
	server, err := s.World.DNS.Server(s.World.Directory.DCs()[0].HostName())
	require.NoError(t, err)
	_, err = server.AddRecord(zones.NewRecord{Zone: "corp.example", Name: "_acme-challenge.site",
		RR: &dns.TXT{Hdr: dns.RR_Header{Rrtype: dns.TypeTXT, Class: dns.ClassINET},
			Txt: []string{"not a challenge"}}})
	require.NoError(t, err)
	var last []string
	for i := range 8 {
		value := digest(fmt.Sprint(i))
		put(value)
		put(value)
		last = append(last, value)
		want := append([]string{"not a challenge"}, last[max(0, len(last)-2):]...)
		slices.Sort(want)
		require.Equal(t, want, s.Texts(name, "corp.example"), "after %d values", i+1)
	}
}

func TestRefusalsOfAcmeDNS(t *testing.T) {
	s := systemtest.NewForDNS(t, accounts)
	const subdomain = "c36f50e8-4632-44f0-83fe-e070fef28a10"
	good := fmt.Sprintf(`{"subdomain":%q,"txt":%q}`, subdomain, digest("x"))
	for name, c := range map[string]struct {
		user, key, body string
		status          int
		word            string
	}{
		"nobody":              {"", "", good, 401, "forbidden"},
		"a wrong key":         {systemtest.AcmeUser, "wrong", good, 401, "forbidden"},
		"another's account":   {systemtest.HostUser, systemtest.HostUser, good, 401, "forbidden"},
		"no such account":     {systemtest.AcmeUser, systemtest.AcmeUser, strings.Replace(good, subdomain, "none", 1), 401, "forbidden"},
		"no such scope":       {systemtest.WriteUser, systemtest.WriteUser, good, 401, "forbidden"},
		"a bad subdomain":     {systemtest.AcmeUser, systemtest.AcmeUser, strings.Replace(good, subdomain, "a.b", 1), 400, "bad_subdomain"},
		"no subdomain":        {systemtest.AcmeUser, systemtest.AcmeUser, `{}`, 400, "bad_subdomain"},
		"a short text":        {systemtest.AcmeUser, systemtest.AcmeUser, strings.Replace(good, digest("x"), "short", 1), 400, "bad_txt"},
		"no JSON":             {systemtest.AcmeUser, systemtest.AcmeUser, `{`, 400, "malformed_json_payload"},
		"too large":           {systemtest.AcmeUser, systemtest.AcmeUser, `{"a":"` + strings.Repeat("a", 1<<20) + `"}`, 413, "too_large"},
		"a name beside a key": {systemtest.AcmeUser, "adgw_0000000000000000000000000000000000000000000000000", good, 401, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			a := post(s, "", update, c.body, "X-Api-User", c.user, "X-Api-Key", c.key)
			assert.Equal(t, c.status, a.Status, "%s", a.Body)
			assert.JSONEq(t, fmt.Sprintf(`{"error":%q}`, c.word), string(a.Body))
		})
	}
}

// Every change has an audit line with the caller and the name, and the metrics distinguish the protocols.
func TestChallengesAreRecorded(t *testing.T) {
	file := t.TempDir() + "/audit.jsonl"
	s := systemtest.NewForDNS(t, "audit.file="+file)
	require.Equal(t, http.StatusOK,
		post(s, systemtest.AcmeUser, present, challenge("_acme-challenge.www.corp.example.", digest("x"))).Status)
	require.Equal(t, http.StatusOK,
		post(s, systemtest.AcmeUser, cleanup, challenge("_acme-challenge.www.corp.example.", digest("x"))).Status)
	require.Equal(t, http.StatusForbidden,
		post(s, systemtest.AcmeUser, present, challenge("www.corp.example.", digest("x"))).Status)
	lines := audited(t, file)
	require.Len(t, lines, 5, "intent and outcome of each, and the refusal")
	assert.Equal(t, "acme.present", lines[0].Operation)
	assert.Equal(t, "_acme-challenge.www.corp.example.", lines[0].Parameters["fqdn"])
	assert.Equal(t, "done", lines[1].Outcome)
	assert.Equal(t, "limit", lines[4].Code)
	a := send(s, systemtest.EveryUser, http.MethodGet, "/metrics", "")
	assert.Contains(t, string(a.Body), `adgateway_http_requests_total{class="2xx",code="ok",operation="acme.present",protocol="httpreq"} 1`)
}
