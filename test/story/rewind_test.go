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

// TestAStoreFromABackupIsNoticed: the gateway reports that changes are missing until they
// are rebuilt from the audit.
func TestAStoreFromABackupIsNoticed(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "state.db")
	ctx, cancel := context.WithTimeout(context.Background(), systemtest.Patience)
	defer cancel()
	w, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	settings := []string{"store.file=" + file, "audit.file=" + filepath.Join(folder, "audit.jsonl")}
	during := func(name string, what func(t *testing.T, s *systemtest.System)) {
		t.Run(name, func(t *testing.T) { what(t, systemtest.NewOn(t, w, w.Starter(), settings...)) })
	}
	city := func(t *testing.T, s *systemtest.System, name string) {
		t.Helper()
		require.Equal(t, http.StatusOK, s.Do(update("aschmidt", map[string]any{"City": name})).Status)
	}
	var backup []byte
	during("the backup", func(t *testing.T, s *systemtest.System) { city(t, s, "Rome") })
	backup, err = os.ReadFile(file)
	require.NoError(t, err)
	during("changes since then", func(t *testing.T, s *systemtest.System) {
		assert.NotContains(t, string(s.Get("/readyz").Body), "older than what it has acknowledged")
		city(t, s, "Oslo")
		city(t, s, "Bonn")
	})
	require.NoError(t, os.WriteFile(file, backup, 0o600))
	for _, name := range []string{"the restore", "a restart"} {
		during(name, func(t *testing.T, s *systemtest.System) {
			ready := s.Get("/readyz")
			assert.Contains(t, string(ready.Body), "older than what it has acknowledged")
			assert.Contains(t, string(ready.Body), "adgateway changes rebuild")
		})
	}
	loaded, err := configtest.Load("", nil, settings)
	require.NoError(t, err)
	log := logrus.New()
	log.SetOutput(io.Discard)
	found, err := app.RebuildHistory(ctx, app.Options{Settings: loaded, Log: log}, nil)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 1}, []int{found.Added, found.Present})
	during("the end", func(t *testing.T, s *systemtest.System) {
		assert.NotContains(t, string(s.Get("/readyz").Body), "older than what it has acknowledged")
		assert.Len(t, changesIn(s, s.Do(listChanges(map[string]any{"Limit": 100}))), 3)
	})
}
