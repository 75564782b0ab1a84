package relay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/store"
)

// stalled is how long an answer may make no progress.
const stalled = 30 * time.Second

var errStalled = errors.New("the answer stands still")

// asker sends requests to the leading gateway.
type asker struct {
	forwarder *hop.Forwarder
	closing   context.Context // ends with close
	closed    context.CancelFunc

	mu    sync.Mutex // guards the fields below
	now   time.Time  // last received log time; zero if none was received
	at    time.Time
	state store.State // outcome of the sent changes
}

func newAsker(o hop.Options) *asker {
	a := &asker{forwarder: hop.NewForwarder(o)}
	a.closing, a.closed = context.WithCancel(context.Background())
	return a
}

func (a *asker) close() {
	a.closed()
	a.forwarder.Close()
}

// usable returns an error if ctx has ended or the asker is closed.
func (a *asker) usable(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case a.closing.Err() != nil:
		return store.ErrClosed
	}
	return nil
}

// notSent wraps an error to mean that the changes were certainly not made.
func notSent(why error) error {
	return fmt.Errorf("%w: %w: %w", store.ErrUnreachable, store.ErrNotSent, why)
}

// apply sends changes. It fails with [hop.ErrHere] if this gateway leads.
func (a *asker) apply(ctx context.Context, changes []store.Change) (store.Revision, error) {
	message, err := changing(changes)
	if err != nil {
		return 0, err
	}
	o, err := a.ask(ctx, message, applyFor, nil)
	return o.revision, err
}

// changing returns a request to make changes, or an error if they are malformed.
func changing(changes []store.Change) ([]byte, error) {
	if err := store.CheckChanges(changes); err != nil {
		return nil, err
	}
	message := encodeChanges(changes)
	if len(message) > MostBytes {
		return nil, fmt.Errorf("%w: they have %d bytes: %w", store.ErrTooMany, len(message), store.ErrNotSent)
	}
	return message, nil
}

// ask sends a question, and calls visit with each part of the answer except the last. If visit
// returns false, ask stops with a zero outcome.
func (a *asker) ask(
	ctx context.Context, question []byte, limit time.Duration, visit func(part) bool,
) (outcome, error) {
	if err := a.usable(ctx); err != nil {
		return outcome{}, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(a.closing, func() { end(store.ErrClosed) })()
	o, err := a.exchange(ctx, end, question, limit, visit)
	if err != nil && a.closing.Err() != nil && !errors.Is(err, store.ErrClosed) {
		err = fmt.Errorf("%w: %w", store.ErrClosed, err)
	}
	return o, err
}

// exchange sends a question and reads the answer. It may call end, which ends ctx.
func (a *asker) exchange(
	ctx context.Context, end context.CancelCauseFunc,
	question []byte, limit time.Duration, visit func(part) bool,
) (outcome, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://cluster"+Path, bytes.NewReader(question))
	if err != nil {
		return outcome{}, err
	}
	res, err := a.forwarder.Do(r, limit)
	switch {
	case errors.Is(err, hop.ErrHere):
		return outcome{}, err
	case errors.Is(err, hop.ErrNoLeader):
		return outcome{}, notSent(err)
	case err != nil:
		return outcome{}, fmt.Errorf("%w: %w", store.ErrUnreachable, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		err = fmt.Errorf("the gateway that leads answers %s", res.Status)
		if res.StatusCode < http.StatusInternalServerError {
			return outcome{}, notSent(err)
		}
		return outcome{}, fmt.Errorf("%w: %w", store.ErrUnreachable, err)
	}
	alive := time.AfterFunc(stalled, func() { end(errStalled) })
	defer alive.Stop()
	o, err := a.parts(bufio.NewReader(res.Body), alive, visit)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return outcome{}, fmt.Errorf("%w: the answer broke off: %w", store.ErrUnreachable, err)
	}
	a.tell(o.now)
	return o, o.err
}

// parts reads an answer. It fails if reading fails.
func (a *asker) parts(from *bufio.Reader, alive *time.Timer, visit func(part) bool) (outcome, error) {
	for {
		text, err := readRecord(from)
		if err != nil {
			return outcome{}, err
		}
		p, err := decodePart(text)
		switch {
		case err != nil:
			return outcome{}, err
		case p.outcome != nil:
			return *p.outcome, nil
		case visit == nil:
			return outcome{}, errMessage
		}
		alive.Stop() // visit may take any time
		if !visit(p) {
			return outcome{}, nil
		}
		alive.Reset(stalled)
	}
}

// tell stores the current log time.
func (a *asker) tell(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !now.IsZero() {
		a.now, a.at = now, time.Now()
	}
}

// time returns the current log time, or false if no log time was ever received.
func (a *asker) time() (time.Time, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.Add(time.Since(a.at)), !a.now.IsZero()
}

// noted records the outcome of a sent change.
func (a *asker) noted(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil:
		a.state.Writes++
		a.state.Failed = nil
	case !errors.Is(err, store.ErrConflict):
		a.state.Failures++
		a.state.Failed = err
	}
	return err
}

// reached records that changes can be sent again.
func (a *asker) reached() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if errors.Is(a.state.Failed, store.ErrUnreachable) {
		a.state.Failed = nil
	}
}

// sent returns the outcome of the sent changes.
func (a *asker) sent() store.State {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state
}
