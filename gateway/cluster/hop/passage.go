package hop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// passage is the passage of one call to the leader.
type passage struct {
	forwarder *Forwarder
	request   *http.Request // the client's request
	origin    Origin
	limit     time.Duration // time limit until the answer begins

	// again returns the whole body for each attempt. If nil, there is only one body, for a single
	// attempt.
	again func() (io.ReadCloser, error)

	asked peer // by the last attempt; zero if there was none
}

// The errors of [Forwarder.Do] for a call that has not begun.
var (
	ErrHere     = errors.New("this gateway leads")
	ErrNoLeader = errors.New("no gateway leads that can be reached")
)

var (
	errSilent  = errors.New("the leader did not answer in time")
	errDeposed = errors.New("another gateway has become leader")
	errLeft    = errors.New("the body belongs to another try")
)

// notBegun is the failure of an attempt that no gateway has begun to process.
type notBegun struct {
	cause error
	final bool // whether part of the body is gone, so there can be no further attempt
}

func (e *notBegun) Error() string { return e.cause.Error() }
func (e *notBegun) Unwrap() error { return e.cause }

// RoundTrip sends the request to the leader, and to the next leader while nothing has begun. It
// implements [http.RoundTripper].
func (p *passage) RoundTrip(out *http.Request) (*http.Response, error) {
	f := p.forwarder
	wait := waiting{places: f.places}
	defer wait.end()
	cause := errors.New("none is known")
	for {
		changed := f.options.Leader.Changed()
		leader := ledBy(f.options.Leader)
		if leader.known && leader.name == f.options.Gateway {
			return nil, ErrHere
		}
		var pause <-chan time.Time
		if leader.known {
			if p.asked.name != "" {
				f.options.Observe(p.request, Retried, p.asked.name)
			}
			p.asked = peer{leader.name, leader.address}
			res, err := p.try(out, leader.term)
			var none *notBegun
			switch {
			case !errors.As(err, &none):
				return res, err
			case none.final:
				return nil, fmt.Errorf("%w: %w", ErrNoLeader, err)
			}
			cause, pause = err, time.After(samePause)
			var refused *refusedError
			if errors.As(err, &refused) {
				f.options.NotBegun(leader.name, refused.leader)
			} else {
				f.options.NotBegun(leader.name, "")
			}
		}
		if err := wait.next(out.Context(), f.options.Leader, leader, changed, pause); err != nil {
			return nil, fmt.Errorf("%w: %w: %w", ErrNoLeader, err, cause)
		}
	}
}

// waiting is a call's place in the queue for a leader, and the time that it may wait.
type waiting struct {
	places  chan struct{}
	timeout <-chan time.Time // nil until it has to wait
}

var (
	errManyWait  = errors.New("too many calls wait for a leader")
	errWaitedOut = errors.New("there is none for too long")
)

// next waits until a different leader is known, or pause has passed. In a busy cluster the member's state
// changes all the time, which is no reason to ask the same gateway again at once.
func (w *waiting) next(
	ctx context.Context, leader Leader, before led, changed <-chan struct{}, pause <-chan time.Time,
) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if w.timeout == nil {
		select {
		case w.places <- struct{}{}:
		default:
			return errManyWait
		}
		w.timeout = time.After(leaderWait)
	}
	for {
		select {
		case <-changed:
			changed = leader.Changed()
			if ledBy(leader) != before {
				return nil
			}
		case <-pause:
			return nil
		case <-w.timeout:
			return errWaitedOut
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (w *waiting) end() {
	if w.timeout != nil {
		<-w.places
	}
}

// try sends the request to the gateway p.asked once. It fails with a [*notBegun] if it is certain that
// nothing has begun. The caller must close the answer.
func (p *passage) try(out *http.Request, term uint64) (*http.Response, error) {
	ctx, cut := context.WithCancelCause(out.Context())
	var answered, wroteHeaders atomic.Bool
	silence := time.AfterFunc(math.MaxInt64, func() {
		if !answered.Load() {
			cut(errSilent)
		}
	})
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { wroteHeaders.Store(true) },
		WroteRequest: func(httptrace.WroteRequestInfo) { silence.Reset(p.limit) },
	})
	go p.forwarder.follow(ctx, term, cut)

	out = out.WithContext(ctx)
	target := *out.URL
	target.Host, out.URL = p.asked.address, &target
	body := &loan{lender: out.Body}
	if p.again != nil {
		var err error
		if body.lender, err = p.again(); err != nil {
			cut(nil)
			return nil, err
		}
	}
	if out.Body != nil {
		out.Body = body
	}
	res, err := p.forwarder.to(p.asked).RoundTrip(out)
	answered.Store(true)
	silence.Stop()
	if err == nil {
		res.Body = &ending{res.Body, ctx, cut}
		if err = refusal(res); err == nil {
			return res, nil
		}
		_ = res.Body.Close() // the answer has been read
		return nil, &notBegun{err, body.end() && p.again == nil}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cut(nil)
	if used := body.end(); !wroteHeaders.Load() || rejected(err) {
		err = &notBegun{err, used && p.again == nil}
	}
	return nil, fmt.Errorf("the call to %s: %w", p.asked.name, err)
}

// refusals are the TLS alerts that refuse a certificate and end the handshake: bad_certificate to
// certificate_unknown, unknown_ca, access_denied and certificate_required.
var refusals = []uint64{42, 43, 44, 45, 46, 48, 49, 116}

// rejected reports whether the other gateway has refused this gateway's certificate. With TLS 1.3
// the request has already been sent at that point, but is never read.
func rejected(err error) bool {
	var remote *net.OpError
	if !errors.As(err, &remote) || remote.Op != "remote error" {
		return false
	}
	alert := reflect.ValueOf(remote.Err) // its type is not exported
	return alert.Kind() == reflect.Uint8 && slices.Contains(refusals, alert.Uint())
}

// follow cuts a call off some time after the term of the call's leader is over. It returns when ctx ends.
func (f *Forwarder) follow(ctx context.Context, term uint64, cut context.CancelCauseFunc) {
	for {
		changed := f.options.Leader.Changed()
		if _, _, present, ok := f.options.Leader.Leader(); ok && present != term {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
	select {
	case <-time.After(oldTermGrace):
		cut(errDeposed)
	case <-ctx.Done():
	}
}

// loan lends a body to one attempt.
type loan struct {
	lender io.ReadCloser
	mutex  sync.Mutex
	used   bool // some of it may have been read
	over   bool
}

func (l *loan) Read(into []byte) (int, error) {
	l.mutex.Lock()
	over := l.over
	l.used = l.used || !over
	l.mutex.Unlock()
	if over {
		return 0, errLeft
	}
	return l.lender.Read(into)
}

// Close does nothing, because the lender closes the body.
func (l *loan) Close() error { return nil }

// end revokes the body, and reports whether any of it may have been read.
func (l *loan) end() (used bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.over = true
	return l.used
}

// ending is the body of an answer. Closing it ends the supervision of the call.
type ending struct {
	io.ReadCloser
	ctx context.Context // context of the attempt
	cut context.CancelCauseFunc
}

// Read never returns io.EOF for a call that was cut off. The leader may notice the cut, and end its
// answer properly, before the connection is closed.
func (e *ending) Read(into []byte) (int, error) {
	n, err := e.ReadCloser.Read(into)
	if cause := context.Cause(e.ctx); err == io.EOF && cause != nil {
		err = cause
	}
	return n, err
}

func (e *ending) Close() error {
	defer e.cut(nil)
	return e.ReadCloser.Close()
}
