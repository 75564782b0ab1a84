package hop

import (
	"context"
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

func TestACallWaitsForALeader(t *testing.T) {
	for name, c := range map[string]struct {
		elected time.Duration // when another gateway begins to lead; zero for never
		name    string
		status  int
		took    time.Duration
	}{
		"until there is one":          {3 * time.Second, "gw1", 200, 3 * time.Second},
		"until this gateway leads":    {4 * time.Second, "edge", 202, 4 * time.Second},
		"not for ever":                {0, "", 503, 5 * time.Second},
		"not for one that comes late": {5*time.Second + 1, "gw1", 503, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				f.gateway("gw1", echo)
				e := f.edge()
				e.here = func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusAccepted); echo(w, r) }
				if c.elected > 0 {
					time.AfterFunc(c.elected, func() { f.leader.elect(c.name) })
				}
				start := time.Now()
				got := e.do(t, request(t, http.MethodPost, "/", strings.NewReader("the whole body")))
				assert.Equal(t, c.status, got.StatusCode)
				assert.Equal(t, c.took, time.Since(start))
				if c.status == http.StatusServiceUnavailable {
					assert.Equal(t, "not_leader\n", got.body)
					assert.Equal(t, "2", got.Header.Get("Retry-After"), "with or without a key")
					assert.Equal(t, []string{"not_leader "}, e.observed())
					return
				}
				assert.Equal(t, "the whole body", got.body)
			})
		})
	}
}

func echo(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }

func TestTheWaitsOfACallCountTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.leader.elect("gw1") // gw1 cannot be reached
		e := f.edge()
		for i := range 20 {
			time.AfterFunc(time.Duration(i)*time.Second, func() { f.leader.elect("gw1") })
		}
		start := time.Now()
		assert.Equal(t, http.StatusServiceUnavailable, e.do(t, request(t, http.MethodPost, "/", nil)).StatusCode)
		assert.Equal(t, leaderWait, time.Since(start))
	})
}

// TestNewsOfTheSameLeaderDoesNotEndThePause: an unreachable gateway is asked again only after a pause,
// even if other events occur in the cluster.
func TestNewsOfTheSameLeaderDoesNotEndThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.leader.elect("gw1") // gw1 cannot be reached
		e := f.edge()
		busy := time.NewTicker(time.Millisecond)
		defer busy.Stop()
		done := make(chan struct{})
		defer close(done)
		go func() {
			for {
				select {
				case <-busy.C:
					f.leader.tell()
				case <-done:
					return
				}
			}
		}()
		got := e.do(t, request(t, http.MethodPost, "/", nil))
		assert.Equal(t, http.StatusServiceUnavailable, got.StatusCode)
		tries := len(e.observed())
		assert.LessOrEqual(t, tries, int(leaderWait/samePause)+1)
		assert.Greater(t, tries, int(leaderWait/samePause)/2)
	})
}

func TestALeaderThatWasOutOfReachIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.leader.elect("gw1")
		e := f.edge()
		time.AfterFunc(time.Second, func() { f.gateway("gw1", echo) })
		got := e.do(t, request(t, http.MethodPost, "/", strings.NewReader("body")))
		assert.Equal(t, "body", got.body)
	})
}

func TestCallsThatWaitForALeaderAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.options = func(o *Options) { o.Waiting = 2 }
		f.gateway("gw1", echo)
		e := f.edge()
		statuses := make(chan int, 2)
		call := func() { statuses <- e.do(t, request(t, http.MethodPost, "/", nil)).StatusCode }
		go call()
		go call()
		synctest.Wait()
		start := time.Now()
		got := e.do(t, request(t, http.MethodPost, "/", nil))
		assert.Equal(t, http.StatusServiceUnavailable, got.StatusCode)
		assert.Zero(t, time.Since(start))
		f.leader.elect("gw1")
		assert.Equal(t, []int{200, 200}, []int{<-statuses, <-statuses})

		f.leader.elect("")
		go call()
		go call()
		synctest.Wait()
		f.leader.elect("gw1")
		assert.Equal(t, []int{200, 200}, []int{<-statuses, <-statuses}, "the places are free again")
	})
}

func TestAClientThatLeavesWaitsNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.gateway("gw1", never(t))
		e := f.edge()
		ctx, leave := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := e.client.Do(request(t, http.MethodPost, "/", nil).WithContext(ctx))
			failed <- err
		}()
		synctest.Wait()
		leave()
		require.ErrorIs(t, <-failed, context.Canceled)
		synctest.Wait()
		assert.Equal(t, []string{"not_leader "}, e.observed())
		f.leader.elect("gw1")
		synctest.Wait()
	})
}

// TestALeaderThatIsSilentIsGivenUp: the wait begins when the leader has the whole call, and ends
// when its answer begins.
func TestALeaderThatIsSilentIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		left := make(chan time.Duration, 1)
		f.gateway("gw1", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			start := time.Now()
			<-r.Context().Done()
			left <- time.Since(start)
		})
		f.leader.elect("gw1")
		e := f.edge()
		e.limit = 20 * time.Second

		body, sender := io.Pipe()
		go func() {
			for range 60 {
				_, _ = sender.Write([]byte("x"))
				time.Sleep(time.Second)
			}
			_ = sender.Close()
		}()
		start := time.Now()
		got := e.do(t, request(t, http.MethodPost, "/", body))
		assert.Equal(t, http.StatusGatewayTimeout, got.StatusCode)
		assert.Equal(t, 85*time.Second, time.Since(start))
		assert.Equal(t, 25*time.Second, <-left)
		require.Len(t, e.failures, 1)
		assert.ErrorIs(t, e.failures[0].Err, errSilent)
	})
}

func TestAnAnswerMayTakeAsLongAsItLikes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.gateway("gw1", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			for range 100 {
				_, _ = w.Write([]byte("x"))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Minute)
			}
		})
		f.leader.elect("gw1")
		e := f.edge()
		e.limit = time.Second
		got := e.do(t, request(t, http.MethodPost, "/", strings.NewReader("body")))
		require.NoError(t, got.err)
		assert.Equal(t, strings.Repeat("x", 100), got.body)
	})
}

// TestAnAnswerMayBeginBeforeTheCallHasEnded: the wait for the answer does not start again when the
// rest of the body is written.
func TestAnAnswerMayBeginBeforeTheCallHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.gateway("gw1", func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			_ = control.EnableFullDuplex()
			_, _ = io.CopyN(w, r.Body, 1)
			_ = control.Flush()
			_, _ = io.Copy(w, r.Body)
			time.Sleep(time.Hour)
			_, _ = w.Write([]byte(" end"))
		})
		f.leader.elect("gw1")
		e := f.edge()
		e.limit = time.Second
		body, sender := io.Pipe()
		go func() {
			_, _ = sender.Write([]byte("soon "))
			time.Sleep(time.Minute)
			_, _ = sender.Write([]byte("late"))
			_ = sender.Close()
		}()
		got := e.do(t, request(t, http.MethodPost, "/", body))
		require.NoError(t, got.err)
		assert.Equal(t, "soon late end", got.body)
	})
}

func TestABodyIsHeldBackForASecond(t *testing.T) {
	for name, c := range map[string]struct {
		thinks time.Duration // before it reads the body
		want   time.Duration // when the client is asked for the body
	}{
		"a leader that wants it at once": {0, 0},
		"a leader that thinks":           {time.Second / 2, time.Second / 2},
		"a leader that thinks for long":  {time.Minute / 2, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				f.gateway("gw1", func(w http.ResponseWriter, r *http.Request) {
					time.Sleep(c.thinks)
					echo(w, r)
				})
				f.leader.elect("gw1")
				start := time.Now()
				asked := time.Duration(-1)
				body := readFunc(func([]byte) (int, error) {
					if asked < 0 {
						asked = time.Since(start)
					}
					return 0, io.EOF
				})
				got := f.edge().do(t, request(t, http.MethodPost, "/", body, "Expect", "100-continue"))
				assert.Equal(t, http.StatusOK, got.StatusCode)
				assert.Equal(t, c.want, asked)
			})
		})
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }

func TestCallsKeepTheirOldLeaderForAWhile(t *testing.T) {
	for name, c := range map[string]struct {
		elect []string // one after another, a second apart
		begun bool     // whether the answer has begun
		takes time.Duration
		ends  time.Duration // zero if nothing cuts it off
	}{
		"a call that ends in time":           {[]string{"gw2"}, false, 15 * time.Second, 0},
		"a call that does not":               {[]string{"gw2"}, false, 40 * time.Second, 16 * time.Second},
		"an answer that ends in time":        {[]string{"gw2"}, true, 15 * time.Second, 0},
		"an answer that does not":            {[]string{"gw2"}, true, 40 * time.Second, 16 * time.Second},
		"no leader is known":                 {[]string{""}, true, 40 * time.Second, 0},
		"no leader, then another":            {[]string{"", "gw2"}, true, 40 * time.Second, 17 * time.Second},
		"the same gateway in the next term":  {[]string{"gw1"}, true, 40 * time.Second, 16 * time.Second},
		"another leader, and then the first": {[]string{"gw2", "gw1"}, true, 40 * time.Second, 16 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				f.gateway("gw1", func(w http.ResponseWriter, r *http.Request) {
					if c.begun {
						_ = http.NewResponseController(w).Flush()
					}
					select {
					case <-time.After(c.takes):
					case <-r.Context().Done():
					}
				})
				f.leader.elect("gw1")
				e := f.edge()
				for i, next := range c.elect {
					time.AfterFunc(time.Duration(i+1)*time.Second, func() { f.leader.elect(next) })
				}
				start := time.Now()
				got := e.do(t, request(t, http.MethodPost, "/", nil))
				took := time.Since(start)
				if c.ends == 0 {
					assert.NoError(t, got.err)
					assert.Equal(t, http.StatusOK, got.StatusCode)
					assert.Equal(t, c.takes, took)
					return
				}
				assert.Equal(t, c.ends, took)
				if c.begun {
					assert.ErrorIs(t, got.err, io.ErrUnexpectedEOF)
					return
				}
				assert.Equal(t, http.StatusGatewayTimeout, got.StatusCode)
				assert.ErrorIs(t, e.failures[0].Err, errDeposed)
			})
		})
	}
}

func TestConnectionsToAnOldLeaderAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		var open atomic.Int32
		f.gateway("gw1", echo).ConnState = func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				open.Add(1)
			case http.StateClosed:
				open.Add(-1)
			}
		}
		f.gateway("gw2", echo)
		f.leader.elect("gw1")
		e := f.edge()
		e.do(t, request(t, http.MethodPost, "/", nil))
		assert.Equal(t, int32(1), open.Load())
		f.leader.elect("gw2")
		e.do(t, request(t, http.MethodPost, "/", nil))
		synctest.Wait()
		assert.Zero(t, open.Load())

		f.leader.elect("gw1")
		e.do(t, request(t, http.MethodPost, "/", nil))
		assert.Equal(t, int32(1), open.Load())
		e.forwarder.Close()
		synctest.Wait()
		assert.Zero(t, open.Load())
	})
}
