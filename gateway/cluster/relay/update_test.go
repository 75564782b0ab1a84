package relay

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

func puts(key, value string) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		tx.Put("k", key, []byte(value), time.Time{})
		return nil
	}
}

// TestAnUpdateWhoseAnswerIsLost: an update whose answer is lost is made once, and its outcome is found. An
// update that only appended to a log leaves no trace to find, and an update that no leader accepted was
// certainly not made.
func TestAnUpdateWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	var loses atomic.Bool
	p := pairFor(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if loses.Load() {
				panic(http.ErrAbortHandler)
			}
		})
	})
	sealed := storetest.Seal(t, p.store)
	loses.Store(true)
	require.NoError(t, sealed.Update(t.Context(), puts("a", "1")))
	found, err := sealed.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, "1", string(found.Value))
	err = sealed.Update(t.Context(), func(tx *store.Tx) error {
		tx.Append("log", []byte("1"), time.Time{})
		return nil
	})
	require.ErrorIs(t, err, store.ErrUnsure)
	require.ErrorIs(t, err, store.ErrUnreachable)

	p.leader.elect("", "")
	err = sealed.Update(t.Context(), puts("b", "1"))
	require.ErrorIs(t, err, store.ErrNotSent)
	require.NotErrorIs(t, err, store.ErrUnsure)
}

// TestAnUpdateOfALeaderInDoubt: the outcome is known as soon as the copy has the value, or a different value
// in its place, no matter which gateway has written it.
func TestAnUpdateOfALeaderInDoubt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stored bool
		want   error
	}{
		"it was stored":      {true, nil},
		"another one was":    {false, store.ErrUnsure},
		"nothing is decided": {false, store.ErrUnsure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pairFor(t, nil)
			lost := make(chan []byte, 1)
			file := p.following
			file.Lead(losing(lost))
			db := New(Options{
				File: func() *store.File { return file }, Gateway: "gw2", Leader: p.leader,
				Leads: func() bool { return true }, TLS: p.certificates.client("gw2"),
			})
			defer db.Close()
			sealed := storetest.Seal(t, db)
			ended := make(chan error, 1)
			go func() { ended <- sealed.Update(context.Background(), puts("a", "1")) }()
			batch := <-lost
			file.Follow()
			if !test.stored {
				other := store.Batch{Calls: []store.Call{{Revision: 1,
					Changes: []store.Change{set("a", "2", store.Absent)}}}}
				batch = other.Encode()
			}
			if name != "nothing is decided" {
				require.NoError(t, file.ApplyBatch(t.Context(), batch, store.Point{Journal: "x", Sequence: 1},
					time.Now()))
			}
			require.ErrorIs(t, <-ended, test.want)
		})
	}
}

// TestABatchThatTheCopyGetsDuringTheSearch: the outcome is found no matter when the copy gets the batch. Here
// the copy gets it before each of the looks that precede the wait.
func TestABatchThatTheCopyGetsDuringTheSearch(t *testing.T) {
	t.Parallel()
	for look := range 3 {
		p := pairFor(t, nil)
		lost := make(chan []byte, 1)
		file := p.following
		file.Lead(losing(lost))
		looks := 0
		db := New(Options{
			File: func() *store.File {
				if len(lost) > 0 {
					file.Follow()
					looks++
				}
				if looks > look {
					assert.NoError(t, file.ApplyBatch(t.Context(), <-lost,
						store.Point{Journal: "x", Sequence: 1}, time.Now()))
					looks = 0
				}
				return file
			},
			Gateway: "gw2", Leader: p.leader, Leads: func() bool { return true },
			TLS: p.certificates.client("gw2"),
		})
		sealed := storetest.Seal(t, db)
		require.NoError(t, sealed.Update(t.Context(), puts("a", "1")), "at look %d", look)
		require.NoError(t, db.Close())
	}
}

// losing is an appender that loses its answers.
type losing chan []byte

func (l losing) Append(_ context.Context, batch []byte, _ time.Time) (store.Point, error) {
	l <- append([]byte(nil), batch...)
	return store.Point{}, errors.Join(store.ErrFollows, errors.New("the answer is lost"))
}

// TestAnUpdateBegunByALeader: an update that was begun by a leader that no longer leads is made by
// the next leader.
func TestAnUpdateBegunByALeader(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	file := p.following
	file.Lead(deposed{})
	db := New(Options{
		File: func() *store.File { return file }, Gateway: "gw2", Leader: p.leader,
		Leads: func() bool { return false }, TLS: p.certificates.client("gw2"),
	})
	defer db.Close()
	ended := make(chan error, 1)
	go func() { ended <- db.Update(context.Background(), puts("a", "1")) }()
	file.Follow()
	require.NoError(t, <-ended)
	found, err := p.leading.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, "1", string(found.Value))
}

// deposed is the appender of a gateway that no longer leads.
type deposed struct{}

func (deposed) Append(context.Context, []byte, time.Time) (store.Point, error) {
	return store.Point{}, errors.Join(store.ErrFollows, store.ErrNotSent)
}
