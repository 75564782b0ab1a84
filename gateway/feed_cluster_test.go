package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/changes"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/test/harness"
)

// changesFrom asks a gateway for the changes after a cursor, with a long poll.
func changesFrom(t *testing.T, s *gateway.Server, cursor string) (ids []string, next string) {
	t.Helper()
	w := harness.Call(s, "GET", "/api/Changes?Wait=30&After="+cursor, "", "Auth-Token: Bearer "+harness.AllToken)
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	var answer struct {
		Result []struct{ ID string }
		Next   string
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	for _, one := range answer.Result {
		ids = append(ids, one.ID)
	}
	return ids, answer.Next
}

// eventsFrom reads n events from the stream of a gateway, after the event last or, if last is empty, from the
// end of the history. It calls begun once the stream is open.
func eventsFrom(t *testing.T, address, last string, n int, begun func()) (ids []string, reached string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/Changes/stream", nil)
	require.NoError(t, err)
	request.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	lines := bufio.NewScanner(answer.Body)
	until(t, lines, "retry: ")
	if last == "" {
		until(t, lines, "id: ") // where the stream begins
	}
	begun()
	for len(ids) < n {
		require.True(t, lines.Scan(), "%v", lines.Err())
		if id, is := strings.CutPrefix(lines.Text(), "id: "); is {
			reached = id
		}
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
			var shown struct{ ID string }
			require.NoError(t, json.Unmarshal([]byte(data), &shown))
			ids = append(ids, shown.ID)
		}
	}
	return ids, reached
}

// TestAClientMayReconnectAnywhere: a cursor is a position in the log, no matter which gateway issued it.
// Streams and polls accept the same cursors.
func TestAClientMayReconnectAnywhere(t *testing.T) {
	plain := store.NewMemory(nil)
	var gateways []*gateway.Server
	var histories []*changes.History
	var addresses []string
	for range 3 {
		sealed := storetest.Seal(t, plain)
		history := changes.New(sealed, time.Hour, 1<<30)
		s := harness.New(t, harness.Answering(harness.OK),
			func(o *gateway.Options) { o.Kept, o.History = sealed, history })
		web := httptest.NewServer(s.Handler())
		t.Cleanup(web.Close)
		gateways, histories, addresses = append(gateways, s), append(histories, history), append(addresses, web.URL)
	}
	var want []string
	change := func(n int) {
		for i := range n {
			want = append(want, changeCity(t, histories[i%3], "Rome"))
		}
	}
	seen, at := eventsFrom(t, addresses[0], "", 4, func() { change(10) })
	for turn := 1; len(seen) < 10; turn++ {
		more, reached := eventsFrom(t, addresses[turn%3], at, 2, func() {})
		seen, at = append(seen, more...), reached
	}
	assert.Equal(t, want, seen, "in order, none left out and none twice")
	change(9)
	polled, next := changesFrom(t, gateways[1], at)
	seen = append(seen, polled...)
	change(3)
	polled, _ = changesFrom(t, gateways[2], next)
	assert.Equal(t, want, append(seen, polled...))
}
