package many

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"adgateway/test/systemtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// event is one of a stream.
type event struct{ id, name, data string }

// follow reads events of a stream at a gateway, from after one on, until the stream ends or
// seen returns false. Who wants to read on elsewhere has the id of the last one.
func (f *fleet) follow(ctx context.Context, gateway int, path, after string, seen func(event) bool) {
	f.t.Helper()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+f.gateways[gateway].plan.Listen+path, nil)
	require.NoError(f.t, err)
	request.Header.Set("Auth-Token", "Bearer "+token)
	if after != "" {
		request.Header.Set("Last-Event-ID", after)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(f.t, err)
	defer response.Body.Close()
	require.Equal(f.t, http.StatusOK, response.StatusCode)
	var e event
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "": // only now it is complete
			if e != (event{}) && !seen(e) {
				return
			}
			e = event{}
		}
	}
}

// TestAFollowerReadsOnElsewhere: who follows the changes, or a job, at a gateway that is
// killed goes on at another one. No change is missed, and none comes twice.
func TestAFollowerReadsOnElsewhere(t *testing.T) {
	f := newFleet(t, "pool.directorySessions=2", "log.level=error")
	f.makeUsers()
	ctx, cancel := context.WithTimeout(t.Context(), 3*systemtest.Patience)
	defer cancel()
	job := f.submit(ctx, 0, "/api/Jobs?Mode=validate", 20)
	var want, got []string
	change := func(gateway int) {
		value := fmt.Sprintf("city%02d", len(want))
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			status, _ := f.change(ctx, gateway, fmt.Sprintf("shared%02d", len(want)%users), value)
			assert.Equal(c, http.StatusOK, status)
		}, systemtest.Patience, 50*time.Millisecond)
		want = append(want, value)
	}
	last := ""
	seen := func(e event) bool {
		last = e.id
		if e.name == "change" {
			var shown struct {
				Objects []struct{ Changes []struct{ After any } }
			}
			require.NoError(t, json.Unmarshal([]byte(e.data), &shown))
			got = append(got, fmt.Sprint(shown.Objects[0].Changes[0].After))
		}
		return true
	}
	for gateway := range members {
		f.follow(ctx, gateway, "/api/Changes/stream", last, func(e event) bool {
			seen(e)
			if gateway == members-1 {
				return len(got) < len(want)
			}
			if len(got) < 5*(gateway+1) {
				change((gateway + 1) % members)
			} else if len(got) == len(want) {
				f.gateways[gateway].signal(syscall.SIGKILL)
				for range 3 { // while nobody follows
					change(members - 1)
				}
				return false
			}
			return true
		})
	}
	assert.Equal(t, want, got, "in order, none left out and none twice")

	var end struct {
		State string
		Done  int
	}
	f.follow(ctx, members-1, "/api/Jobs/"+job+"/Stream", "", func(e event) bool {
		require.NoError(t, json.Unmarshal([]byte(e.data), &end))
		if end.State == "ready" {
			status, _ := f.call(ctx, members-1, http.MethodPut, "/api/Jobs/"+job+"/Start", "", "")
			require.Less(t, status, http.StatusBadRequest)
		}
		return e.name != "end"
	})
	assert.Equal(t, "done", end.State, "a job that was submitted at a gateway that is dead")
	assert.Equal(t, 20, end.Done)
}

// submit submits a job of changes at a gateway and returns its identity.
func (f *fleet) submit(ctx context.Context, gateway int, path string, items int) (id string) {
	f.t.Helper()
	var list strings.Builder
	for i := range items {
		fmt.Fprintf(&list, `{"id":"i%d","operation":"user.update","parameters":{"UserName":"shared%02d","City":"j%d"}}`+"\n", i, i%users, i)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+f.gateways[gateway].plan.Listen+path, strings.NewReader(list.String()))
	require.NoError(f.t, err)
	request.Header.Set("Auth-Token", "Bearer "+token)
	request.Header.Set("Content-Type", "application/x-ndjson")
	response, err := http.DefaultClient.Do(request)
	require.NoError(f.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(f.t, err)
	var answer struct{ Result []struct{ ID string } }
	require.NoError(f.t, json.Unmarshal(text, &answer), "%s", text)
	require.Len(f.t, answer.Result, 1, "%s", text)
	return answer.Result[0].ID
}
