package servers_test

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/ps"
	"adgateway/ps/servers"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFailedDiscoveryIsReportedAndRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1)
		good := w.discovery
		asked := 0
		w.discovery = func() (string, error) {
			asked++
			return "", &ps.Error{Kind: ps.KindScript, Message: "no domain controller was found"}
		}
		s := w.open(nil)
		defer closed(t, s)
		synctest.Wait()
		for range 10 {
			_, err := s.Run(t.Context(), user())
			e := ps.AsError(err)
			require.Equal(t, ps.KindUnavailable, e.Kind)
			assert.Contains(t, e.Message, "no domain controller was found")
		}
		assert.Equal(t, 1, asked, "not asked for every request")
		w.discover(good)
		time.Sleep(20 * time.Second)
		_, err := s.Run(t.Context(), user())
		require.NoError(t, err)
	})
}

// A session that dies does not mean that the directory failed, so the discovery is repeated immediately.
func TestDiscoveryIsRetriedAtOnceWhenItsSessionDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1)
		good := w.discovery
		asked := 0
		w.discovery = func() (string, error) {
			if asked++; asked < 3 {
				return "", &ps.Error{Kind: ps.KindDied, Message: "PowerShell ended"}
			}
			return good()
		}
		s := w.open(nil)
		defer closed(t, s)
		synctest.Wait()
		start := time.Now()
		_, err := s.Run(t.Context(), user())
		require.NoError(t, err)
		assert.Zero(t, time.Since(start))
		assert.Equal(t, 3, asked)
	})
}

func TestDebugLogShowsDiscoveriesAndFailedConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var logged []string
		s := newWorld(t, dc1+":9389", dc2).open(func(c *servers.Config) {
			c.Debug = func(message string, fields func() map[string]any) {
				text, err := json.Marshal(fields())
				mu.Lock()
				defer mu.Unlock()
				assert.NoError(t, err)
				logged = append(logged, message+" "+string(text))
			}
		})
		defer closed(t, s)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		require.NotEmpty(t, logged)
		assert.Contains(t, logged[0], "the domain controllers were discovered")
		assert.Contains(t, logged[0], dc2)
		assert.Contains(t, logged, `a server accepts no connection {"cause":"refused","kind":"DNS server","port":"53","server":"`+dc1+`"}`)
	})
}

// While there is no session, every request tries the discovery, so that the first
// one after a session has started succeeds.
func TestDiscoveryWithoutASessionIsRetriedByTheNextRequest(t *testing.T) {
	for _, kind := range []ps.Kind{ps.KindUnavailable, ps.KindDied} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, dc1)
				good := w.discovery
				w.discovery = func() (string, error) {
					return "", &ps.Error{Kind: kind, Message: "module is missing", RetryAfter: 2 * time.Second}
				}
				var logged atomic.Int64
				s := w.open(func(c *servers.Config) { c.Log = func(string, map[string]any) { logged.Add(1) } })
				defer closed(t, s)
				for range 10 {
					_, err := s.Run(t.Context(), user())
					e := ps.AsError(err)
					require.Equal(t, ps.KindUnavailable, e.Kind)
					assert.Contains(t, e.Message, "module is missing")
				}
				assert.EqualValues(t, 1, logged.Load(), "each reason is logged once")
				w.discover(good)
				_, err := s.Run(t.Context(), user())
				require.NoError(t, err)
			})
		})
	}
}

// No request is needed, because the runner has said when to expect a session.
func TestDiscoveryWithoutASessionIsRetriedWhenOneIsExpected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1)
		good := w.discovery
		w.discovery = func() (string, error) {
			return "", &ps.Error{Kind: ps.KindUnavailable, Message: "module is missing", RetryAfter: 2 * time.Second}
		}
		s := w.open(nil)
		defer closed(t, s)
		synctest.Wait()
		w.discover(good)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		directory, _ := s.Status()
		assert.Equal(t, dc1, directory.Pinned)
	})
}

func TestRequestsDuringTheFirstDiscoveryWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1)
		good := w.discovery
		w.discovery = func() (string, error) { time.Sleep(8 * time.Second); return good() }
		s := w.open(nil)
		defer closed(t, s)
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Run(ctx, user())
		assert.Equal(t, ps.KindCancelled, ps.AsError(err).Kind)
		_, err = s.Run(t.Context(), user())
		require.NoError(t, err)
		assert.Equal(t, 8*time.Second, time.Since(start))
	})
}

// Warnings of a discovery are logged once and shown until a discovery has none.
func TestWarningsOfADiscoveryAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1)
		w.warn(ps.Warning{Code: "no_host_name", Target: "CN=X", Message: "'CN=X' has no dNSHostName."})
		var mu sync.Mutex
		var logged []any
		s := w.open(func(c *servers.Config) {
			c.Log = func(_ string, fields map[string]any) {
				mu.Lock()
				defer mu.Unlock()
				if fields["error"] != nil {
					logged = append(logged, fields["error"])
				}
			}
		})
		defer closed(t, s)
		synctest.Wait()
		_, err := s.Run(t.Context(), user())
		require.NoError(t, err)
		directory, _ := s.Status()
		assert.Equal(t, dc1, directory.Pinned)
		assert.Equal(t, []string{"'CN=X' has no dNSHostName."}, directory.Warnings)
		time.Sleep(time.Hour)
		synctest.Wait()
		mu.Lock()
		assert.Equal(t, []any{"'CN=X' has no dNSHostName."}, logged)
		mu.Unlock()
		w.warn()
		time.Sleep(time.Hour)
		synctest.Wait()
		directory, _ = s.Status()
		assert.Empty(t, directory.Warnings)
	})
}

// A discovery that could not list all controllers does not remove known ones.
func TestAPartialDiscoveryForgetsNoServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1, dc2, "rodc.corp.example")
		s := w.open(nil)
		defer closed(t, s)
		synctest.Wait()
		w.discover(func() (string, error) { return `[{"hostName":"dc3.corp.example","writable":true}]`, nil })
		w.warn(ps.Warning{Code: "not_listed", Target: "dc3.corp.example",
			Message: "The other domain controllers could not be listed."})
		time.Sleep(time.Hour)
		synctest.Wait()
		directory, dns := s.Status()
		assert.Equal(t, dc1, directory.Pinned)
		assert.Equal(t, []string{"dc3.corp.example", dc1, dc2}, directory.Candidates)
		assert.Equal(t, []string{"dc3.corp.example", dc1, dc2, "rodc.corp.example"}, dns.Candidates)
		w.warn()
		time.Sleep(time.Hour)
		directory, _ = s.Status()
		assert.Equal(t, []string{"dc3.corp.example"}, directory.Candidates, "a full one does")
	})
}

// The first session may take a long time to start. A discovery waits for it, and a request during
// the discovery waits as long as it may wait for a session.
func TestDiscoveryWaitsForTheFirstSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1)
		good := w.discovery
		began := time.Now()
		w.discovery = func() (string, error) { time.Sleep(40 * time.Second); return good() }
		var waits sync.Map
		var logged atomic.Int64
		s := w.open(func(c *servers.Config) {
			c.SessionWait, c.MaxWait = time.Minute, 10*time.Second
			c.Runner = runnerFunc(func(ctx context.Context, req ps.Request) (*ps.Result, error) {
				waits.Store(req.Script, req.Wait)
				return w.Run(ctx, req)
			})
			c.Starting = func() error {
				if time.Since(began) < 40*time.Second {
					return ps.ErrStarting
				}
				return nil
			}
			c.Log = func(message string, _ map[string]any) {
				if message == "the discovery of the domain controllers waits for a session" {
					logged.Add(1)
				}
			}
		})
		defer closed(t, s)
		synctest.Wait()
		directory, dns := s.Status()
		assert.Equal(t, "the domain controllers are being discovered: the first session is starting",
			directory.Reason)
		assert.Equal(t, directory.Reason, dns.Reason)
		_, err := s.Run(t.Context(), user())
		require.ErrorIs(t, err, ps.ErrStarting)
		assert.Equal(t, ps.KindUnavailable, ps.AsError(err).Kind)
		assert.Equal(t, 10*time.Second, ps.AsError(err).RetryAfter)
		assert.Equal(t, 10*time.Second, time.Since(began))
		time.Sleep(22 * time.Second)
		_, err = s.Run(t.Context(), user())
		require.NoError(t, err)
		assert.Equal(t, 40*time.Second, time.Since(began), "one discovery did")
		wait, _ := waits.Load("Get-GatewayServer")
		assert.Equal(t, time.Minute, wait)
		wait, _ = waits.Load("Get-GatewayUser")
		assert.Equal(t, time.Duration(0), wait)
		assert.EqualValues(t, 1, logged.Load())
	})
}

// A discovery that failed for lack of a session is repeated as soon as a session has started.
func TestDiscoveryIsRepeatedWhenASessionHasStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1)
		good := w.discovery
		w.discovery = func() (string, error) {
			return "", &ps.Error{Kind: ps.KindOverloaded, Message: "waited 1m"}
		}
		started := make(chan struct{}, 1)
		s := w.open(func(c *servers.Config) { c.Started, c.Retry = started, time.Hour })
		defer closed(t, s)
		synctest.Wait()
		w.discover(good)
		began := time.Now()
		started <- struct{}{}
		synctest.Wait()
		directory, _ := s.Status()
		assert.Equal(t, dc1, directory.Pinned)
		assert.Zero(t, time.Since(began))
	})
}

type runnerFunc func(context.Context, ps.Request) (*ps.Result, error)

func (f runnerFunc) Run(ctx context.Context, req ps.Request) (*ps.Result, error) { return f(ctx, req) }
