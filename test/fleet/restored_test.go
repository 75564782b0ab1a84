package fleet

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/setup"
	"adgateway/gateway/store"
)

// restore restores the files of a backup on a host that has lost everything except its settings. These files
// are the store and those that make the gateway a member of the cluster.
func (f *fleet) restore(h *host) {
	f.t.Helper()
	var kept bytes.Buffer
	require.NoError(f.t, store.CopyFile(f.t.Context(), h.store(), &kept))
	files, err := h.trust().Files()
	require.NoError(f.t, err)
	require.NotEmpty(f.t, files)
	texts := map[string][]byte{}
	for _, path := range files {
		texts[path], err = os.ReadFile(path)
		require.NoError(f.t, err)
	}
	entries, err := os.ReadDir(h.folder)
	require.NoError(f.t, err)
	for _, entry := range entries {
		if path := filepath.Join(h.folder, entry.Name()); path != h.gateway.plan.Settings {
			require.NoError(f.t, os.RemoveAll(path))
		}
	}
	require.NoError(f.t, store.Restore(h.store(), &kept))
	require.NoError(f.t, os.Mkdir(h.trust().Path, 0o700))
	for path, text := range texts {
		require.NoError(f.t, os.WriteFile(path, text, 0o600))
	}
}

// TestAllHostsAreRestored: all hosts are restored from their backups. The cluster continues
// with the copy that is furthest ahead, and all gateways know the changes in that copy.
func TestAllHostsAreRestored(t *testing.T) {
	t.Parallel()
	f := newFleet(t, quick...)
	f.makeUsers()
	leader, body := f.awaitLeader(), `{"City":"before"}`
	changed := f.must(leader, http.MethodPut, "/api/ADUser/shared01", body, "fleet-key-before", nil)
	id := changed.header.Get("X-Change-Id")
	for _, h := range f.hosts {
		f.must(h, http.MethodGet, "/api/Changes/"+id, "", "", nil)
	}
	for _, h := range f.hosts {
		h.gateway.kill()
	}
	for _, h := range f.hosts {
		h.node.kill()
		f.restore(h)
	}
	var furthest *host
	var most uint64
	for _, h := range f.hosts {
		at, _, err := setup.Recover(t.Context(), f.options(h), false)
		require.NoError(t, err)
		if furthest == nil || at.Sequence > most {
			furthest, most = h, at.Sequence
		}
	}
	_, _, err := setup.Recover(t.Context(), f.options(furthest), true)
	require.NoError(t, err)
	furthest.node.start()
	furthest.gateway.start()
	f.ready(furthest)
	for _, h := range f.hosts {
		if h != furthest {
			h.node.start()
			h.gateway.start()
		}
	}
	f.whole()
	for _, h := range f.hosts {
		f.must(h, http.MethodGet, "/api/Changes/"+id, "", "", nil)
		f.must(h, http.MethodPut, "/api/ADUser/shared01", `{"City":"`+h.name+`"}`, "fleet-key-after-"+h.name, nil)
	}
}
