package gateway

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

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/transport"
	"adgateway/ps"
)

// hostileBodies are bodies of about 1 MiB that once cost a multiple of that.
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
	server := httptest.NewServer(newTestServer(t, answering(okResult), nil).Handler())
	defer server.Close()
	const atOnce = 25
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as in a service, whatever the tests run with
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
				request.Header.Set("Auth-Token", "Bearer "+allToken)
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

// heap returns the bytes of objects, live or not yet collected.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func TestParametersAndProblemsAreBounded(t *testing.T) {
	s := newTestServer(t, answering(okResult), nil)
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
		got := read(t, call(s, "POST", "/api/ADUser/jdoe?"+c.query, c.body, "Content-Type: "+c.contentType))
		require.NotNil(t, got.Error, c.name)
		assert.Equal(t, schema.InvalidRequest, got.Error.Code, c.name)
		assert.Contains(t, got.Error.Message, c.message, c.name)
		assert.Len(t, got.Error.Details, c.details, c.name)
		if c.details == 101 {
			assert.Contains(t, got.Error.Details[100].Message, "more problems are not shown.", c.name)
		}
	}
	assert.Equal(t, 201, call(newTestServer(t, answering(ps.Result{Effect: ps.EffectCreated}, "["+sample(schema.User)+"]"), nil),
		"POST", "/api/ADUser/jdoe?"+strings.Repeat("City=a&", 200), "").Code, "200 parameters are accepted")
}

func TestTheAnswerToARefusalIsBounded(t *testing.T) {
	wide := strings.Repeat("\u2028\"", 40_000)
	f := problem.New(schema.InvalidRequest, "%s", wide)
	for range 90 {
		f.Details = append(f.Details, problem.Detail{Field: "City", Message: wide[:3000]})
	}
	answer := encodeError(f, "test-1")
	assert.LessOrEqual(t, len(answer), 64<<10)
	assert.Contains(t, string(answer), "more problems are not shown.")
	done := problem.New(schema.Backend, "%s", wide)
	assert.Greater(t, len(encodeError(done, "test-1")), 64<<10, "what was done is never cut")
}

// TestANameThatMayBeAValueIsNotRepeated covers what clients send in the wrong place.
func TestANameThatMayBeAValueIsNotRepeated(t *testing.T) {
	s := newTestServer(t, answering(okResult), nil)
	for name, shown := range map[string]string{
		"Tr0ub4dor&3": "Tr…", "Sommer2026": "So…", "Password1": "Pa…", "Kennwortzumanmelden": "Ke…", "City2026!": "Ci…",
		"Passwort": "Passwort", "Drive": "Drive", "modified": "modified", "ZoneNmae": "ZoneNmae",
	} {
		for _, where := range []string{"member", "form"} {
			contentType, body := js, fmt.Sprintf(`{%q:"x"}`, name)
			if where == "form" {
				contentType, body = form, strings.ReplaceAll(name, "&", "%26")
			}
			w := call(s, "POST", "/api/ADUser/jdoe", body, "Content-Type: "+contentType)
			text := w.Body.String()
			got := read(t, w)
			require.Len(t, got.Error.Details, 1, name)
			assert.Equal(t, shown, got.Error.Details[0].Field, where)
			assert.Equal(t, shown == name, strings.Contains(text, name), name)
		}
	}
}

// TestBodiesShareTheMemory lets one caller take its share: its next body is refused,
// those of others and small ones are not, and everything is free again afterwards.
func TestBodiesShareTheMemory(t *testing.T) {
	running, release := make(chan struct{}), make(chan struct{})
	runner := &fakeRunner{run: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		running <- struct{}{}
		<-release
		return &ps.Result{Effect: ps.EffectCreated}, req.Records([]byte("[" + sample(schema.User) + "]"))
	}}
	const large = 100 << 10
	s := newTestServer(t, runner, func(o *Options) { o.BodyMemory = 1 << 20 })
	body := func(size int) string { return "City=a" + strings.Repeat("&", size) }
	post := func(token string, size int) int {
		return call(s, "POST", "/api/ADUser/jdoe", body(size), "Content-Type: "+form, "Auth-Token: Bearer "+token).Code
	}
	var held sync.WaitGroup
	for range 2 {
		held.Go(func() { assert.Equal(t, 201, post(allToken, large)) })
		<-running
	}
	refused := call(s, "POST", "/api/ADUser/jdoe", body(large), "Content-Type: "+form)
	assert.Equal(t, 429, refused.Code)
	assert.Equal(t, "2", refused.Header().Get("Retry-After"))
	for _, c := range []struct {
		token string
		size  int
	}{{allToken, 10 << 10}, {writeToken, large}} {
		held.Go(func() { assert.Equal(t, 201, post(c.token, c.size)) })
		<-running
	}
	close(release)
	held.Wait()
	assert.NoError(t, s.bodies.Take(transport.Caller{ID: "another"}, s.bodies.Most(), s.bodies.Most()), "all of it was given back")

	s = newTestServer(t, answering(okResult), func(o *Options) { o.BodyMemory = 1 << 20 })
	require.NoError(t, s.bodies.Take(transport.Caller{ID: "another"}, 1<<20-1, 1<<20))
	assert.Equal(t, 503, post(allToken, large), "the memory is spent")
}
