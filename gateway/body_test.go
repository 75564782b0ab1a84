package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
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

// hostileBodies returns bodies of about 1 MiB that once took several times their size in memory.
func hostileBodies() map[string]struct{ contentType, body string } {
	var members strings.Builder
	for i := range 80_000 {
		fmt.Fprintf(&members, `"k%06d":1,`, i)
	}
	var repeated strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&repeated, "FirstName=%d&", i)
	}
	return map[string]struct{ contentType, body string }{
		"broken escapes":    {form, strings.Repeat("%&", 1<<19-100)},
		"no names":          {form, strings.Repeat("=1&", 300_000)},
		"unknown members":   {js, "{" + strings.TrimSuffix(members.String(), ",") + "}"},
		"one name repeated": {form, repeated.String()},
		"one long name":     {form, strings.Repeat("a", 1<<20-100)},
		"one long value":    {js, `{"FirstName":"` + strings.Repeat("a", 1<<20-100) + `"}`},
		"one long array":    {js, `{"FirstName":[` + strings.Repeat("1,", 1<<19-100) + `1]}`},
	}
}

func TestHostileBodiesCostLittle(t *testing.T) {
	server := httptest.NewServer(harness.New(t, harness.Answering(harness.OK), nil).Handler())
	defer server.Close()
	const atOnce = 25
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as in production, whatever GC setting the tests run with
	for name, c := range hostileBodies() {
		runtime.GC()
		before := heap()
		stop, peak := make(chan struct{}), make(chan uint64)
		go func() {
			most := uint64(0)
			for {
				select {
				case <-stop:
					peak <- most
					return
				case <-time.After(time.Millisecond):
					most = max(most, heap())
				}
			}
		}()
		var running sync.WaitGroup
		for range atOnce {
			running.Go(func() {
				request, err := http.NewRequest("POST", server.URL+"/api/ADUser/jdoe", strings.NewReader(c.body))
				if !assert.NoError(t, err) {
					return
				}
				request.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
				request.Header.Set("Content-Type", c.contentType)
				answer, err := server.Client().Do(request)
				if !assert.NoError(t, err, name) {
					return
				}
				defer func() { _ = answer.Body.Close() }()
				size, err := io.Copy(io.Discard, answer.Body)
				assert.NoError(t, err, name)
				assert.LessOrEqual(t, size, int64(64<<10), name)
				assert.Contains(t, []int{http.StatusBadRequest, http.StatusTooManyRequests}, answer.StatusCode, name)
			})
		}
		running.Wait()
		close(stop)
		cost := int64(<-peak) - int64(before)
		t.Logf("%s: %.1f MiB", name, float64(cost)/(1<<20))
		assert.Less(t, cost, int64(100<<20), name)
	}
}

// heap returns the size of all objects in bytes, live or not yet collected.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func TestParametersAndProblemsAreBounded(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	pairs := func(n int) string { return strings.TrimSuffix(strings.Repeat("=1&", n), "&") }
	for _, c := range []struct {
		name, query, contentType, body string
		message                        string
		details                        int
	}{
		{"100 problems", pairs(100), "", "", "A parameter has no name. The request has 100 problems in all; see details.", 100},
		{"101 problems", pairs(101), "", "", "A parameter has no name. The request has 101 problems in all; see details.", 101},
		{"200 parameters in two places", pairs(100), form, pairs(100), "A parameter has no name. The request has 200 problems in all; see details.", 101},
		{"201 parameters in two places", pairs(100), form, pairs(101), "The request has more than 200 parameters, repeated ones included. This operation has", 0},
		{"201 equal ones", strings.Repeat("City=a&", 201), "", "", "The request has more than 200 parameters, repeated ones included. This operation has", 0},
		{"201 members", "", js, `{` + strings.Repeat(`"City":"a",`, 200) + `"City":"a"}`, "The request has more than 200 parameters, repeated ones included. This operation has", 0},
	} {
		got := harness.Read(t, harness.Call(s, "POST", "/api/ADUser/jdoe?"+c.query, c.body,
			"Content-Type: "+c.contentType))
		require.NotNil(t, got.Error, c.name)
		assert.Equal(t, schema.InvalidRequest, got.Error.Code, c.name)
		assert.Contains(t, got.Error.Message, c.message, c.name)
		assert.Len(t, got.Error.Details, c.details, c.name)
		if c.details == 101 {
			assert.Contains(t, got.Error.Details[100].Message, "more problems are not shown.", c.name)
		}
	}
	assert.Equal(t, 201, harness.Call(harness.New(t,
		harness.Answering(ps.Result{Effect: ps.EffectCreated}, "["+harness.Sample(schema.User)+"]"), nil),
		"POST", "/api/ADUser/jdoe?"+strings.Repeat("City=a&", 200), "").Code, "200 parameters are accepted")
}

func TestTheAnswerToARefusalIsBounded(t *testing.T) {
	wide := strings.Repeat("\u2028\"", 40_000)
	refused := harness.Failing(ps.Error{Kind: ps.KindScript, Gateway: "conflict", Message: wide,
		Outcome: ps.OutcomeNone})
	w := harness.Call(harness.New(t, refused, nil), "PUT", "/api/ADUser/jdoe/Disable", "")
	assert.LessOrEqual(t, w.Body.Len(), 64<<10)
	left := make([]ps.Object, 2000)
	for i := range left {
		left[i].DN = fmt.Sprintf("CN=user%d,OU=Sales,DC=corp,DC=example", i)
	}
	partly := harness.Failing(ps.Error{Kind: ps.KindScript, Code: "1325", Outcome: ps.OutcomePartial,
		Remains: left})
	w = harness.Call(harness.New(t, partly, nil), "POST", "/api/ADUser/jdoe", "")
	assert.Greater(t, w.Body.Len(), 64<<10, "what was done is never cut")
}

// TestANameThatMayBeAValueIsNotRepeated: the answer does not repeat values that clients send in place of a
// parameter's name.
func TestANameThatMayBeAValueIsNotRepeated(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	for name, shown := range map[string]string{
		"Tr0ub4dor&3": "Tr…", "Sommer2026": "So…", "Password1": "Pa…", "Kennwortzumanmelden": "Ke…", "City2026!": "Ci…",
		"Passwort": "Passwort", "Drive": "Drive", "modified": "modified", "ZoneNmae": "ZoneNmae",
	} {
		for _, where := range []string{"member", "form"} {
			contentType, body := js, fmt.Sprintf(`{%q:"x"}`, name)
			if where == "form" {
				contentType, body = form, strings.ReplaceAll(name, "&", "%26")
			}
			w := harness.Call(s, "POST", "/api/ADUser/jdoe", body, "Content-Type: "+contentType)
			text := w.Body.String()
			got := harness.Read(t, w)
			require.Len(t, got.Error.Details, 1, name)
			if where == "member" && name == "Kennwortzumanmelden" { // it is itself a member's name
				assert.Equal(t, name, got.Error.Details[0].Field)
				continue
			}
			assert.Equal(t, shown, got.Error.Details[0].Field, where)
			assert.Equal(t, shown == name, strings.Contains(text, name), name)
		}
	}
}

// TestBodiesShareTheMemory: one caller uses up its share of the memory. Its next body is refused, but small
// bodies and the bodies of other callers are not. All memory is free again afterwards.
func TestBodiesShareTheMemory(t *testing.T) {
	running, release := make(chan struct{}), make(chan struct{})
	runner := &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		running <- struct{}{}
		<-release
		return &ps.Result{Effect: ps.EffectCreated}, req.Records([]byte("[" + harness.Sample(schema.User) + "]"))
	}}
	const large = 100 << 10
	s := harness.New(t, runner, func(o *gateway.Options) { o.Bodies.Memory = 1 << 20 })
	body := func(size int) string { return "City=a" + strings.Repeat("&", size) }
	post := func(token string, size int) int {
		return harness.Call(s, "POST", "/api/ADUser/jdoe", body(size), "Content-Type: "+form,
			"Auth-Token: Bearer "+token).Code
	}
	var held sync.WaitGroup
	for range 2 {
		held.Go(func() { assert.Equal(t, 201, post(harness.AllToken, large)) })
		<-running
	}
	refused := harness.Call(s, "POST", "/api/ADUser/jdoe", body(large), "Content-Type: "+form)
	assert.Equal(t, 429, refused.Code)
	assert.Equal(t, "2", refused.Header().Get("Retry-After"))
	for _, c := range []struct {
		token string
		size  int
	}{{harness.AllToken, 10 << 10}, {harness.WriteToken, large}} {
		held.Go(func() { assert.Equal(t, 201, post(c.token, c.size)) })
		<-running
	}
	close(release)
	held.Wait()
}

// TestTheMemoryOfBodiesIsSpent: many callers use up the memory, each with less than its share. The memory is
// free again when they have their answers.
func TestTheMemoryOfBodiesIsSpent(t *testing.T) {
	running, release := make(chan struct{}), make(chan struct{})
	runner := &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		running <- struct{}{}
		<-release
		return &ps.Result{Effect: ps.EffectCreated}, req.Records([]byte("[" + harness.Sample(schema.User) + "]"))
	}}
	static, large := harness.Auth(t), "City=a"+strings.Repeat("&", 200<<10)
	const callers = 20
	for i := range callers {
		caller := &identity.Principal{Name: fmt.Sprint("caller", i), Scopes: []identity.Scope{identity.All}}
		require.NoError(t, static.AddToken(fmt.Sprint("token-of-caller-", i), caller))
	}
	s := harness.New(t, runner, func(o *gateway.Options) { o.Auth, o.Bodies.Memory = static, 1<<20 })
	post := func(i int) int {
		token := fmt.Sprint("Auth-Token: Bearer token-of-caller-", i)
		return harness.Call(s, "POST", "/api/ADUser/jdoe", large, "Content-Type: "+form, token).Code
	}
	var held sync.WaitGroup
	statuses := make(chan int)
	full := 0
	for i := 0; full == 0 && i < callers; i++ {
		held.Go(func() {
			select {
			case statuses <- post(i):
			case <-release:
			}
		})
		select {
		case <-running:
		case full = <-statuses:
		}
	}
	assert.Equal(t, 503, full)
	close(release)
	held.Wait()
	go func() { <-running }()
	assert.Equal(t, 201, post(0))
}
