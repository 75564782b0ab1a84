package pool_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/ps"
	"adgateway/ps/pool"
)

// fake is a session whose scripts are Go functions.
type fake struct {
	maker *maker
	dead  chan struct{}
	once  sync.Once
	kill  context.Context
	stop  context.CancelFunc
	inUse atomic.Bool
	runs  atomic.Int64
	size  atomic.Int64

	notice  <-chan struct{} // of the maker
	watched atomic.Bool
}

func (f *fake) Run(ctx context.Context, req ps.Request) (*ps.Result, error) {
	if !f.inUse.CompareAndSwap(false, true) {
		f.maker.t.Error("two requests on one session")
	}
	defer f.inUse.Store(false)
	f.runs.Add(1)
	if f.kill.Err() != nil {
		return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeNone}
	}
	limited, cancel := context.WithTimeout(ctx, req.Limit)
	defer cancel()
	return f.maker.scripts[req.Script](limited, f, req)
}

func (f *fake) Probe(ctx context.Context) error {
	_, err := f.Run(ctx, ps.Request{Script: "Get-Probed", Limit: time.Hour})
	return err
}

func (f *fake) Close(ctx context.Context) error {
	if f.maker.hang {
		select {
		case <-f.dead:
		case <-ctx.Done():
			f.end()
		}
		return context.Cause(ctx)
	}
	f.end()
	f.maker.closed.Add(1)
	return nil
}

func (f *fake) Kill()                  { f.end() }
func (f *fake) Memory() (int64, error) { return f.size.Load(), nil }

// Dead returns the channel that end closes. If the maker has notice, the first caller, which is the pool's
// watcher of the session, gets that channel instead.
func (f *fake) Dead() <-chan struct{} {
	if f.notice != nil && f.watched.CompareAndSwap(false, true) {
		return f.notice
	}
	return f.dead
}

// end ends the session. As [pool.Session] demands, Dead is closed before a run fails.
func (f *fake) end() {
	f.once.Do(func() {
		close(f.dead)
		f.stop()
		f.maker.live.Add(-1)
	})
}

// died ends the session and returns the error of a process that has ended.
func (f *fake) died() error {
	f.end()
	return &ps.Error{Kind: ps.KindDied, Message: "gone"}
}

// maker starts fakes and counts them.
type maker struct {
	t       *testing.T
	start   func(ctx context.Context, n int64) error // if nil, every start succeeds
	scripts map[string]func(ctx context.Context, f *fake, req ps.Request) (*ps.Result, error)
	hang    bool          // sessions do not end when they are closed
	notice  chan struct{} // closed when the pool's watchers may learn of dead sessions; nil means at once

	starts, live, most, closed, probes atomic.Int64
	mu                                 sync.Mutex
	all                                []*fake
}

func (m *maker) Start(ctx context.Context) (pool.Session, error) {
	n := m.starts.Add(1)
	if m.start != nil {
		if err := m.start(ctx, n); err != nil {
			return nil, err
		}
	}
	now := m.live.Add(1)
	for {
		most := m.most.Load()
		if now <= most || m.most.CompareAndSwap(most, now) {
			break
		}
	}
	f := &fake{maker: m, dead: make(chan struct{}), notice: m.notice}
	f.kill, f.stop = context.WithCancel(context.Background())
	m.mu.Lock()
	m.all = append(m.all, f)
	m.mu.Unlock()
	return f, nil
}

func (m *maker) session(n int) *fake { m.mu.Lock(); defer m.mu.Unlock(); return m.all[n] }

func newMaker(t *testing.T) *maker {
	m := &maker{t: t}
	m.scripts = map[string]func(context.Context, *fake, ps.Request) (*ps.Result, error){
		"Get-Quick": func(context.Context, *fake, ps.Request) (*ps.Result, error) {
			return &ps.Result{Effect: ps.EffectNone}, nil
		},
		"Get-Probed": func(_ context.Context, f *fake, _ ps.Request) (*ps.Result, error) {
			f.maker.probes.Add(1)
			return &ps.Result{Effect: ps.EffectNone}, nil
		},
		"Get-Slow": func(ctx context.Context, f *fake, _ ps.Request) (*ps.Result, error) {
			select {
			case <-time.After(5 * time.Second):
				return &ps.Result{Effect: ps.EffectNone}, nil
			case <-f.kill.Done():
				return nil, &ps.Error{Kind: ps.KindDied}
			case <-ctx.Done():
				f.end()
				if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
					return nil, &ps.Error{Kind: ps.KindTimeout}
				}
				return nil, &ps.Error{Kind: ps.KindCancelled}
			}
		},
		"Get-Failing": func(context.Context, *fake, ps.Request) (*ps.Result, error) {
			return nil, &ps.Error{Kind: ps.KindScript, Gateway: "not_found"}
		},
		"Get-Dying": func(_ context.Context, f *fake, _ ps.Request) (*ps.Result, error) { return nil, f.died() },
		"Get-DyingOnce": func(_ context.Context, f *fake, _ ps.Request) (*ps.Result, error) {
			if f == f.maker.session(0) {
				return nil, f.died()
			}
			return &ps.Result{Effect: ps.EffectNone}, nil
		},
		"Get-DyingAfterRecords": func(_ context.Context, f *fake, req ps.Request) (*ps.Result, error) {
			if err := req.Records(json.RawMessage(`[{}]`)); err != nil {
				return nil, err
			}
			return nil, f.died()
		},
	}
	return m
}
