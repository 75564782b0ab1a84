package cluster

import "time"

// Run is one change from its beginning to its end. Its methods are not safe for concurrent use.
type Run struct {
	m            *Member
	term         uint64
	limit        time.Duration
	sent, stored moment
	gone         time.Time // guarded by the member's mutex
}

// moment is a reading of both clocks of the process.
type moment struct{ steady, wall time.Time }

func (m *Member) now() moment { return moment{m.o.Now(), m.o.Wall().Round(0)} }

// within reports whether no more than most has passed since m, by both clocks.
func (m moment) within(most time.Duration, now moment) bool {
	return now.steady.Sub(m.steady) <= most && now.wall.Sub(m.wall) <= most
}

// Begin begins a change whose script may write for at most limit. It fails with [ErrNotLeader] if
// this gateway accepts no changes, or cannot store them now. The caller must call [Run.End].
func (m *Member) Begin(limit time.Duration) (*Run, error) {
	now := m.o.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.own == 0 || !m.accepts || m.draining || now.Sub(m.confirmed()) >= proofLasts {
		return nil, ErrNotLeader
	}
	r := &Run{m: m, term: m.own, limit: limit}
	m.runs[r] = true
	return r, nil
}

// Store calls store and returns its error. store must return nil only if the attempt is stored.
func (r *Run) Store(store func() error) error {
	r.sent, r.stored = r.m.now(), moment{}
	err := store()
	if err == nil {
		r.stored = r.m.now()
	}
	return err
}

// Go returns nil if the script may begin to write now. It fails with [ErrNotLeader] if the term of
// the run has ended, and with [ErrLate] if too much time has passed since the attempt was stored.
func (r *Run) Go() error {
	now := r.m.now()
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	switch {
	case r.m.own != r.term:
		return ErrNotLeader
	case !r.stored.within(goAfterStoring, now), !r.sent.within(goAfterSending, now):
		return ErrLate
	}
	r.gone = now.steady
	return nil
}

// End ends the run, whose script must have stopped writing. If the term of the run has ended, the
// caller must pass the result to [Member.Report].
func (r *Run) End() {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	delete(r.m.runs, r)
	r.m.notify()
}
