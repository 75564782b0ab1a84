package store_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

// TestStoresThatAreSealedInTheSameWay: each of two stores reads values that the other writes, even if only
// one of them was given the key version or the format.
func TestStoresThatAreSealedInTheSameWay(t *testing.T) {
	memory := store.NewMemory(nil)
	one := storetest.Seal(t, memory)
	other := one.Over(memory)
	secret := bytes.Repeat([]byte{2}, store.KeyLength)
	require.NoError(t, other.UseVersions(7, map[uint32][]byte{7: secret}))
	other.SetNewest(9)
	other.SetFormat(8)
	assert.Equal(t, 8, one.Format())
	assert.Equal(t, 9, one.Newest())

	_, err := one.Apply(t.Context(), store.Change{Kind: "k", Key: "a", Value: []byte("1")})
	require.NoError(t, err)
	found, err := other.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, []byte("1"), found.Value)
	version, seals := other.Seals()
	assert.EqualValues(t, 7, version)
	assert.EqualValues(t, 1, seals)
	assert.Equal(t, one.Sum([]byte("x")), other.Sum([]byte("x")))
}

// TestAnotherKeyIsAnotherKeyEverywhere: if the key opens nothing, every store that is sealed with
// it refuses writes.
func TestAnotherKeyIsAnotherKeyEverywhere(t *testing.T) {
	memory := store.NewMemory(nil)
	_, err := memory.Apply(t.Context(),
		store.Change{Kind: "seal", Key: "proof", Value: []byte("of another key")})
	require.NoError(t, err)
	one := storetest.Seal(t, memory)
	other := one.Over(memory)
	require.ErrorIs(t, one.CheckKey(t.Context()), store.ErrOtherKey)
	_, err = other.Apply(t.Context(), store.Change{Kind: "k", Key: "a", Value: []byte("1")})
	require.ErrorIs(t, err, store.ErrOtherKey)
}
