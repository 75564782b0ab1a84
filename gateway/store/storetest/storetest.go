// Package storetest holds the tests that every driver of package store must pass, and a store with
// faults for testing the users of stores.
package storetest

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

// Clock is a clock that tests set. It is safe for concurrent use.
type Clock struct{ seconds atomic.Int64 }

// NewClock returns a clock at an arbitrary time.
func NewClock() *Clock {
	c := &Clock{}
	c.seconds.Store(1_800_000_000)
	return c
}

// Now returns the time that was set.
func (c *Clock) Now() time.Time { return time.Unix(c.seconds.Load(), 0) }

// Advance sets the clock ahead, or back, by whole seconds.
func (c *Clock) Advance(d time.Duration) { c.seconds.Add(int64(d / time.Second)) }

// Driver is a driver to test.
type Driver struct {
	// Open opens the store in a folder, which is empty at the first call.
	Open func(folder string, now func() time.Time) (store.Store, error)

	Lasts bool // whether a closed store can be opened again
}

// Seal returns an encrypted store over plain.
func Seal(t testing.TB, plain store.Store) *store.Sealed {
	t.Helper()
	key, err := store.NewKey([]byte(strings.Repeat("k", store.KeyLength)))
	require.NoError(t, err)
	sealed, err := store.Seal(plain, key)
	require.NoError(t, err)
	return sealed
}

// Run tests a driver, both plain and encrypted.
func Run(t *testing.T, d Driver) {
	for name, test := range map[string]func(t *testing.T, s store.Store, c *Clock){
		"changes apply together or not at all": testChangesApplyTogetherOrNotAtAll,
		"values are found by prefix in order":  testValuesAreFoundByPrefixInOrder,
		"values expire":                        testValuesExpire,
		"one of many callers wins":             testOneOfManyCallersWins,
		"calls that cannot be":                 testCallsThatCannotBe,
		"clock jumps":                          testClockJumps,
		"state tells how writes end":           testStateTellsHowWritesEnd,
		"calls share a transaction":            testCallsShareATransaction,
		"a log has the order of its decisions": testALogHasTheOrderOfItsDecisions,
		"who misses entries is told":           testAReaderLearnsThatItMissedEntries,
		"readers of a log are woken":           testReadersOfALogAreWoken,
		"visitors may use the store":           testVisitorsMayUseTheStore,
		"many values in both directions":       testManyValuesInBothDirections,
		"a counter loses no step":              testACounterLosesNoStep,
		"batches are seen whole":               testBatchesAreSeenWhole,
		"values are copied":                    testValuesAreCopied,
		"closing ends what waits":              testClosingEndsWhatWaits,
		"a reader of a log misses nothing":     testAReaderOfALogMissesNothing,
		"changes that no driver takes":         testChangesThatNoDriverTakes,
		"updates see what is before them":      testUpdatesSeeWhatIsBeforeThem,
		"updates depend on what they read":     testUpdatesDependOnWhatTheyRead,
		"an update reads what it has put":      testAnUpdateReadsWhatItHasPut,
		"updates that change nothing":          testUpdatesThatChangeNothing,
		"updates that cannot be":               testUpdatesThatCannotBe,
		"updates and calls of Apply":           testUpdatesAndCallsOfApply,
		"values that are only compared":        testComparedValues,
		"updates are those of a model":         testUpdatesMatchAModel,
	} {
		t.Run(name, func(t *testing.T) {
			for kind, wrap := range map[string]func(store.Store) store.Store{
				"plain":  func(s store.Store) store.Store { return s },
				"sealed": func(s store.Store) store.Store { return Seal(t, s) },
			} {
				t.Run(kind, func(t *testing.T) {
					clock := NewClock()
					s, err := d.Open(t.TempDir(), clock.Now)
					require.NoError(t, err)
					defer func() { assert.NoError(t, s.Close()) }()
					test(t, wrap(s), clock)
				})
			}
		})
	}
	if d.Lasts {
		t.Run("what is applied is there after a reopening", func(t *testing.T) { testReopening(t, d) })
		t.Run("positions hold after a reopening", func(t *testing.T) { testPositionsHold(t, d) })
		t.Run("what was acknowledged before the end is there", func(t *testing.T) { testClosing(t, d) })
	}
}

func put(key, value string, expect store.Revision) store.Change {
	return store.Change{Kind: "k", Key: key, Expect: expect, Value: []byte(value)}
}

func keys(t *testing.T, s store.Store, prefix string) (found []string) {
	t.Helper()
	require.NoError(t, s.Range(t.Context(), "k", prefix, func(e store.Entry) bool {
		found = append(found, e.Key+"="+string(e.Value))
		return true
	}))
	return found
}
