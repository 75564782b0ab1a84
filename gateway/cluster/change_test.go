package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stretchr/testify/assert"
)

// write stores a step if allowed returns true. Nothing else is stored while allowed runs.
func (p *process) write(s step, allowed func() bool) error {
	select {
	case p.writer <- struct{}{}:
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
	defer func() { <-p.writer }()
	if !allowed() {
		return errNotAllowed
	}
	batch, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = p.m.Append(p.ctx, batch, p.m.o.Clock.Now())
	return err
}

var errNotAllowed = errors.New("the store has something else")

func always() bool { return true }

// isOpen reports whether an attempt is open in the store of the process.
func (p *process) isOpen(id string) bool {
	a := p.h.disk.attempt(id)
	return a != nil && a.verdict == ""
}

// lock locks an object for an attempt, and reports whether it was free.
func (p *process) lock(object, id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.locks[object] != "" {
		return false
	}
	for _, a := range p.foreign {
		if k := p.h.disk.attempt(a.ID); k != nil && k.Object == object && k.verdict == "" {
			return false
		}
	}
	p.locks[object] = id
	return true
}

func (p *process) unlock(object string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.locks, object)
}

// Reasons why a change failed.
var (
	errBusy    = errors.New("the object is locked")
	errUnknown = errors.New("another gateway judges the change")
)

// change makes a change of an object, whose script starts to write after the given time. It returns a nil
// error if the change was made and the caller knows it.
func (p *process) change(object string, takes time.Duration) (id string, err error) {
	return p.changeOf(object, takes, nil)
}

// changeOf is like change, but sends the id of the attempt when its script may write.
func (p *process) changeOf(object string, takes time.Duration, writes chan<- string) (id string, err error) {
	p.ended.Add(1)
	defer p.ended.Done()
	w := p.h.w
	w.mu.Lock()
	w.ids++
	id = fmt.Sprintf("%s-%d", p.self.Start, w.ids)
	w.mu.Unlock()
	const limit = 15 * time.Second
	run, err := p.m.Begin(limit)
	if err != nil {
		return id, err
	}
	defer run.End()
	if !p.lock(object, id) {
		return id, errBusy
	}
	defer p.unlock(object)
	err = run.Store(func() error {
		return p.write(step{Attempt: id, Do: "open", Object: object, Process: p.self, Limit: limit}, always)
	})
	if err != nil {
		return id, err
	}
	p.h.pass()
	result := "none"
	if p.m.now(); run.Go() == nil {
		p.mayWrite(object, id)
		if writes != nil {
			writes <- id
		}
		for end := time.Now().Add(takes); time.Now().Before(end); p.h.pass() {
			pause(p.ctx, time.Until(end))
			if p.ctx.Err() != nil {
				return id, p.ctx.Err() // the process was killed
			}
		}
		w.mu.Lock()
		w.opened[id].wrote = time.Now()
		w.mu.Unlock()
		result = "done"
	}
	err = p.write(step{Attempt: id, Do: "close", How: result}, func() bool { return p.isOpen(id) })
	switch {
	case err == nil && result == "done":
		w.mu.Lock()
		w.acked = append(w.acked, id)
		w.mu.Unlock()
		return id, nil
	case err == nil:
		return id, ErrLate
	case p.ctx.Err() == nil:
		p.m.Report(Report{Attempt: id, Result: []byte(result)})
	}
	return id, errUnknown
}

// mayWrite checks that a script may begin to write.
func (p *process) mayWrite(object, id string) {
	w := p.h.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if !p.h.stoodStill() {
		assert.Equal(w.t, id, w.open[object], "script of %s writes to %s", id, object)
	}
}

// takes decrements a counter, and reports whether it was positive.
func (p *process) takes(n *int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	*n--
	if *n < 0 {
		*n = 0
		return false
	}
	return true
}

// attempts implements Attempts with the changes of a process.
type attempts struct{ p *process }

func (a attempts) Open(context.Context) (open []Attempt, err error) {
	if a.p.takes(&a.p.opens) {
		return nil, errNotAllowed
	}
	d := a.p.h.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, k := range d.attempts {
		if k.verdict == "" {
			open = append(open, Attempt{ID: id, Process: k.Process, Limit: k.Limit})
		}
	}
	return open, nil
}

func (a attempts) Lock(open []Attempt) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.p.foreign = open
}

func (a attempts) Judge(ctx context.Context, attempt Attempt, report *Report) error {
	pause(ctx, a.p.judging)
	if a.p.takes(&a.p.fails) {
		return errNotAllowed
	}
	how := "judged"
	if report != nil {
		how = string(report.Result)
	}
	if !a.p.isOpen(attempt.ID) {
		return nil
	}
	closes := step{Attempt: attempt.ID, Do: "close", How: how}
	err := a.p.write(closes, func() bool { return a.p.isOpen(attempt.ID) })
	if errors.Is(err, errNotAllowed) {
		return nil
	}
	return err
}

func (a attempts) Raced(_ context.Context, r Report) error {
	k := a.p.h.disk.attempt(r.Attempt)
	if k == nil || k.verdict != "judged" || len(k.raced) > 0 {
		return nil
	}
	return a.p.write(step{Attempt: r.Attempt, Do: "raced", How: string(r.Result)}, always)
}

// formats implements Formats on the disk of the process only.
type formats struct{ p *process }

func (f formats) Seen() map[string]Seen {
	d := f.p.h.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := make(map[string]Seen, len(d.seen))
	for name, s := range d.seen {
		seen[name] = s
	}
	return seen
}

func (f formats) See(_ context.Context, gateway string, s Seen) error {
	d := f.p.h.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[gateway] = s
	return nil
}
