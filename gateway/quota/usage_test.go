package quota

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/bounds"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

// TestUsageIsKeptOverARestart: the next process refuses a caller that has already used up its
// share.
func TestUsageIsKeptOverARestart(t *testing.T) {
	db := storetest.Seal(t, store.NewMemory(nil))
	open := func() *bounds.Room {
		return bounds.NewRoom(func() (int64, error) { return 8 << 20, nil }, 0, time.Now)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	problem := func(err error) { assert.NoError(t, err) }
	first := open()
	first.Take("token:1", 3<<20)
	KeepUsage(ended, db, first, problem)
	second := open()
	require.NoError(t, second.Admit("token:1"))
	restored(t.Context(), db, second, problem)
	require.Error(t, second.Admit("token:1"))
	require.NoError(t, second.Admit("token:2"))
}
