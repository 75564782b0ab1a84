package natsstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine"
	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/engine/stock"
	"adgateway/gateway/keep"
)

// TestRightsOfGateways: with the rights that nodes give to gateways a store does all that it
// must, and what would remove the store or what is in it is denied.
func TestRightsOfGateways(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	pair, err := nkeys.CreateUser()
	require.NoError(t, err)
	public, err := pair.PublicKey()
	require.NoError(t, err)
	seed, err := pair.Seed()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "seed")
	require.NoError(t, os.WriteFile(file, seed, 0o600))
	nodes := enginetest.StartWith(t, 1, func(o *engine.Options) { o.Gateways = []string{public} })
	endpoint := Endpoint{Servers: nodes.URLs(), NKeyFile: file}
	denied := make(chan error, 10)
	connect := func(o ...nats.Option) (*nats.Conn, error) {
		return endpoint.Connect(append(o, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err }))...)
	}

	require.NoError(t, CreateAt(ctx, endpoint, StreamOptions{Name: "test", Replicas: 1}))
	o := Options{Name: "test", Gateway: "gw1", Mirror: filepath.Join(t.TempDir(), "mirror.db"), Connect: connect}
	s, err := Open(ctx, o)
	require.NoError(t, err)
	revision, err := s.Apply(ctx, set("a", "1", keep.Absent), set("b", "1", keep.Absent), said("one"))
	require.NoError(t, err)
	_, err = s.Apply(ctx, keep.Change{Kind: "k", Key: "a", Expect: revision}, said("two"))
	require.NoError(t, err)
	require.NoError(t, s.Reach(ctx))
	_, err = s.Get(ctx, "k", "a")
	require.ErrorIs(t, err, keep.ErrAbsent)
	require.NotNil(t, s.AskHealth())
	compared, err := CompareNodes(ctx, o)
	require.NoError(t, err)
	assert.NotZero(t, compared.Messages)
	require.NoError(t, s.Close())
	_, err = Recover(ctx, o)
	require.NoError(t, err)
	s, err = Open(ctx, o)
	require.NoError(t, err)
	found, err := s.Get(ctx, "k", "b")
	require.NoError(t, err)
	assert.Equal(t, "1", string(found.Value))
	require.NoError(t, s.Close())
	require.Empty(t, denied)

	conn, err := connect()
	require.NoError(t, err)
	defer conn.Close()
	answer, err := conn.RequestWithContext(ctx, stock.NodesSubject, []byte("{}"))
	require.NoError(t, err)
	assert.NotEmpty(t, answer.Data)
	stream := StreamName("test")
	for _, subject := range []string{
		"$JS.API.STREAM.DELETE." + stream, "$JS.API.STREAM.PURGE." + stream, "$JS.API.STREAM.MSG.DELETE." + stream,
		"$JS.API.STREAM.SNAPSHOT." + stream, "$JS.API.STREAM.RESTORE." + stream, "$JS.API.STREAM.PEER.REMOVE." + stream,
		"$JS.API.STREAM.CREATE.another", "$JS.API.STREAM.UPDATE.another", "$JS.API.STREAM.NAMES", "$JS.API.INFO", "adgw.another.value.x", "another",
	} {
		require.NoError(t, conn.Publish(subject, []byte(`{"seq":1}`)))
		require.NoError(t, conn.Flush())
		select {
		case err := <-denied:
			require.ErrorIs(t, err, nats.ErrPermissionViolation, subject)
		case <-ctx.Done():
			t.Fatalf("%s is not denied", subject)
		}
	}
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	_, err = js.Stream(ctx, stream)
	require.False(t, errors.Is(err, jetstream.ErrStreamNotFound))
	require.NoError(t, err)
}
