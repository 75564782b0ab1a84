package webhooks

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"adgateway/gateway/store"
)

// kind is the kind of a target's state in the store.
const kind store.Kind = "webhook"

// kept is the stored state of a target.
type kept struct {
	store.Formatted
	URL     string                  `json:"url"`
	After   map[Type]store.Position `json:"after"`
	Failing time.Time               `json:"failing,omitzero"` // when the current series of failures began
	Tries   int                     `json:"tries,omitempty"`  // number of failures in that series
	Stopped bool                    `json:"stopped,omitempty"`
}

// pauses are the pauses after the first failures of a target; lastPause follows all others.
var pauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

const lastPause = time.Hour

// giveUpAfter is how long a message is retried, which is for 24 hours after the pauses.
var giveUpAfter = func() (total time.Duration) {
	for _, pause := range pauses {
		total += pause
	}
	return total + 24*time.Hour
}()

// target sends messages to one target. Only its goroutine uses kept, revision and client.
type target struct {
	settings Target
	o        *Options
	client   *http.Client
	kept     kept
	revision store.Revision
	// whether kept equals the stored value; false if another gateway may have written a different one
	mine bool

	mu     sync.Mutex // guards status
	status Status
}

// newTarget prepares a target, and continues where sending stopped, unless another gateway leads
// and sends to it.
func newTarget(ctx context.Context, settings Target, o *Options) (*target, error) {
	if len(settings.Types) == 0 {
		settings.Types = Types
	}
	t := &target{settings: settings, o: o, client: newClient(nil), status: Status{Name: settings.Name}}
	if settings.CAFile != "" {
		trusted, err := ReadCA(settings.CAFile)
		if err != nil {
			return nil, err
		}
		t.client = newClient(trusted)
	}
	if err := t.begin(ctx); err != nil && !errors.Is(err, store.ErrFollows) {
		return nil, err
	}
	return t, nil
}

// begin continues where sending stopped according to the store. It fails with [store.ErrNewer] if a
// later version has sent messages, because its position cannot be read.
func (t *target) begin(ctx context.Context) error {
	t.mine = false
	for {
		found, err := t.o.Store.Get(ctx, kind, t.settings.Name)
		if err != nil && !errors.Is(err, store.ErrAbsent) {
			return err
		}
		read := kept{}
		if err == nil {
			if err = store.Decode(t.o.Store, found.Value, &read); err != nil {
				return err
			}
		}
		if err = t.resumeAt(ctx, read); err != nil {
			return err
		}
		t.revision = found.Revision
		if err = t.write(ctx); err == nil {
			t.mine = true
			t.show("")
		}
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// resumeAt continues with the stored state of the target. If the URL differs, it is a new target.
// New types begin now, and types that are no longer configured are dropped.
func (t *target) resumeAt(ctx context.Context, read kept) error {
	if read.URL != t.settings.URL {
		read = kept{After: read.After} // the receiver may be the same at a new address, and must not miss anything
	}
	read.URL = t.settings.URL
	after := map[Type]store.Position{}
	for _, kind := range t.settings.Types {
		position, known := read.After[kind]
		if !known {
			var err error
			if position, err = t.o.Store.End(ctx, logs[kind]); err != nil {
				return err
			}
		}
		after[kind] = position
	}
	read.After = after
	t.kept = read
	return nil
}

// write stores the state, unless another gateway has written it.
func (t *target) write(ctx context.Context) error {
	value, err := store.Encode(t.o.Store, t.kept)
	if err != nil {
		return err
	}
	revision, err := t.o.Store.Apply(ctx,
		store.Change{Kind: kind, Key: t.settings.Name, Expect: t.revision, Value: value})
	if err == nil {
		t.revision = revision
	}
	return err
}

// run sends until ctx ends.
func (t *target) run(ctx context.Context) {
	defer t.client.CloseIdleConnections()
	t.mine = false // another gateway may have sent since then
	for ctx.Err() == nil {
		if !t.mine {
			if err := t.begin(ctx); errors.Is(err, store.ErrClosed) {
				return
			} else if err != nil {
				t.show(err.Error())
				pause(ctx, pauses[0])
				continue
			}
		}
		if t.kept.Stopped {
			<-ctx.Done()
			return
		}
		bells := make([]<-chan struct{}, 0, len(Types)) // before reading, so nothing is missed
		for _, kind := range Types {
			bells = append(bells, t.o.Store.Appends(logs[kind]))
		}
		m, err := t.first(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, store.ErrClosed):
			return
		case err != nil:
			t.show(err.Error())
			pause(ctx, pauses[0])
		case m == nil:
			t.await(ctx, bells)
		default:
			t.deliver(ctx, m)
		}
	}
}

// await waits until something is appended to a log.
func (t *target) await(ctx context.Context, bells []<-chan struct{}) {
	select {
	case <-bells[0]:
	case <-bells[1]:
	case <-ctx.Done():
	}
}

// first returns the next message, or nil if there is none. If several types have a next message, it returns
// the oldest.
func (t *target) first(ctx context.Context) (*message, error) {
	var first *message
	for _, kind := range t.settings.Types {
		m, reached, err := t.next(ctx, kind, t.kept.After[kind])
		if errors.Is(err, store.ErrPosition) {
			m, reached, err = t.resume(ctx, kind)
		}
		if err != nil {
			return nil, err
		}
		t.kept.After[kind] = reached
		if m != nil && (first == nil || m.at.Before(first.at)) {
			first = m
		}
	}
	t.note(func(s *Status) {
		s.Waiting = time.Time{}
		if first != nil {
			s.Waiting = first.at
		}
	})
	return first, nil
}

// resume continues with the oldest entry that is still in the log, after the entries at the
// position were removed or the store was replaced.
func (t *target) resume(ctx context.Context, kind Type) (*message, store.Position, error) {
	before := t.kept.After[kind]
	m, reached, err := t.next(ctx, kind, store.Position{})
	if err == nil && m == nil && reached == (store.Position{}) {
		reached, err = t.o.Store.End(ctx, logs[kind])
	}
	if err != nil {
		return nil, before, err
	}
	missed := uint64(1) // at least one
	if m != nil && m.position.Creation == before.Creation && m.position.Sequence > before.Sequence+1 {
		missed = m.position.Sequence - before.Sequence - 1
	}
	t.note(func(s *Status) { s.Dropped += missed })
	t.o.Log("a webhook goes on with what is kept: what came before is lost to it, because the store keeps it "+
		"no longer or was replaced",
		map[string]any{"webhook": t.settings.Name, "type": string(kind), "error": store.ErrPosition.Error()})
	return m, reached, nil
}

// deliver tries to send a message, and waits if that fails.
func (t *target) deliver(ctx context.Context, m *message) {
	err := t.send(ctx, m)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		t.delivered(ctx, m)
		return
	}
	if t.kept.Tries++; t.kept.Failing.IsZero() {
		t.kept.Failing = t.o.Store.Now().UTC()
	}
	t.note(func(s *Status) { s.Failed++ })
	fields := map[string]any{"webhook": t.settings.Name, "message": m.id, "tries": t.kept.Tries,
		"error": err.Error()}
	now, since := t.o.Store.Now(), t.kept.Failing
	if m.at.After(since) && !m.at.After(now) { // a future time is due to a wrong clock
		since = m.at
	}
	wait := pauseAfter(t.kept.Tries, err)
	switch {
	case errors.Is(err, errGone):
		t.kept.Stopped = true
		t.o.Log("a webhook was stopped by its target; give it another URL, or start the gateway once without it",
			fields)
	case now.Sub(since) >= giveUpAfter:
		t.kept.After[m.kind] = m.position
		t.drop()
		t.o.Log("a message of a webhook was given up after 24 hours", fields)
		wait = 0 // the next messages may be just as old
		if after, _, nextErr := t.next(ctx, m.kind, m.position); nextErr != nil || after == nil ||
			now.Sub(after.at) < giveUpAfter {
			wait = lastPause
		}
	case t.kept.Tries == 1 || t.kept.Tries == len(pauses):
		t.o.Log("a message of a webhook could not be delivered; it is tried again", fields)
	}
	t.show(err.Error())
	t.keep(ctx)
	if t.mine && !t.kept.Stopped {
		pause(ctx, wait)
	}
}

// delivered notes that a message was delivered.
func (t *target) delivered(ctx context.Context, m *message) {
	if t.kept.Tries >= len(pauses) {
		t.o.Log("a webhook can be delivered again",
			map[string]any{"webhook": t.settings.Name, "tries": t.kept.Tries})
	}
	t.kept.After[m.kind], t.kept.Failing, t.kept.Tries = m.position, time.Time{}, 0
	t.note(func(s *Status) { s.Delivered++ })
	t.show("")
	t.keep(ctx)
}

// keep stores the position. If that fails, messages are sent again after a restart. If another gateway has
// written the position, keep leaves that position unchanged, and the target reads it again before it sends.
func (t *target) keep(ctx context.Context) {
	err := t.write(ctx)
	if t.mine = !errors.Is(err, store.ErrConflict); !t.mine {
		return
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
		t.o.Log("the position of a webhook could not be kept: after a restart it gets messages again",
			map[string]any{"webhook": t.settings.Name, "error": err.Error()})
	}
}

// pauseAfter returns the pause after a number of attempts, or a longer pause if the target requests one.
func pauseAfter(tries int, err error) time.Duration {
	wait := lastPause
	if tries <= len(pauses) {
		wait = pauses[tries-1]
	}
	var refused *refusedError
	if errors.As(err, &refused) {
		wait = max(wait, min(refused.retryAfter, lastPause))
	}
	return wait
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (t *target) drop() { t.note(func(s *Status) { s.Dropped++ }) }

// show copies the stored state into the status.
func (t *target) show(reason string) {
	t.note(func(s *Status) {
		s.Failing, s.Tries, s.Stopped, s.Reason = t.kept.Failing, t.kept.Tries, t.kept.Stopped, reason
	})
}

func (t *target) note(change func(*Status)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.status)
}

func (t *target) snapshot() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status
}

// Kinds are the kinds of stored values of this package that survive a change of the store's key.
var Kinds = []store.Kind{kind}
