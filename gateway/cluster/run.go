package cluster

import "time"

// Run is one change from its beginning to its end. Its methods must not be called concurrently.
type Run struct {
	m            *Member
	term         uint64
	limit        time.Duration
	sent, stored moment
	gone         time.Time // guarded by the mutex of the member
}

// moment is a reading of both clocks of the process.
type moment struct{ steady, wall time.Time }

func (m *Member) now() moment { return moment{m.o.Now(), m.o.Wall().Round(0)} }

// within reports whether the time since m is at most most, by both clocks.
func (m moment) within(most time.Duration, now moment) bool {
	return now.steady.Sub(m.steady) <= most && now.wall.Sub(m.wall) <= most
}

// Begin begins a change whose script may write for at most the limit. It fails with [ErrNotLeader]
// if this gateway accepts no changes, or cannot store them now. The caller must end the run.
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

// Store calls store, which must return nil when the attempt is stored, and returns its error.
func (r *Run) Store(store func() error) error {
	r.sent, r.stored = r.m.now(), moment{}
	err := store()
	if err == nil {
		r.stored = r.m.now()
	}
	return err
}

// Go returns nil if the script may begin to write now. It fails with [ErrNotLeader] if the term of
// the run has ended, and with [ErrLate] if the attempt was stored too long ago.
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

// End ends the run: its script has stopped writing. If the term of the run has ended, the caller
// passes the result to [Member.Report].
func (r *Run) End() {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	delete(r.m.runs, r)
	r.m.notify()
}
