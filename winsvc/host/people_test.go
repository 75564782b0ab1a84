package host

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A domain controller that does not answer blocks a limited number of calls. No caller waits longer than its
// context allows.
func TestLogonsThatHang(t *testing.T) {
	hang := make(chan struct{})
	for range logons {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := limited(ctx, func() (int, error) { cancel(); <-hang; return 0, nil })
		require.ErrorIs(t, err, context.Canceled)
		assert.ErrorContains(t, err, "did not answer")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := limited(ctx, func() (int, error) { t.Error("runs beside too many others"); return 0, nil })
	require.ErrorContains(t, err, "too many logons")
	close(hang)
	ctx, cancel = context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	value, err := limited(ctx, func() (int, error) { return 7, nil })
	require.NoError(t, err)
	assert.Equal(t, 7, value)
	_, err = limited(ctx, func() (int, error) { return 0, &LogonError{Code: 1326, Text: "wrong"} })
	var refused *LogonError
	require.True(t, errors.As(err, &refused))
	assert.Equal(t, "logon refused: 1326, wrong", refused.Error())
}
