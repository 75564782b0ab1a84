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

func TestADiscoveryThatFailsIsSaidAndTriedAgain(t *testing.T) {
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

// A session's death says nothing of the directory: it is asked again at once.
func TestADiscoveryWhoseSessionDiedIsTriedAgainAtOnce(t *testing.T) {
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
		began := time.Now()
		_, err := s.Run(t.Context(), user())
		require.NoError(t, err)
		assert.Zero(t, time.Since(began))
		assert.Equal(t, 3, asked)
	})
}

func TestTheLogTellsWhatWasFoundAndWhatCannotBeReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []string
		s := newWorld(t, dc1+":9389", dc2).open(func(c *servers.Config) {
			c.Debug = func(message string, fields func() map[string]any) {
				text, err := json.Marshal(fields())
				mu.Lock()
				defer mu.Unlock()
				assert.NoError(t, err)
				told = append(told, message+" "+string(text))
			}
		})
		defer closed(t, s)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		require.NotEmpty(t, told)
		assert.Contains(t, told[0], "the domain controllers were discovered")
		assert.Contains(t, told[0], dc2)
		assert.Contains(t, told, `a server accepts no connection {"cause":"refused","kind":"DNS server","port":"53","server":"`+dc1+`"}`)
	})
}

// As long as no session can be had, each request finds out anew: the first one
// after a session has started is served.
func TestADiscoveryWithoutASessionIsTriedAgainWithTheNextRequest(t *testing.T) {
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
				assert.EqualValues(t, 1, logged.Load(), "one reason is told once")
				w.discover(good)
				_, err := s.Run(t.Context(), user())
				require.NoError(t, err)
			})
		})
	}
}

// Nobody needs to ask: the runner has said when a session may be there again.
func TestADiscoveryWithoutASessionIsTriedAgainWhenOneMayBeThere(t *testing.T) {
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
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Run(ctx, user())
		assert.Equal(t, ps.KindCancelled, ps.AsError(err).Kind)
		_, err = s.Run(t.Context(), user())
		require.NoError(t, err)
		assert.Equal(t, 8*time.Second, time.Since(began))
	})
}
