package fleet

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// answer is the answer of a gateway. The status is 0 if no answer came.
type answer struct {
	status int
	header http.Header
	text   string
}

// code returns the error code of a refusal.
func (a answer) code() string {
	var body struct{ Error struct{ Code string } }
	_ = json.Unmarshal([]byte(a.text), &body) // an answer without an error has no code
	return body.Error.Code
}

// didNothing reports whether the answer proves that nothing was done.
func (a answer) didNothing() bool {
	var body struct{ Error struct{ Outcome string } }
	return json.Unmarshal([]byte(a.text), &body) == nil && body.Error.Outcome == "none"
}

// call sends one request to a gateway. The key may be empty.
func (f *fleet) call(h *host, method, path, body, key string) answer {
	f.t.Helper()
	headers := http.Header{}
	if key != "" {
		headers.Set("Idempotency-Key", key)
	}
	return f.callWith(h, method, path, body, headers)
}

// callWith sends one request with headers to a gateway.
func (f *fleet) callWith(h *host, method, path, body string, headers http.Header) answer {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, h.url(path), strings.NewReader(body))
	require.NoError(f.t, err)
	request.Header.Set("Auth-Token", "Bearer "+f.token)
	request.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(path, "/api/Jobs") {
		request.Header.Set("Content-Type", "application/x-ndjson")
	}
	maps.Copy(request.Header, headers)
	response, err := f.client.Do(request)
	if err != nil {
		return answer{}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

// must repeats a request until the gateway fulfills it. It decodes the answer into the value at into, unless
// into is nil.
func (f *fleet) must(h *host, method, path, body, key string, into any) answer {
	f.t.Helper()
	var a answer
	require.Eventually(f.t, func() bool {
		a = f.call(h, method, path, body, key)
		return a.status/100 == 2
	}, patience, 50*time.Millisecond, "%s: %s %s", h.name, method, path)
	if into != nil {
		require.NoError(f.t, json.Unmarshal([]byte(a.text), into), a.text)
	}
	return a
}

// ready waits until a gateway can make changes, either itself or through the leader.
func (f *fleet) ready(h *host) {
	f.t.Helper()
	await(f.t, h.name+" is not ready", func() bool {
		return f.ask(h, "/readyz?lane=changes") == http.StatusOK
	})
}
