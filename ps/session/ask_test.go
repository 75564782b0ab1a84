package session_test

import (
	"context"
	"testing"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/session"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAskRunsLinesAndReturnsTheOutput(t *testing.T) {
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Empty: false})
	require.NoError(t, err)
	written, err := session.Ask(t.Context(), world.Starter(), "1 + 1\n'a' + 'b'\n")
	require.NoError(t, err)
	assert.Equal(t, "2\nab\n", written)

	_, err = session.Ask(t.Context(), world.Starter(), "throw 'no'\n")
	require.ErrorContains(t, err, "no")

	_, err = session.Ask(t.Context(), session.Local{Path: "/no/such/pwsh"}, "1\n")
	require.ErrorContains(t, err, "/no/such/pwsh")

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = session.Ask(ctx, world.Starter(), "while ($true) { }\n")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
