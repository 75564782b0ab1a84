package systemtest

import (
	"fmt"
	"net/http"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
)

// recorder is a test that records its log, its failures and its cleanup functions.
type recorder struct {
	testing.TB
	failed  bool
	cleanup []func()
	logged  []string
}

func (r *recorder) Failed() bool { return r.failed }
func (r *recorder) FailNow()     { r.failed = true; runtime.Goexit() }
func (r *recorder) Errorf(format string, args ...any) {
	r.failed = true
	r.Logf(format, args...)
}
func (r *recorder) Cleanup(f func()) { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Logf(format string, args ...any) {
	r.logged = append(r.logged, fmt.Sprintf(format, args...))
}

// TestAFailedTestShowsTheLogOfItsServerErrors: a failed test shows the log lines about
// requests with a 5xx answer, and a passed test shows nothing.
func TestAFailedTestShowsTheLogOfItsServerErrors(t *testing.T) {
	s := New(t, sandbox.Options{Seed: 1}, "servers.controllers=dc1.corp.example")
	require.Equal(t, http.StatusOK, s.Get("/api/ADUser/"+SampleUser+"/Details").Status)
	s.SwitchDC(false)
	for _, failed := range []bool{false, true} {
		r := &recorder{TB: t, failed: failed}
		a := s.In(r).Get("/api/ADUser/" + SampleUser + "/Details")
		require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s", a.Body)
		for _, f := range r.cleanup {
			f()
		}
		if failed {
			require.Len(t, r.logged, 1)
			assert.Contains(t, r.logged[0], a.Header.Get("X-Request-Id"))
			assert.Contains(t, r.logged[0], `"cause"`, "which the answer does not have")
		} else {
			assert.Empty(t, r.logged)
		}
	}
}
