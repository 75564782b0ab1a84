package nodecheck

import (
	"context"
	"errors"
	"testing"
	"time"

	"adgateway/gateway/keep"
	"adgateway/gateway/keep/keeptest"
	"adgateway/gateway/keep/natsstore"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNodesAreComparedOnceANight(t *testing.T) {
	store := keep.NewMemory(nil)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	now := time.Date(2026, 11, 26, 0, 30, 0, 0, time.Local)
	compared, fails := 0, error(nil)
	differing := natsstore.Comparison{Messages: 9, Nodes: []natsstore.NodeComparison{{Name: "n1"}, {Name: "n2", Missing: 3, First: 4}}}
	var found natsstore.Comparison
	var said []string
	gateway := func(name string) Options {
		return Options{
			Gateway: name, Store: keeptest.Seal(t, store), Now: func() time.Time { return now },
			Compare: func(context.Context) (natsstore.Comparison, error) { compared++; return found, fails },
			Log:     func(message string, _ map[string]any) { said = append(said, message) },
		}
	}
	one, two := gateway("gw1"), gateway("gw2")
	tick := func() *Last {
		Tick(t.Context(), one)
		Tick(t.Context(), two)
		last, err := Read(t.Context(), two.Store)
		require.NoError(t, err)
		return last
	}
	assert.Nil(t, tick(), "it is not night yet")
	assert.Zero(t, compared)

	now = now.Add(time.Hour)
	last := tick()
	require.NotNil(t, last)
	assert.Equal(t, 1, compared, "by one of them")
	assert.Equal(t, "gw1", last.Gateway)
	assert.Empty(t, last.Trouble())
	now = now.Add(time.Hour)
	tick()
	assert.Equal(t, 1, compared, "once a night")
	assert.Empty(t, said)

	now, found = now.Add(24*time.Hour), differing
	last = tick()
	assert.Equal(t, 2, compared)
	assert.Contains(t, last.Trouble(), "the node 'n2' of the engine has other data than most: 3 messages are missing, 0 differ")
	assert.Contains(t, last.Trouble(), "engine.store")
	assert.Len(t, said, 1)

	now = now.Add(24 * time.Hour)
	three := gateway("gw3")
	three.Compare = func(context.Context) (natsstore.Comparison, error) {
		last, err := Read(t.Context(), two.Store)
		require.NoError(t, err)
		assert.NotEmpty(t, last.Trouble(), "it is told until it is known whether it still holds")
		return natsstore.Comparison{}, nil
	}
	Tick(t.Context(), three)
	now, fails = now.Add(24*time.Hour), errors.New("the node 'n3' of the engine is away")
	last = tick()
	assert.Equal(t, 3, compared)
	assert.Contains(t, last.Failed, "n3")
	assert.Empty(t, last.Trouble())

	now = now.Add(12 * time.Hour)
	tick()
	assert.Equal(t, 3, compared, "not by day")
	require.NoError(t, Save(t.Context(), one.Store, "gw2", now, now, differing))
	last, err := Read(t.Context(), two.Store)
	require.NoError(t, err)
	assert.NotEmpty(t, last.Trouble())
	assert.Empty(t, (*Last)(nil).Trouble())
}
