package gateway_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

// quotas is a server whose callers are accounts of a store with a fake clock.
type quotas struct {
	*gateway.Server
	t  *testing.T
	mu sync.Mutex
	// now is the current time of the store's clock.
	now  time.Time
	file authn.File
}

func (q *quotas) clock() time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.now
}

func (q *quotas) step(d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.now = q.now.Add(d)
}

func number(n int) *int { return &n }

// stored returns a store with one caller, and the header that authenticates the caller.
func (q *quotas) stored(rights authn.Rights) (*authn.Store, string) {
	q.t.Helper()
	file := authn.File{Path: filepath.Join(q.t.TempDir(), "credentials.json")}
	var token string
	require.NoError(q.t, file.Edit(q.t.Context(), func(d *authn.Document) error {
		a := authn.NewAccount("portal", q.clock(), rights)
		token = a.AddToken(q.clock(), q.clock())
		d.Tokens = append(d.Tokens, a)
		return nil
	}))
	q.file = file
	store, err := authn.OpenStore(authn.StoreOptions{File: file, Now: q.clock})
	require.NoError(q.t, err)
	return store, "Auth-Token: Bearer " + token
}

func newQuotas(t *testing.T) *quotas {
	return &quotas{t: t, now: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}
}

// withQuota returns a server with one caller, and the header that authenticates the caller.
func withQuota(t *testing.T, runner ps.Runner, rights authn.Rights) (*quotas, string) {
	t.Helper()
	q := newQuotas(t)
	store, header := q.stored(rights)
	q.Server = harness.New(t, runner, func(o *gateway.Options) {
		o.Auth, o.Quotas = store, identity.NewMeters(identity.Quota{}, q.clock)
		for i := range o.Scripts {
			switch o.Scripts[i].Name {
			case "Remove-GatewayComputerList", "Remove-GatewayOU":
				o.Scripts[i].Params = append(o.Scripts[i].Params, ps.Param{Name: "BulkLimit", Type: "int"})
			case "Remove-GatewayZone":
				o.Scripts[i].Params = append(o.Scripts[i].Params, ps.Param{Name: "ImpactLimit", Type: "int"})
			}
		}
	})
	return q, header
}

// refused sends a request, expects status 429, and returns the error's sentence and Retry-After in
// seconds.
func (q *quotas) refused(method, target, header string) (string, int) {
	q.t.Helper()
	w := harness.Call(q.Server, method, target, "", header)
	got := harness.Read(q.t, w)
	require.NotNil(q.t, got.Error, target)
	require.Equal(q.t, schema.RateLimited, got.Error.Code, got.Output)
	seconds, err := strconv.Atoi(w.Header().Get("Retry-After"))
	require.NoError(q.t, err)
	return got.Output, seconds
}

func (q *quotas) answered(method, target, header string) {
	q.t.Helper()
	w := harness.Call(q.Server, method, target, "", header)
	require.Equal(q.t, http.StatusOK, w.Code, w.Body)
}

var removedUser = ps.Result{Effect: ps.EffectRemoved,
	Changes: []ps.Change{{Before: map[string]json.RawMessage{"name": nil}}}}

func TestTheRateIsLimited(t *testing.T) {
	q, header := withQuota(t, harness.Answering(harness.OK, "[]"),
		authn.Rights{Scopes: []string{"ou:read"}, Quota: &identity.Quota{Rate: "2/m"}})
	q.answered("GET", "/api/OU/All", header)
	assert.Equal(t, 403, harness.Call(q.Server, "GET", "/api/Computers/All", "", header).Code,
		"refused requests count, too")
	text, wait := q.refused("GET", "/api/OU/All", header)
	assert.Equal(t, "The token 'portal' sends more requests than it may: 2 at once and one every 30s on "+
		"average.", text)
	assert.Equal(t, 30, wait)
	q.step(30 * time.Second)
	q.answered("GET", "/api/OU/All", header)
	q.step(-time.Hour)
	_, wait = q.refused("GET", "/api/OU/All", header)
	assert.LessOrEqual(t, wait, 60, "setting the clock back must not lock anybody out")
}

func TestConcurrentRequestsAreLimited(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	runner := &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		started <- struct{}{}
		<-release
		return &harness.OK, req.Records(json.RawMessage("[]"))
	}}
	q, header := withQuota(t, runner,
		authn.Rights{Scopes: []string{"ou:read"}, Quota: &identity.Quota{Concurrency: number(1)}})
	ended := make(chan int, 1)
	go func() { ended <- harness.Call(q.Server, "GET", "/api/OU/All", "", header).Code }()
	<-started
	text, wait := q.refused("GET", "/api/OU/All", header)
	assert.Contains(t, text, "may run 1 request at once")
	assert.Equal(t, 1, wait)
	close(release)
	assert.Equal(t, 200, <-ended)
	go func() { ended <- harness.Call(q.Server, "GET", "/api/OU/All", "", header).Code }()
	<-started
	assert.Equal(t, 200, <-ended, "the slot must be free again")
}

func TestDeletionsAreLimitedPerHour(t *testing.T) {
	rights := authn.Rights{Scopes: []string{"user:delete", "user:write", "member:write"},
		Quota: &identity.Quota{DeletionsPerHour: number(2)}}
	result, script := removedUser, error(nil)
	runner := &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		if script != nil {
			return nil, script
		}
		shape := schema.User
		if strings.Contains(req.Script, "Membership") {
			shape = schema.Membership
		}
		copied := result
		return &copied, req.Records(json.RawMessage("[" + harness.Sample(shape) + "]"))
	}}
	q, header := withQuota(t, runner, rights)
	q.answered("DELETE", "/api/ADUser/a", header)
	script = &ps.Error{Kind: ps.KindScript, Gateway: "not_found", Message: "No.", Outcome: ps.OutcomeNone}
	assert.Equal(t, 404, harness.Call(q.Server, "DELETE", "/api/ADUser/b", "", header).Code)
	script = &ps.Error{Kind: ps.KindTimeout}
	q.step(time.Minute)
	assert.Equal(t, 504, harness.Call(q.Server, "DELETE", "/api/ADUser/b", "", header).Code,
		"a removal that may have happened counts, one that has not does not")
	script = nil
	asked := runner.Count()
	text, wait := q.refused("DELETE", "/api/ADUser/b", header)
	assert.Equal(t, "The token 'portal' may remove 2 objects an hour and has 0 left. It may remove more from "+
		"2026-11-22T11:00:01Z.", text)
	assert.Equal(t, 59*60, wait)
	assert.Equal(t, asked, runner.Count(), "the script was not run")
	q.answered("DELETE", "/api/ADUser/a/Group/b", header) // memberships do not count
	q.answered("PUT", "/api/ADUser/a/Disable", header)
	q.step(59 * time.Minute)
	q.answered("DELETE", "/api/ADUser/b", header)
	_, wait = q.refused("DELETE", "/api/ADUser/b", header)
	assert.Equal(t, 60, wait)
}

func TestBulkRemovalsCountEachObject(t *testing.T) {
	rights := authn.Rights{Scopes: []string{"computer:bulk-delete"},
		Quota: &identity.Quota{DeletionsPerHour: number(20)}}
	removed := 0
	runner := &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		if removed <= 15 {
			return &ps.Result{Effect: ps.EffectRemoved, Changes: make([]ps.Change, removed)}, nil
		}
		return nil, &ps.Error{Kind: ps.KindScript, Gateway: "too_many", Message: "17 computers match.",
			Arg: "WildCard", Outcome: ps.OutcomeNone}
	}}
	q, header := withQuota(t, runner, rights)
	const target = "/api/Computers/Remove?WildCard=PC*"
	removed = 15
	q.answered("DELETE", target, header)
	assert.Equal(t, ps.Int(20), runner.Last(t).Args["BulkLimit"],
		"the script's limit is what the caller has left")
	removed = 17
	text, _ := q.refused("DELETE", target, header)
	assert.Equal(t, "17 computers match. The token 'portal' may remove 20 objects an hour and has 5 left. It "+
		"may remove more from 2026-11-22T11:00:01Z.", text)
	assert.Equal(t, ps.Int(5), runner.Last(t).Args["BulkLimit"])
	removed = 5
	q.answered("DELETE", target, header)
	_, _ = q.refused("DELETE", target, header)

	q, header = withQuota(t, runner, authn.Rights{Scopes: []string{"computer:bulk-delete"}})
	removed = 17
	w := harness.Call(q.Server, "DELETE", target, "", header)
	assert.Equal(t, 409, w.Code, "without an hourly limit, the server's limit was exceeded")
	assert.Equal(t, ps.Int(50), runner.Last(t).Args["BulkLimit"])
}

// TestRemovedZonesCountWithTheirRecords: the script receives the rest of the caller's limit, and the removal
// of a zone counts as one object plus one for each record.
func TestRemovedZonesCountWithTheirRecords(t *testing.T) {
	for target, shape := range map[string]*schema.Shape{"/api/DnsLookupZone/lab2.example?Force=true": schema.DNSZone, "/api/DnsReverseLookupZone/10.0.0.0/8": schema.ReverseZone} {
		records, script := 11, error(nil)
		runner := &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
			if script != nil {
				return nil, script
			}
			result := &ps.Result{Effect: ps.EffectRemoved, Counts: map[string]int{"records": records},
				Changes: make([]ps.Change, 1)}
			return result, req.Records(json.RawMessage("[" + harness.Sample(shape) + "]"))
		}}
		q, header := withQuota(t, runner,
			authn.Rights{Scopes: []string{"dns:delete"}, Quota: &identity.Quota{DeletionsPerHour: number(20)}})
		q.answered("DELETE", target, header)
		assert.Equal(t, ps.Int(20), runner.Last(t).Args["ImpactLimit"])
		script = &ps.Error{Kind: ps.KindScript, Gateway: "too_many", Message: "It has 8 records.", Arg: "ZoneName",
			Outcome: ps.OutcomeNone}
		text, _ := q.refused("DELETE", target, header)
		assert.Contains(t, text, "It has 8 records. The token 'portal' may remove 20 objects an hour and has 8 "+
			"left.")
		assert.Equal(t, ps.Int(8), runner.Last(t).Args["ImpactLimit"])
		script, records = nil, 7
		q.answered("DELETE", target, header)
		_, _ = q.refused("DELETE", target, header)
	}
}

func TestPasswordResetsAreLimitedPerHour(t *testing.T) {
	rights := authn.Rights{Scopes: []string{"user:password", "user:write"},
		Quota: &identity.Quota{PasswordResetsPerHour: number(1)}}
	q, header := withQuota(t, harness.Answering(ps.Result{Effect: ps.EffectChanged},
		"["+harness.Sample(schema.User)+"]"), rights)
	q.answered("POST", "/api/ADUser/new?FirstName=a", header)
	w := harness.Call(q.Server, "PUT", "/api/ADUser/a", `{"Password":"Corr3ct-Horse"}`, header, "Content-Type: application/json")
	require.Equal(t, 200, w.Code, w.Body)
	text, _ := q.refused("PUT", "/api/ADUser/a/ResetPassword", header)
	assert.Contains(t, text, "may reset 1 password an hour and has 0 left")
	q.answered("PUT", "/api/ADUser/a?FirstName=b", header)
}

func TestChangesAreLimitedPerHour(t *testing.T) {
	rights := authn.Rights{Scopes: []string{"user:write", "user:password", "ou:write"},
		Quota: &identity.Quota{ChangesPerHour: number(10)}}
	below, effect := 0, ps.EffectChanged
	runner := &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		shape := schema.User
		if strings.Contains(req.Script, "OU") {
			shape = schema.OU
		}
		if below > 9 {
			return nil, &ps.Error{Kind: ps.KindScript, Gateway: "too_many", Message: "It would affect 12 objects.",
				Arg: "OUPath", Outcome: ps.OutcomeNone}
		}
		return &ps.Result{Effect: effect, Counts: map[string]int{"objects": below}},
			req.Records(json.RawMessage("[" + harness.Sample(shape) + "]"))
	}}
	q, header := withQuota(t, runner, rights)
	const move = "/api/OU/Move?OUPath=OU=a,DC=corp,DC=example&OUDestinationPath=DC=corp,DC=example"
	q.answered("PUT", "/api/ADUser/a/Disable", header)
	effect = ps.EffectNone
	q.answered("PUT", "/api/ADUser/a/Disable", header) // nothing was changed, so nothing counts
	effect = ps.EffectChanged
	q.answered("PUT", "/api/ADUser/a?FirstName=b", header) // not counted
	q.answered("PUT", "/api/ADUser/a?OUPath=OU=b,DC=corp,DC=example", header)
	below = 5
	q.answered("PUT", move, header)
	below = 12
	text, _ := q.refused("PUT", move, header)
	assert.Equal(t, "It would affect 12 objects. The token 'portal' may disable, rename, move or take out of "+
		"groups 10 objects an hour and has 2 left. It may disable, rename, move or take out of groups more from "+
		"2026-11-22T11:00:01Z.", text)
	below = 0
	q.answered("PUT", "/api/ADUser/a/Rename/b", header)
	q.answered("PUT", "/api/ADUser/a/Enable", header)
	q.answered("PUT", "/api/ADUser/a/Disable", header)
	text, _ = q.refused("PUT", "/api/ADUser/a?OUPath=OU=b,DC=corp,DC=example", header)
	assert.Contains(t, text, "has 0 left")
	q.answered("PUT", "/api/ADUser/a?FirstName=b", header)
	q.step(time.Hour)
	q.answered("PUT", "/api/ADUser/a/Disable", header)
}

func TestALimitIsExplained(t *testing.T) {
	groups := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
	limits := &identity.Limits{OUs: []string{"OU=Sales,DC=corp,DC=example"},
		Zones: []string{"corp.example", "b.example"}, Groups: groups}
	runner := harness.Failing(ps.Error{Kind: ps.KindScript, Gateway: "limit",
		Message: "The object lies outside.", Arg: "UserName"})
	q, header := withQuota(t, runner, authn.Rights{Scopes: []string{"user:read", "dns:read"}, Limits: limits})
	got := harness.Read(t, harness.Call(q.Server, "GET", "/api/ADUser/ceo/Details", "", header))
	assert.Equal(t, schema.Limit, got.Error.Code)
	// The scripts of these tests declare limits for OUs and zones, but not for groups.
	assert.Equal(t, "Username 'ceo': The object lies outside. The token 'portal' is limited to the OU "+
		"'OU=Sales,DC=corp,DC=example' and the zones 'corp.example', 'b.example'.", got.Output)

	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("OU=%d,DC=corp,DC=example", i))
	}
	q, header = withQuota(t, runner,
		authn.Rights{Scopes: []string{"user:read"}, Limits: &identity.Limits{OUs: many}})
	got = harness.Read(t, harness.Call(q.Server, "GET", "/api/ADUser/ceo/Details", "", header))
	assert.Contains(t, got.Output, "limited to the OUs '"+strings.Join(many[:10], "', '")+"' and 2 more.")
}

func TestHostileCredentials(t *testing.T) {
	q, header := withQuota(t, harness.Answering(harness.OK, "[]"), authn.Rights{Scopes: []string{"ou:read"}})
	_, token, _ := strings.Cut(header, "Bearer ")
	basic := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }
	for name, c := range map[string]struct {
		values []string // values of the header Auth-Token
		status int
	}{
		"right":                      {[]string{"Bearer " + token}, 200},
		"twice":                      {[]string{"Bearer " + token, "Bearer " + token}, 400},
		"64 kB":                      {[]string{"Bearer " + strings.Repeat("a", 64<<10)}, 401},
		"64 kB of tokens":            {[]string{"Bearer " + strings.Repeat(token, 1200)}, 401},
		"64 kB of Basic":             {[]string{basic(strings.Repeat("a", 24<<10) + ":" + strings.Repeat("b", 24<<10))}, 401},
		"no scheme":                  {[]string{token}, 401},
		"other scheme":               {[]string{"Token " + token}, 401},
		"two schemes":                {[]string{"Bearer Bearer " + token}, 401},
		"a list":                     {[]string{"Bearer " + token + ", Bearer " + token}, 401},
		"quoted":                     {[]string{`Bearer "` + token + `"`}, 401},
		"checksum":                   {[]string{"Bearer " + token[:len(token)-1] + "-"}, 401},
		"other case":                 {[]string{"Bearer " + strings.ToUpper(token)}, 401},
		"NUL behind":                 {[]string{"Bearer " + token + "\x00"}, 401},
		"control bytes":              {[]string{"Bearer \x01\x02\x7f\xff"}, 401},
		"line break":                 {[]string{"Bearer " + token + "\r\nX-A: b"}, 401},
		"Basic, NUL in the name":     {[]string{basic("an\x00na:x")}, 401},
		"Basic, broken UTF-8":        {[]string{basic("\xff\xfe:\xff")}, 401},
		"Basic, format characters":   {[]string{basic("%s%n\u202e:x")}, 401},
		"Basic, a token as name":     {[]string{basic(token + ":")}, 401},
		"Basic, a token as password": {[]string{basic("portal:" + token)}, 401},
		"empty":                      {[]string{""}, 401},
		"blank":                      {[]string{" "}, 401},
	} {
		r := httptest.NewRequest("GET", "/api/OU/All", nil)
		r.Header["Auth-Token"] = c.values
		w := httptest.NewRecorder()
		q.Handler().ServeHTTP(w, r)
		assert.Equal(t, c.status, w.Code, "%s: %s", name, w.Body)
		assert.NotContains(t, w.Body.String(), token[:20], name)
		if c.status == 401 {
			assert.Equal(t, authn.Challenge, w.Header().Get("WWW-Authenticate"), name)
		}
	}
}

func TestNetworkLimitsApplyToTheRealClient(t *testing.T) {
	store, header := newQuotas(t).stored(authn.Rights{Scopes: []string{"ou:read"},
		Networks: []string{"10.0.0.0/8"}})
	for _, c := range []struct {
		proxies   []string // the requests of these tests come from 192.0.2.1
		forwarded map[string]int
	}{
		{nil, map[string]int{"": 401, "10.1.1.1": 401}},
		{[]string{"198.51.100.0/24"}, map[string]int{"10.1.1.1": 401}},
		{[]string{"192.0.2.0/24"}, map[string]int{
			"": 401, "10.1.1.1": 200, "203.0.113.9, 10.1.1.1": 200,
			"10.1.1.1, 203.0.113.9": 401, "10.1.1.1, nonsense": 401,
		}},
	} {
		s := harness.New(t, harness.Answering(harness.OK, "[]"),
			func(o *gateway.Options) { o.Auth, o.Policy.TrustedProxies = store, c.proxies })
		for forwarded, status := range c.forwarded {
			w := harness.Call(s, "GET", "/api/OU/All", "", header, "X-Forwarded-For: "+forwarded)
			assert.Equal(t, status, w.Code, "%v: %s", c.proxies, forwarded)
		}
	}
}

func TestTheLogSaysWhyACallerIsUnknown(t *testing.T) {
	store, header := newQuotas(t).stored(authn.Rights{Scopes: []string{"ou:read"},
		Networks: []string{"10.0.0.0/8"}})
	fields, line := logged(t, harness.Answering(harness.OK, "[]"), func(o *gateway.Options) { o.Auth = store },
		"GET", "/api/OU/All", "", header)
	assert.Equal(t, "the token 'portal' was used from 192.0.2.1, which is in none of its networks",
		fields["cause"])
	_, token, _ := strings.Cut(header, "Bearer ")
	assert.NotContains(t, line, token)
}
