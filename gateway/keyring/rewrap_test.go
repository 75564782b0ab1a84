package keyring_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// TestAStoreBecomesTheStoreOfACluster: the store of a single gateway becomes the store of a cluster, and the
// other way round. Its values stay readable, with the same sums.
func TestAStoreBecomesTheStoreOfACluster(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	db := store.NewMemory(nil)
	own := filepath.Join(dir, "state.db.key")
	key, err := store.ReadKey(own)
	require.NoError(t, err)
	alone, err := store.Seal(db, key)
	require.NoError(t, err)
	_, err = alone.Apply(ctx, store.Change{Kind: "value", Key: "a", Value: []byte("of before")})
	require.NoError(t, err)

	shared := filepath.Join(dir, "cluster.key")
	require.NoError(t, keyring.CreateKeyFile(shared))
	w, err := keyring.KeyFile(shared)
	require.NoError(t, err)
	w2, err := keyring.StoreKey(own)
	require.NoError(t, err)
	require.ErrorIs(t, keyring.Rewrap(ctx, db, w, w2), keyring.ErrNone)
	secret, err := os.ReadFile(own)
	require.NoError(t, err)
	require.Error(t, keyring.Adopt(ctx, db, w, secret[1:]))
	require.NoError(t, keyring.Adopt(ctx, db, w, secret))
	require.ErrorIs(t, keyring.Adopt(ctx, db, w, secret), keyring.ErrThere)
	ring, err := keyring.Open(ctx, db, w, store.Newest)
	require.NoError(t, err)
	assert.Equal(t, alone.Sum([]byte("name")), ring.Sealed().Sum([]byte("name")))
	_, err = ring.Sealed().Apply(ctx, store.Change{Kind: "value", Key: "b", Value: []byte("of the cluster")})
	require.NoError(t, err)

	other := filepath.Join(dir, "another.key")
	third, err := keyring.StoreKey(other)
	require.NoError(t, err)
	require.FileExists(t, other, "it is made")
	require.ErrorIs(t, keyring.Rewrap(ctx, db, third, w2), keyring.ErrLocked)
	for range 2 {
		require.NoError(t, keyring.Rewrap(ctx, db, w, w2))
	}
	_, err = keyring.Open(ctx, db, w, store.Newest)
	require.ErrorIs(t, err, keyring.ErrLocked)
	_, err = keyring.Open(ctx, db, third, store.Newest)
	require.ErrorContains(t, err, other)
	ring, err = keyring.Open(ctx, db, w2, store.Newest)
	require.NoError(t, err)
	for name, want := range map[string]string{"a": "of before", "b": "of the cluster"} {
		found, err := ring.Sealed().Get(ctx, "value", name)
		require.NoError(t, err)
		assert.Equal(t, want, string(found.Value))
	}
	require.NoError(t, os.WriteFile(other, bytes.Repeat([]byte{1}, 31), 0o600))
	_, err = keyring.StoreKey(other)
	require.ErrorContains(t, err, "the key has 31 bytes, not 32")
}
