package write

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// A change stays open if its outcome is unknown because its objects could not be read when its run was
// interrupted or when the gateway was restarted. For up to a minute, the objects stay locked so that later
// changes do not distort the verdict. When they are unlocked, the beginning of the next change of one of
// these objects closes the open change as unknown.

// doubt is an open change whose run has ended, or whose end is awaited.
type doubt struct {
	id    string
	locks []lock
	hold  *hold     // nil if the objects are not locked
	next  time.Time // time of the next attempt to judge it

	// whether its run of an earlier term may still write, and so must end before the change is judged
	awaited bool
	own     bool // its run was in this process
}

// doubts holds the changes in doubt. It is safe for concurrent use.
type doubts struct {
	mu  sync.Mutex
	all map[string]*doubt // by id of the change
}

// mostLocked limits how long a change in doubt keeps its objects locked. It is also the interval
// between attempts to judge it.
const mostLocked = time.Minute

// add adds a change that is in doubt. h is its hold of the objects, or nil if they are not locked.
func (d *doubts) add(id string, of []lock, h *hold) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all[id] = &doubt{id: id, locks: of, hold: h, next: time.Now().Add(mostLocked), own: true}
}

// await adds an open change of an earlier term whose run may still write.
func (d *doubts) await(id string, of []lock) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all[id] = &doubt{id: id, locks: of, awaited: true}
}

// lock records the hold of a change's objects. It returns false if the change is no longer in
// doubt.
func (d *doubts) lock(id string, h *hold) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.all[id]
	if one != nil {
		one.hold = h
	}
	return one != nil
}

// judged records an attempt to judge a change whose run has ended.
func (d *doubts) judged(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if one := d.all[id]; one != nil && one.awaited {
		one.awaited, one.next = false, time.Now().Add(mostLocked)
	}
}

// awaits reports whether a change's run of an earlier term may still write.
func (d *doubts) awaits(id string) bool {
	return len(d.which(func(one *doubt) bool { return one.id == id && one.awaited })) > 0
}

// Awaits reports whether a change's run of an earlier term may still write. Such a change must not
// be settled.
func (w *Writer) Awaits(id string) bool { return w.doubts.awaits(id) }

// end removes a change that was closed, and unlocks its objects.
func (d *doubts) end(id string) {
	d.mu.Lock()
	one := d.all[id]
	delete(d.all, id)
	d.mu.Unlock()
	if one != nil && one.hold != nil {
		one.hold.end()
	}
}

// unlock unlocks the objects of a change that stays in doubt. The change is judged again later.
func (d *doubts) unlock(id string) {
	d.mu.Lock()
	var h *hold
	if one := d.all[id]; one != nil {
		h, one.hold, one.next = one.hold, nil, time.Now().Add(mostLocked)
	}
	d.mu.Unlock()
	if h != nil {
		h.end()
	}
}

// which returns the ids of the changes for which is returns true.
func (d *doubts) which(is func(*doubt) bool) (ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, one := range d.all {
		if is(one) {
			ids = append(ids, id)
		}
	}
	return ids
}

// lockLeft locks the objects of the changes that an earlier process has left open, before the first call.
// Changes of earlier versions, for which the store has no such note, are locked by [Writer.SettleHistory].
func (w *Writer) lockLeft(ctx context.Context) error {
	if w.History == nil || w.Member != nil {
		return nil
	}
	err := w.evidence.noteBefore(ctx)
	for id := range w.evidence.before {
		if c, unread := w.History.Get(ctx, id); unread == nil && c.Running {
			w.lockOpen(c)
		}
	}
	return err
}

// lockOpen locks the objects of a change that an earlier process has left open, so that it is not
// judged by the writes of later changes.
func (w *Writer) lockOpen(c *changes.Record) {
	op := w.operation(c.Operation)
	if op == nil || len(w.doubts.which(func(d *doubt) bool { return d.id == c.ID })) > 0 {
		return
	}
	h, wanted := w.locks.begin(), locksOf(op, c.Zone, &c.Intent)
	if h.claim(wanted) != nil { // another change has locked an object already
		h.end()
		h = nil
	}
	w.doubts.add(c.ID, wanted, h)
}

// lockAwaited locks the objects of an open change of an earlier term until it is judged.
func (w *Writer) lockAwaited(c *changes.Record) {
	var wanted []lock
	if op := w.operation(c.Operation); op != nil {
		wanted = locksOf(op, c.Zone, &c.Intent)
	}
	w.doubts.await(c.ID, wanted)
	h := w.locks.begin()
	if h.claim(wanted) == nil {
		if !w.doubts.lock(c.ID, h) {
			h.end()
		}
		return
	}
	go func() { // a call of an earlier term in this process still holds the objects
		if h.wait(w.Stopping) != nil || !w.doubts.lock(c.ID, h) {
			h.end()
		}
	}()
}

// handOverDoubts leaves the changes in doubt to the next leader, and unlocks their objects.
func (w *Writer) handOverDoubts() {
	own := w.doubts.which(func(d *doubt) bool { return d.own })
	for _, id := range w.doubts.which(func(*doubt) bool { return true }) {
		if slices.Contains(own, id) {
			w.tell(id, ending{})
		}
		w.doubts.end(id)
	}
}

// settleDoubts tries again to settle the changes that have been in doubt for long enough, and
// unlocks the objects of those that cannot be settled yet.
func (w *Writer) settleDoubts(ctx context.Context) (err error) {
	now := time.Now()
	for _, id := range w.doubts.which(func(d *doubt) bool { return !d.awaited && !now.Before(d.next) }) {
		c, wrong := w.History.Get(ctx, id)
		switch {
		case errors.Is(wrong, changes.ErrAbsent), wrong == nil && !c.Running:
			w.doubts.end(id)
			continue
		case wrong == nil:
			_, wrong = w.Settle(ctx, true, c, cmp.Or(w.gateway(), "gateway"))
		}
		w.doubts.unlock(id)
		err = errors.Join(err, wrong)
	}
	return err
}

// awaitedBefore returns the refusal of a change whose objects may still be written by a change of an earlier
// term.
func awaitedBefore() error {
	failed := problem.New(schema.InProgress, "The outcome of an earlier change is being determined of the "+
		"object. Nothing was changed. Send it again.")
	failed.RetryAfter = 5 * time.Second
	return failed
}

// doubtsPart closes earlier in-doubt changes as unknown when a change of the same objects begins.
type doubtsPart struct {
	w     *Writer
	ids   []string
	waits bool // the run of one of them may still write
}

// doubtsAbout returns the part for the in-doubt changes of a change's objects, or nil if there are
// none.
func (w *Writer) doubtsAbout(r *Run) *doubtsPart {
	p := &doubtsPart{w: w}
	p.ids = w.doubts.which(func(d *doubt) bool {
		meets := d.hold == nil && slices.ContainsFunc(d.locks, r.hold.excludes)
		p.waits = p.waits || meets && d.awaited
		return meets
	})
	if len(p.ids) == 0 {
		return nil
	}
	return p
}

func (p *doubtsPart) Begin(tx *store.Tx, _ *Attempt) error {
	if p.waits {
		return awaitedBefore()
	}
	for _, id := range p.ids {
		c, err := p.w.History.Find(tx, id)
		if errors.Is(err, changes.ErrAbsent) || err == nil && !c.Running {
			continue
		}
		if err != nil {
			return err
		}
		e := &End{Verdict: Verdict{Outcome: ps.OutcomeUnknown}}
		if err = p.w.endChange(tx, c, e); err != nil {
			return err
		}
	}
	return nil
}

func (p *doubtsPart) Begun() {
	for _, id := range p.ids {
		p.w.doubts.end(id)
	}
}
