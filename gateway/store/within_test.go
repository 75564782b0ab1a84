package store

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asking is an appender that makes its file follow, as if it had found an entry of another writer.
type asking struct {
	f   *File
	got error
}

func (a *asking) Append(ctx context.Context, _ []byte, _ time.Time) (Point, error) {
	a.got = a.f.FollowWithin(ctx)
	return Point{}, ErrNotSent
}

// TestAnAppenderMayMakeTheFileFollow: an appender can make its file follow without a deadlock with
// its own batch.
func TestAnAppenderMayMakeTheFileFollow(t *testing.T) {
	f, _, err := Open(Options{Path: filepath.Join(t.TempDir(), "state.db")})
	require.NoError(t, err)
	defer f.Close()
	a := &asking{f: f}
	term := f.Lead(a)
	_, err = f.Apply(t.Context(), put("a", "1", Absent))
	require.ErrorIs(t, err, ErrNotSent)
	f.Follow() // the batch has ended
	require.ErrorIs(t, a.got, context.Canceled)
	require.ErrorIs(t, context.Cause(term), ErrFollows)
	assert.False(t, f.Leads())
	assert.NoError(t, f.FollowWithin(t.Context()))
}
