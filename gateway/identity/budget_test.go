package identity

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBudget(t *testing.T) {
	b := NewBudget(10)
	one, other := ID{Kind: KindToken, ID: "1"}, ID{Kind: KindToken, ID: "2"}
	require.NoError(t, b.Take(one, 6, 6))
	assert.ErrorIs(t, b.Take(one, 1, 6), ErrShareSpent)
	assert.ErrorIs(t, b.Take(other, 5, 6), ErrBudgetSpent)
	require.NoError(t, b.Take(other, 4, 6))
	assert.Equal(t, int64(10), b.Held())
	b.Free(one, 6)
	b.Free(other, 4)
	assert.Zero(t, b.Held())
	assert.Empty(t, b.by, "callers that hold nothing are forgotten")
}
