package hostile

import (
	"net/http"
	"net/url"

	"adgateway/gateway/ops"
	"adgateway/test/systemtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// storedGroup are the checks of what operations on groups have stored.
var storedGroup = map[string]storedCheck{
	"group.createSecurity":     createdGroup,
	"group.createDistribution": createdGroup,
	"group.rename":             renamedGroup,
}

// createdGroup holds what a hostile create has stored against what was sent, by
// a second route, and removes the group.
func createdGroup(s *systemtest.System, _ *guard, p *ops.Param, name, value string, a systemtest.Answer) {
	record := s.Record(a)
	assert.Equal(s.T, record, s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(systemtest.Text(record["guid"]), "")}, http.StatusOK), name)
	for _, field := range map[string][]string{"GroupName": {"name", "samName"}, "GroupDescription": {"description"}, "GroupEmail": {"email"}}[p.Name] {
		assert.Equal(s.T, orNull(value), record[field], name)
	}
	if p.Name == "GroupName" {
		assert.Equal(s.T, record, s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(value, "")}, http.StatusOK), name)
	}
	s.OK(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath(systemtest.Text(record["samName"]), "/Remove")}, http.StatusOK)
}

// renamedGroup holds what a hostile rename has stored, and renames the group back.
func renamedGroup(s *systemtest.System, _ *guard, p *ops.Param, name, value string, a systemtest.Answer) {
	require.Equal(s.T, "NewGroupName", p.Name, "%s: %s", name, a.Body)
	record := s.Record(a)
	assert.Equal(s.T, []any{value, value}, []any{record["name"], record["samName"]}, name)
	s.Put(systemtest.GroupPath(value, "/Rename/"+url.PathEscape(systemtest.SampleGroup)), nil)
}
