package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

// TestAClusterWhoseLogIsLost: the cluster continues with the store of the gateway that is recovered first,
// which initially works alone. Every other gateway only discards the log.
func TestAClusterWhoseLogIsLost(t *testing.T) {
	for name, first := range map[string]bool{"the first": true, "another": false} {
		t.Run(name, func(t *testing.T) {
			o := options(t, "127.0.0.1:0")
			_, _, err := Recover(t.Context(), o, first)
			require.ErrorContains(t, err, "not in a cluster")
			use(t, o)
			_, err = Init(t.Context(), o, "corp", hosts)
			require.NoError(t, err)
			folder, err := o.folder()
			require.NoError(t, err)
			require.NoError(t, folder.SetOrigin(store.Hash{7}))
			require.NoError(t, os.WriteFile(folder.LogFile(), []byte("{}"), 0o600))
			node := filepath.Join(filepath.Dir(folder.Path), "node")
			require.NoError(t, os.Mkdir(node, 0o700))

			for range 2 { // it can be repeated
				at, _, err := Recover(t.Context(), o, first)
				require.NoError(t, err)
				assert.NotZero(t, at.Hash)
			}
			assert.NoDirExists(t, node)
			assert.NoFileExists(t, folder.LogFile())
			_, begun, err := folder.Origin()
			require.NoError(t, err)
			assert.False(t, begun)
			alone, err := folder.Alone()
			require.NoError(t, err)
			assert.Equal(t, first, alone)
			_, err = folder.Identity()
			assert.NoError(t, err, "it still is of the cluster")
		})
	}
}

// TestAStoreFromABackupIsAcceptedOnRequest: a store that was restored from a backup is
// accepted if the cluster is to continue with it.
func TestAStoreFromABackupIsAcceptedOnRequest(t *testing.T) {
	o := options(t, "127.0.0.1:0")
	use(t, o)
	_, err := Init(t.Context(), o, "corp", hosts)
	require.NoError(t, err)
	path := o.Settings.Store.File
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	folder, err := o.folder()
	require.NoError(t, err)
	w, err := o.wrapper(folder)
	require.NoError(t, err)
	file, sealed := ringedStore(t, o, w)
	_, err = sealed.Apply(t.Context(), store.Change{Kind: value, Key: "b", Value: []byte("later")})
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.NoError(t, os.WriteFile(path, before, 0o600))

	_, _, err = Recover(t.Context(), o, false)
	require.NoError(t, err)
	require.ErrorIs(t, store.Rewound(path), store.ErrRewound)
	_, _, err = Recover(t.Context(), o, true)
	require.NoError(t, err)
	assert.NoError(t, store.Rewound(path))
}
