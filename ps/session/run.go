package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"adgateway/ps"
)

const (
	bootID = "boot"
	// maximum number of bytes of PowerShell's output in a start error; the log contains all output
	maxWords = 600
)

// A run is a request in progress.
type run struct {
	id     string
	frames chan frame
	left   chan struct{} // closed when frames are no longer received
}

func newRun(id string) *run {
	return &run{id: id, frames: make(chan frame), left: make(chan struct{})}
}

// Run sends one request and waits for its answer. [ps.Runner] documents ctx and the errors. A session runs
// one request at a time, and a concurrent request fails with an internal error. If a run is interrupted
// (timeout, canceled, died), Run returns after the process has ended, so the run has no later effects.
// [Session.Dead] reports whether the session can still be used.
func (s *Session) Run(ctx context.Context, req ps.Request) (*ps.Result, error) {
	r, err := s.claim(ctx)
	if err != nil {
		return nil, err
	}
	limit := req.Limit
	if limit <= 0 {
		limit = s.cfg.Limit
	}
	line := ps.EncodeRequestFor(r.id, req.Script, req.Args, req.State)
	secrets := lineSecrets(line)
	s.noise.guard(secrets)
	s.stderr.guard(secrets)
	if req.List {
		s.allow(s.cfg.MaxList)
	} else {
		s.allow(s.cfg.MaxOutput)
	}

	timer := s.endAfter(limit, r, req.Script)
	defer func() { timer.Stop() }()
	if !req.Write {
		stop := context.AfterFunc(ctx, func() { s.failRun(r, CauseCancelled, canceled(ctx)) })
		defer stop()
	}
	a := &answer{write: req.Write, records: req.Records, newList: s.cfg.list}
	a.announced = func(intent *ps.Intent) (bool, error) {
		return s.announce(req, intent, func(limit time.Duration) {
			timer.Stop()
			timer = s.endAfter(limit, r, req.Script)
		})
	}
	defer a.close()
	select {
	case s.lines <- line:
		a.sent = true
	case <-s.broken:
	}
	s.collect(r, a)
	maskAnswer(a, secrets)
	s.flush(req.ID)
	return s.finish(a)
}

// endAfter interrupts a run when its limit has passed.
func (s *Session) endAfter(limit time.Duration, r *run, script string) *time.Timer {
	return time.AfterFunc(limit, func() {
		s.failRun(r, CauseTimeout, &ps.Error{Kind: ps.KindTimeout,
			Message: fmt.Sprintf("%s did not end within %s", script, limit)})
	})
}

// claim reserves the session for one request.
func (s *Session) claim(ctx context.Context) (*run, error) {
	if ctx.Err() != nil {
		return nil, canceled(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case idle:
	case busy:
		return nil, &ps.Error{Kind: ps.KindInternal, Outcome: ps.OutcomeNone, Message: "the session is busy"}
	default:
		return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeNone, Message: "the session has ended",
			Cause: asCause(s.cause)}
	}
	r := newRun(rand.Text()) // random, so that no output of a module can be mistaken for an answer
	s.current, s.state = r, busy
	return r, nil
}

// asCause converts a nil *ps.Error to a nil error.
func asCause(e *ps.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// collect receives frames until the answer is complete or no more frames can arrive. Frames that were written
// before the process was killed still count, because their steps tell which changes an interrupted write has
// made.
func (s *Session) collect(r *run, a *answer) {
	defer close(r.left)
	for !a.done() {
		var f frame
		select {
		case f = <-r.frames:
		case <-s.outDone:
			return
		case <-s.gone:
			return
		}
		if err := a.take(f); err != nil {
			a.garbled = true
			s.fail(CauseProtocol, &ps.Error{Kind: ps.KindDied, Message: "PowerShell broke the protocol", Cause: err})
			return
		}
		if a.refused != nil && !a.write {
			s.failRun(r, CauseCancelled, refusal(a.refused))
		}
	}
}

// Answers to an announcement.
const (
	goAhead = "+"
	desist  = "-"
)

// announce passes an announcement to the request's hook and sends the answer to the script, which waits for
// it. allowed reports whether the script may have been told to proceed; it is false if the session broke
// earlier. If the request has a time limit for the changes, announce starts it.
func (s *Session) announce(
	req ps.Request, intent *ps.Intent, setLimit func(time.Duration),
) (allowed bool, err error) {
	select {
	case <-s.broken:
		return false, nil
	default:
	}
	reply := goAhead
	if req.Announced != nil {
		if err = req.Announced(*intent); err != nil {
			reply = desist
		}
	}
	if reply == goAhead && req.WriteLimit != nil {
		setLimit(req.WriteLimit(*intent))
	}
	select {
	case s.lines <- reply:
		return reply == goAhead, err
	case <-s.broken:
		return false, err
	}
}

// finish makes the session idle again and returns the result of Run.
func (s *Session) finish(a *answer) (*ps.Result, error) {
	if !a.done() {
		<-s.gone
		return nil, s.cutOff(a)
	}
	s.mu.Lock()
	if s.state == busy {
		s.state = idle
	}
	s.mu.Unlock()
	switch {
	case a.denied != nil && a.failure != nil:
		a.failure.Kind, a.failure.Cause = ps.KindStopped, a.denied
		return nil, a.failure
	case a.failure != nil:
		return nil, a.failure
	case a.refused != nil && a.write:
		e := refusal(a.refused)
		e.Steps, e.Outcome = a.steps, ps.OutcomeDone
		return nil, e
	case a.refused != nil:
		return nil, refusal(a.refused)
	}
	return a.result, nil
}

// cutOff returns the error of a run whose session broke.
func (s *Session) cutOff(a *answer) error {
	s.mu.Lock()
	e, whole := *s.cause, s.whole && !s.foreign && !a.garbled
	s.mu.Unlock()
	e.Steps, e.Intent, e.Outcome = a.steps, a.intent, ps.OutcomeNone
	// Scripts announce a write before they start it. The process has ended and its output was read completely,
	// so if there is no announcement, nothing was changed.
	if a.write && a.sent && (a.intent != nil || len(a.steps) > 0 || !whole) {
		e.Outcome = ps.OutcomeUnknown
	}
	if a.denied != nil && e.Outcome == ps.OutcomeNone { // the refusal is why nothing was changed
		e.Kind, e.Cause = ps.KindStopped, errors.Join(a.denied, e.Cause)
	}
	return &e
}

// refusal returns the error of a run whose records callback failed with err.
func refusal(err error) *ps.Error {
	var e *ps.Error
	if errors.As(err, &e) {
		clone := *e
		return &clone
	}
	return &ps.Error{Kind: ps.KindCancelled, Message: "the caller stopped taking records", Cause: err}
}

func canceled(ctx context.Context) *ps.Error {
	return &ps.Error{Kind: ps.KindCancelled, Outcome: ps.OutcomeNone, Message: "the caller left",
		Cause: context.Cause(ctx)}
}

// handshake waits for the ready frame and checks it, and then checks the data line. Nothing
// is written before the ready frame has arrived, because some builds of 5.1 would read it
// before the request loop starts (facts-5.1 K1).
func (s *Session) handshake(ctx context.Context, boot *run) error {
	deadline := time.Now().Add(s.cfg.StartTimeout)
	timer := time.AfterFunc(s.cfg.StartTimeout, func() {
		s.failRun(boot, CauseStart, &ps.Error{Kind: ps.KindUnavailable, Step: "ready",
			Message: fmt.Sprintf(noReady, s.cfg.StartTimeout)})
	})
	defer timer.Stop()
	stop := context.AfterFunc(ctx, func() { s.failRun(boot, CauseStart, canceled(ctx)) })
	defer stop()

	a := &answer{boot: true}
	s.collect(boot, a)
	switch {
	case a.failure != nil:
		a.failure.Kind = ps.KindUnavailable
		nameBlock(a.failure, "")
		return a.failure
	case a.ready == nil:
		<-s.gone
		return s.startError("ready")
	case a.ready.LanguageMode != "FullLanguage":
		return &ps.Error{Kind: ps.KindUnavailable, Step: "language mode",
			Message: fmt.Sprintf(wrongMode, a.ready.LanguageMode)}
	case a.ready.Proxied:
		return &ps.Error{Kind: ps.KindUnavailable, Step: "import module",
			Message: fmt.Sprintf(onlyCopies, a.ready.PowerShell, a.ready.Module)}
	}
	s.mu.Lock()
	s.ready = *a.ready
	if s.state == busy {
		s.state = idle
	}
	s.mu.Unlock()
	return s.prove(ctx, time.Until(deadline))
}

// prove checks that the encodings between the gateway and the script do not alter text.
func (s *Session) prove(ctx context.Context, limit time.Duration) error {
	whole, err := s.echo(ctx, max(limit, time.Millisecond))
	e := ps.AsError(err)
	switch {
	case err == nil && whole:
		return nil
	case err == nil:
		return &ps.Error{Kind: ps.KindUnavailable, Step: "data line", Message: changedLine}
	case e.Kind == ps.KindTimeout:
		return &ps.Error{Kind: ps.KindUnavailable, Step: "data line",
			Message: fmt.Sprintf(noDataLine, s.cfg.StartTimeout)}
	case e.Kind == ps.KindCancelled && ctx.Err() != nil:
		return e
	}
	return &ps.Error{Kind: ps.KindUnavailable, Step: "data line", Type: e.Type, ID: e.ID, Category: e.Category,
		Message: "PowerShell did not answer the first request", Cause: err}
}

const (
	rehearsals    = 40
	rehearsalTime = 3 * time.Second
)

// rehearse runs the rehearsal repeatedly until PowerShell has compiled it, but uses only a part of the time
// limit of the start.
func (s *Session) rehearse(ctx context.Context, deadline time.Time) {
	if s.cfg.Rehearsal == "" {
		return
	}
	until := time.Now().Add(min(rehearsalTime, time.Until(deadline)/2))
	for n := 0; n < rehearsals && time.Now().Before(until); n++ {
		_, err := s.Run(ctx, ps.Request{ID: bootID, Script: s.cfg.Rehearsal,
			Limit: max(time.Until(deadline), time.Millisecond)})
		if err != nil {
			s.cfg.Log("the rehearsal of a session failed", map[string]any{"error": err.Error()})
			return
		}
	}
}

// Probe checks that the session responds to a request that echoes its argument. If ctx ends
// first, or the answer is wrong, the session ends and Probe returns an error.
func (s *Session) Probe(ctx context.Context) error {
	whole, err := s.echo(ctx, s.cfg.Limit)
	if err == nil && !whole {
		err = &ps.Error{Kind: ps.KindDied, Message: "PowerShell returned other text than was sent"}
		s.fail(CauseProtocol, ps.AsError(err))
	}
	return err
}

// echo runs the script that returns its arguments, and reports whether they are
// unaltered.
func (s *Session) echo(ctx context.Context, limit time.Duration) (whole bool, err error) {
	const text, secret = "O'Brien’s \"$(1)\" `x 日本 😀 2024-01-02T03:04:05Z", "p ä😀"
	const secretUnits = 5 // length in UTF-16 units, as in .NET
	var got []struct {
		Text   string `json:"text"`
		Length int    `json:"length"`
	}
	_, err = s.Run(ctx, ps.Request{
		ID: bootID, Script: handshake.Name, Limit: limit,
		Args:    ps.Args{"Text": ps.Text(text), "Secret": ps.Secret(secret)},
		Records: ps.Collect(&got),
	})
	return err == nil && len(got) == 1 && got[0].Text == text && got[0].Length == secretUnits, err
}

// startError returns the error of a session that broke before it was ready.
func (s *Session) startError(step string) error {
	s.mu.Lock()
	e := *s.cause
	s.mu.Unlock()
	if words := s.lastWords; words != "" {
		if len(words) > maxWords {
			words = strings.ToValidUTF8(words[:maxWords], "") + " ..."
		}
		e.Message += "; it wrote: " + words
	}
	if e.Kind == ps.KindDied {
		died := e
		e = ps.Error{Kind: ps.KindUnavailable, Message: notReady, Cause: &died}
	}
	e.Step = step
	nameBlock(&e, s.lastWords)
	return &e
}

// Messages for the administrator about a session that does not start.
const (
	noReady = "PowerShell gave no sign of life within %s. Either its start takes longer " +
		"(session.startTimeout), " +
		"or Windows PowerShell waits for ever on its standard input (some 5.1 builds do on overlapped pipes, " +
		"or read ahead of the request loop). Try PowerShell 7 (powershell.path)"
	noDataLine = "PowerShell is ready, but the first data line did not arrive within %s: this build reads " +
		"its standard input ahead of, " +
		"or beside, the request loop. Use PowerShell 7 (powershell.path); values are never put on a command " +
		"line instead"
	changedLine = "PowerShell answered the first request with other text than was sent: the data line does " +
		"not arrive whole. Use PowerShell 7 (powershell.path)"
	wrongMode = "PowerShell runs in language mode %s, not FullLanguage: an AppLocker or App Control policy " +
		"constrains it. " +
		"Allow the gateway's PowerShell in that policy"
	onlyCopies = "PowerShell %s runs the module %s in a Windows PowerShell behind it, because this Windows " +
		"has none that is made for PowerShell 7 " +
		"(Windows Server 2019 and Windows 10 1809 are the first): objects and errors come without their types " +
		"and numbers. " +
		"Set powershell.path to powershell.exe"
	notReady = "PowerShell did not get ready"
)
