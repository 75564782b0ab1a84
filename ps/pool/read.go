package pool

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"adgateway/ps"
)

// read runs a request that ends with ctx. When ctx ends, read returns immediately, but the
// script gets a grace period to finish, because killing it costs a session.
func (l *lane) read(
	ctx context.Context, req ps.Request, run func(context.Context, ps.Request) (*ps.Result, error),
) (*ps.Result, bool, error) {
	gate := &gate{records: req.Records}
	req.Records = gate.pass
	running, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	type answer struct {
		result *ps.Result
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		result, err := run(running, req)
		stop(nil)
		answers <- answer{result, err}
	}()
	select {
	case a := <-answers:
		return a.result, gate.used(), a.err
	case <-ctx.Done():
	}
	gate.shut()
	select {
	case a := <-answers: // both are ready: prefer the answer
		if a.err == nil {
			return a.result, gate.used(), nil
		}
	default:
		timer := time.AfterFunc(l.pool.cfg.Grace, func() { stop(context.Cause(ctx)) })
		context.AfterFunc(running, func() { timer.Stop() })
	}
	return nil, gate.used(), left(ctx)
}

// A gate passes on records until it is shut.
type gate struct {
	records func(json.RawMessage) error
	mu      sync.Mutex
	closed  bool
	passed  bool
}

func (g *gate) pass(batch json.RawMessage) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil // discard the rest
	}
	g.passed = true
	if g.records == nil {
		return nil
	}
	return g.records(batch)
}

// shut waits until a record that is being passed on has been taken. No other follows.
func (g *gate) shut() { g.mu.Lock(); defer g.mu.Unlock(); g.closed = true }

func (g *gate) used() bool { g.mu.Lock(); defer g.mu.Unlock(); return g.passed }
