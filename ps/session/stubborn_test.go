package session_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/ps"
	"adgateway/ps/session"
	"adgateway/ps/session/sessiontest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stubborn is a Starter whose process cannot be killed: Kill fails, and only free ends the process.
// If open is set, its outputs stay open after its end, as if another process had inherited them.
type stubborn struct {
	sessiontest.Process
	open bool

	mu    sync.Mutex
	inner interface {
		session.Waiter
		Kill() error
	}
}

type stubbornWaiter struct{ session.Waiter }

func (stubbornWaiter) Kill() error { return errors.New("access denied") }

func (s *stubborn) StartProcess(
	cmd string, args ...string,
) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	w, in, out, errs, err := s.Process.StartProcess(cmd, args...)
	s.mu.Lock()
	s.inner = w.(interface {
		session.Waiter
		Kill() error
	})
	s.mu.Unlock()
	if s.open {
		return w, in, keepOpen(out), keepOpen(errs), err
	}
	return stubbornWaiter{w}, in, out, errs, err
}

func (s *stubborn) free() { s.mu.Lock(); defer s.mu.Unlock(); _ = s.inner.Kill() }

// keepOpen copies r into a pipe that stays open after r has ended.
func keepOpen(r io.Reader) io.Reader {
	out, in := io.Pipe()
	go func() { _, _ = io.Copy(in, r) }()
	return out
}

func TestAProcessThatCannotBeKilledIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log journal
		starter := &stubborn{Process: sessiontest.Process{Scripts: sessiontest.Faults}}
		cfg := config(starter)
		cfg.Log = log.log
		s, err := session.Start(t.Context(), cfg)
		require.NoError(t, err)
		began := time.Now()
		_, err = s.Run(t.Context(), ps.Request{Script: "Wait-GatewayForever", Write: true, Limit: time.Second})
		assert.Equal(t, ps.KindTimeout, ps.AsError(err).Kind)
		assert.Equal(t, ps.OutcomeUnknown, ps.AsError(err).Outcome)
		assert.Less(t, time.Since(began), 20*time.Second)
		assert.Contains(t, log.text(), "could not be killed")
		assert.Contains(t, log.text(), "access denied")
		s.Kill()
		starter.free()
	})
}

func TestOutputsHeldOpenAreClosedOnOurSide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starter := &stubborn{Process: sessiontest.Process{Scripts: sessiontest.Faults}, open: true}
		s, err := session.Start(t.Context(), config(starter))
		require.NoError(t, err)
		began := time.Now()
		_, err = s.Run(t.Context(), ps.Request{Script: "Wait-GatewayForever", Limit: time.Second})
		assert.Equal(t, ps.KindTimeout, ps.AsError(err).Kind)
		assert.Less(t, time.Since(began), 10*time.Second)
		s.Kill()
	})
}

func TestAnExitIsNoticedThoughTheOutputStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starter := &stubborn{Process: sessiontest.Process{Scripts: sessiontest.Faults}, open: true}
		s, err := session.Start(t.Context(), config(starter))
		require.NoError(t, err)
		began := time.Now()
		_, err = s.Run(t.Context(), ps.Request{Script: "Stop-GatewayBefore", Limit: time.Hour})
		assert.Equal(t, ps.KindDied, ps.AsError(err).Kind)
		assert.Less(t, time.Since(began), 10*time.Second)
		s.Kill()
	})
}

func TestAProcessThatDoesNotReadIsKilledInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := session.Start(t.Context(), config(&deaf{after: 2}))
		require.NoError(t, err)
		_, err = s.Run(t.Context(), ps.Request{Script: "Get-GatewayNothing", Limit: time.Second})
		assert.Equal(t, ps.KindTimeout, ps.AsError(err).Kind)
		s.Kill()
	})
}

func TestAProcessThatDoesNotReadItsBootLineIsKilledInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := session.Start(t.Context(), config(&deaf{}))
		require.Error(t, err)
		assert.Equal(t, ps.KindUnavailable, ps.AsError(err).Kind)
		assert.Equal(t, patience, time.Since(began))
	})
}

// deaf is a process that reads a number of lines and then blocks until it is
// killed.
type deaf struct {
	sessiontest.Process
	after int
}

func (d *deaf) StartProcess(
	cmd string, args ...string,
) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	w, in, out, errs, err := d.Process.StartProcess(cmd, args...)
	ctx, cancel := context.WithCancel(context.Background())
	return w, &deafInput{WriteCloser: in.(io.WriteCloser), left: d.after, closed: ctx, close: cancel}, out, errs,
		err
}

type deafInput struct {
	io.WriteCloser
	left   int
	closed context.Context
	close  context.CancelFunc
}

func (d *deafInput) Write(p []byte) (int, error) {
	if d.left--; d.left >= 0 {
		return d.WriteCloser.Write(p)
	}
	<-d.closed.Done()
	return 0, io.ErrClosedPipe
}

func (d *deafInput) Close() error { d.close(); return d.WriteCloser.Close() }
