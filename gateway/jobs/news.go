package jobs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"adgateway/gateway/keep"
	"adgateway/gateway/schema/jobstate"
)

// Gateways that run jobs together tell each other what they have written in a log of the
// store. A line is a hint: what it is about is read from the store, and a gateway that has
// missed lines looks at everything.

const newsLog keep.Log = "jobnews"

const (
	newsKept   = time.Hour
	sweepEvery = time.Minute
	newsAgain  = time.Second // after the store could not be read
	newsBatch  = 500         // results that are written, and told, at a time
)

// told is a line of the news.
type told struct {
	keep.Formatted
	Job   string `json:"job"`
	By    string `json:"by"`              // gateway and incarnation
	Items []int  `json:"items,omitempty"` // of which the results were written
}

// self names this gateway and its incarnation.
func (m *Manager) self() string { return m.Cluster.Name() + "/" + m.Cluster.Incarnation() }

// news returns what tells the other gateways of a job; nothing if there are none.
func (m *Manager) news(job string, items []int) []keep.Change {
	if m.Cluster == nil {
		return nil
	}
	return []keep.Change{{Log: newsLog, Value: encode(m.store, told{Job: job, By: m.self(), Items: items}), Expires: m.store.Now().Add(newsKept)}}
}

// follow reads the news until ctx is done.
func (m *Manager) follow(ctx context.Context) {
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for missed := true; ctx.Err() == nil; {
		bell := m.store.Appends(newsLog) // taken before reading, so that nothing is missed
		if missed {
			m.sweep(ctx)
		}
		again := time.Duration(0)
		var err error
		if missed, err = m.hearAll(ctx); err != nil && ctx.Err() == nil {
			m.Log.WithError(err).Error("what other gateways do for jobs cannot be read; it is tried again")
			again = newsAgain
		}
		if missed {
			continue
		}
		if again > 0 {
			bell = nil
		}
		missed = m.awaitNews(ctx, bell, sweep.C, again)
	}
}

// awaitNews waits until there are news, and reports whether it is time for a sweep.
func (m *Manager) awaitNews(ctx context.Context, bell <-chan struct{}, sweep <-chan time.Time, again time.Duration) bool {
	var retry <-chan time.Time
	if again > 0 {
		timer := time.NewTimer(again)
		defer timer.Stop()
		retry = timer.C
	}
	select {
	case <-bell:
	case <-retry:
	case <-sweep:
		return true
	case <-ctx.Done():
	}
	return false
}

// hearAll reads the news that there are. missed says that some are not kept any more.
func (m *Manager) hearAll(ctx context.Context) (missed bool, err error) {
	items, heard := map[string][]int{}, m.heard
	err = m.store.Log(ctx, newsLog, heard, func(a keep.Appended) bool {
		heard = a.Position
		var line told
		if keep.Decode(m.store.Sealed, a.Value, &line) == nil && line.By != m.self() {
			items[line.Job] = append(items[line.Job], line.Items...)
		}
		return true
	})
	if errors.Is(err, keep.ErrPosition) {
		m.heard, err = m.store.End(ctx, newsLog)
		return err == nil, err
	}
	if err != nil {
		return false, err
	}
	for id, written := range items {
		if err = m.hear(ctx, id, written); err != nil {
			return false, err
		}
	}
	m.heard = heard
	return false, nil
}

// hear takes up what another gateway has written of a job.
func (m *Manager) hear(ctx context.Context, id string, items []int) error {
	r := m.runOf(id)
	if r == nil {
		_, err := m.adopt(ctx, id)
		return err
	}
	defer r.wakeUp()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.readItems(ctx, items); err != nil {
		return err
	}
	return r.readJob(ctx)
}

// sweep looks at all jobs, because news may have been missed.
func (m *Manager) sweep(ctx context.Context) {
	var open []*Job
	err := m.store.jobs(ctx, "", func(job *Job) bool {
		if !job.State.Ended() || m.runOf(job.ID) != nil {
			open = append(open, job)
		}
		return true
	})
	for _, job := range open {
		all := make([]int, job.Total)
		for i := range all {
			all[i] = i
		}
		err = errors.Join(err, m.hear(ctx, job.ID, all))
	}
	if err != nil && ctx.Err() == nil {
		m.Log.WithError(err).Error("the jobs of the store cannot be read; it is tried again")
	}
}

// adopt returns the run of a job that another gateway has added; nil if it has ended.
func (m *Manager) adopt(ctx context.Context, id string) (*run, error) {
	job, err := m.store.job(ctx, id)
	if errors.Is(err, ErrAbsent) || err == nil && job.State.Ended() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := m.load(ctx, job)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activate(r)
	return m.active[id], nil
}

// readJob takes up the job as the store has it, if it has changed. r.mu is held.
func (r *run) readJob(ctx context.Context) error {
	job, err := r.m.store.job(ctx, r.id)
	if err != nil || job.revision == r.job.revision {
		return err
	}
	before := r.job
	r.job, r.unsaved = *job, false
	switch {
	case job.Round != before.Round:
		if r.results, r.revisions, err = r.m.store.results(ctx, job); err == nil {
			err = r.readClaims(ctx)
		}
		clear(r.changed)
		clear(r.later)
		r.failures, r.pace = nil, pace{}
		r.recount()
	case job.State.Ended():
		r.job.Counts.Going = before.Counts.Going
		r.results, r.revisions, err = r.m.store.results(ctx, job) // news of some may be on their way
		clear(r.changed)
	default:
		r.job.Counts = before.Counts
	}
	if job.State != before.State {
		r.heldUntil, r.shared.why = time.Time{}, ""
	}
	r.notify()
	return err
}

// readItems takes up results that other gateways have written. r.mu is held.
func (r *run) readItems(ctx context.Context, items []int) error {
	for _, i := range items {
		if i >= len(r.results) || r.job.State.Ended() || r.changed[i] || r.results[i].State == jobstate.Going {
			continue // what it has itself is compared when it is written
		}
		if err := r.readItem(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// readItem takes up the result of an item, if it has changed. r.mu is held.
func (r *run) readItem(ctx context.Context, i int) error {
	result, revision, err := r.m.store.result(ctx, r.id, i)
	if errors.Is(err, ErrAbsent) || err == nil && revision == r.revisions[i] {
		return nil
	}
	if err != nil {
		return err
	}
	r.revisions[i] = revision
	delete(r.later, i)
	if before := r.results[i].State; before == jobstate.Waiting && result.State.Ended() {
		r.ended(i, result)
	} else {
		*r.job.Counts.of(before)--
		*r.job.Counts.of(result.State)++
		r.results[i] = result
	}
	return nil
}

// saveShared writes the results of this gateway, and then the job, if its state has
// changed. If another gateway was faster, what it has written counts. r.mu is held.
func (r *run) saveShared(ctx context.Context) {
	err := r.saveResults(ctx)
	if err == nil && r.unsaved {
		err = r.saveJob(ctx)
	}
	if err == nil {
		r.saveAt = time.Time{}
		return
	}
	r.saveAt = time.Now().Add(lookAgain)
	if ctx.Err() == nil {
		r.m.Log.WithError(err).WithField("job", r.id).Error("what became of items of a job cannot be kept; it is tried again")
	}
}

func (r *run) saveResults(ctx context.Context) error {
	for len(r.changed) > 0 {
		items := slices.Sorted(maps.Keys(r.changed))
		items = items[:min(len(items), newsBatch)]
		err := r.m.store.putSome(ctx, nil, r.m.news(r.id, items), &r.job, items, r.results, r.revisions)
		if errors.Is(err, keep.ErrConflict) {
			err = r.compare(ctx, items)
		} else if err == nil {
			for _, i := range items {
				delete(r.changed, i)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compare looks which of the items another gateway has written first, and takes that up.
func (r *run) compare(ctx context.Context, items []int) error {
	taken := 0
	for _, i := range items {
		before := r.revisions[i]
		if err := r.readItem(ctx, i); err != nil {
			return err
		}
		if r.revisions[i] != before {
			delete(r.changed, i)
			taken++
		}
	}
	r.shared.looked = time.Time{} // the units have another owner
	if taken == 0 {
		return errors.New("items of a job cannot be written, although nobody else has")
	}
	return nil
}

func (r *run) saveJob(ctx context.Context) error {
	own := keep.Change{Kind: jobKind, Key: r.id, Expect: r.job.revision, Value: encode(r.m.store, r.job), Expires: r.job.Expires}
	changes := append(r.m.entry(&r.job), r.m.news(r.id, nil)...)
	revision, err := r.m.store.Apply(ctx, append(changes, own)...)
	switch {
	case errors.Is(err, keep.ErrConflict):
		defer r.wakeUp() // to look at it as it is now
		return r.readJob(ctx)
	case err != nil:
		return err
	}
	r.job.revision, r.unsaved, r.won = revision, false, r.job.State.Ended()
	return nil
}

// part is what a gateway does for a job.
type part struct {
	keep.Formatted
	Gateway     string          `json:"gateway"`
	Incarnation string          `json:"incarnation"`
	Going       int             `json:"running"`
	Ended       int             `json:"ended"`         // items that it has run
	Why         jobstate.Reason `json:"why,omitempty"` // why it begins nothing

	revision keep.Revision
}

const partEvery = time.Second

// savePart writes what this gateway does for the job, once in a while, and returns when to
// do so again. r.mu is held.
func (r *run) savePart(ctx context.Context) time.Duration {
	s := r.shared
	p := part{
		Gateway: r.m.Cluster.Name(), Incarnation: r.m.Cluster.Incarnation(), Going: r.job.Counts.Going,
		Ended: s.ended, Why: s.why, revision: s.part.revision,
	}
	if p == s.part || p.Going == 0 && p.Ended == 0 && p.Why == "" && p.revision == keep.Absent {
		return lookAgain
	}
	if wait := time.Until(s.at.Add(partEvery)); wait > 0 && !r.job.State.Ended() {
		return wait
	}
	s.at = time.Now()
	name := r.id + "/" + p.Gateway
	revision, err := r.m.store.Apply(ctx, keep.Change{Kind: partKind, Key: name, Expect: p.revision, Value: encode(r.m.store, p), Expires: r.job.Expires})
	if errors.Is(err, keep.ErrConflict) { // of an earlier incarnation
		var earlier part
		e, err := r.m.store.Get(ctx, partKind, name)
		if err == nil && keep.Decode(r.m.store.Sealed, e.Value, &earlier) == nil { // a newer one stays
			s.part.revision = e.Revision
			s.ended += earlier.Ended
		}
		return partEvery
	}
	if err == nil { // else the others know a little less
		p.revision = revision
		s.part = p
	}
	return lookAgain
}

// parts returns what each gateway does for a job, or has done.
func (m *Manager) parts(ctx context.Context, job string) (all []part, err error) {
	var failed error
	err = m.store.Range(ctx, partKind, job+"/", func(e keep.Entry) bool {
		var p part
		if failed = keep.Decode(m.store.Sealed, e.Value, &p); failed == nil {
			all = append(all, p)
		}
		return failed == nil
	})
	return all, errors.Join(err, failed)
}
