package fleet

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// setClock sets the wall clock of the gateway of a host ahead, which may run.
func (f *fleet) setClock(h *host, ahead time.Duration) {
	f.t.Helper()
	path := h.gateway.plan.Clock
	require.NoError(f.t, os.WriteFile(path+".new", []byte(ahead.String()), 0o600))
	require.NoError(f.t, os.Rename(path+".new", path))
}

// TestAWallClockIsWrong at one gateway, while it runs and when it starts: nothing expires, calls
// are forwarded, and keys, plans and tokens are what they were.
func TestAWallClockIsWrong(t *testing.T) {
	f := newHosts(t, quick...)
	f.makeUsers()
	for _, h := range f.hosts {
		h.gateway.plan.Clock = filepath.Join(h.folder, "clock")
		f.setClock(h, 0)
		h.node.start()
		h.gateway.start()
	}
	f.whole()
	p := f.live(f.hosts[0], 4)
	changes := 0
	check := func(t *testing.T) {
		for range 3 {
			for _, h := range f.hosts {
				f.known(h, p)
				changes++
				value := fmt.Sprintf("clock%03d", changes)
				a := f.must(h, http.MethodPut, "/api/ADUser/shared01", fmt.Sprintf(`{"City":%q}`, value), "fleet-key-"+value, nil)
				assert.NotEmpty(t, a.header.Get("X-Change-Id"))
			}
			pause(t.Context(), 300*time.Millisecond)
		}
	}
	leader := f.leader()
	require.NotNil(t, leader)
	follower := f.hosts[0]
	if follower == leader {
		follower = f.hosts[1]
	}
	for _, by := range []time.Duration{time.Second, 30 * time.Second, time.Hour, 400 * 24 * time.Hour} {
		for _, ahead := range []time.Duration{by, -by} {
			for who, h := range map[string]*host{"leader": leader, "follower": follower} {
				t.Run(fmt.Sprint(who, " ", ahead), func(t *testing.T) {
					f.setClock(h, ahead)
					check(t)
					f.setClock(h, 0)
				})
			}
		}
	}
	assert.Same(t, leader, f.leader(), "no clock ends a term")
	for _, ahead := range []time.Duration{400 * 24 * time.Hour, -400 * 24 * time.Hour} {
		t.Run(fmt.Sprint("start ", ahead), func(t *testing.T) {
			h := f.leader()
			h.gateway.kill()
			f.setClock(h, ahead)
			h.gateway.start()
			f.whole()
			check(t)
			f.setClock(h, 0)
		})
	}
	f.fulfil(f.hosts[0], p)
}
