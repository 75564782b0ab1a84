package natsstore

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/keep"
)

// TestMessagesOfOthersAreSkipped: whoever can write into the stream without being a gateway
// stops none that runs, none that starts, and no recovery. Values that it has overwritten
// are as before at gateways that know them.
func TestMessagesOfOthersAreSkipped(t *testing.T) {
	node := startNode(t, t.TempDir())
	create(t, node.ClientURL(), "c", 1)
	folder := t.TempDir()
	s := open(t, node.ClientURL(), "c", "gw1", folder)
	first, err := s.Apply(t.Context(), set("a", "1", keep.Absent), said("one"))
	require.NoError(t, err)

	conn, err := nats.Connect(node.ClientURL())
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	overwritten := message{What: isValue, Name: "k", Key: "a"}
	foreign := []string{"", "garbage", "\x01short", "\x00"}
	for _, text := range foreign {
		for _, subject := range []string{"adgw.c.value.xyz", overwritten.subject("adgw.c")} {
			_, err := js.Publish(t.Context(), subject, []byte(text))
			require.NoError(t, err)
		}
	}
	require.NoError(t, s.Reach(t.Context()))
	found, err := s.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, first, found.Revision)
	second, err := s.Apply(t.Context(), set("b", "2", keep.Absent), said("two"))
	require.NoError(t, err)
	assert.Greater(t, second, first)
	assert.Contains(t, s.AskHealth().Trouble(), "8 messages of the stream were not written by a gateway")

	anew := open(t, node.ClientURL(), "c", "gw2", folder)
	found, err = anew.Get(t.Context(), "k", "b")
	require.NoError(t, err)
	assert.Equal(t, "2", string(found.Value))
	_, err = anew.Apply(t.Context(), set("c", "3", keep.Absent), said("three"))
	require.NoError(t, err)

	require.NoError(t, s.Close())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done, err := Recover(ctx, Options{Name: "c", Gateway: "gw1", Mirror: filepath.Join(folder, "gw1.db"), Connect: connectTo(node.ClientURL())})
	require.NoError(t, err)
	assert.Equal(t, 1, done.Values, "the value that was overwritten is sent again")
	require.NoError(t, anew.Close())
	last := open(t, node.ClientURL(), "c", "gw3", folder)
	found, err = last.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, "1", string(found.Value))
}
