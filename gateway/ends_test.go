package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/keep"
)

// TestAnEndThatIsNeverStoredHoldsUpNoOther: what would fail each time is left to the next
// start, and what waits behind it is stored.
func TestAnEndThatIsNeverStoredHoldsUpNoOther(t *testing.T) {
	key, err := keep.NewKey(make([]byte, keep.KeyLength))
	require.NoError(t, err)
	store, err := keep.Seal(keep.NewMemory(time.Now), key)
	require.NoError(t, err)
	defer store.Close()
	s := &Server{}
	log := logrus.New()
	log.SetOutput(t.Output())
	end := func(all ...keep.Change) *unstored {
		return &unstored{in: store, log: logrus.NewEntry(log), parts: []share{{
			changes: func(context.Context) ([]keep.Change, error) { return all, nil },
		}}}
	}
	s.unstored.add(end(make([]keep.Change, keep.MostChanges+1)...))
	s.unstored.add(end(keep.Change{Kind: "k", Key: "behind", Value: []byte("x")}))
	require.NoError(t, s.storeEnds(t.Context()))
	_, err = store.Get(t.Context(), "k", "behind")
	require.NoError(t, err)
	assert.Nil(t, s.unstored.first())
}
