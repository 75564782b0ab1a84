package hostile

import (
	"net/http"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/test/systemtest"
)

// storedTasks contains the checks of the values that the operations for everyday tasks store.
var storedTasks = map[string]storedCheck{
	"user.deleteByGuid": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		require.Contains(s.T, removing, p.Name, "%s: %s", name, a.Body)
		g.base = s.Snapshot()
	},
	"user.delete": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		require.Contains(s.T, removing, p.Name, "%s: %s", name, a.Body)
		s.Prepare(opstest.Find("user.delete"))
		g.base = s.Snapshot()
	},
	"group.update": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		record := s.Record(a)
		assert.Equal(s.T, record, s.OK(systemtest.Call{Method: http.MethodGet,
			Path: systemtest.GroupPath(systemtest.SampleGroup, "")}, http.StatusOK), name)
		for _, field := range map[string][]string{"GroupDescription": {"description"},
			"GroupEmail": {"email"}}[p.Name] {
			assert.Equal(s.T, orNull(value), record[field], name)
		}
		require.NotContains(s.T, []string{"OUPath", "ManagedBy", "GroupScope"},
			map[bool]string{true: "", false: p.Name}[value == ""], "%s: %s", name, a.Body)
		s.Put(systemtest.GroupPath(systemtest.SampleGroup, ""),
			map[string]any{"GroupDescription": "May dial in", "GroupEmail": "", "NewDisplayName": ""})
		g.base = s.Snapshot()
	},
	"user.expiry":               restoredTask,
	"computer.enable":           restoredTask,
	"computer.disable":          restoredTask,
	"computer.expireLocalAdmin": restoredTask,
	"computer.move":             restoredTask,
	"membership.copy":           restoredTask,
}

// restoredTask undoes a task whose parameters are not stored as sent.
func restoredTask(s *systemtest.System, g *guard, _ *ops.Param, _, _ string, _ systemtest.Answer) {
	g.base = s.Snapshot()
}
