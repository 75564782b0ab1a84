package hop

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hangUp closes the connection of a request without an answer.
func hangUp() { panic(http.ErrAbortHandler) }

// TestACallIsNeverSentTwice: the leader reads a call on a connection that was used before, and closes the
// connection. Go's transport would repeat such a call if it had no body and a header named Idempotency-Key.
func TestACallIsNeverSentTwice(t *testing.T) {
	for name, c := range map[string]struct {
		method, key, body string
		retry             string
	}{
		"DELETE with a key":         {http.MethodDelete, "Idempotency-Key", "", "2"},
		"PUT with a key":            {http.MethodPut, "Idempotency-Key", "", "2"},
		"POST with a key":           {http.MethodPost, "Idempotency-Key", "", "2"},
		"POST with a body":          {http.MethodPost, "Idempotency-Key", "body", "2"},
		"DELETE with the other key": {http.MethodDelete, "X-Idempotency-Key", "", ""},
		"DELETE without a key":      {http.MethodDelete, "X-Other", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				var calls, connections atomic.Int32
				server := f.gateway("gw1", func(_ http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if calls.Add(1) > 1 {
						hangUp()
					}
				})
				server.ConnState = func(_ net.Conn, state http.ConnState) {
					if state == http.StateNew {
						connections.Add(1)
					}
				}
				f.leader.elect("gw1")
				e := f.edge()
				require.Equal(t, http.StatusOK, e.do(t, request(t, c.method, "/", strings.NewReader(c.body))).StatusCode)
				got := e.do(t, request(t, c.method, "/", strings.NewReader(c.body), c.key, "key-0001"))

				assert.Equal(t, http.StatusGatewayTimeout, got.StatusCode)
				assert.Equal(t, "unknown\n", got.body)
				assert.Equal(t, c.retry, got.Header.Get("Retry-After"), "only a key makes it safe to repeat the call")
				assert.Equal(t, int32(2), calls.Load())
				assert.Equal(t, int32(1), connections.Load(), "the connection must have been used before")
				assert.Equal(t, []string{"forwarded gw1", "unknown gw1"}, e.observed())
			})
		})
	}
}

// deaf is a connection on which all writes fail once told is true.
type deaf struct {
	net.Conn
	told *atomic.Bool
}

func (d deaf) Write(b []byte) (int, error) {
	if d.told.Load() {
		return 0, errors.New("cut off")
	}
	return d.Conn.Write(b)
}

func TestACallThatHasNotBegunGoesToTheNextLeader(t *testing.T) {
	for name, first := range map[string]func(t *testing.T, f *fleet){
		"no connection": func(*testing.T, *fleet) {},
		"no TLS": func(_ *testing.T, f *fleet) {
			l := f.network.listen(addressOf("gw1"))
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					_ = c.Close()
				}
			}()
			f.t.Cleanup(func() { _ = l.Close() })
		},
		"a TLS handshake that does not end": func(_ *testing.T, f *fleet) {
			l := f.network.listen(addressOf("gw1"))
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					defer c.Close()
				}
			}()
			f.t.Cleanup(func() { _ = l.Close() })
		},
		"another certificate": func(t *testing.T, f *fleet) {
			f.serve(&Receiver{Gateway: "gw1", Leader: f.leader, Peer: members, Next: never(t)}, f.ca.Settings("gw3"))
		},
		"a header that was never written": func(t *testing.T, f *fleet) {
			told := new(atomic.Bool)
			f.network.wrap = func(address string, c net.Conn) net.Conn {
				if address == addressOf("gw1") {
					return deaf{c, told}
				}
				return c
			}
			settings := f.ca.Settings("gw1")
			settings.VerifyConnection = func(tls.ConnectionState) error { told.Store(true); return nil }
			f.serve(&Receiver{Gateway: "gw1", Leader: f.leader, Peer: members, Next: never(t)}, settings)
		},
		"one that does not lead": func(t *testing.T, f *fleet) {
			follower := &chosen{changed: make(chan struct{})}
			follower.elect("gw3")
			f.serve(&Receiver{Gateway: "gw1", Leader: follower, Peer: members, Next: never(t)}, f.ca.Settings("gw1"))
		},
		"one that knows no leader": func(t *testing.T, f *fleet) {
			follower := &chosen{changed: make(chan struct{})}
			f.serve(&Receiver{Gateway: "gw1", Leader: follower, Peer: members, Next: never(t)}, f.ca.Settings("gw1"))
		},
		"one for which this gateway is no member": func(t *testing.T, f *fleet) {
			f.serve(&Receiver{Gateway: "gw1", Leader: f.leader, Peer: nobody, Next: never(t)}, f.ca.Settings("gw1"))
		},
	} {
		for _, length := range []string{"known", "unknown"} {
			t.Run(name+" with a body of a length that is "+length, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFleet(t)
					first(t, f)
					var bodies []string
					f.gateway("gw2", func(_ http.ResponseWriter, r *http.Request) {
						body, _ := io.ReadAll(r.Body)
						bodies = append(bodies, r.Method+" "+string(body))
					})
					f.leader.elect("gw1")
					e := f.edge()
					time.AfterFunc(3500*time.Millisecond, func() { f.leader.elect("gw2") })

					var body io.Reader = strings.NewReader("the whole body")
					if length == "unknown" {
						body = io.MultiReader(body)
					}
					r := request(t, http.MethodDelete, "/", body, "X-Long", strings.Repeat("x", 8<<10))
					assert.Equal(t, http.StatusOK, e.do(t, r).StatusCode)
					assert.Equal(t, []string{"DELETE the whole body"}, bodies)
					assert.Contains(t, e.observed(), "retried gw1")
					assert.Equal(t, "forwarded gw2", e.observed()[len(e.observed())-1])
				})
			})
		}
	}
}

func never(t *testing.T) http.HandlerFunc {
	return func(http.ResponseWriter, *http.Request) { t.Error("the call must not begin here") }
}

// TestNothingElseIsSentAgain: once a header was written, only the receiver can report that nothing
// has begun.
func TestNothingElseIsSentAgain(t *testing.T) {
	for name, c := range map[string]struct {
		leader http.HandlerFunc
		status int
	}{
		"the leader hangs up":                    {func(http.ResponseWriter, *http.Request) { hangUp() }, 504},
		"the leader hangs up in the body":        {func(_ http.ResponseWriter, r *http.Request) { _, _ = r.Body.Read(make([]byte, 2)); hangUp() }, 504},
		"the API itself says 421":                {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(421) }, 421},
		"the API itself says 503":                {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, 503},
		"the leader hangs up after informations": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); hangUp() }, 504},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				calls := 0
				f.gateway("gw1", func(w http.ResponseWriter, r *http.Request) { calls++; c.leader(w, r) })
				f.leader.elect("gw1")
				e := f.edge()
				start := time.Now()
				got := e.do(t, request(t, http.MethodPost, "/", strings.NewReader("the body")))
				assert.Equal(t, c.status, got.StatusCode)
				assert.Equal(t, 1, calls)
				assert.Less(t, time.Since(start), leaderWait, "no other leader is waited for")
			})
		})
	}
}

// TestACallWhoseBodyIsGoneIsNotSentAgain: the receiver reports that nothing was begun, but part of
// the body has already been sent.
func TestACallWhoseBodyIsGoneIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.gateway("gw2", never(t))
		follower := &chosen{changed: make(chan struct{})}
		slow := func(*tls.ConnectionState) { time.Sleep(2 * time.Second) } // longer than the body is held back
		server := f.serve(&Receiver{Gateway: "gw1", Leader: follower, Peer: members, Next: never(t)},
			f.ca.Settings("gw1"))
		receive := server.Handler
		server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			slow(r.TLS)
			receive.ServeHTTP(w, r)
		})
		f.leader.elect("gw1")
		e := f.edge()
		time.AfterFunc(time.Second/2, func() { f.leader.elect("gw2") })
		got := e.do(t, request(t, http.MethodPost, "/", strings.NewReader("the body"), "Idempotency-Key",
			"key-0001"))
		assert.Equal(t, http.StatusServiceUnavailable, got.StatusCode)
		assert.Equal(t, "2", got.Header.Get("Retry-After"))
		assert.Equal(t, []string{"not_leader gw1"}, e.observed())
	})
}

// TestACallIsForwardedOnce: two gateways that each take the other one for the leader do not forward a call
// back and forth.
func TestACallIsForwardedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		forwards := 0
		second := f.edgeNamed("gw1")
		deposed := &chosen{changed: make(chan struct{})}
		second.forwarder.options.Leader = deposed
		f.gateway("gw1", func(w http.ResponseWriter, r *http.Request) {
			forwards++
			deposed.elect("gw2") // after the receiver has checked
			here, failure := second.forwarder.Forward(w, r, Origin{Scheme: "http"}, time.Minute)
			assert.False(t, here)
			assert.Nil(t, failure, "it has answered")
		})
		f.gateway("gw2", never(t))
		f.leader.elect("gw1")
		e := f.edge()
		time.AfterFunc(100*time.Millisecond, func() { f.leader.elect("") })
		got := e.do(t, request(t, http.MethodPost, "/", strings.NewReader("the body")))
		assert.Equal(t, http.StatusServiceUnavailable, got.StatusCode)
		assert.Equal(t, 1, forwards)
		require.Len(t, e.failures, 1)
		assert.ErrorContains(t, e.failures[0].Err, "gw2 leads in term 1")
		assert.Empty(t, second.observed())
	})
}

func TestAForwardedCallRunsOnTheGatewayThatLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		own := f.edgeNamed("gw1")
		f.gateway("gw1", func(w http.ResponseWriter, r *http.Request) {
			if here, _ := own.forwarder.Forward(w, r, Origin{Scheme: "http"}, time.Minute); here {
				w.WriteHeader(http.StatusAccepted)
			}
		})
		f.leader.elect("gw1")
		assert.Equal(t, http.StatusAccepted, f.edge().do(t, request(t, http.MethodPost, "/", nil)).StatusCode)
	})
}
