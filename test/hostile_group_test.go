package test

import (
	"net/http"
	"net/url"

	"adgateway/gateway/ops"

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
func createdGroup(s *system, _ *guard, p *ops.Param, name, value string, a answer) {
	record := s.record(a)
	assert.Equal(s.t, record, s.ok(call{method: http.MethodGet, path: groupPath(text(record["guid"]), "")}, http.StatusOK), name)
	for _, field := range map[string][]string{"GroupName": {"name", "samName"}, "GroupDescription": {"description"}, "GroupEmail": {"email"}}[p.Name] {
		assert.Equal(s.t, orNull(value), record[field], name)
	}
	if p.Name == "GroupName" {
		assert.Equal(s.t, record, s.ok(call{method: http.MethodGet, path: groupPath(value, "")}, http.StatusOK), name)
	}
	s.ok(call{method: http.MethodDelete, path: groupPath(text(record["samName"]), "/Remove")}, http.StatusOK)
}

// renamedGroup holds what a hostile rename has stored, and renames the group back.
func renamedGroup(s *system, _ *guard, p *ops.Param, name, value string, a answer) {
	require.Equal(s.t, "NewGroupName", p.Name, "%s: %s", name, a.body)
	record := s.record(a)
	assert.Equal(s.t, []any{value, value}, []any{record["name"], record["samName"]}, name)
	s.put(groupPath(value, "/Rename/"+url.PathEscape(sampleGroup)), nil)
}
