package jobs

import (
	"context"
	"slices"
	"time"

	"adgateway/gateway/schema/jobstate"
)

// pace counts the items that ended in each of the last seconds.
type pace struct {
	seconds [paceWindow]int
	last    int64 // second of the latest count
	first   int64 // second of the earliest count
}

const paceWindow = 60

func (p *pace) add(at time.Time) {
	p.forget(at.Unix())
	p.seconds[at.Unix()%paceWindow]++
}

// forget clears the seconds since the latest count.
func (p *pace) forget(second int64) {
	if p.first == 0 {
		p.first, p.last = second, second
	}
	for p.last < second && second-p.last <= paceWindow {
		p.last++
		p.seconds[p.last%paceWindow] = 0
	}
	if p.last < second {
		p.seconds, p.last = [paceWindow]int{}, second
	}
}

// rate returns the number of items per second, averaged over the last minute or since the first
// item.
func (p *pace) rate(at time.Time) float64 {
	if p.first == 0 {
		return 0
	}
	second := at.Unix()
	p.forget(second)
	sum := 0
	for _, n := range p.seconds {
		sum += n
	}
	return float64(sum) / float64(min(paceWindow, second-p.first+1))
}

// fewest is the minimum number of open items for an estimate of a job's remaining time.
const fewest = 20

// Progress is the progress of a job.
type Progress struct {
	Job
	Rate      float64        // items per second
	Remaining *time.Duration // nil if unknown
}

// Percent returns the percentage of items that have ended, rounded down. It is 0 for a rejected
// list.
func (p *Progress) Percent() int {
	if p.State == jobstate.Rejected {
		return 0
	}
	if p.Total == 0 {
		return 100
	}
	return (p.Total - p.Counts.Open()) * 100 / p.Total
}

// Progress returns the progress of a job. Its rate is only known while it runs.
func (m *Manager) Progress(ctx context.Context, id string) (*Progress, error) {
	job, err := m.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return m.ProgressOf(job), nil
}

// ProgressOf returns the progress of a job.
func (m *Manager) ProgressOf(job *Job) *Progress {
	p := &Progress{Job: *job}
	r := m.runOf(job.ID)
	if r == nil {
		return p
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p.Rate = r.pace.rate(time.Now())
	if open := p.Counts.Open(); open >= fewest && p.Rate > 0 && p.State == jobstate.Running {
		left := time.Duration(float64(open) / p.Rate * float64(time.Second)).Round(time.Second)
		p.Remaining = &left
	}
	return p
}

// snapshot returns a copy of the job.
func (r *run) snapshot() *Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	job := r.job
	return &job
}

// copyResults returns the results of the items from first up to but excluding last.
func (r *run) copyResults(first, last int) []Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.results[min(first, len(r.results)):min(last, len(r.results))])
}

// notify wakes everyone who watches the job. The caller holds r.mu.
func (r *run) notify() {
	for watcher := range r.watchers {
		select {
		case watcher <- struct{}{}:
		default: // a wake-up is already pending
		}
	}
}

// Watch follows a job. [Watch.Stop] must be called.
type Watch struct {
	// Changed receives a value after changes of the job. It is nil if the job had already ended. It is closed
	// when this gateway stops running jobs.
	Changed <-chan struct{}

	r       *run // nil if the job had already ended
	changed chan struct{}
	sent    int // number of failures that were returned
}

// Watch follows the further changes of a job.
func (m *Manager) Watch(id string) *Watch {
	r := m.runOf(id)
	if r == nil {
		return &Watch{}
	}
	w := &Watch{r: r, changed: make(chan struct{}, 1)}
	w.Changed = w.changed
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.abandoned {
		close(w.changed)
	} else {
		r.watchers[w.changed] = true
	}
	return w
}

// Stop ends the watch.
func (w *Watch) Stop() {
	if w.r != nil {
		w.r.mu.Lock()
		defer w.r.mu.Unlock()
		delete(w.r.watchers, w.changed)
	}
}

// Over reports whether this gateway no longer runs the job although it has not ended.
func (w *Watch) Over() bool {
	if w.r == nil {
		return false
	}
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	return w.r.abandoned && !w.r.job.State.Ended()
}

// Failure is an item that ended without success.
type Failure struct {
	*Spec
	Result
}

// Failures returns the items that ended without success since the gateway started, except those
// that were returned before.
func (w *Watch) Failures(ctx context.Context) ([]Failure, error) {
	if w.r == nil {
		return nil, nil
	}
	w.r.mu.Lock()
	places := slices.Clone(w.r.failures[min(w.sent, len(w.r.failures)):])
	failed := make([]Failure, len(places))
	for i, place := range places {
		failed[i].Result = w.r.results[place]
	}
	w.r.mu.Unlock()
	for i, place := range places {
		var err error
		if failed[i].Spec, err = w.r.m.store.spec(ctx, w.r.id, place); err != nil {
			return nil, err
		}
	}
	w.sent += len(failed)
	return failed, nil
}
