package fleet

import (
	"archive/zip"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/setup"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// TestAnOldClusterMigrates: three gateways start as a cluster with the shared data of gateways of an earlier
// version. Each of them knows the history and accepts the same credentials.
func TestAnOldClusterMigrates(t *testing.T) {
	t.Parallel()
	f := newDomain(t, append(quick, "changes.keep: 20000h")...)
	f.makeUsers()
	accounts := f.useAccounts()
	first := f.hosts[0]
	old, err := zip.OpenReader(filepath.Join("..", "..", "gateway", "cluster", "migrate", "testdata", "old.zip"))
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(filepath.Join(first.folder, "old"), old))
	require.NoError(t, old.Close())
	files, err := filepath.Glob(filepath.Join(first.folder, "old", "*"))
	require.NoError(t, err)
	for _, path := range files {
		require.NoError(t, os.Rename(path, filepath.Join(first.folder, filepath.Base(path))))
	}
	var facts struct{ Ended []string }
	text, err := os.ReadFile(filepath.Join(first.folder, "facts.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &facts))
	require.NotEmpty(t, facts.Ended)

	o := f.options(first)
	o.Accounts = accounts
	o.Settings.Former.Name, o.Settings.Former.Gateway = "corp", first.name
	o.Settings.Former.KeyFile = filepath.Join(first.folder, "ring.key")
	done, err := setup.Migrate(t.Context(), o, setup.Migration{Hosts: f.named()})
	require.NoError(t, err)
	require.NotNil(t, done.Made)
	f.removeMadeUp(first)
	first.node.start()
	first.gateway.start()
	f.ready(first)
	for i, invitation := range done.Made.Invitations {
		h := f.hosts[i+1]
		_, _, err := setup.Join(t.Context(), f.options(h), invitation, false)
		require.NoError(t, err)
		h.node.start()
		h.gateway.start()
	}
	await(t, "the log has no origin", func() bool {
		_, begun, err := first.trust().Origin()
		return err == nil && begun
	})
	f.whole()
	for _, h := range f.hosts {
		for _, id := range facts.Ended {
			a := f.must(h, http.MethodGet, "/api/Changes/"+id, "", "", nil)
			assert.Contains(t, a.text, id)
		}
		f.must(h, http.MethodPut, "/api/ADUser/shared00", `{"City":"`+h.name+`"}`, "fleet-key-"+h.name, nil)
	}
}

// removeMadeUp removes values from the test data that no gateway could have written.
func (f *fleet) removeMadeUp(h *host) {
	f.t.Helper()
	ctx := f.t.Context()
	wrapper, err := keyring.KeyFile(h.trust().SecretFile())
	require.NoError(f.t, err)
	file, _, err := store.Open(store.Options{Path: h.store()})
	require.NoError(f.t, err)
	ring, err := keyring.Open(ctx, file, wrapper, store.Newest)
	require.NoError(f.t, err)
	var all []store.Change
	for _, kind := range []store.Kind{
		"plan", "budget", "job", "jobspec", "jobitem", "jobkey", "jobonce", "session", "session-owner",
		"session-step", "tries", "mirror", "head", "seals", "webhook",
	} {
		require.NoError(f.t, ring.Sealed().Range(ctx, kind, "", func(e store.Entry) bool {
			all = append(all, store.Change{Kind: kind, Key: e.Key, Expect: e.Revision})
			return true
		}))
	}
	_, err = ring.Sealed().Apply(ctx, all...)
	require.NoError(f.t, err)
	require.NoError(f.t, file.Close())
}
