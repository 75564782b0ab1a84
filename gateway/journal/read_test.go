package journal_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/journal"
	"adgateway/gateway/journal/journaltest"
	"adgateway/gateway/store"
)

// written returns a stream with a term and some batches, and the leading gateway.
func written(t *testing.T, batches ...string) (*journaltest.Memory, *gateway) {
	t.Helper()
	m := journaltest.NewMemory()
	a := newGateway(m, "a")
	a.lead(t)
	for _, batch := range batches {
		require.NoError(t, a.append(t.Context(), batch))
	}
	return m, a
}

// TestAGatewayGoesOnWhereItStopped: a gateway continues from the point where it stopped, even between the
// parts of an entry.
func TestAGatewayGoesOnWhereItStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := strings.Repeat("x", 3<<20)
		m, a := written(t, "1", large, "3")
		for stop := range len(m.Messages()) + 1 {
			b := newGateway(m, "b")
			b.client.CutAt(uint64(stop))
			require.NoError(t, b.CatchUp(t.Context()))
			applied, err := b.Point()
			require.NoError(t, err)
			assert.Equal(t, applied, b.Status().Point)
			b = restarted(m, "b", b.Record)
			require.NoError(t, b.CatchUp(t.Context()))
			assert.Equal(t, a.Status().Point, b.Status().Point)
			assert.Len(t, b.Entries(), len(a.Entries()))
			assert.EqualValues(t, 1, b.Status().Term)
			assert.Equal(t, a.process, b.Status().Process)
		}
		b := restarted(m, "b", journaltest.NewRecord(a.Status().Point))
		b.lead(t)
		require.NoError(t, b.append(t.Context(), "4"))
		require.NoError(t, a.CatchUp(t.Context()))
		assert.Equal(t, "4", a.Batches()[3])
	})
}

// TestALogThatDiffersIsFound: a gateway notices if its last applied entry is not at its place in
// the stream.
func TestALogThatDiffersIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, a := written(t, "1", "2")
		at := a.Status().Point
		for name, point := range map[string]store.Point{
			"another entry":     {Journal: at.Journal, Sequence: at.Sequence, Hash: store.Hash{1}},
			"at another place":  {Journal: at.Journal, Sequence: at.Sequence - 1, Hash: at.Hash},
			"no entry is there": {Journal: at.Journal, Sequence: m.Insert([]byte("anything")), Hash: at.Hash},
		} {
			b := restarted(m, "b", journaltest.NewRecord(point))
			assert.ErrorIs(t, b.CatchUp(t.Context()), journal.ErrRewound, name)
			assert.ErrorIs(t, b.Follow(t.Context()), journal.ErrRewound, name)
			_, err := b.Claim(t.Context(), b.process, time.Now())
			assert.ErrorIs(t, err, journal.ErrRewound, name)
			assert.Empty(t, b.Batches())
		}
	})
}

// TestALogThatEndsEarlierIsBelievedAfterAWhile: a node that was cut off shows an old end, and
// another node may show more, so an early end is only believed after a while.
func TestALogThatEndsEarlierIsBelievedAfterAWhile(t *testing.T) {
	for name, test := range map[string]struct {
		start func(*journaltest.Memory, *gateway) *gateway // returns a gateway that reads an old end
		does  func(*testing.T, *gateway) error
	}{
		"at the start": {
			func(m *journaltest.Memory, b *gateway) *gateway { return restarted(m, "b", b.Record) },
			func(t *testing.T, b *gateway) error { return b.Follow(t.Context()) },
		},
		"while it follows": {
			func(_ *journaltest.Memory, b *gateway) *gateway { return b },
			func(t *testing.T, b *gateway) error { return b.Follow(t.Context()) },
		},
		"while it leads": {
			func(_ *journaltest.Memory, b *gateway) *gateway { return b },
			func(t *testing.T, b *gateway) error {
				err := b.append(t.Context(), "3")
				assert.ErrorIs(t, err, journal.ErrUndecided)
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, _ := written(t, "1", "2")
				b := newGateway(m, "b")
				b.lead(t)
				m.Rewind(3)
				b = test.start(m, b)
				require.ErrorIs(t, b.CatchUp(t.Context()), store.ErrUnreachable)
				time.Sleep(20 * time.Second)
				require.ErrorIs(t, b.CatchUp(t.Context()), store.ErrUnreachable)
				require.ErrorIs(t, b.Status().Fault, store.ErrUnreachable)
				begun := time.Now()
				require.ErrorIs(t, test.does(t, b), journal.ErrRewound)
				assert.InDelta(t, 10, time.Since(begun).Seconds(), 2)
			})
		})
	}
}

// TestAnOldEndIsForgotten: an old end is forgotten once a node shows more messages.
func TestAnOldEndIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, a := written(t, "1")
		b := newGateway(m, "b")
		b.client.Cut()
		require.NoError(t, a.append(t.Context(), "2"))
		c := newGateway(m, "c")
		require.NoError(t, c.CatchUp(t.Context()))
		c = &gateway{Log: journal.New(b.client, c.Record, journaltest.Options()), Record: c.Record}
		for range 3 {
			time.Sleep(20 * time.Second)
			require.ErrorIs(t, c.CatchUp(t.Context()), store.ErrUnreachable)
			b.client.Mend()
			require.NoError(t, c.CatchUp(t.Context()))
			require.NoError(t, c.Status().Fault)
			require.NoError(t, a.append(t.Context(), "3"))
			require.NoError(t, c.CatchUp(t.Context()))
			b.client.CutAt(uint64(len(m.Messages()) - 1))
		}
	})
}

// TestALogThatWasRewoundAndGrewAgainIsFound: a gateway notices that the log has entries that do not
// follow the ones it has read.
func TestALogThatWasRewoundAndGrewAgainIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, a := written(t, "1", "2")
		b := newGateway(m, "b")
		m.Rewind(2)
		b.lead(t)
		for _, batch := range []string{"x", "y", "z"} {
			require.NoError(t, b.append(t.Context(), batch))
		}
		require.ErrorIs(t, a.append(t.Context(), "3"), journal.ErrRewound)
		require.ErrorIs(t, a.CatchUp(t.Context()), journal.ErrRewound)
		assert.Equal(t, []string{"1", "2"}, a.Batches())
	})
}

// TestALogThatDoesNotReachBack: a gateway needs another gateway's file if the log no longer has the next
// entry, both at the start and later.
func TestALogThatDoesNotReachBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, a := written(t, "1", "2", "3")
		b, c := newGateway(m, "b"), newGateway(m, "c")
		require.NoError(t, b.CatchUp(t.Context()))
		require.NoError(t, c.CatchUp(t.Context()))
		for _, batch := range []string{"4", "5"} {
			require.NoError(t, a.append(t.Context(), batch))
		}
		m.Forget(6)
		assert.ErrorIs(t, b.CatchUp(t.Context()), journal.ErrBehind)
		assert.ErrorIs(t, b.Follow(t.Context()), journal.ErrBehind)
		assert.ErrorIs(t, newGateway(m, "d").CatchUp(t.Context()), journal.ErrBehind)
		assert.ErrorIs(t, restarted(m, "c", c.Record).CatchUp(t.Context()), journal.ErrBehind)
		copied := restarted(m, "d", journaltest.NewRecord(a.Status().Point))
		require.NoError(t, copied.CatchUp(t.Context()))
	})
}

// TestAStreamContinuesItsFileOnly: a stream continues only the file for which it was created, and copies of
// that file.
func TestAStreamContinuesItsFileOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		file := store.Point{Sequence: 5000, Hash: store.Hash{7}}
		open := func(at store.Point) (*journal.Log, *journaltest.Record) {
			record, o := journaltest.NewRecord(at), journaltest.Options()
			o.Origin = file.Hash
			return journal.New(m.Client(), record, o), record
		}
		for name, at := range map[string]store.Point{
			"nothing": {}, "another file": {Sequence: 5000, Hash: store.Hash{8}},
			"another stream": {Journal: "j0", Sequence: 1, Hash: store.Hash{8}},
		} {
			other, _ := open(at)
			require.ErrorIs(t, other.CatchUp(t.Context()), journal.ErrBehind, name)
			_, err := other.Claim(t.Context(), journal.Process{Gateway: "b"}, time.Now())
			require.ErrorIs(t, err, journal.ErrBehind, name)
		}
		m.Insert([]byte("anything"))
		first, record := open(file)
		require.NoError(t, first.CatchUp(t.Context()))
		_, err := first.Claim(t.Context(), journal.Process{Gateway: "a"}, time.Now())
		require.NoError(t, err)
		at, err := first.Append(t.Context(), []byte("1"), time.Now())
		require.NoError(t, err)
		assert.EqualValues(t, 3, at.Sequence)
		assert.Equal(t, journaltest.Options().Journal, at.Journal)
		assert.Equal(t, file.Hash, record.Entries()[0].Previous)

		for name, at := range map[string]store.Point{
			"the file before": file, "the same file in another stream": {Journal: "j0", Sequence: 9, Hash: file.Hash}, "a copy": at,
		} {
			next, _ := open(at)
			require.NoError(t, next.CatchUp(t.Context()), name)
			assert.Equal(t, first.Status().Point, next.Status().Point, name)
		}
	})
}

// TestANewerFormatIsNotSkipped: a message in a newer format is an error and is not skipped, because
// only gateways with the key of the cluster can write it.
func TestANewerFormatIsNotSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, a := written(t, "1")
		b := newGateway(m, "b")
		m.Insert(journal.Sealed(journaltest.Options(), []byte{2, 'x'}))
		require.ErrorIs(t, b.CatchUp(t.Context()), journal.ErrNewer)
		require.ErrorIs(t, b.Follow(t.Context()), journal.ErrNewer)
		_, err := b.Claim(t.Context(), b.process, time.Now())
		require.ErrorIs(t, err, journal.ErrNewer)
		require.ErrorIs(t, a.append(t.Context(), "2"), journal.ErrNewer)
		assert.Equal(t, []string{"1"}, b.Batches())
		assert.Zero(t, b.Status().Strangers)
	})
}

// TestAFollowerReadsWhatIsNotDelivered: a follower needs neither a consumer nor a node that always
// answers.
func TestAFollowerReadsWhatIsNotDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, a := written(t)
		b := newGateway(m, "b")
		b.client.Undeliver(true)
		b.client.Cut()
		b.follow(t)
		append := func(batch string) (after time.Duration) {
			require.NoError(t, a.append(t.Context(), batch))
			begun := time.Now()
			for b.Status().Point != a.Status().Point {
				time.Sleep(time.Millisecond)
			}
			return time.Since(begun)
		}
		time.Sleep(time.Minute)
		b.client.Mend()
		assert.LessOrEqual(t, append("read"), 251*time.Millisecond)
		assert.Less(t, time.Since(b.Status().Heard), 10*time.Millisecond)
		b.client.Undeliver(false)
		time.Sleep(5 * time.Second)
		assert.LessOrEqual(t, append("delivered"), time.Millisecond)
		b.client.Cut()
		b.client.Undeliver(true)
		require.NoError(t, a.append(t.Context(), "while it is cut off"))
		time.Sleep(time.Second)
		assert.GreaterOrEqual(t, time.Since(b.Status().Heard), time.Second)
		b.client.Mend()
		assert.LessOrEqual(t, append("read again"), 251*time.Millisecond)
		assert.Equal(t, a.Entries(), b.Entries())
	})
}

// TestAFollowerEndsWithTheErrorOfItsStore: Follow returns the store's error, and can be called
// again.
func TestAFollowerEndsWithTheErrorOfItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, a := written(t)
		b := newGateway(m, "b")
		ended := make(chan error)
		go func() { ended <- b.Follow(t.Context()) }()
		synctest.Wait()
		full := errors.New("disk full")
		b.Fail(full)
		require.NoError(t, a.append(t.Context(), "1"))
		require.ErrorIs(t, <-ended, full)
		b.Fail(nil)
		b.follow(t)
		synctest.Wait()
		assert.Equal(t, []string{"1"}, b.Batches())
		c := newGateway(m, "c")
		c.Fail(full)
		require.ErrorIs(t, c.Follow(t.Context()), full)
	})
}

// TestWhereAFileCanGoOn: Reaches judges a point without a store, and applies nothing.
func TestWhereAFileCanGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, a := written(t, "1", "2", "3")
		at := a.Status().Point
		early, other, alone := at, at, store.Point{Sequence: 9, Hash: store.Hash{9}}
		early.Sequence, other.Hash = 1, store.Hash{1}
		b := newGateway(m, "b")
		reaches := func(at store.Point) error { return b.Reaches(t.Context(), at) }
		require.NoError(t, reaches(at))
		require.NoError(t, reaches(store.Point{Sequence: 7}),
			"the stream goes on with any file that has its origin")
		require.ErrorIs(t, reaches(other), journal.ErrRewound)
		require.ErrorIs(t, reaches(alone), journal.ErrBehind)
		m.Forget(3)
		require.NoError(t, reaches(at))
		require.ErrorIs(t, reaches(early), journal.ErrBehind)
		require.ErrorIs(t, reaches(store.Point{}), journal.ErrBehind)
		b.client.CutAt(2)
		require.ErrorIs(t, reaches(at), store.ErrUnreachable, "another node may know it")
		assert.Empty(t, b.Entries())
	})
}
