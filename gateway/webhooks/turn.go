package webhooks

import (
	"context"
	"errors"
	"time"

	"adgateway/gateway/keep"
)

// Of several gateways with one store exactly one sends to a target: the one that
// the value with the position names. What it has reached is written only while it is still
// named there, and another one takes its place when it has ended. A message that it was
// sending then comes again.

// Cluster is what a sender must know of the gateways that use the same store. It is safe
// for concurrent use.
type Cluster interface {
	// Name and Incarnation are those of this gateway.
	Name() string
	Incarnation() string
	// Gone reports whether an incarnation of a gateway has ended, at least for a time.
	Gone(name, incarnation string, delay time.Duration) bool
}

// turnAgain is how often a gateway looks whether the one that sends has ended.
const turnAgain = 2 * time.Second

// errTurn means that another gateway sends to the target.
var errTurn = errors.New("another gateway sends to the target")

// turn is which gateway sends to a target.
type turn struct {
	Gateway     string `json:"gateway,omitempty"` // empty: none
	Incarnation string `json:"incarnation,omitempty"`
}

// self is the turn of this gateway; the zero value if it is alone.
func (o *Options) self() turn {
	if o.Cluster == nil {
		return turn{}
	}
	return turn{o.Cluster.Name(), o.Cluster.Incarnation()}
}

// free reports whether this gateway may send in place of the one that is named.
func (o *Options) free(t turn) bool {
	return o.Cluster == nil || t.Gateway == "" || t == o.self() || o.Cluster.Gone(t.Gateway, t.Incarnation, 0)
}

// begin makes it this gateway's turn, and goes on where the one before has ended. It fails
// with errTurn if that has not ended, and with [keep.ErrNewer] if a later version has sent:
// where that has ended cannot be read.
func (t *target) begin(ctx context.Context) error {
	t.mine = false
	for {
		found, err := t.o.Store.Get(ctx, kind, t.settings.Name)
		if err != nil && !errors.Is(err, keep.ErrAbsent) {
			return err
		}
		read := kept{}
		if err == nil {
			if err = keep.Decode(t.o.Store, found.Value, &read); err != nil {
				return err
			}
		}
		if !t.o.free(read.Turn) {
			t.note(func(s *Status) { s.Elsewhere = read.Turn.Gateway })
			return errTurn
		}
		if err = t.resumeAt(ctx, read); err != nil {
			return err
		}
		t.kept.Turn, t.revision = t.o.self(), found.Revision
		if err = t.write(ctx); err == nil {
			t.mine = true
			t.note(func(s *Status) { s.Elsewhere = "" })
			t.show("")
		}
		if !errors.Is(err, keep.ErrConflict) {
			return err
		}
	}
}

// await waits until it may be this gateway's turn.
func (t *target) awaitTurn(ctx context.Context) {
	t.note(func(s *Status) {
		s.Waiting, s.Failing, s.Tries, s.Stopped, s.Reason = time.Time{}, time.Time{}, 0, false, ""
	})
	pause(ctx, turnAgain)
}

// yield ends this gateway's turn, so that another one need not wait until it is known to
// have ended.
func (t *target) yield() {
	if !t.mine || t.o.Cluster == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), turnAgain)
	defer cancel()
	t.kept.Turn, t.mine = turn{}, false
	if err := t.write(ctx); err != nil && !errors.Is(err, keep.ErrConflict) && !errors.Is(err, keep.ErrClosed) {
		t.o.Log("another gateway takes a webhook over only when this one is known to have ended", map[string]any{"webhook": t.settings.Name, "error": err.Error()})
	}
}
