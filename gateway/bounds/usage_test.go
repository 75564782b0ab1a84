package bounds

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUsageIsRestored: neither a restart nor another gateway gives a caller a second daily share.
func TestUsageIsRestored(t *testing.T) {
	d := &disk{free: 64 << 20, now: time.Unix(1_800_000_000, 0)}
	before := d.room(0)
	before.Take("flood", 10<<20)
	d.now = d.now.Add(3 * time.Hour)
	before.Take("flood", 6<<20)
	before.Take("small", 10<<10)
	require.Error(t, before.Admit("flood"))

	kept, err := json.Marshal(before.Usage())
	require.NoError(t, err)
	var usage Usage
	require.NoError(t, json.Unmarshal(kept, &usage))
	assert.Len(t, usage, 1, "little is not kept")
	after := d.room(0)
	require.NoError(t, after.Admit("flood"))
	after.Take("flood", 1<<10) // before the usage is restored
	after.Restore(usage)
	after.Restore(usage)
	require.Error(t, after.Admit("flood"))
	require.NoError(t, after.Admit("small"))
	assert.Equal(t, usage, after.Usage())

	d.now = d.now.Add(22 * time.Hour)
	assert.Len(t, after.Usage()["flood"], 1, "the first part is older than a day")
	require.NoError(t, after.Admit("flood"))
	d.now = d.now.Add(24 * time.Hour)
	late := d.room(0)
	late.Restore(usage)
	assert.Empty(t, late.Usage())
	assert.Empty(t, (*Room)(nil).Usage())
	(*Room)(nil).Restore(usage)
}
