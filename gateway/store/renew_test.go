package store

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRenew: a renewed store has different positions from before, also after a restart. A follower
// cannot be renewed.
func TestRenew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	file, _, err := Open(Options{Path: path})
	require.NoError(t, err)
	add := Change{Log: "log", Value: []byte("entry"), Expires: file.Now().AddDate(1, 0, 0)}
	_, err = file.Apply(t.Context(), add)
	require.NoError(t, err)
	before, err := file.End(t.Context(), "log")
	require.NoError(t, err)
	require.NoError(t, file.Renew())
	after, err := file.End(t.Context(), "log")
	require.NoError(t, err)
	assert.NotEqual(t, before, after)
	require.NoError(t, file.Close())

	file, _, err = Open(Options{Path: path})
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	require.NoError(t, file.State().Rewound, "it is what its head says")
	again, err := file.End(t.Context(), "log")
	require.NoError(t, err)
	assert.Equal(t, after, again)
	file.Follow()
	require.ErrorIs(t, file.Renew(), ErrFollows)
}
