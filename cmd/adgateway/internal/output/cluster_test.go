package output

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/standing"
)

// TestClusterIsShown: the output includes faults, and marks unknown values as unknown.
func TestClusterIsShown(t *testing.T) {
	follows, leads, other, fault := cluster.Follower, cluster.Leader, "gw2", "it has another hash"
	var out strings.Builder
	require.NoError(t, Cluster(&out, standing.State{
		Name: "corp", Gateway: "gw1", Role: &follows, Leader: &other, Term: 7, KeyVersion: 2, Format: 3,
		Fault: &fault, Strangers: []string{"gw9"},
		Gateways: []standing.Gateway{
			{Name: "gw1", State: "lives", Role: &follows, Position: &standing.Position{Sequence: 41}, Format: 3, KeyVersion: 2, Lanes: []string{"directory", "dns"}},
			{Name: "gw2", State: "lives", Role: &leads, Position: &standing.Position{Sequence: 42}, ClockAhead: -0.25, Format: 3, KeyVersion: 2},
			{Name: "gw3", State: "silent"},
		},
	}))
	shown := out.String()
	assert.Contains(t, shown, "Leader: gw2, term 7\nKey: version 2; values are written in format 3\n")
	assert.Contains(t, shown, "The log cannot be used: it has another hash\nNot on the list, and heard: gw9\n")
	assert.Regexp(t, `(?m)^gw1 +lives +follower +41 +0\.000 s +3 +2 +directory, dns$`, shown)
	assert.Regexp(t, `(?m)^gw2 +lives +leader +42 +-0\.250 s +3 +2 +-$`, shown)
	assert.Regexp(t, `(?m)^gw3 +silent +- +- +0\.000 s +0 +0 +-$`, shown)

	out.Reset()
	require.NoError(t, Cluster(&out, standing.State{Name: "corp", Gateway: "gw1", Leaderless: 9}))
	assert.Contains(t, out.String(), "Leader: none, term 0, nothing heard of a leader for 9 s\n")
}
