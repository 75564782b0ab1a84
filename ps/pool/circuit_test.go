package pool_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/ps"
	"adgateway/ps/pool"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// diedAtStart is the error of a session whose process died before it was ready.
var diedAtStart = &ps.Error{Kind: ps.KindUnavailable, Message: "PowerShell did not get ready",
	Cause: &ps.Error{Kind: ps.KindDied, Message: "gone"}}

// No request fails because of a transient start failure.
func TestAFailedStartIsRetriedAtOnce(t *testing.T) {
	cases := []struct {
		name  string
		fail  func(n int64) bool
		takes time.Duration // duration of a start
		calls int           // number of concurrent calls
	}{
		{"one", func(n int64) bool { return n == 1 }, 0, 1},
		{"two in a row", func(n int64) bool { return n <= 2 }, 0, 1},
		{"several wait for one", func(n int64) bool { return n == 1 }, time.Second, 8},
		{"all that were under way together", func(n int64) bool { return n <= 3 }, time.Second, 8},
		{"one after good ones", func(n int64) bool { return n == 1 || n == 3 }, time.Second, 8},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMaker(t)
				m.start = func(_ context.Context, n int64) error {
					time.Sleep(c.takes)
					if c.fail(n) {
						return diedAtStart
					}
					return nil
				}
				p := open(t, m, nil)
				began := time.Now()
				var calls sync.WaitGroup
				for range c.calls {
					calls.Go(func() {
						_, err := p.Run(t.Context(), request("Get-Quick"))
						assert.NoError(t, err)
					})
				}
				calls.Wait()
				assert.LessOrEqual(t, time.Since(began), 2*c.takes, "without a pause")
				require.NoError(t, p.Close(t.Context()))
			})
		})
	}
}

// A start that fails for any reason while other sessions live does not cause requests to be rejected when the
// last of those sessions dies.
func TestAFailedStartDoesNotOpenTheCircuitWhileASessionLives(t *testing.T) {
	for _, reason := range []error{diedAtStart,
		&ps.Error{Kind: ps.KindUnavailable, Message: "no sign of life"}} {
		t.Run(reason.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMaker(t)
				m.start = func(_ context.Context, n int64) error {
					if n == 2 {
						return reason
					}
					return nil
				}
				p := open(t, m, lane(func(l *pool.Lane) { l.Size = 2 }))
				began := time.Now()
				var calls sync.WaitGroup
				for _, script := range []string{"Get-Slow", "Get-Quick"} { // the start for the second request fails
					calls.Go(func() {
						_, err := p.Run(t.Context(), request(script))
						assert.NoError(t, err)
					})
					synctest.Wait()
				}
				m.session(0).end()
				_, err := p.Run(t.Context(), request("Get-Quick"))
				require.NoError(t, err)
				assert.Zero(t, time.Since(began))
				calls.Wait()
				require.NoError(t, p.Close(t.Context()))
			})
		})
	}
}

// A start that hangs and fails does not count if other starts have succeeded meanwhile.
func TestAFailureIsIgnoredIfOtherStartsSucceededMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.start = func(_ context.Context, n int64) error {
			if n > 1 {
				return nil
			}
			time.Sleep(time.Minute)
			return &ps.Error{Kind: ps.KindUnavailable, Message: "no sign of life"}
		}
		p := open(t, m, lane(func(l *pool.Lane) { l.Size, l.Warm, l.MaxRequests = 2, 1, 1 }))
		synctest.Wait() // the first start hangs
		for range 3 {
			_, err := p.Run(t.Context(), request("Get-Quick"))
			require.NoError(t, err)
			time.Sleep(30 * time.Second)
		}
		assert.Empty(t, p.Stats()[ps.Directory].Reason)
		assert.EqualValues(t, 1, p.Stats()[ps.Directory].Failed)
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestAWaiterLearnsWhyStartsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.start = func(ctx context.Context, n int64) error {
			if n > 1 {
				<-ctx.Done()
			}
			return diedAtStart
		}
		p := open(t, m, nil)
		began := time.Now()
		_, err := p.Run(t.Context(), request("Get-Quick"))
		assert.Equal(t, ps.KindUnavailable, kind(err))
		assert.ErrorContains(t, err, "did not get ready")
		assert.Equal(t, 10*time.Second, time.Since(began))
		require.NoError(t, p.Close(t.Context()))
	})
}

// The first successful start ends the rejections.
func TestTheFirstStartAfterAPauseClosesTheCircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMaker(t)
		m.start = func(_ context.Context, n int64) error {
			if n <= 3 {
				return diedAtStart
			}
			return nil
		}
		p := open(t, m, nil)
		_, err := p.Run(t.Context(), request("Get-Quick"))
		require.Equal(t, ps.KindUnavailable, kind(err))
		assert.EqualValues(t, 3, m.starts.Load())
		_, err = p.Run(t.Context(), request("Get-Quick"))
		require.Equal(t, ps.KindUnavailable, kind(err), "rejected at once during the pause")
		time.Sleep(ps.AsError(err).RetryAfter)
		_, err = p.Run(t.Context(), request("Get-Quick"))
		require.NoError(t, err)
		assert.EqualValues(t, 4, m.starts.Load())
		require.NoError(t, p.Close(t.Context()))
	})
}
