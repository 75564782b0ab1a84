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

	"adgateway/gateway/keep"
	"adgateway/gateway/keep/keeptest"
)

func puts(key, value string) func(*keep.Tx) error {
	return func(tx *keep.Tx) error {
		tx.Put("k", key, []byte(value), time.Time{})
		return nil
	}
}

// TestAnUpdateWhoseAnswerIsLost is made once, and known to be. One that has only appended shows
// nothing, and one that nobody takes was certainly not made.
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
	sealed := keeptest.Seal(t, p.store)
	loses.Store(true)
	require.NoError(t, sealed.Update(t.Context(), puts("a", "1")))
	found, err := sealed.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, "1", string(found.Value))
	err = sealed.Update(t.Context(), func(tx *keep.Tx) error {
		tx.Append("log", []byte("1"), time.Time{})
		return nil
	})
	require.ErrorIs(t, err, keep.ErrUnsure)
	require.ErrorIs(t, err, keep.ErrUnreachable)

	p.leader.elect("", "")
	err = sealed.Update(t.Context(), puts("b", "1"))
	require.ErrorIs(t, err, keep.ErrNotSent)
	require.NotErrorIs(t, err, keep.ErrUnsure)
}

// TestAnUpdateOfALeaderInDoubt is known as soon as the copy has it, whoever has put it there; or
// when the copy has another value in its place.
func TestAnUpdateOfALeaderInDoubt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stored bool
		want   error
	}{
		"it was stored":      {true, nil},
		"another one was":    {false, keep.ErrUnsure},
		"nothing is decided": {false, keep.ErrUnsure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pairFor(t, nil)
			lost := make(chan []byte, 1)
			file := p.following
			file.Lead(losing(lost))
			store := New(Options{
				File: func() *keep.File { return file }, Gateway: "gw2", Leader: p.leader,
				Leads: func() bool { return true }, TLS: p.certificates.client("gw2"),
			})
			defer store.Close()
			sealed := keeptest.Seal(t, store)
			ended := make(chan error, 1)
			go func() { ended <- sealed.Update(context.Background(), puts("a", "1")) }()
			batch := <-lost
			file.Follow()
			if !test.stored {
				other := keep.Batch{Calls: []keep.Call{{Revision: 1, Changes: []keep.Change{set("a", "2", keep.Absent)}}}}
				batch = other.Encode()
			}
			if name != "nothing is decided" {
				require.NoError(t, file.ApplyBatch(t.Context(), batch, keep.Point{Journal: "x", Sequence: 1}, time.Now()))
			}
			require.ErrorIs(t, <-ended, test.want)
		})
	}
}

// losing is an appender whose answers are lost.
type losing chan []byte

func (l losing) Append(_ context.Context, batch []byte, _ time.Time) (keep.Point, error) {
	l <- append([]byte(nil), batch...)
	return keep.Point{}, errors.Join(keep.ErrFollows, errors.New("the answer is lost"))
}

// TestAnUpdateBegunByALeader that leads no more is made by the next one.
func TestAnUpdateBegunByALeader(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	file := p.following
	file.Lead(deposed{})
	store := New(Options{
		File: func() *keep.File { return file }, Gateway: "gw2", Leader: p.leader,
		Leads: func() bool { return false }, TLS: p.certificates.client("gw2"),
	})
	defer store.Close()
	ended := make(chan error, 1)
	go func() { ended <- store.Update(context.Background(), puts("a", "1")) }()
	file.Follow()
	require.NoError(t, <-ended)
	found, err := p.leading.Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, "1", string(found.Value))
}

// deposed is the appender of a gateway that leads no more.
type deposed struct{}

func (deposed) Append(context.Context, []byte, time.Time) (keep.Point, error) {
	return keep.Point{}, errors.Join(keep.ErrFollows, keep.ErrNotSent)
}
