package many

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"adgateway/test/systemtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAControllerStops: when the controller stops that the gateways use, they go on with
// another one, all of them with the same, and no change is made twice or by halves.
func TestAControllerStops(t *testing.T) {
	f := newFleet(t, "cluster.settleDelay=1s", "pool.directorySessions=2", "log.level=error")
	f.makeUsers()
	ctx, cancel := context.WithTimeout(t.Context(), 3*systemtest.Patience)
	defer cancel()
	before := f.servers(ctx)
	require.Len(t, before, 1, "they use one controller: %v", before)
	began := f.last()

	first := firstOf(before)
	for _, dc := range f.world.Directory.DCs() {
		if dc.HostName() == first {
			dc.SetAlive(false)
		}
	}
	stopped := time.Now()
	all := 0
	for gateway := range members {
		for n := 0; n < 3; n++ {
			value := fmt.Sprintf("v%d%d", gateway, n)
			require.EventuallyWithT(t, func(c *assert.CollectT) {
				status, server := f.change(ctx, gateway, fmt.Sprintf("shared%02d", n), value)
				assert.Equal(c, http.StatusOK, status)
				assert.NotEqual(c, first, server)
			}, systemtest.Patience, 50*time.Millisecond)
			all++
		}
		t.Logf("gw%d goes on after %s", gateway+1, time.Since(stopped).Round(100*time.Millisecond))
	}
	after := f.servers(ctx)
	require.Len(t, after, 1, "they use one controller: %v", after)
	assert.NotEqual(t, first, firstOf(after))
	made := map[string]int{}
	for _, w := range f.writes.After(began, 1<<30) {
		if w.Attribute == "l" {
			made[strings.Join(w.After, "")]++
		}
	}
	assert.Len(t, made, all)
	for value, times := range made {
		assert.Equal(t, 1, times, value)
	}
}

// servers returns the controllers that the gateways read from.
func (f *fleet) servers(ctx context.Context) map[string]bool {
	f.t.Helper()
	found := map[string]bool{}
	for i := range members {
		require.EventuallyWithT(f.t, func(c *assert.CollectT) {
			status, server := f.call(ctx, i, http.MethodGet, "/api/ADUser/shared00/Details", "", "")
			if assert.Equal(c, http.StatusOK, status) {
				found[server] = true
			}
		}, systemtest.Patience, 50*time.Millisecond)
	}
	return found
}

func firstOf(servers map[string]bool) string {
	for server := range servers {
		return server
	}
	return ""
}

// change sets a user's city at a gateway, under a key of the value.
func (f *fleet) change(ctx context.Context, gateway int, user, city string) (status int, server string) {
	return f.call(ctx, gateway, http.MethodPut, "/api/ADUser/"+user, fmt.Sprintf(`{"City":%q}`, city), "change-of-"+city)
}

// call asks a gateway, and returns the status of its answer and the controller that it is
// from; 0 if there is no answer.
func (f *fleet) call(ctx context.Context, gateway int, method, path, body, key string) (status int, server string) {
	status, header, _ := f.send(ctx, gateway, method, path, "application/json", body, key)
	return status, header.Get("X-Directory-Server")
}

// send asks a gateway, and returns its answer; the status is 0 if there is none.
func (f *fleet) send(ctx context.Context, gateway int, method, path, media, body, key string) (status int, header http.Header, text []byte) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+f.gateways[gateway].plan.Listen+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, nil
	}
	request.Header.Set("Auth-Token", "Bearer "+token)
	request.Header.Set("Content-Type", media)
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, nil
	}
	defer response.Body.Close()
	if text, err = io.ReadAll(response.Body); err != nil {
		return 0, nil, nil
	}
	for name, values := range response.Trailer {
		response.Header[name] = append(response.Header[name], values...)
	}
	return response.StatusCode, response.Header, text
}
