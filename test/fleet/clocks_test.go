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

	"adgateway/test/failing"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// setClock sets the wall clock of a host's gateway ahead. It may be called while the gateway is running.
func (f *fleet) setClock(h *host, ahead time.Duration) {
	f.t.Helper()
	path := h.gateway.plan.Clock
	require.NoError(f.t, os.WriteFile(path+".new", []byte(ahead.String()), 0o600))
	require.NoError(f.t, os.Rename(path+".new", path))
}

// rightClocks corrects all wall clocks.
func (f *fleet) rightClocks() {
	for _, h := range f.hosts {
		f.setClock(h, 0)
	}
}

// TestAWallClockIsWrong: the wall clock of one gateway is wrong, while the gateway runs and when it starts.
// Nothing expires, calls are forwarded, and keys and plans remain valid. The environment variable LOOKS is
// the number of checks. Only a thorough run tries small offsets, and a wrong clock at the start.
func TestAWallClockIsWrong(t *testing.T) {
	t.Parallel()
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
	changes, looks := 0, systemtest.Number(t, "LOOKS", 1)
	const most = 400 * 24 * time.Hour
	offsets, starts := []time.Duration{most}, []time.Duration(nil)
	if thorough.All() {
		offsets = []time.Duration{time.Second, 30 * time.Second, time.Hour, most}
		starts = []time.Duration{most, -most}
	}
	check := func(t *testing.T) {
		for range looks {
			for _, h := range f.hosts {
				f.known(h, p)
				changes++
				value := fmt.Sprintf("clock%03d", changes)
				body := fmt.Sprintf(`{"City":%q}`, value)
				a := f.must(h, http.MethodPut, "/api/ADUser/shared02", body, "fleet-key-"+value, nil)
				assert.NotEmpty(t, a.header.Get("X-Change-Id"))
			}
			failing.Pause(t.Context(), 100*time.Millisecond) // heartbeats inform the other gateways
		}
	}
	leader := f.awaitLeader()
	follower := f.hosts[0]
	if follower == leader {
		follower = f.hosts[1]
	}
	for _, by := range offsets {
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
	assert.Same(t, leader, f.awaitLeader(), "no clock ends a term")
	for _, ahead := range starts {
		t.Run(fmt.Sprint("start ", ahead), func(t *testing.T) {
			h := f.awaitLeader()
			h.gateway.kill()
			f.setClock(h, ahead)
			h.gateway.start()
			f.whole()
			f.awaitLeader().gateway.stop() // the gateway with the wrong clock may lead next
			for _, other := range f.hosts {
				other.gateway.kill()
				other.gateway.start()
			}
			f.whole()
			check(t)
			f.setClock(h, 0)
		})
	}
	f.fulfill(f.hosts[0], p)
}
