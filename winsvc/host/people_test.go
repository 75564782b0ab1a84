package host

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A domain controller that does not answer takes a bounded number of calls with it, and
// each waits no longer than its caller.
func TestLogonsThatHang(t *testing.T) {
	hang := make(chan struct{})
	short := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(t.Context(), 20*time.Millisecond)
	}
	for range logons {
		ctx, cancel := short()
		_, err := limited(ctx, func() (int, error) { <-hang; return 0, nil })
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "did not answer")
	}
	ctx, cancel := short()
	defer cancel()
	_, err := limited(ctx, func() (int, error) { t.Error("runs beside too many others"); return 0, nil })
	require.ErrorContains(t, err, "too many logons")
	close(hang)
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	value, err := limited(ctx, func() (int, error) { return 7, nil })
	require.NoError(t, err)
	assert.Equal(t, 7, value)
	_, err = limited(ctx, func() (int, error) { return 0, &LogonError{Code: 1326, Text: "wrong"} })
	var refused *LogonError
	require.True(t, errors.As(err, &refused))
	assert.Equal(t, "logon refused: 1326, wrong", refused.Error())
}
