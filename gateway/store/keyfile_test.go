package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// computer returns the protection of a computer. Another computer cannot undo it.
func computer(name string) protection {
	mask := func(data []byte) []byte {
		masked := bytes.Clone(data)
		for i := range masked {
			masked[i] ^= name[i%len(name)]
		}
		return masked
	}
	return protection{
		protect: func(secret []byte) ([]byte, error) { return append([]byte(name), mask(secret)...), nil },
		unprotect: func(sealed []byte) ([]byte, error) {
			rest, own := bytes.CutPrefix(sealed, []byte(name))
			if !own {
				return nil, errors.New("the computer is another one")
			}
			return mask(rest), nil
		},
	}
}

func TestKeysAreProtectedForTheirComputer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db.key")
	here := computer("here")
	secret, err := takeSecret(path, here)
	require.NoError(t, err)
	again, err := takeSecret(path, here)
	require.NoError(t, err)
	assert.Equal(t, secret, again)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(text), string(secret))
	for _, other := range []protection{computer("there"), {}} {
		_, err = takeSecret(path, other)
		require.ErrorContains(t, err, "restore it from a backup")
	}

	moved := filepath.Join(t.TempDir(), "state.db.key") // as in a backup
	require.NoError(t, os.WriteFile(moved, secret, 0o600))
	taken, err := takeSecret(moved, computer("there"))
	require.NoError(t, err)
	assert.Equal(t, secret, taken)
	assert.True(t, isProtected(moved))
}

// TestKeysOfTheVersionBeforeAreTakenOver: a key file of an earlier version is rewritten in place. No matter
// when the rewriting is interrupted, the key can still be read.
func TestKeysOfTheVersionBeforeAreTakenOver(t *testing.T) {
	here := computer("here")
	secret := bytes.Repeat([]byte("k"), KeyLength)
	protected, err := here.text(secret)
	require.NoError(t, err)
	for name, c := range map[string]struct{ file, beside []byte }{
		"before":              {secret, nil},
		"beside, half":        {secret, protected[:20]},
		"beside":              {secret, protected},
		"in place, in part":   {append(bytes.Clone(protected[:30]), secret[30:]...), protected},
		"in place, not ended": {protected, protected},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db.key")
			require.NoError(t, os.WriteFile(path, c.file, 0o600))
			if c.beside != nil {
				require.NoError(t, os.WriteFile(newKey(path), c.beside, 0o600))
			}
			read, err := readSecret(path, here)
			require.NoError(t, err)
			assert.Equal(t, secret, read, "a command reads it and changes nothing")
			taken, err := takeSecret(path, here)
			require.NoError(t, err)
			assert.Equal(t, secret, taken)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, protected, text)
			assert.NoFileExists(t, newKey(path))
		})
	}
}

func TestAKeyThatCannotBeRewrittenIsUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db.key")
	secret := bytes.Repeat([]byte("k"), KeyLength)
	require.NoError(t, os.WriteFile(path, secret, 0o600))
	failing := protection{
		protect:   func([]byte) ([]byte, error) { return nil, errors.New("no such service") },
		unprotect: computer("here").unprotect,
	}
	taken, err := takeSecret(path, failing)
	require.NoError(t, err)
	assert.Equal(t, secret, taken)
}
