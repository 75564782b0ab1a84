package natsstore

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine/enginetest"
)

func TestTroubleOfTheEngine(t *testing.T) {
	info := func(most int64, used uint64, nodes ...*jetstream.PeerInfo) *jetstream.StreamInfo {
		return &jetstream.StreamInfo{Config: jetstream.StreamConfig{MaxBytes: most}, State: jetstream.StreamState{Bytes: used}, Cluster: &jetstream.ClusterInfo{Replicas: nodes}}
	}
	well := &jetstream.PeerInfo{Name: "n1", Current: true}
	for name, c := range map[string]struct {
		info *jetstream.StreamInfo
		want []string
	}{
		"well":            {info(100<<20, 70<<20, well, well), nil},
		"one node":        {&jetstream.StreamInfo{}, nil},
		"unbounded":       {info(-1, 1<<40, well), nil},
		"a little behind": {info(-1, 0, &jetstream.PeerInfo{Name: "n2", Lag: 100}), nil},
		"far behind":      {info(-1, 0, well, &jetstream.PeerInfo{Name: "n2", Lag: 20_000}), []string{"'n2'", "20000 messages"}},
		"silent":          {info(-1, 0, well, &jetstream.PeerInfo{Name: "n3", Active: time.Minute}), []string{"'n3'", "does not run"}},
		"idle":            {info(-1, 0, well, &jetstream.PeerInfo{Name: "n3", Current: true, Active: time.Minute}), nil},
		"away":            {info(-1, 0, well, &jetstream.PeerInfo{Name: "n3", Offline: true}), []string{"'n3'", "does not run"}},
		"full":            {info(100<<20, 80<<20, well), []string{"80 of 100 MiB", "changes.keep"}},
		"both":            {info(100<<20, 99<<20, &jetstream.PeerInfo{Name: "n3", Offline: true}), []string{"'n3'", "99 of 100 MiB"}},
	} {
		health := healthOf(c.info)
		got := health.Trouble()
		assert.Equal(t, len(c.want) == 0, got == "", "%s: %s", name, got)
		for _, part := range c.want {
			assert.Contains(t, got, part, name)
		}
	}
}

// TestANodeThatIsAwayIsNamed: a node that is stopped is named while changes go on.
func TestANodeThatIsAwayIsNamed(t *testing.T) {
	engine := enginetest.Start(t, 3)
	urls := strings.Join(engine.URLs(), ",")
	create(t, urls, "c", 3)
	s, err := Open(t.Context(), Options{Name: "c", Gateway: "gw1", Mirror: filepath.Join(t.TempDir(), "mirror"), Connect: connectTo(urls)})
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	trouble := func() string { return s.AskHealth().Trouble() }
	require.Eventually(t, func() bool { return trouble() == "" }, 3*time.Minute, 50*time.Millisecond)
	away := (engine.Leader(StreamName("c")) + 1) % 3
	engine.Stop(away)
	require.Eventually(t, func() bool { return strings.Contains(trouble(), "'"+enginetest.Name(away)+"'") }, 3*time.Minute, 50*time.Millisecond)
	states := map[string]NodeState{}
	for i, node := range s.Health().Nodes {
		states[node.Name] = node.State
		assert.Equal(t, node.Name == enginetest.Name(engine.Leader(StreamName("c"))), node.Leads, i)
	}
	assert.Len(t, states, 3)
	assert.Equal(t, NodeAway, states[enginetest.Name(away)])
	_, err = s.Apply(t.Context(), set("k", "v", 0))
	require.NoError(t, err)
}
