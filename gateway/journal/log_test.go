package journal_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/journal"
	"adgateway/gateway/journal/journaltest"
	"adgateway/gateway/store"
)

// gateway is a log with the entries that it has applied.
type gateway struct {
	*journal.Log
	*journaltest.Record
	client  *journaltest.Client
	process journal.Process
}

func newGateway(m *journaltest.Memory, name string) *gateway {
	return restarted(m, name, journaltest.NewRecord(pointZero))
}

// restarted returns a gateway that continues with the applied entries in record.
func restarted(m *journaltest.Memory, name string, record *journaltest.Record) *gateway {
	client := m.Client()
	return &gateway{
		Log: journal.New(client, record, journaltest.Options()), Record: record, client: client,
		process: journal.Process{Gateway: name, Start: name + "1"},
	}
}

// lead catches up and claims a term.
func (g *gateway) lead(t *testing.T) {
	t.Helper()
	require.NoError(t, g.CatchUp(t.Context()))
	_, err := g.Claim(t.Context(), g.process, time.Now())
	require.NoError(t, err)
}

func (g *gateway) append(ctx context.Context, batch string) error {
	_, err := g.Append(ctx, []byte(batch), time.Now())
	return err
}

// follow follows until the test ends.
func (g *gateway) follow(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.Follow(ctx) }()
	t.Cleanup(func() {
		stop()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
}

var pointZero store.Point

func TestAllApplyWhatTheLeaderAppends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a, b := newGateway(m, "a"), newGateway(m, "b")
		b.follow(t)
		a.lead(t)
		for _, batch := range []string{"1", "2", "3"} {
			require.NoError(t, a.append(t.Context(), batch))
		}
		synctest.Wait()
		assert.Equal(t, []string{"1", "2", "3"}, a.Batches())
		assert.Equal(t, a.Entries(), b.Entries())
		assert.Equal(t, a.Status().Point, b.Status().Point)
		assert.True(t, a.Status().Leads)
		assert.False(t, b.Status().Leads)
		assert.Equal(t, a.process, b.Status().Process)
	})
}
