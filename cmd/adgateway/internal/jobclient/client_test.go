package jobclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/jobclient"
)

const token = "adgw_secret"

// serve returns a client for a server that answers with handle.
func serve(t *testing.T, handle http.HandlerFunc) *jobclient.Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	client, err := jobclient.NewClient(server.URL+"/", token)
	require.NoError(t, err)
	t.Cleanup(client.HTTP.CloseIdleConnections)
	client.Pause = time.Millisecond
	return client
}

// limited returns a context with a time limit, so that no test hangs.
func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// job returns a record with a state and numbers.
func job(state string, total, waiting int) string {
	return fmt.Sprintf(`{"id":"jb_1","kind":"list","name":null,"state":%q,"why":null,"total":%d,"waiting":%d,"rate":null,"remaining":null,"problems":[]}`, state, total, waiting)
}

func answer(w http.ResponseWriter, records ...string) {
	fmt.Fprintf(w, `{"output":"","result":[%s]}`, strings.Join(records, ","))
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"", "gateway", "gateway:8080", "ftp://gateway", "http://", "http://a b"} {
		_, err := jobclient.NewClient(address, token)
		assert.ErrorContains(t, err, "is no address of a gateway", address)
	}
}

func TestCalls(t *testing.T) {
	var got []string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.String())
		assert.Equal(t, "Bearer "+token, r.Header.Get("Auth-Token"))
		answer(w, job("running", 1, 1))
	})
	for _, action := range []jobclient.Action{jobclient.Start, jobclient.Pause, jobclient.Resume,
		jobclient.Cancel, jobclient.Undo} {
		_, err := client.Do(limited(t), "jb_1", action, nil)
		require.NoError(t, err)
	}
	_, err := client.Do(limited(t), "../x?y", jobclient.Retry, url.Values{"State": {"failed,unknown"}})
	require.NoError(t, err)
	one, err := client.Get(limited(t), "jb_1")
	require.NoError(t, err)
	assert.Equal(t, "running", one.State)
	all, more, err := client.List(limited(t), "paused", 5)
	require.NoError(t, err)
	assert.Len(t, all, 1)
	assert.False(t, more)
	assert.Equal(t, []string{
		"PUT /api/Jobs/jb_1/Start", "PUT /api/Jobs/jb_1/Pause", "PUT /api/Jobs/jb_1/Resume", "DELETE /api/Jobs/jb_1", "POST /api/Jobs/jb_1/Undo",
		"POST /api/Jobs/..%2Fx%3Fy/Retry?State=failed%2Cunknown", "GET /api/Jobs/jb_1", "GET /api/Jobs?Limit=5&State=paused",
	}, got)
	shown, err := json.Marshal(one)
	require.NoError(t, err)
	assert.JSONEq(t, job("running", 1, 1), string(shown), "programs see the whole record")
}

func TestRefusals(t *testing.T) {
	status, body := 0, ""
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{404, `{"output":"x","result":[],"error":{"code":"not_found","message":"There is no such job.","details":[{"field":"JobId","message":"There is no such job."}]}}`, "There is no such job. (not_found)"},
		{400, `{"error":{"code":"invalid_request","message":"Two things are wrong.","details":[{"field":"A","message":"is missing"},{"message":"too"}]}}`, "Two things are wrong. (invalid_request)\n  A: is missing\n  too"},
		{502, "<html>", "The gateway answers with 502 Bad Gateway. (Bad Gateway)"},
	} {
		status, body = c.status, c.body
		_, err := client.Get(limited(t), "jb_1")
		assert.EqualError(t, err, c.want)
	}
	for _, body = range []string{"", "<html>", `{"result":[]}`, `{"result":[{},{}]}`, `{"result":[{"total":"x"}]}`} {
		status = 200
		_, err := client.Get(limited(t), "jb_1")
		assert.Error(t, err, body)
	}
}

// A submission without an answer is sent again under the same key.
func TestSubmitAgain(t *testing.T) {
	keys := make(chan string, 3)
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("Idempotency-Key")
		assert.Equal(t, "text/csv", r.Header.Get("Content-Type"))
		if len(keys) == 1 {
			panic(http.ErrAbortHandler)
		}
		answer(w, job("running", 2, 2))
	})
	s := jobclient.Submission{Media: "text/csv", List: []byte("A\n1\n2"), Key: "k1",
		Query: url.Values{"Name": {"x & y"}}}
	got, err := client.Submit(limited(t), s)
	require.NoError(t, err)
	assert.Equal(t, "jb_1", got.ID)
	require.Len(t, keys, 2)
	assert.Equal(t, []string{"k1", "k1"}, []string{<-keys, <-keys})

	var tries atomic.Int32
	client = serve(t, func(http.ResponseWriter, *http.Request) { tries.Add(1); panic(http.ErrAbortHandler) })
	_, err = client.Submit(limited(t), s)
	var lost *jobclient.Unreachable
	require.ErrorAs(t, err, &lost)
	assert.NotContains(t, err.Error(), "x+%26+y")
	assert.EqualValues(t, 3, tries.Load())
}

// An untrusted certificate is an error that is not retried.
func TestUntrustedCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	client, err := jobclient.NewClient(server.URL, token)
	require.NoError(t, err)
	_, err = follow(t, client)
	assert.ErrorContains(t, err, "by a name in its certificate (--url)")
}

// events writes events to a stream and then ends it.
func events(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, text)
}

// follow returns each state that was shown with its number of waiting items.
func follow(t *testing.T, client *jobclient.Client) (shown []string, err error) {
	t.Helper()
	err = client.Follow(limited(t), "jb_1", func(j *jobclient.Job) bool {
		shown = append(shown, fmt.Sprint(j.State, j.Waiting))
		return true
	})
	return shown, err
}

func TestFollow(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/Stream") {
			answer(w, job("running", 9, 9))
			return
		}
		assert.Equal(t, "text/event-stream", r.Header.Get("Accept"))
		events(w, ": hello\n\nid: 1\nevent: progress\ndata: "+job("running", 9, 5)+"\n\nevent: item\ndata: {}\n\n"+
			"event: progress\r\ndata: {\r\ndata: "+job("held", 9, 2)[1:]+"\r\n\r\nevent: end\ndata:"+job("done", 9, 0)+
			"\n\n")
	})
	shown, err := follow(t, client)
	require.NoError(t, err)
	assert.Equal(t, []string{"running9", "running5", "held2", "done0"}, shown)
}

// Follow keeps polling while the stream breaks or is refused, or the gateway is unreachable.
func TestFollowThroughOutages(t *testing.T) {
	var asked atomic.Int32
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		switch asked.Add(1) {
		case 1, 5:
			answer(w, job("running", 9, 9))
		case 2: // the stream ends in the middle of an event
			events(w, "event: progress\ndata: "+job("running", 9, 8)+"\n\nevent: progress\ndata: {")
		case 3:
			panic(http.ErrAbortHandler)
		case 4:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 6:
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			answer(w, job("done", 9, 0))
		}
	})
	shown, err := follow(t, client)
	require.NoError(t, err)
	assert.Equal(t, []string{"running9", "running8", "running9", "done0"}, shown)
}

func TestFollowEnds(t *testing.T) {
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		shown  []string
		says   string
	}{
		"ready": {func(w http.ResponseWriter, _ *http.Request) { answer(w, job("ready", 1, 1)) }, []string{"ready1"}, ""},
		"gone": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			fmt.Fprint(w, `{"error":{"code":"not_found","message":"Gone."}}`)
		}, nil, "Gone. (not_found)"},
		"another version": {func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/Stream") {
				events(w, "event: progress\ndata: []\n\n")
				return
			}
			answer(w, job("running", 1, 1))
		}, []string{"running1"}, "another version"},
	} {
		shown, err := follow(t, serve(t, c.handle))
		assert.Equal(t, c.shown, shown, name)
		if c.says == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, c.says, name)
		}
	}
	ctx, cancel := context.WithCancel(limited(t))
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/Stream") {
			cancel()
			<-r.Context().Done()
			return
		}
		answer(w, job("running", 1, 1))
	})
	err := client.Follow(ctx, "jb_1", func(*jobclient.Job) bool { return true })
	assert.True(t, errors.Is(err, context.Canceled), "%v", err)
}
