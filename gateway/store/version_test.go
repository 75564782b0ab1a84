package store

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func secretOf(b byte) []byte { return bytes.Repeat([]byte{b}, KeyLength) }

func sealedOver(t *testing.T, store Store) *Sealed {
	key, err := NewKey(secretOf(9))
	require.NoError(t, err)
	s, err := Seal(store, key)
	require.NoError(t, err)
	return s
}

// TestVersionsOfTheKey: values without a version can still be read, new values contain their version, and a
// gateway learns a version that it does not know.
func TestVersionsOfTheKey(t *testing.T) {
	memory := NewMemory(nil)
	a, b := sealedOver(t, memory), sealedOver(t, memory)
	set := func(s *Sealed, key string) {
		_, err := s.Apply(t.Context(), Change{Kind: "cred", Key: key, Value: []byte("value of " + key)},
			Change{Log: "l", Value: []byte(key)})
		require.NoError(t, err)
	}
	read := func(s *Sealed, key string) string {
		e, err := s.Get(t.Context(), "cred", key)
		require.NoError(t, err)
		return string(e.Value)
	}
	set(a, "0")
	require.Error(t, a.UseVersions(2, map[uint32][]byte{1: secretOf(1)}))
	require.Error(t, a.UseVersions(1, map[uint32][]byte{1: []byte("short")}))
	require.NoError(t, a.UseVersions(1, map[uint32][]byte{1: secretOf(1)}))
	set(a, "1")
	number, count := a.Seals()
	assert.EqualValues(t, 1, number)
	assert.EqualValues(t, 2, count)
	assert.Equal(t, "value of 0", read(a, "0"))
	assert.Equal(t, "value of 1", read(a, "1"))

	_, err := b.Get(t.Context(), "cred", "1")
	require.ErrorIs(t, err, ErrUnreadable)
	learned := 0
	b.Learn(func() {
		learned++
		assert.NoError(t, b.UseVersions(1, map[uint32][]byte{1: secretOf(1), 2: secretOf(2)}))
	})
	assert.Equal(t, "value of 1", read(b, "1"))
	assert.Equal(t, 1, learned)
	require.NoError(t, b.UseVersions(2, map[uint32][]byte{1: secretOf(1), 2: secretOf(2)}))
	set(b, "2")
	var entries []string
	require.NoError(t, b.Log(t.Context(), "l", Position{}, func(e Appended) bool {
		entries = append(entries, string(e.Value))
		return true
	}))
	assert.Equal(t, []string{"0", "1", "2"}, entries, "a log is read whatever its entries were sealed under")
	assert.Equal(t, a.Sum([]byte("name")), b.Sum([]byte("name")))

	// A value with a forged version is rejected.
	raw, err := memory.Get(t.Context(), "cred", "1")
	require.NoError(t, err)
	raw.Value[len(marked)+3] = 2
	_, err = memory.Apply(t.Context(), Change{Kind: "cred", Key: "1", Expect: raw.Revision, Value: raw.Value})
	require.NoError(t, err)
	_, err = b.Get(t.Context(), "cred", "1")
	assert.ErrorIs(t, err, ErrUnreadable)
}

func TestReseal(t *testing.T) {
	memory := NewMemory(nil)
	s := sealedOver(t, memory)
	end := time.Now().Add(time.Hour).Truncate(time.Second)
	for _, key := range []string{"a", "b", "c"} {
		_, err := s.Apply(t.Context(), Change{Kind: "cred", Key: key, Value: []byte(key), Expires: end})
		require.NoError(t, err)
	}
	n, err := s.Reseal(t.Context(), "cred")
	require.NoError(t, err)
	assert.Zero(t, n, "there are no versions")
	require.NoError(t, s.UseVersions(1, map[uint32][]byte{1: secretOf(1)}))
	_, err = s.Apply(t.Context(), Change{Kind: "cred", Key: "d", Value: []byte("d")})
	require.NoError(t, err)
	n, err = s.Reseal(t.Context(), "cred")
	require.NoError(t, err)
	assert.Equal(t, 3, n)
	require.NoError(t, memory.Range(t.Context(), "cred", "", func(e Entry) bool {
		number, _, ok := version(e.Value)
		assert.True(t, ok && number == 1, e.Key)
		return true
	}))
	e, err := s.Get(t.Context(), "cred", "a")
	require.NoError(t, err)
	assert.Equal(t, "a", string(e.Value))
	assert.True(t, e.Expires.Equal(end))
	n, err = s.Reseal(t.Context(), "cred")
	require.NoError(t, err)
	assert.Zero(t, n)
}

func TestValuesForFiles(t *testing.T) {
	s := sealedOver(t, NewMemory(nil))
	plain := s.SealFor("copy", []byte("text"))
	require.NoError(t, s.UseVersions(1, map[uint32][]byte{1: secretOf(1)}))
	versioned := s.SealFor("copy", []byte("text"))
	for _, sealed := range [][]byte{plain, versioned} {
		value, err := s.OpenFor("copy", sealed)
		require.NoError(t, err)
		assert.Equal(t, "text", string(value))
		assert.NotContains(t, string(sealed), "text")
		_, err = s.OpenFor("other", sealed)
		assert.ErrorIs(t, err, ErrUnreadable)
	}
}

// TestMessages: gateways read each other's messages under every version that they have, and report
// versions that they do not have. Nobody without the key can cause such a report.
func TestMessages(t *testing.T) {
	memory := NewMemory(nil)
	a, b := sealedOver(t, memory), sealedOver(t, memory)
	to := []byte("log of corp")
	opens := func(sealed []byte) {
		t.Helper()
		plain, err := b.Cipher().Open(sealed, to)
		require.NoError(t, err)
		assert.Equal(t, "text", string(plain))
		assert.NotContains(t, string(sealed), "text")
		_, err = b.Cipher().Open(sealed, []byte("log of another"))
		require.ErrorIs(t, err, ErrUnreadable)
		for i := range sealed {
			altered := bytes.Clone(sealed)
			altered[i] ^= 1
			_, err = b.Cipher().Open(altered, to)
			require.ErrorIs(t, err, ErrUnreadable, i)
			_, err = b.Cipher().Open(sealed[:i], to)
			require.ErrorIs(t, err, ErrUnreadable, i)
		}
	}
	plain := a.Cipher().Seal([]byte("text"), to)
	opens(plain)
	require.NoError(t, a.UseVersions(1, map[uint32][]byte{1: secretOf(1)}))
	first := a.Cipher().Seal([]byte("text"), to)
	_, err := b.Cipher().Open(first, to)
	require.ErrorIs(t, err, ErrKeyUnknown)
	require.NotErrorIs(t, err, ErrUnreadable)
	learned := 0
	b.Learn(func() {
		learned++
		assert.NoError(t, b.UseVersions(1, map[uint32][]byte{1: secretOf(1)}))
	})
	opens(first)
	assert.Equal(t, 1, learned)
	require.NoError(t, b.UseVersions(2, map[uint32][]byte{1: secretOf(1), 2: secretOf(2)}))
	opens(plain)
	opens(first)
	second := b.Cipher().Seal([]byte("text"), to)
	opens(second)
	_, err = a.Cipher().Open(second, to)
	require.ErrorIs(t, err, ErrKeyUnknown)

	key, err := NewKey(secretOf(8))
	require.NoError(t, err)
	stranger, err := Seal(memory, key)
	require.NoError(t, err)
	require.NoError(t, stranger.UseVersions(7, map[uint32][]byte{7: secretOf(7)}))
	_, err = b.Cipher().Open(stranger.Cipher().Seal([]byte("text"), to), to)
	require.ErrorIs(t, err, ErrUnreadable)
	require.NotErrorIs(t, err, ErrKeyUnknown)
	_, err = b.Cipher().Open(a.SealFor(string(to), []byte("text")), to)
	assert.ErrorIs(t, err, ErrUnreadable)
}
