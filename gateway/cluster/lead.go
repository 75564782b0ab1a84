package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"adgateway/gateway/journal"
	"adgateway/gateway/store"
)

// lead leads until the term of this gateway ends.
func (m *Member) lead(ctx context.Context) {
	ctx, cancel := m.enter(ctx, leading)
	defer cancel()
	m.mu.Lock()
	term := m.own
	m.mu.Unlock()
	m.o.Note("this gateway leads", nil)
	m.ended.Go(func() { m.takeOver(ctx, term) })
	var followed sync.WaitGroup
	defer func() { cancel(); followed.Wait() }()
	followed.Go(func() { m.follow(ctx, nil) }) // a term begun by another process ends this one
	for m.leads(ctx, term) {
		if m.touchDue() {
			if err := m.o.Touch(ctx); err != nil && ctx.Err() == nil {
				m.failed("the log cannot be written", err)
			}
		}
		m.setClock()
		m.keepFormats(ctx)
		pause(ctx, ticking)
	}
	m.o.Note("this gateway does not lead any more", nil)
}

// leads reports whether this gateway still leads in a term.
func (m *Member) leads(ctx context.Context, term uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return ctx.Err() == nil && term != 0 && m.own == term
}

// touchDue reports whether an empty entry is due, because nothing was appended for a while.
func (m *Member) touchDue() bool {
	now := m.o.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	return now.Sub(m.touched) >= proofEvery
}

// Append appends an entry in the term of this gateway, and returns its position once it is stored.
// It fails with [ErrNotLeader], and sends nothing, if this gateway does not lead. For its other
// errors see [journal.Log.Append].
func (m *Member) Append(ctx context.Context, batch []byte, at time.Time) (store.Point, error) {
	sent := m.o.Now()
	m.mu.Lock()
	term, log := m.own, m.log
	m.touched = sent
	m.mu.Unlock()
	if term == 0 {
		return store.Point{}, ErrNotLeader
	}
	point, err := log.Append(ctx, batch, at)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.own != term:
	case errors.Is(err, journal.ErrDeposed):
		m.stepDown()
	case err == nil:
		if sent.After(m.sent) {
			m.sent = sent
		}
		m.fault = nil
		m.notify()
	}
	return point, err
}

// Leads returns the term in which this gateway leads, and reports whether it is certain to lead. If
// so, its memory and its store have the latest state.
func (m *Member) Leads() (term uint64, ok bool) {
	now := m.o.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.own, m.own != 0 && m.accepts && now.Sub(m.sent) < proofLasts
}
