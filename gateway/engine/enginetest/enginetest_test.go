package enginetest_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway/engine/enginetest"
)

const limit = 3 * time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func stream(ctx context.Context, t *testing.T, connection *nats.Conn, replicas int) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(connection)
	require.NoError(t, err)
	enginetest.MakeStream(ctx, t, js,
		jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Replicas: replicas})
	return js
}

// publish makes a single attempt, limited to a second because a node that is cut off does not answer.
func publish(ctx context.Context, js jetstream.JetStream, subject string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := js.Publish(ctx, subject, nil, jetstream.WithRetryAttempts(0))
	return err
}

// published publishes a message once, even if the answer to an attempt is lost, and returns its number.
func published(ctx context.Context, t *testing.T, js jetstream.JetStream, subject string) (number uint64) {
	t.Helper()
	enginetest.Ask(ctx, t, func(once context.Context) error {
		ack, err := js.Publish(once, subject, nil, jetstream.WithMsgID(subject), jetstream.WithRetryAttempts(0))
		if err == nil {
			number = ack.Sequence
		}
		return err
	})
	return number
}

func TestOneNodeKeepsItsDataAcrossARestart(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c := enginetest.Start(t, 1)
	js := stream(ctx, t, c.Connect(), 1)
	assert.EqualValues(t, 1, published(ctx, t, js, "s.a"))
	assert.Equal(t, 0, c.Leader("S"))
	c.Stop(0)
	assert.Nil(t, c.Node(0))
	c.Start(0)
	c.AwaitReady()
	js, err := jetstream.New(c.Connect())
	require.NoError(t, err)
	assert.EqualValues(t, 2, published(ctx, t, js, "s.b"))
}

// TestACutOffLeaderCannotWrite: the other nodes continue, and the old leader answers nothing until it is
// connected again (facts J8).
func TestACutOffLeaderCannotWrite(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c := enginetest.Start(t, 3)
	stream(ctx, t, c.Connect(), 3)
	var old int
	require.Eventually(t, func() bool { old = c.Leader("S"); return old >= 0 }, limit, 10*time.Millisecond)
	alone, err := nats.Connect(c.URLs()[old])
	require.NoError(t, err)
	defer alone.Close()
	others, err := nats.Connect(c.URLs()[(old+1)%3])
	require.NoError(t, err)
	defer others.Close()

	c.Cut(old)
	there, err := jetstream.New(others)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return publish(ctx, there, "s.a") == nil
	}, limit, 50*time.Millisecond)
	here, err := jetstream.New(alone)
	require.NoError(t, err)
	require.Error(t, publish(ctx, here, "s.b"))

	c.Heal(old)
	require.Eventually(t, func() bool {
		return publish(ctx, here, "s.c") == nil
	}, limit, 50*time.Millisecond)
}

func TestAStoppedNodeComesBack(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c := enginetest.Start(t, 3)
	js := stream(ctx, t, c.Connect(), 3)
	for i := range 3 {
		c.Stop(i)
		require.Eventually(t, func() bool {
			return publish(ctx, js, "s.a") == nil
		}, limit, 50*time.Millisecond)
		c.Start(i)
		c.AwaitReady()
	}
}
