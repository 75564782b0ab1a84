package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	userPart  = `[{"guid":"9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10","username":"jdoe","displayName":"","country":"GR","enabled":true,"passwordLastSet":""}]`
	userQuery = "?ShowFields=username,guid,enabled,displayName,Country,passwordLastSet"
)

// TestEnvelopes compares whole answers, headers included, with golden files.
func TestEnvelopes(t *testing.T) {
	created := ps.Result{Effect: ps.EffectCreated, Server: "dc1.corp.example"}
	zone := `[{"distinguishedName":"","zoneName":"10.in-addr.arpa","zoneType":"Primary","type":"File"}]`
	cname := `{"name":"%s","type":"CNAME","data":"web1.corp.example","zone":"corp.example","timestamp":""}`
	old := "Auth-Token: Bearer " + harness.ClassicToken
	classicUser := "[" + harness.Sample(schema.User) + "]"
	for name, c := range map[string]struct {
		runner               *harness.Runner
		method, target, body string
		header               string
	}{
		"read":                 {harness.Answering(harness.OK, userPart), "GET", "/api/ADUser/jdoe/Details" + userQuery, "", ""},
		"read-classic":         {harness.Answering(harness.OK, classicUser), "GET", "/api/ADUser/jdoe/Details", "", old},
		"create":               {harness.Answering(created, userPart), "POST", "/api/ADUser/jdoe" + userQuery, "", ""},
		"create-classic":       {harness.Answering(created, classicUser), "POST", "/api/ADUser/jdoe", "", old},
		"remove":               {harness.Answering(ps.Result{Effect: ps.EffectRemoved, Counts: map[string]int{"records": 3}}, zone), "DELETE", "/api/DnsReverseLookupZone/10.0.0.0/8", "", ""},
		"exists":               {harness.Answering(harness.OK, `[{"exists":true,"guid":"9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10","distinguishedName":"CN=jdoe,DC=x"}]`), "GET", "/api/ADUser/jdoe/Exists", "", ""},
		"exists-not":           {harness.Answering(harness.OK, `[{"exists":false,"guid":"","distinguishedName":""}]`), "GET", "/api/ADUser/jdoe/Exists", "", ""},
		"exists-classic":       {harness.Answering(harness.OK, `[{"exists":false,"guid":"","distinguishedName":""}]`), "GET", "/api/ADUser/jdoe/Exists", "", old},
		"list":                 {harness.Answering(harness.OK, "["+fmt.Sprintf(cname, "a")+"]", "["+fmt.Sprintf(cname, "b")+","+fmt.Sprintf(cname, "c")+"]"), "GET", "/api/DnsCNameRecord/corp.example", "", ""},
		"list-empty":           {harness.Answering(harness.OK), "GET", "/api/DnsCNameRecord/corp.example", "", ""},
		"list-classic":         {harness.Answering(harness.OK, "["+fmt.Sprintf(cname, "a")+"]"), "GET", "/api/DnsCNameRecord/corp.example", "", old},
		"list-warnings":        {harness.Answering(ps.Result{Warnings: []ps.Warning{{Code: "zone_unreadable", Target: "<b>.example", Message: "Not read."}}}, "["+fmt.Sprintf(cname, "a")+"]"), "GET", "/api/DnsCNameRecord/All", "", ""},
		"hostile-text":         {harness.Answering(harness.OK, strings.Replace(userPart, `"displayName":""`, `"displayName":"\u003cscript\u003e\"'\\ Ω`+"\u2028"+`"`, 1)), "GET", "/api/ADUser/%3Cb%3E%22'/Details" + userQuery, "", ""},
		"not-found":            {harness.Failing(ps.Error{Kind: ps.KindScript, Gateway: "not_found", Arg: "UserName", Message: "The user 'jdoe' was not found.", Server: "dc2.corp.example"}), "GET", "/api/ADUser/jdoe/Details", "", ""},
		"conflict":             {harness.Failing(ps.Error{Kind: ps.KindScript, Type: "Microsoft.ActiveDirectory.Management.ADException", ID: "ActiveDirectoryServer:8305,x", Code: "8305", Arg: "UserName", Message: "Der Name wird bereits verwendet.", Outcome: ps.OutcomeNone}), "POST", "/api/ADUser/jdoe", "", ""},
		"dns-conflict":         {harness.Failing(ps.Error{Kind: ps.KindScript, Type: "Microsoft.Management.Infrastructure.CimException", ID: "WIN32 9711,x", Native: "WIN32 9711", Outcome: ps.OutcomeNone}), "POST", "/api/DnsCNameRecord", `{"ZoneName":"corp.example","DNS_HostName":"www","DNS_HostName_Alias":"web1"}`, ""},
		"problems":             {harness.Answering(harness.OK), "POST", "/api/ADUser/jdoe?Cty=Athens", `{"Initials":"1234567","PasswordNeverExpired":"yes","password":["geheim"]}`, ""},
		"zone-rounding":        {harness.Answering(harness.OK), "POST", "/api/DnsReverseLookupZone/10.2.10.0/23", "", ""},
		"unauthenticated":      {harness.Answering(harness.OK), "GET", "/api/OU/All", "", "Auth-Token: Bearer nobody"},
		"forbidden":            {harness.Answering(harness.OK), "GET", "/api/OU/All", "", "Auth-Token: Bearer " + harness.ReadToken},
		"forbidden-password":   {harness.Answering(harness.OK), "POST", "/api/ADUser/jdoe", `{"Password":"geheim"}`, "Auth-Token: Bearer " + harness.WriteToken},
		"cross-site":           {harness.Answering(harness.OK), "GET", "/api/OU/All", "", "Sec-Fetch-Site: cross-site"},
		"method":               {harness.Answering(harness.OK), "PUT", "/api/DnsReverseLookupZone/All", "", ""},
		"unknown-route":        {harness.Answering(harness.OK), "GET", "/api/OU/Al", "", ""},
		"overloaded":           {harness.Failing(ps.Error{Kind: ps.KindOverloaded, RetryAfter: 1500 * time.Millisecond}), "GET", "/api/OU/All", "", ""},
		"timeout-write":        {harness.Failing(ps.Error{Kind: ps.KindTimeout, Outcome: ps.OutcomeUnknown}), "DELETE", "/api/ADUser/jdoe", "", ""},
		"partial":              {harness.Failing(ps.Error{Kind: ps.KindScript, Code: "1325", ID: "ActiveDirectoryServer:1325,x", Arg: "Password", Outcome: ps.OutcomePartial, Remains: []ps.Object{{DN: "CN=jdoe,CN=Users,DC=corp,DC=example"}}}), "POST", "/api/ADUser/jdoe", `{"Password":"geheim"}`, ""},
		"bulk-partial":         {harness.Answering(halfDone(ps.EffectRemoved), computerPart), "DELETE", "/api/Computers/Remove?OUPath=OU%3DBranches,DC%3Dx", "", ""},
		"bulk-partial-classic": {harness.Answering(halfDone(ps.EffectRemoved), computerPart), "DELETE", "/api/Computers/Remove?OUPath=OU%3DBranches,DC%3Dx", "", old},
		"bulk-timeout":         {harness.Failing(ps.Error{Kind: ps.KindTimeout, Outcome: ps.OutcomeUnknown, Steps: []ps.Step{{Label: "remove computer", DN: "CN=PC1,OU=Branches,DC=x"}, {Label: "remove computer", GUID: "6a1c3b52-6f0e-4d0a-8a37-2b1c5e7d9f10"}}}), "DELETE", "/api/Computers/Remove?OUPath=OU%3DBranches,DC%3Dx", "", ""},
		"bulk-failed":          {harness.Answering(halfDone(ps.EffectNone)), "DELETE", "/api/Computers/Remove?OUPath=OU%3DBranches,DC%3Dx", "", ""},
		"wrong-shape":          {harness.Answering(harness.OK, `[{"guid":1}]`), "GET", "/api/ADUser/jdoe/Details", "", ""},
		"wrong-shape-write":    {harness.Answering(created, `[{"guid":1}]`), "POST", "/api/ADUser/jdoe", "", ""},
		"no-record":            {harness.Answering(harness.OK), "GET", "/api/ADUser/jdoe/Details", "", ""},
		"two-records":          {harness.Answering(harness.OK, strings.TrimSuffix(userPart, "]")+","+strings.TrimPrefix(userPart, "[")), "GET", "/api/ADUser/jdoe/Details" + userQuery, "", ""},
		"panic":                {&harness.Runner{Do: func(context.Context, ps.Request) (*ps.Result, error) { panic("geheim") }}, "DELETE", "/api/ADUser/jdoe", "", ""},
		"healthz":              {nil, "GET", "/healthz", "", ""},
		"readyz":               {nil, "GET", "/readyz", "", "Auth-Token: Bearer " + harness.OpsToken},
		"readyz-degraded":      {nil, "GET", "/readyz", "", "Auth-Token: Bearer " + harness.OpsToken},
		"readyz-without-scope": {nil, "GET", "/readyz", "", "Auth-Token: Bearer " + harness.ReadToken},
		"readyz-anonymous":     {nil, "GET", "/readyz", "", "Auth-Token: "},
		"readyz-lane-other":    {nil, "GET", "/readyz?lane=directory", "", "Auth-Token: Bearer " + harness.OpsToken},
		"readyz-lane-failed":   {nil, "GET", "/readyz?lane=dns", "", "Auth-Token: Bearer " + harness.OpsToken},
		"readyz-degraded-lane": {nil, "GET", "/readyz?lane=changes", "", "Auth-Token: Bearer " + harness.OpsToken},
		"readyz-lane-unknown":  {nil, "GET", "/readyz?lane=mail", "", "Auth-Token: Bearer " + harness.OpsToken},
		"readyz-wrong-token":   {nil, "GET", "/readyz", "", "Auth-Token: Bearer nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.runner == nil {
				c.runner = harness.Answering(harness.OK)
			}
			s := harness.New(t, c.runner, func(o *gateway.Options) {
				o.Ready = func(context.Context) []gateway.Check {
					checks := []gateway.Check{{Name: "session", OK: true}, {Name: "settings", OK: true, Degraded: true, Reason: "line 3"}}
					if name == "readyz-degraded-lane" {
						checks = append(checks, gateway.Check{Name: "store", OK: true, Degraded: true, NoChanges: true, Reason: "it cannot be reached"})
					}
					if strings.HasPrefix(name, "readyz-degraded") {
						return checks
					}
					return append(checks, gateway.Check{Name: "dns", Lane: ps.DNS, Reason: "port 53 of dc1 does not answer"})
				}
			})
			headers := []string{"Content-Type: application/json"}
			if c.header != "" {
				headers = append(headers, c.header)
			}
			w := harness.Call(s, c.method, c.target, c.body, headers...)
			assert.NotContains(t, w.Body.String(), "geheim")
			require.True(t, json.Valid(w.Body.Bytes()))
			golden(t, name, c.method+" "+c.target+"\n\n"+shown(w))
		})
	}
}

const computerPart = `[{"guid":"9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10","sid":"S-1-5-21-1-2-3-1100","computerName":"PC1","samName":"PC1$","operatingSystem":"","operatingSystemVersion":"","description":"","dnsName":"","path":"OU=Branches,DC=x","distinguishedName":"CN=PC1,OU=Branches,DC=x","enabled":true,"lastLogon":"","passwordLastSet":"","created":"2026-01-02T03:04:05Z","modified":"2026-01-02T03:04:05Z"}]`

// halfDone returns the result of a bulk operation that failed for two objects and
// skipped one.
func halfDone(effect ps.Effect) ps.Result {
	denied := ps.Error{Kind: ps.KindScript, Type: "System.UnauthorizedAccessException", Code: "5", ID: "ActiveDirectoryServer:5,x", Category: "PermissionDenied", Arg: "WildCard", Message: "Zugriff verweigert"}
	unknown := ps.Error{Kind: ps.KindScript, Type: "Microsoft.ActiveDirectory.Management.ADException", Code: "9999", ID: "ActiveDirectoryServer:9999,x", Message: "?"}
	return ps.Result{
		Effect: effect, Server: "dc1.corp.example", Counts: map[string]int{"computers": 1},
		Warnings: []ps.Warning{{Code: "protected", Target: "CN=DC1,OU=Branches,DC=x", Message: "It is a domain controller."}},
		Failures: []ps.Failure{{DN: "CN=PC2,OU=Branches,DC=x", Error: denied}, {GUID: "6a1c3b52-6f0e-4d0a-8a37-2b1c5e7d9f10", Error: unknown}},
	}
}

// shown formats an answer with the headers that differ between answers.
func shown(w *httptest.ResponseRecorder) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d %s\n", w.Code, http.StatusText(w.Code))
	header := w.Header().Clone()
	for _, always := range []string{"Content-Security-Policy", "Cross-Origin-Resource-Policy", "Referrer-Policy", "X-Content-Type-Options", "X-Frame-Options", "Cache-Control", "Content-Length"} {
		header.Del(always)
	}
	_ = header.Write(&b)
	b.WriteString("\n")
	b.Write(w.Body.Bytes())
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "envelopes", name+".txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestClassicAsTheDefaultDialect(t *testing.T) {
	s := harness.New(t, harness.Answering(ps.Result{Effect: ps.EffectCreated}, "["+harness.Sample(schema.User)+"]"), func(o *gateway.Options) { o.Policy.Dialect = identity.Classic })
	w := harness.Call(s, "POST", "/api/ADUser/jdoe", "")
	assert.Equal(t, 200, w.Code)
	assert.Contains(t, w.Body.String(), `"result":{"guid":`)
	assert.Contains(t, w.Body.String(), `"country":"Greece"`)
}

// bigList returns a runner that emits n batches of 500 records and ends with err.
func bigList(n int, err *ps.Error) *harness.Runner {
	batch := json.RawMessage("[" + strings.TrimSuffix(strings.Repeat(harness.Sample(schema.User)+",", 500), ",") + "]")
	return &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		for range n {
			if err := req.Records(batch); err != nil {
				return nil, &ps.Error{Kind: ps.KindInternal, Cause: err}
			}
		}
		if err != nil {
			return nil, err
		}
		return &ps.Result{Warnings: []ps.Warning{{Code: "w"}}, Server: "dc1"}, nil
	}}
}

func TestLongListsAreStreamedWithTheResultFirst(t *testing.T) {
	for _, batches := range []int{10, 40} {
		s := harness.New(t, bigList(batches, nil), nil)
		w := harness.Call(s, "GET", "/api/ADUser/ListUsers/All", "")
		require.Equal(t, 200, w.Code)
		streamed := w.Body.Len() > 8<<20
		assert.Equal(t, batches == 40, streamed)
		assert.Equal(t, streamed, strings.HasPrefix(w.Body.String(), `{"result":[{"guid"`))
		assert.Equal(t, streamed, w.Header().Get("Content-Length") == "")
		assert.Equal(t, "dc1", w.Result().Header.Get("X-Directory-Server")+w.Result().Trailer.Get("X-Directory-Server"))
		got := harness.Read(t, w)
		assert.Len(t, got.Result, 500*batches)
		assert.Equal(t, fmt.Sprintf("%d records found", 500*batches), got.Output)
		assert.Len(t, got.Warnings, 1)
	}
}

func TestAListThatFailsWhileStreamingIsCutOff(t *testing.T) {
	begun := make(chan struct{}) // closed when the client has received the beginning of the answer
	list := bigList(4, nil)
	s := harness.New(t, &harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		_, err := list.Run(ctx, req)
		<-begun
		return nil, errors.Join(&ps.Error{Kind: ps.KindDied}, err)
	}}, func(o *gateway.Options) { o.StreamAbove = 1 << 20 })
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	r, err := http.NewRequest("GET", server.URL+"/api/ADUser/ListUsers/All", nil)
	require.NoError(t, err)
	r.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
	answer, err := server.Client().Do(r)
	close(begun)
	require.NoError(t, err)
	defer answer.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(answer.Body)
	require.Error(t, err, "the connection must be closed with the body unfinished")
	assert.False(t, json.Valid(body.Bytes()))

	short := harness.New(t, bigList(2, &ps.Error{Kind: ps.KindDied}), nil)
	got := harness.Read(t, harness.Call(short, "GET", "/api/ADUser/ListUsers/All", ""))
	require.NotNil(t, got.Error)
	assert.Equal(t, schema.Backend, got.Error.Code, "before streaming starts it is an ordinary failure")
}

// BenchmarkList measures lists of different lengths. The time per record should be the same.
func BenchmarkList(b *testing.B) {
	for _, batches := range []int{2, 20, 200} {
		s := harness.New(b, bigList(batches, nil), nil)
		b.Run(fmt.Sprint(batches*500), func(b *testing.B) {
			for b.Loop() {
				if w := harness.Call(s, "GET", "/api/ADUser/ListUsers/All", ""); w.Code != 200 {
					b.Fatal(w.Code)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batches*500), "ns/record")
		})
	}
}

// TestAPartialAnswerSaysSo: the sentence of a 207 says that only part of the change was made.
func TestAPartialAnswerSaysSo(t *testing.T) {
	failure := ps.Failure{DN: "10.0.0.9", Error: ps.Error{Kind: ps.KindScript, Code: "5", Type: "Microsoft.ActiveDirectory.Management.ADException"}}
	for target, want := range map[string]string{
		"PUT /api/DnsRecordSet?ZoneName=x.example&DNS_HostName=www&Type=A&Data=10.0.0.9": "The set of A records 'www' in zone 'x.example' is not yet as given. 1 object failed; see details.",
		"DELETE /api/DnsRecordSet?ZoneName=x.example&DNS_HostName=www&Type=A":            "A part of the set of A records 'www' in zone 'x.example' was removed. 1 object failed; see details.",
		"POST /api/ADUser/jdoe/CopyGroups?From=anna":                                     "Some of the groups of the user 'anna' were copied to the user 'jdoe'. 1 object failed; see details.",
	} {
		method, path, _ := strings.Cut(target, " ")
		records := "[" + harness.Sample(schema.RecordSet) + "]"
		if method == http.MethodPost {
			records = "[" + harness.Sample(schema.CopiedGroup) + "]"
		}
		s := harness.New(t, harness.Answering(ps.Result{Effect: ps.EffectChanged, Failures: []ps.Failure{failure}}, records), nil)
		w := harness.Call(s, method, path, "")
		require.Equal(t, http.StatusMultiStatus, w.Code, "%s: %s", target, w.Body)
		assert.Equal(t, want, harness.Read(t, w).Output)
	}
}
