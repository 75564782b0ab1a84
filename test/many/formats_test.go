package many

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"adgateway/gateway/keep"
	"adgateway/test/systemtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// said is an answer of a gateway.
type said struct {
	status int
	header http.Header
	body   string
}

// say sends a call to a gateway.
func (f *fleet) say(gateway int, key, method, path, body string) said {
	f.t.Helper()
	request, err := http.NewRequestWithContext(f.t.Context(), method, "http://"+f.gateways[gateway].plan.Listen+path, strings.NewReader(body))
	require.NoError(f.t, err)
	request.Header.Set("Auth-Token", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	client := http.Client{Timeout: systemtest.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(f.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(f.t, err)
	return said{response.StatusCode, response.Header, string(text)}
}

// heard is say to a gateway that has heard of what another one has just done, a moment later.
func (f *fleet) heard(gateway int, key, method, path, body string) (answered said) {
	f.t.Helper()
	f.soon(func() bool {
		answered = f.say(gateway, key, method, path, body)
		return answered.status != http.StatusNotFound && !strings.Contains(answered.body, `"code":"in_progress"`)
	})
	return answered
}

// become lets a gateway end, and start as a version that reads formats up to newest.
func (f *fleet) become(gateway, newest int) {
	f.t.Helper()
	p := f.gateways[gateway]
	p.signal(syscall.SIGKILL)
	p.plan.Format = newest
	require.NoError(f.t, p.again(f.t.Context()))
	f.ready(gateway)
}

// ready waits until a gateway makes changes.
func (f *fleet) ready(gateway int) {
	f.t.Helper()
	f.soon(func() bool {
		return f.say(gateway, "", http.MethodGet, "/readyz?lane=changes", "").status == http.StatusOK
	})
}

// soon waits for something, by asking again and again.
func (f *fleet) soon(is func() bool) {
	f.t.Helper()
	for end := time.Now().Add(systemtest.Patience); !is(); time.Sleep(20 * time.Millisecond) {
		require.True(f.t, time.Now().Before(end))
	}
}

// written returns the format in which a gateway writes values.
func (f *fleet) written(gateway int) int {
	f.t.Helper()
	var shown struct{ Result []struct{ Format int } }
	answered := f.say(gateway, "", http.MethodGet, "/api/Cluster", "")
	require.NoError(f.t, json.Unmarshal([]byte(answered.body), &shown), answered.body)
	require.Len(f.t, shown.Result, 1, answered.body)
	return shown.Result[0].Format
}

// crosses makes a change with a key at each gateway, and repeats it and reads it at all others.
func (f *fleet) crosses(round string) {
	f.t.Helper()
	for i := range f.gateways {
		key, body := fmt.Sprintf("format-%s-%d", round, i), fmt.Sprintf(`{"City":"%s %d"}`, round, i)
		first := f.say(i, key, http.MethodPut, "/api/ADUser/shared00", body)
		require.Equal(f.t, http.StatusOK, first.status, first.body)
		for k := range f.gateways {
			again := f.heard(k, key, http.MethodPut, "/api/ADUser/shared00", body)
			assert.Equal(f.t, first.body, again.body, "gw%d repeats at gw%d", i+1, k+1)
			assert.Equal(f.t, "true", again.header.Get("Idempotency-Replayed"))
			read := f.heard(k, "", http.MethodGet, "/api/Changes/"+first.header.Get("X-Change-Id"), "")
			assert.Equal(f.t, http.StatusOK, read.status, read.body)
		}
	}
}

// TestANewerFormatComesLast: gateways become a version with a newer format one by one. What
// each writes, all read at any time; the newer format is written when the last one reads it,
// and who does not read it does not start any more.
func TestANewerFormatComesLast(t *testing.T) {
	const next = keep.Newest + 1
	f := newFleet(t, "cluster.settleDelay=1s", "http.settlePause=50ms")
	f.makeUsers()
	for i := range f.gateways {
		f.ready(i)
	}
	f.crosses("before")
	for i := range f.gateways {
		f.become(i, next)
		if i == members-1 {
			break
		}
		held := fmt.Sprintf("'gw%d'", members)
		f.soon(func() bool {
			shown := f.say(i, "", http.MethodGet, "/readyz", "").body
			return strings.Contains(shown, held) && strings.Contains(shown, "so that values are written in that one")
		})
		assert.Equal(t, keep.Newest, f.written(i))
		f.crosses(fmt.Sprintf("newer%d", i))
	}
	for i := range f.gateways {
		f.soon(func() bool { return f.written(i) == next })
	}
	f.crosses("after")

	last := f.gateways[members-1]
	last.signal(syscall.SIGKILL)
	last.plan.Format = keep.Newest
	last.log.Reset()
	err := last.start()
	require.ErrorContains(t, err, "a later version of adgateway has written it")
	assert.Contains(t, err.Error(), "update this one")
	assert.Equal(t, next, f.written(0), "it holds nothing back")
}
