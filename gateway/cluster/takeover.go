package cluster

import (
	"context"
	"time"

	"adgateway/gateway/journal"
)

// Attempt is a change that has been stored but not closed.
type Attempt struct {
	ID      string
	Process journal.Process // process that runs its script
	Limit   time.Duration   // time limit of the script, from its first write on
}

// Attempts accesses the open changes in the store. Implementations must be safe for concurrent use.
type Attempts interface {
	// Open returns all open attempts.
	Open(ctx context.Context) ([]Attempt, error)

	// Lock locks everything that these attempts may still write to or use, until each of them is
	// closed: objects, names, plan, key, quota. It does not block. It is called at each takeover with
	// all open attempts.
	Lock(open []Attempt)

	// Judge determines the outcome of an attempt, and closes it by a batch that requires the attempt to be open.
	// It returns nil once the attempt is closed, no matter which gateway closed it. report is the report of the
	// attempt's gateway. It is nil if there is no report and the script can no longer write.
	Judge(ctx context.Context, a Attempt, report *Report) error

	// Raced stores a report next to the verdict of an attempt that was closed without the report. It does
	// nothing if the report is stored already, if the verdict is based on it, or if there is no such attempt.
	Raced(ctx context.Context, report Report) error
}

// openCase is this leader's work on an attempt of an earlier term.
type openCase struct {
	Attempt
	report *Report   // nil while there is none
	closed bool      // the report only has to be stored
	busy   bool      // being worked on
	next   time.Time // not before this time
}

// Report sends the outcome of a run whose term is over to the current leader, again and again until the
// leader has stored the report or this process ends.
func (m *Member) Report(report Report) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reports[report.Attempt] = report
	m.beaten = time.Time{}
}

// hearReport receives a report, which its sender repeats until it is acknowledged. The caller holds
// the mutex.
func (m *Member) hearReport(from journal.Process, report *Report) {
	if m.own == 0 || !m.accepts {
		return
	}
	c := m.cases[report.Attempt]
	switch {
	case c == nil:
		a := Attempt{ID: report.Attempt, Process: from}
		m.cases[a.ID] = &openCase{Attempt: a, report: report, closed: true}
	case c.Process == from && c.report == nil && !c.busy:
		c.report = report
	}
}

// takeOver locks the open attempts of earlier terms, lets this gateway accept changes, and judges
// each attempt when it is due, until ctx ends.
func (m *Member) takeOver(ctx context.Context, term uint64) {
	open, err := m.attempts.Open(ctx)
	for ; err != nil; open, err = m.attempts.Open(ctx) {
		if ctx.Err() != nil {
			return
		}
		m.o.Note("the open changes cannot be read", err)
		pause(ctx, retries)
	}
	m.attempts.Lock(open)
	m.mu.Lock()
	if m.own == term && ctx.Err() == nil {
		for _, a := range open {
			m.cases[a.ID] = &openCase{Attempt: a}
		}
		m.accepts = true
		m.notify()
	}
	m.mu.Unlock()
	for m.leads(ctx, term) {
		for _, c := range m.dueCases() {
			m.ended.Go(func() { m.settle(ctx, term, c) })
		}
		pause(ctx, ticking)
	}
}

// dueCases returns the cases that are due, and marks them as busy.
func (m *Member) dueCases() (due []*openCase) {
	now := m.o.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.cases {
		if !c.busy && !now.Before(c.next) && (c.report != nil || m.over(c.Attempt, now)) {
			c.busy = true
			due = append(due, c)
		}
	}
	return due
}

// over reports whether the script of an attempt can no longer write, because its process was
// replaced long enough ago, or all its limits have passed. The caller holds the mutex.
func (m *Member) over(a Attempt, now time.Time) bool {
	if now.Sub(m.acked) >= goAfterSending+a.Limit+killTakes+m.o.SettleDelay {
		return true
	}
	if a.Process.Gateway == m.o.Self.Gateway {
		return a.Process != m.o.Self && now.Sub(m.started) >= m.o.SettleDelay
	}
	g := m.gateways[a.Process.Gateway]
	return g != nil && g.alive(now) && g.process != a.Process && now.Sub(g.since) >= m.o.SettleDelay
}

// settle judges an attempt, or stores a report that arrived after the verdict.
func (m *Member) settle(ctx context.Context, term uint64, c *openCase) {
	var err error
	if c.closed {
		err = m.attempts.Raced(ctx, *c.report)
	} else {
		err = m.attempts.Judge(ctx, c.Attempt, c.report)
	}
	if err != nil && ctx.Err() == nil {
		m.o.Note("an open change could not be judged", err)
	}
	m.mu.Lock()
	if m.own != term {
		m.mu.Unlock()
		return
	}
	if err != nil {
		c.busy, c.next = false, m.o.Now().Add(retries)
		m.mu.Unlock()
		return
	}
	delete(m.cases, c.ID)
	m.notify()
	var stored Message
	switch {
	case c.report == nil:
	case c.Process == m.o.Self:
		delete(m.reports, c.ID)
	default:
		stored = m.message(Message{To: c.Process.Gateway, Stored: c.ID})
	}
	m.mu.Unlock()
	if stored.Stored != "" {
		m.o.Peers.Send(stored)
	}
}
