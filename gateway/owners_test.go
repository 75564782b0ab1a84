package gateway

import (
	"net/http"
	"testing"
	"time"

	"adgateway/gateway/keep"
	"adgateway/ps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAGatewaySettlesWhatItCouldNotKeep: a change whose outcome could not be kept, as the
// store was lost, is settled by its own gateway once it cannot be running any more, and not
// only by its next start.
func TestAGatewaySettlesWhatItCouldNotKeep(t *testing.T) {
	store := &losable{Store: keep.NewMemory(nil)}
	d := newScene(t, &toRomeOf)
	c := newCluster(t, store, func(int) ps.Runner {
		return d.run(func(at string) bool { store.lost.Store(at == "written"); return false })
	}, nil)
	w := call(c.servers[0], http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, "Content-Type: application/json")
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	store.lost.Store(false)
	running := func() int {
		_, err := c.servers[0].TakeOver(t.Context())
		require.NoError(t, err)
		open, err := c.servers[0].History.Running(t.Context())
		require.NoError(t, err)
		return len(open)
	}
	require.Equal(t, 1, running(), "it may still run")
	c.pass(5*time.Minute, 0, 1, 2)
	assert.Zero(t, running())
	assert.Equal(t, 1, d.writes)
}
