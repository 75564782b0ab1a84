package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// bubble runs a test with a cluster in virtual time.
func bubble(t *testing.T, size int, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t, size)) })
}

func TestTheFirstNameLeadsWhenAllStart(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		start := time.Now()
		assert.Equal(t, "a", w.startAll().name)
		took := time.Since(start)
		assert.GreaterOrEqual(t, took, silence)
		assert.Less(t, took, silence+silenceRank)
		for _, h := range w.others(w.hosts[0]) {
			w.until(time.Second, func() bool { return h.running().m.Status().Leader == "a" })
			s := h.running().m.Status()
			assert.Equal(t, Follower, s.Role)
			assert.Equal(t, "a:1", s.Hop)
			assert.Zero(t, s.Leaderless)
			assert.EqualValues(t, 1, s.Term)
		}
	})
}
