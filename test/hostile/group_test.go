package hostile

import (
	"net/http"
	"net/url"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/test/systemtest"
)

// storedGroup contains the checks of the values that group operations store.
var storedGroup = map[string]storedCheck{
	"group.createSecurity":     createdGroup,
	"group.createDistribution": createdGroup,
	"group.rename":             renamedGroup,
}

// createdGroup uses a second route to read a group that was created with a hostile value, compares the stored
// value with the sent one, and removes the group.
func createdGroup(s *systemtest.System, _ *guard, p *ops.Param, name, value string, a systemtest.Answer) {
	record := s.Record(a)
	assert.Equal(s.T, record, s.OK(systemtest.Call{Method: http.MethodGet,
		Path: systemtest.GroupPath(systemtest.Text(record["guid"]), "")}, http.StatusOK), name)
	for _, field := range map[string][]string{"GroupName": {"name", "samName"},
		"GroupDescription": {"description"}, "GroupEmail": {"email"}}[p.Name] {
		assert.Equal(s.T, orNull(value), record[field], name)
	}
	if p.Name == "GroupName" {
		assert.Equal(s.T, record, s.OK(systemtest.Call{Method: http.MethodGet,
			Path: systemtest.GroupPath(value, "")}, http.StatusOK), name)
	}
	s.OK(systemtest.Call{Method: http.MethodDelete,
		Path: systemtest.GroupPath(systemtest.Text(record["samName"]), "/Remove")}, http.StatusOK)
}

// renamedGroup checks a group that was renamed to a hostile name, and renames it back.
func renamedGroup(s *systemtest.System, _ *guard, p *ops.Param, name, value string, a systemtest.Answer) {
	record := s.Record(a)
	account := systemtest.Text(record["samName"])
	switch p.Name {
	case "NewGroupName":
		assert.Equal(s.T, []any{value, value}, []any{record["name"], account}, name)
	case "Name":
		if value != "" {
			assert.Equal(s.T, value, record["name"], name)
		}
	default:
		require.Fail(s.T, "renamed", "by %s, %s: %s", p.Name, name, a.Body)
	}
	s.Put(systemtest.GroupPath(account, "/Rename/"+url.PathEscape(systemtest.SampleGroup)), nil)
}
