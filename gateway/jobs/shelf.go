package jobs

import (
	"sync"
	"time"

	"adgateway/gateway/bounds"
)

// shelf knows how much the jobs that are kept take in the store, so that none of their callers fills
// it. It is safe for concurrent use.
type shelf struct {
	most int64
	room *bounds.Room
	now  func() time.Time

	mu   sync.Mutex
	jobs map[string]*shelved // by identity of the job
}

// shelved is the room that a job takes.
type shelved struct {
	caller  Caller
	root    string
	bytes   int64
	expires time.Time
}

func newShelf(o *Options) *shelf {
	return &shelf{most: o.MaxStored, room: o.Room, now: o.Store.Now, jobs: map[string]*shelved{}}
}

// put gives a job room, without asking whether there is any.
func (s *shelf) put(job *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[job.ID] = &shelved{caller: job.Caller, root: job.Root, bytes: job.Bytes, expires: job.Expires}
}

// take gives a new job room, or returns why it gets none.
func (s *shelf) take(job *Job) error {
	own, short := s.room.Share(s.most)
	s.mu.Lock()
	defer s.mu.Unlock()
	var all, callers int64
	now := s.now()
	for id, other := range s.jobs {
		if !now.Before(other.expires) {
			delete(s.jobs, id)
			continue
		}
		all += other.bytes
		if other.caller == job.Caller {
			callers += other.bytes
		}
	}
	switch {
	case callers+job.Bytes > own:
		return &bounds.Full{Row: bounds.Jobs, Own: true, Used: callers, Most: own, Room: short}
	case all+job.Bytes > s.most:
		return &bounds.Full{Row: bounds.Jobs, Used: all, Most: s.most}
	}
	s.jobs[job.ID] = &shelved{caller: job.Caller, root: job.Root, bytes: job.Bytes, expires: job.Expires}
	return nil
}

// remove takes back the room of a job, and reports whether no other job has its root.
func (s *shelf) remove(job *Job) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs, job.ID)
	for _, other := range s.jobs {
		if other.root == job.Root {
			return false
		}
	}
	return true
}

// others returns the other jobs that have the root of a job.
func (s *shelf) others(job *Job) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, other := range s.jobs {
		if id != job.ID && other.root == job.Root {
			ids = append(ids, id)
		}
	}
	return ids
}

// clear forgets all jobs.
func (s *shelf) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.jobs)
}

// Bytes of the store: a page of it is half full after values were added in their order, and each
// value has a header and a key.
const (
	pageShare  = 2
	aroundEach = 64
	ofAResult  = 1024 // the outcome of an item, and the call with its key
	ofAJob     = 4 << 10
)
