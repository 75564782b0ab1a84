package write

import (
	"strconv"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

// TestAnEndThatIsNeverStoredHoldsUpNoOther: an end that can never be stored is left to the next start, and
// later ends are stored.
func TestAnEndThatIsNeverStoredHoldsUpNoOther(t *testing.T) {
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(t, err)
	db, err := store.Seal(store.NewMemory(time.Now), key)
	require.NoError(t, err)
	defer db.Close()
	log := logrus.New()
	log.SetOutput(t.Output())
	w := &Writer{Options: Options{Store: db, Log: log}}
	end := func(keys ...string) *lateEnd {
		return &lateEnd{log: entryOf(w), parts: []EndPart{{Put: func(tx *store.Tx) error {
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
	w.late.add(end(many...))
	w.late.add(end("behind"))
	require.NoError(t, w.StoreLate(t.Context()))
	_, err = db.Get(t.Context(), "k", "behind")
	require.NoError(t, err)
	assert.Nil(t, w.late.first())
}
