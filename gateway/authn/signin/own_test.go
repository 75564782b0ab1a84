package signin

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

// TestAPersonOwnsWhatIsRemembered: remembered data is available in all sessions of the person, and
// in no other person's.
func TestAPersonOwnsWhatIsRemembered(t *testing.T) {
	g, _, now, _ := gate(func(*Options) {})
	first := in(t, g, "anna")
	require.NoError(t, find(t, g, first).Remember(t.Context(), "filters", 0, []string{"one"}))
	require.ErrorIs(t, find(t, g, first).Remember(t.Context(), "filters", 0, []string{"two"}), store.ErrConflict)
	require.NoError(t, g.End(t.Context(), first))
	*now = now.Add(300 * 24 * time.Hour)
	again, other := find(t, g, in(t, g, "anna")), find(t, g, in(t, g, "bert"))
	var all []string
	at, err := again.Recall(t.Context(), "filters", &all)
	require.NoError(t, err)
	assert.Equal(t, []string{"one"}, all)
	require.NoError(t, again.Remember(t.Context(), "filters", at, []string{}))
	at, err = again.Recall(t.Context(), "jobs", &all)
	require.NoError(t, err)
	assert.Zero(t, at)
	at, err = other.Recall(t.Context(), "filters", &all)
	require.NoError(t, err)
	assert.Zero(t, at)
	at, err = (&Session{}).Recall(t.Context(), "filters", &all)
	require.NoError(t, err)
	assert.Zero(t, at)
}
