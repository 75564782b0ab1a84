package keyring_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/keep"
	"adgateway/gateway/keyring"
)

// TestAStoreBecomesThatOfACluster and that of one gateway again: what it has stays readable, under
// the same sums.
func TestAStoreBecomesThatOfACluster(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	store := keep.NewMemory(nil)
	own := filepath.Join(dir, "state.db.key")
	key, err := keep.ReadKey(own)
	require.NoError(t, err)
	alone, err := keep.Seal(store, key)
	require.NoError(t, err)
	_, err = alone.Apply(ctx, keep.Change{Kind: "value", Key: "a", Value: []byte("of before")})
	require.NoError(t, err)

	shared := filepath.Join(dir, "cluster.key")
	require.NoError(t, keyring.CreateKeyFile(shared))
	w, err := keyring.KeyFile(shared)
	require.NoError(t, err)
	w2, err := keyring.StoreKey(own)
	require.NoError(t, err)
	require.ErrorIs(t, keyring.Rewrap(ctx, store, w, w2), keyring.ErrNone)
	secret, err := os.ReadFile(own)
	require.NoError(t, err)
	require.Error(t, keyring.Adopt(ctx, store, w, secret[1:]))
	require.NoError(t, keyring.Adopt(ctx, store, w, secret))
	require.ErrorIs(t, keyring.Adopt(ctx, store, w, secret), keyring.ErrThere)
	ring, err := keyring.Open(ctx, store, w, keep.Newest)
	require.NoError(t, err)
	assert.Equal(t, alone.Sum([]byte("name")), ring.Sealed().Sum([]byte("name")))
	_, err = ring.Sealed().Apply(ctx, keep.Change{Kind: "value", Key: "b", Value: []byte("of the cluster")})
	require.NoError(t, err)

	other := filepath.Join(dir, "another.key")
	third, err := keyring.StoreKey(other)
	require.NoError(t, err)
	require.FileExists(t, other, "it is made")
	require.ErrorIs(t, keyring.Rewrap(ctx, store, third, w2), keyring.ErrLocked)
	for range 2 {
		require.NoError(t, keyring.Rewrap(ctx, store, w, w2))
	}
	_, err = keyring.Open(ctx, store, w, keep.Newest)
	require.ErrorIs(t, err, keyring.ErrLocked)
	_, err = keyring.Open(ctx, store, third, keep.Newest)
	require.ErrorContains(t, err, other)
	ring, err = keyring.Open(ctx, store, w2, keep.Newest)
	require.NoError(t, err)
	for name, want := range map[string]string{"a": "of before", "b": "of the cluster"} {
		found, err := ring.Sealed().Get(ctx, "value", name)
		require.NoError(t, err)
		assert.Equal(t, want, string(found.Value))
	}
	require.NoError(t, os.WriteFile(other, bytes.Repeat([]byte{1}, 31), 0o600))
	_, err = keyring.StoreKey(other)
	require.ErrorContains(t, err, "is not the key file of a store")
}
