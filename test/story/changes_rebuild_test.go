package story

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/config/configtest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestALostHistoryIsReadBackFromTheAudit: after the loss of the store, the history is rebuilt and has the
// same changes, but they cannot be undone.
func TestALostHistoryIsReadBackFromTheAudit(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "state.db")
	ctx, cancel := context.WithTimeout(context.Background(), systemtest.Patience)
	defer cancel()
	w, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	settings := []string{"store.file=" + file, "audit.file=" + filepath.Join(folder, "audit.jsonl")}
	list := func(s *systemtest.System) []change {
		return changesIn(s, s.Do(listChanges(map[string]any{"Limit": 100})))
	}
	var before []change
	t.Run("before", func(t *testing.T) {
		s := systemtest.NewOn(t, w, w.Starter(), settings...)
		for _, call := range []systemtest.Call{
			update("aschmidt", map[string]any{"City": "Rome", "Department": ""}),
			put("/api/ADUser/aschmidt/Disable"),
			post("/api/ADUser/rebuilt.user", "Password", "N0t-in-the-audit!"),
			post("/api/ADUser/rebuilt.user/Group/Newsletter"),
			post("/api/DnsARecord", "ZoneName", "corp.example", "DNS_HostName", "rebuilt", "IP_Address", "10.0.0.77"),
			{Method: http.MethodDelete, Path: "/api/ADUser/rebuilt.user"},
			update("aschmidt", map[string]any{"City": "Rome"}), // this has no effect
		} {
			a := s.Do(call)
			require.Less(t, a.Status, 300, "%s", a.Body)
		}
		before = list(s)
		require.Len(t, before, 6)
	})
	require.NoError(t, os.Remove(file))

	loaded, err := configtest.Load("", nil, settings)
	require.NoError(t, err)
	log := logrus.New()
	log.SetOutput(io.Discard)
	for _, want := range [][2]int{{6, 0}, {0, 6}} {
		found, err := app.RebuildHistory(ctx, app.Options{Settings: loaded, Log: log}, nil)
		require.NoError(t, err)
		assert.Equal(t, want, [2]int{found.Added, found.Present})
		assert.Zero(t, found.Expired)
	}
	t.Run("after", func(t *testing.T) {
		s := systemtest.NewOn(t, w, w.Starter(), settings...)
		after := list(s)
		require.Len(t, after, len(before))
		for i, was := range before {
			now := after[i]
			assert.Equal(t, []any{was.ID, was.Operation, was.Effect, was.Outcome, was.Caller},
				[]any{now.ID, now.Operation, now.Effect, now.Outcome, now.Caller})
			assert.Equal(t, "none", now.Undo)
			require.NotEmpty(t, now.Objects, was.Operation)
			if was.Operation != "a.create" { // the audit contains the object's name in the directory
				assert.Equal(t, was.Objects[0].DistinguishedName, now.Objects[0].DistinguishedName)
			}
			assert.Equal(t, was.Objects[0].GUID, now.Objects[0].GUID)
			s.Rejects(undoChange(was.ID, nil), http.StatusUnprocessableEntity, "not_undoable")
		}
		a := s.Do(getChange(before[5].ID, nil))
		assert.Contains(t, string(a.Body), `"Rome"`)
		assert.Equal(t, http.StatusOK, s.Do(update("aschmidt", map[string]any{"City": "Oslo"})).Status)
		assert.Equal(t, "full", list(s)[0].Undo, "later changes are as ever")
	})
}
