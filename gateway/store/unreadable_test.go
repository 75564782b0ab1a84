package store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckKey(t *testing.T) {
	plain := NewMemory(nil)
	defer plain.Close()
	seal := func(secret byte) *Sealed {
		key, err := NewKey([]byte(strings.Repeat(string(secret), KeyLength)))
		require.NoError(t, err)
		s, err := Seal(plain, key)
		require.NoError(t, err)
		return s
	}
	check := func(s *Sealed) error { return s.CheckKey(t.Context(), "k") }
	require.NoError(t, check(seal('a')), "the first key is that of the store")
	require.NoError(t, check(seal('a')))

	other := seal('b')
	require.ErrorIs(t, check(other), ErrOtherKey)
	require.ErrorIs(t, other.Writable(), ErrOtherKey)
	_, err := other.Apply(t.Context(), put("x", "1", Absent))
	require.ErrorIs(t, err, ErrOtherKey)

	_, err = seal('a').Apply(t.Context(), put("one", "1", Absent), put("two", "2", Absent))
	require.NoError(t, err)
	proof, err := plain.Get(t.Context(), proofKind, proofKey)
	require.NoError(t, err)
	_, err = plain.Apply(t.Context(),
		Change{Kind: proofKind, Key: proofKey, Expect: proof.Revision, Value: []byte("damaged")})
	require.NoError(t, err)
	require.ErrorIs(t, check(seal('b')), ErrOtherKey, "nothing opens")
	require.NoError(t, check(seal('a')), "the values open")
	proof, err = plain.Get(t.Context(), proofKind, proofKey)
	require.NoError(t, err)
	assert.NotEqual(t, "damaged", string(proof.Value), "the proof is made anew")
	assert.NoError(t, seal('a').Writable())
}
