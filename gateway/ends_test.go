package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

// TestAnEndThatIsNeverStoredHoldsUpNoOther: what would fail each time is left to the next
// start, and what waits behind it is stored.
func TestAnEndThatIsNeverStoredHoldsUpNoOther(t *testing.T) {
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(t, err)
	db, err := store.Seal(store.NewMemory(time.Now), key)
	require.NoError(t, err)
	defer db.Close()
	s := &Server{}
	log := logrus.New()
	log.SetOutput(t.Output())
	end := func(all ...store.Change) *unstored {
		return &unstored{in: db, log: logrus.NewEntry(log), parts: []share{{
			changes: func(context.Context) ([]store.Change, error) { return all, nil },
		}}}
	}
	s.unstored.add(end(make([]store.Change, store.MostChanges+1)...))
	s.unstored.add(end(store.Change{Kind: "k", Key: "behind", Value: []byte("x")}))
	require.NoError(t, s.storeEnds(t.Context()))
	_, err = db.Get(t.Context(), "k", "behind")
	require.NoError(t, err)
	assert.Nil(t, s.unstored.first())
}
