package gateway

import (
	"strconv"
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
	s := &Server{Options: Options{Kept: db}}
	log := logrus.New()
	log.SetOutput(t.Output())
	end := func(keys ...string) *unstored {
		return &unstored{log: logrus.NewEntry(log), parts: []endPart{{put: func(tx *store.Tx) error {
			for _, key := range keys {
				tx.Put("k", key, []byte("x"), time.Time{})
			}
			return nil
		}}}}
	}
	var many []string
	for n := range store.MostChanges + 1 {
		many = append(many, strconv.Itoa(n))
	}
	s.unstored.add(end(many...))
	s.unstored.add(end("behind"))
	require.NoError(t, s.storeEnds(t.Context()))
	_, err = db.Get(t.Context(), "k", "behind")
	require.NoError(t, err)
	assert.Nil(t, s.unstored.first())
}
