package replicas

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/test/thorough"
)

// TestForHowLongNothingIsAcknowledged prints for how long no writes are acknowledged after each event that
// makes another gateway or node lead. It causes each event ROUNDS times. The product does not promise these
// times, because they depend on the machine. Only a thorough run kills the gateway, because other tests do
// that, too.
func TestForHowLongNothingIsAcknowledged(t *testing.T) {
	t.Parallel()
	rounds := fromEnvironment(t, "ROUNDS", 1)
	w := newWorld(t, 64<<20)
	asked := newAsked(w)
	asking, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { asked.adds(asking) })
	defer all.Wait()
	defer stop()
	for _, one := range []struct {
		name     string
		thorough bool
		do       func(g *member, n *process) (mend func())
	}{
		{"hand-over", false, func(g *member, _ *process) func() {
			status, body := w.call(g, http.MethodPost, "/handover", patience)
			require.Equal(t, http.StatusOK, status, body)
			return func() {}
		}},
		{"the gateway that leads is killed", true, func(g *member, _ *process) func() {
			g.kill()
			return g.run
		}},
		{"the node that leads the log is killed", false, func(_ *member, n *process) func() {
			n.kill()
			return n.run
		}},
	} {
		if one.thorough && !thorough.All() {
			continue
		}
		var dark []time.Duration
		for range rounds {
			w.whole()
			var g *member
			var n *process
			w.await("nobody leads", func() bool {
				g, n = w.leader(), w.streamLeader()
				return g != nil && n != nil
			})
			from := time.Now()
			mend := one.do(g, n)
			before := asked.acknowledged()
			w.await("nothing is acknowledged", func() bool { return asked.acknowledged() > before+20 })
			mend()
			w.await("nothing is acknowledged", func() bool { return asked.acknowledged() > before+40 })
			dark = append(dark, asked.darkest(from).Round(time.Millisecond))
		}
		slices.Sort(dark)
		t.Logf("%s: nothing was acknowledged for %s (median), %s (worst), in %d rounds",
			one.name, dark[len(dark)/2], dark[len(dark)-1], rounds)
	}
}
