package story

import (
	"context"
	"maps"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/changes"
	"adgateway/gateway/store"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestChangesThatTheEndOfTheGatewayCutOff: an announced change is in the history before it
// is made. If the gateway ends in between, the restarted gateway determines its outcome.
func TestChangesThatTheEndOfTheGatewayCutOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	ctx, cancel := context.WithTimeout(context.Background(), systemtest.Patience)
	defer cancel()
	w, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	settings := []string{"store.file=" + file, "http.settlePause=1ms"}
	var made, notMade string
	t.Run("before", func(t *testing.T) {
		s := systemtest.NewOn(t, w, w.Starter(), settings...)
		city := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + systemtest.SampleUser,
			Params: map[string]any{"City": "Rome"}})
		created := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/undo.kill"})
		made, notMade = city.Header.Get("X-Change-Id"), created.Header.Get("X-Change-Id")
		s.OK(systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/undo.kill"}, http.StatusOK)
	})
	inHistory(t, file, func(h *changes.History) {
		for _, id := range []string{made, notMade} { // a gateway that is killed leaves them in this state
			require.NoError(t, h.Update(ctx, id, func(c *changes.Record) {
				c.Running, c.Outcome, c.UndoneBy = true, "", nil
				if id == notMade {
					c.Intent.Objects[0].GUID = ""
				}
			}))
		}
	})
	t.Run("after", func(t *testing.T) {
		s := systemtest.NewOn(t, w, w.Starter(), settings...)
		outcomes := func() map[string]string {
			found := map[string]string{}
			for _, one := range changesIn(s, s.Do(listChanges(map[string]any{"Operation": "user"}))) {
				found[one.ID] = one.Outcome
			}
			delete(found, "")
			return found
		}
		require.Eventually(t, func() bool {
			found := outcomes()
			_, still := found[notMade]
			return !still && found[made] == string(ps.OutcomeDone)
		}, systemtest.Patience, 10*time.Millisecond, "%v", maps.Clone(outcomes()))
		assert.Equal(t, http.StatusOK, s.Do(undoChange(made, nil)).Status, "it can be undone")
	})
}

// inHistory opens the history of a gateway that is not running.
func inHistory(t *testing.T, file string, use func(*changes.History)) {
	t.Helper()
	key, err := store.ReadKey(file + ".key")
	require.NoError(t, err)
	plain, aside, err := store.Open(store.Options{Path: file})
	require.NoError(t, err)
	require.Empty(t, aside)
	sealed, err := store.Seal(plain, key)
	require.NoError(t, err)
	h := changes.New(sealed, time.Hour, 1<<30)
	use(h)
	require.NoError(t, plain.Close())
}
