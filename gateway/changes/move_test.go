package changes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/ps"
)

func TestAHistoryIsTakenOver(t *testing.T) {
	from, to := open(t, 1<<20), open(t, 1<<20)
	own := end(t, to, 3, time.Now())
	ids := end(t, from, moveAtOnce+7, time.Now().Add(-24*time.Hour))
	unfinished := &Record{ID: NewID(), Time: time.Now(), Running: true}
	require.NoError(t, from.Save(t.Context(), unfinished))
	_, err := to.Take(t.Context(), from, time.Now())
	require.ErrorIs(t, err, ErrUnfinished)
	assert.Equal(t, own, all(t, to, store.Position{}, 100))

	require.NoError(t, from.Complete(t.Context(), unfinished, ps.OutcomeDone))
	ids = append(ids, unfinished.ID)
	for _, want := range []Moved{{Added: len(ids)}, {Present: len(ids)}} {
		moved, err := to.Take(t.Context(), from, time.Now())
		require.NoError(t, err)
		assert.Equal(t, want, moved)
	}
	assert.Equal(t, append(own, ids...), all(t, to, store.Position{}, 100))
	found, err := to.Get(t.Context(), ids[0])
	require.NoError(t, err)
	assert.Equal(t, ps.OutcomeDone, found.Outcome)
	assert.False(t, found.Degraded)
}
