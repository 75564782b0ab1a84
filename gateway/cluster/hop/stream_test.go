package hop

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const mebibyte = 1 << 20

// TestABodyArrivesWhileItsEndIsHeldBack: the list of a job is not buffered on its way.
func TestABodyArrivesWhileItsEndIsHeldBack(t *testing.T) {
	for name, length := range map[string]int64{"known length": 32 * mebibyte, "unknown length": -1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				var arrived atomic.Int64
				f.gateway("gw1", func(w http.ResponseWriter, r *http.Request) {
					n, err := io.Copy(counter{&arrived}, r.Body)
					assert.NoError(t, err)
					assert.Equal(t, length, r.ContentLength)
					assert.Equal(t, int64(32*mebibyte), n)
					w.WriteHeader(http.StatusAccepted)
				})
				f.leader.elect("gw1")
				e := f.edge()
				body, sender := io.Pipe()
				r := request(t, http.MethodPost, "/api/Jobs", body)
				r.ContentLength = length
				status := make(chan int)
				go func() { status <- e.do(t, r).StatusCode }()

				piece := []byte(strings.Repeat("x", mebibyte))
				for i := range 32 {
					_, _ = sender.Write(piece)
					synctest.Wait()
					held := int64(i+1)*mebibyte - arrived.Load()
					assert.LessOrEqual(t, held, int64(256<<10), "held back on the way")
				}
				_ = sender.Close()
				assert.Equal(t, http.StatusAccepted, <-status)
			})
		})
	}
}

// counter counts the bytes that are written.
type counter struct{ total *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) { c.total.Add(int64(len(b))); return len(b), nil }

// TestAListArrivesWhileItsEndIsHeldBack: every piece of an answer reaches the client as soon as the leader
// flushes it, regardless of the media type.
func TestAListArrivesWhileItsEndIsHeldBack(t *testing.T) {
	for _, media := range []string{"text/event-stream", "application/x-ndjson", "application/json"} {
		t.Run(media, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				next := make(chan string, 1) // buffered, because pipes have no buffer for the end of a piece
				f.gateway("gw1", func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", media)
					_ = http.NewResponseController(w).Flush()
					for piece := range next {
						_, _ = w.Write([]byte(piece))
						_ = http.NewResponseController(w).Flush()
					}
				})
				f.leader.elect("gw1")
				start := time.Now()
				res, err := f.edge().client.Do(request(t, http.MethodGet, "/", nil))
				require.NoError(t, err, "the status must not wait for the first piece")
				defer res.Body.Close()
				for range 20 {
					piece := strings.Repeat("x", mebibyte)
					next <- piece
					got := make([]byte, len(piece))
					_, err = io.ReadFull(res.Body, got)
					require.NoError(t, err)
				}
				close(next)
				_, err = res.Body.Read(make([]byte, 1))
				assert.Equal(t, io.EOF, err)
				assert.Zero(t, time.Since(start))
			})
		})
	}
}

// TestASlowClientSlowsDownTheLeader: data that a client does not read is not buffered for it.
func TestASlowClientSlowsDownTheLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		var sent atomic.Int64
		f.gateway("gw1", func(w http.ResponseWriter, _ *http.Request) {
			// otherwise a timer of the proxy waits for a mutex
			w.Header().Set("Content-Length", strconv.Itoa(20*mebibyte))
			piece := []byte(strings.Repeat("x", 1<<10))
			for range 20 << 10 {
				_, _ = w.Write(piece)
				sent.Add(int64(len(piece)))
			}
		})
		f.leader.elect("gw1")
		res, err := f.edge().client.Do(request(t, http.MethodGet, "/", nil))
		require.NoError(t, err)
		defer res.Body.Close()
		time.Sleep(time.Hour)
		assert.Less(t, sent.Load(), int64(256<<10))
		n, err := io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		assert.Equal(t, int64(20*mebibyte), n)
	})
}

// TestARefusedBodyDoesNotTravel: if the leader refuses a list by its header, the body is not sent.
func TestARefusedBodyDoesNotTravel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.gateway("gw1", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		})
		f.leader.elect("gw1")
		body := readFunc(func([]byte) (int,
			error) {
			t.Error("the body must stay with its client")
			return 0, io.EOF
		})
		r := request(t, http.MethodPost, "/api/Jobs", body, "Expect", "100-continue")
		r.ContentLength = 32 * mebibyte
		got := f.edge().do(t, r)
		require.NoError(t, got.err)
		assert.Equal(t, http.StatusRequestEntityTooLarge, got.StatusCode)
		assert.Equal(t, "too large\n", got.body)
	})
}

// TestARefusalInTheMiddleOfABodyIsWhole: the HTTP server that received the request must not close
// its body when the response begins, because that would end the call.
func TestARefusalInTheMiddleOfABodyIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.gateway("gw1", func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			_, _ = io.CopyN(io.Discard, r.Body, mebibyte)
			w.WriteHeader(http.StatusUnprocessableEntity)
			for range 64 {
				_, _ = w.Write([]byte(strings.Repeat("x", 1<<10)))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Second)
			}
		})
		f.leader.elect("gw1")
		body, sender := io.Pipe()
		defer sender.Close()
		go func() { _, _ = sender.Write(make([]byte, 2*mebibyte)) }()
		res, err := f.edge().client.Do(request(t, http.MethodPost, "/api/Jobs", body))
		require.NoError(t, err)
		defer res.Body.Close()
		n, err := io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		assert.Equal(t, int64(64<<10), n)
	})
}

func TestAnAnswerThatBreaksOffIsNeverWhole(t *testing.T) {
	part := strings.Repeat("x", 100<<10) // more than the client's server buffers
	for name, length := range map[string]int{"known length": len(part) + 1, "unknown length": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				f.gateway("gw1", func(w http.ResponseWriter, _ *http.Request) {
					if length > 0 {
						w.Header().Set("Content-Length", strconv.Itoa(length))
					}
					_, _ = w.Write([]byte(part))
					_ = http.NewResponseController(w).Flush()
					hangUp()
				})
				f.leader.elect("gw1")
				e := f.edge()
				got := e.do(t, request(t, http.MethodGet, "/", nil))
				assert.Equal(t, http.StatusOK, got.StatusCode)
				assert.True(t, strings.HasPrefix(part, got.body))
				assert.ErrorIs(t, got.err, io.ErrUnexpectedEOF)
				assert.Equal(t, []string{"forwarded gw1"}, e.observed())
			})
		})
	}
}

func TestTheLeaderLearnsThatTheClientHasLeft(t *testing.T) {
	for name, begun := range map[string]bool{"before the answer": false, "in the answer": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				ended := make(chan time.Duration, 1)
				f.gateway("gw1", func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if begun {
						_ = http.NewResponseController(w).Flush()
					}
					start := time.Now()
					<-r.Context().Done()
					ended <- time.Since(start)
				})
				f.leader.elect("gw1")
				e := f.edge()
				ctx, leave := context.WithCancel(t.Context())
				time.AfterFunc(3*time.Second, leave)
				res, err := e.client.Do(request(t, http.MethodPost, "/", strings.NewReader("body")).WithContext(ctx))
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
				require.ErrorIs(t, err, context.Canceled)
				assert.Equal(t, 3*time.Second, <-ended)
				synctest.Wait()
				want := map[bool]string{false: "unknown gw1", true: "forwarded gw1"}[begun]
				assert.Equal(t, []string{want}, e.observed())
			})
		})
	}
}
