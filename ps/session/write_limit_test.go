package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"adgateway/ps"
	"adgateway/ps/session/sessiontest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAScriptThatMayWriteHasALimitOfItsOwn: when a script is allowed to write, a separate limit for the write
// starts, regardless of the rest of the limit of the whole run.
func TestAScriptThatMayWriteHasALimitOfItsOwn(t *testing.T) {
	const whole, prepares = 10 * time.Second, 9 * time.Second
	for _, c := range []struct {
		name   string
		own    time.Duration // the write limit; 0 if none
		writes time.Duration
		ends   bool
	}{
		{"no limit of its own", 0, 2 * time.Second, false},
		{"a longer one than what is left", 5 * time.Second, 2 * time.Second, true},
		{"that is over", 5 * time.Second, 6 * time.Second, false},
		{"a shorter one than what is left", 500 * time.Millisecond, 600 * time.Millisecond, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, config(&sessiontest.Process{Scripts: map[string]func(*sessiontest.Call){
					"Set-GatewaySlowly": func(call *sessiontest.Call) {
						time.Sleep(prepares)
						call.Announce(`{"effect":"changed","objects":[{"guid":"g-1"},{"guid":"g-2"}]}`)
						select {
						case <-time.After(c.writes):
							call.Frame("end", `{"effect":"changed"}`)
						case <-call.Context.Done():
							panic(sessiontest.ErrExit)
						}
					},
				}}))
				req := ps.Request{Script: "Set-GatewaySlowly", Write: true, Limit: whole}
				if c.own > 0 {
					req.WriteLimit = func(i ps.Intent) time.Duration {
						assert.Len(t, i.Objects, 2)
						return c.own
					}
				}
				began := time.Now()
				_, err := s.Run(t.Context(), req)
				if c.ends {
					require.NoError(t, err)
				} else {
					assert.Equal(t, ps.KindTimeout, ps.AsError(err).Kind)
					assert.Equal(t, ps.OutcomeUnknown, ps.AsError(err).Outcome)
				}
				want := prepares + min(c.writes, c.own)
				if c.own == 0 {
					want = whole
				}
				assert.Equal(t, want, time.Since(began))
				s.Kill()
			})
		})
	}
}
