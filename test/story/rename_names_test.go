package story

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestARenameGivesACommonNameToo: one call changes both names of users and groups, and the undo
// restores both. If the common name is in use or malformed, the error names its parameter.
func TestARenameGivesACommonNameToo(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	placeOf := map[string]string{
		"username": "OU=Sales,OU=Berlin," + systemtest.StaffOU,
		"samName":  "OU=Security,OU=Groups,OU=Corp,DC=corp,DC=example",
	}
	params := map[string]any{"Name": "Lea Meier, née Weber"}
	for path, account := range map[string]string{
		"/api/ADUser/lweber/Rename/lmeier":                                "username",
		systemtest.GroupPath("O'Reilly Readers", "/Rename/Meier%20Group"): "samName",
	} {
		start := s.Snapshot()
		made := s.Do(systemtest.Call{Method: http.MethodPut, Path: path, Params: params})
		require.Equal(t, http.StatusOK, made.Status, "%s", made.Body)
		record := s.Record(made)
		assert.Equal(t, "Lea Meier, née Weber", record["name"])
		assert.Contains(t, []any{"lmeier", "Meier Group"}, record[account])
		undo := "/api/Changes/" + made.Header.Get("X-Change-Id") + "/Undo"
		undone := s.Do(systemtest.Call{Method: http.MethodPost, Path: undo})
		require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
		assert.Empty(t, start.Compare(s.Snapshot()))
		s.AddObject("CN=Taken One,"+placeOf[account], "contact")
		for name, status := range map[string]int{
			" blank": http.StatusBadRequest, "Taken One": http.StatusConflict,
		} {
			refused := s.Do(systemtest.Call{Method: http.MethodPut, Path: path, Params: map[string]any{"Name": name}})
			assert.Equal(t, status, refused.Status, "%s", refused.Body)
			assert.Equal(t, "Name", systemtest.FirstField(refused), "%s", refused.Body)
		}
	}
}
