package hop

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestNoCallIsLostWhenALeaderStops: after a hand-over, the former leader drops no connection on
// which a call may be on its way.
func TestNoCallIsLostWhenALeaderStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		old := f.gateway("gw1", echo)
		f.gateway("gw2", echo)
		f.leader.elect("gw1")
		e := f.edge()
		assert.Equal(t, http.StatusOK, e.do(t, request(t, http.MethodPost, "/", nil)).StatusCode)

		drained := make(chan struct{})
		go func() {
			defer close(drained)
			old.Drain(t.Context())
		}()
		synctest.Wait()
		select {
		case <-drained:
			t.Fatal("the connection that is open may bring another call")
		default:
		}
		assert.Equal(t, http.StatusOK, e.do(t, request(t, http.MethodPost, "/", nil)).StatusCode)
		<-drained
		assert.NoError(t, old.Shutdown(t.Context()))
		f.leader.elect("gw2")
		assert.Equal(t, http.StatusOK, e.do(t, request(t, http.MethodPost, "/", nil)).StatusCode)
		assert.Equal(t, []string{"forwarded gw1", "forwarded gw1", "forwarded gw2"}, e.observed())
	})
}

func TestAStoppingLeaderLimitsItsWaitForConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		old := f.gateway("gw1", echo)
		f.leader.elect("gw1")
		assert.Equal(t, http.StatusOK, f.edge().do(t, request(t, http.MethodPost, "/", nil)).StatusCode)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		old.Drain(ctx)
		assert.Equal(t, time.Second, time.Since(start))
		old.Drain(ctx) // a second time
	})
}
