package enginecheck

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVersions(t *testing.T) {
	for version, old := range map[string]bool{
		"2.14.5": false, "2.14.6": false, "2.15.0": false, "2.15.0-RC.1": false, "3.0.0": false, "2.14.5-preview.1": true,
		"2.14.4": true, "2.12.15": true, "1.99.99": true, "": true, "2.15": true, "devel": true, "2.x.9": true,
	} {
		assert.Equal(t, old, older(version), version)
	}
	a := answer{}
	a.Server.Name, a.Server.Version, a.Data.Config.SyncAlways = "n1", "2.10.22", true
	require.Len(t, a.findings(), 1)
	assert.Contains(t, a.findings()[0].String(), "node n1: the version is 2.10.22, and must be 2.14.5 or later")
	a.Server.Version, a.Data.Config.MaxStore, a.Data.Used = "2.15.2", 100<<20, 81<<20
	require.Len(t, a.findings(), 1)
	assert.True(t, a.findings()[0].Warning)
}

// TestAnEvenNumberOfNodes is about what the nodes of such an engine would answer.
func TestAnEvenNumberOfNodes(t *testing.T) {
	for nodes, fine := range map[int]bool{1: true, 2: false, 3: true, 4: false, 5: true, 7: false} {
		found := false
		for _, f := range numberOfNodes(make([]answer, nodes), nodes) {
			assert.False(t, f.Warning)
			found = true
		}
		assert.Equal(t, fine, !found, "%d", nodes)
	}
	lost := numberOfNodes(make([]answer, 1), 3)
	require.Len(t, lost, 1)
	assert.False(t, lost[0].Warning, "one of three cannot write")
}
