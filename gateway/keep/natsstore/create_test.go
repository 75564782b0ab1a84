package natsstore

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/keep"
)

// A node that is cut off is as one that has just started: the stream cannot be made before it
// knows a leader.
func TestCreateWaitsForALeader(t *testing.T) {
	t.Parallel() // it waits most of the time
	engine := enginetest.Start(t, 3)
	engine.Cut(0)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	at := Endpoint{Servers: engine.URLs()[:1]}

	err := CreateAt(ctx, at, StreamOptions{Name: "c", Replicas: 3, Patience: time.Millisecond})
	require.ErrorIs(t, err, keep.ErrUnreachable)
	assert.ErrorContains(t, err, "see that most of its nodes run and reach each other")

	waits, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		ended <- CreateAt(ctx, at, StreamOptions{Name: "c", Replicas: 3, Waits: func(reason error) {
			select {
			case waits <- reason:
			default: // one is enough
			}
		}})
	}()
	require.Error(t, <-waits)
	engine.Heal(0)
	require.NoError(t, <-ended)
	js, err := jetstream.New(engine.Connect())
	require.NoError(t, err)
	_, err = js.Stream(ctx, StreamName("c"))
	require.NoError(t, err)
}
