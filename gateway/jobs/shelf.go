package jobs

import (
	"sync"
	"time"

	"adgateway/gateway/bounds"
)

// shelf counts the bytes of stored jobs, so no caller can fill the store. It is safe for concurrent
// use.
type shelf struct {
	most int64
	room *bounds.Room
	now  func() time.Time

	mu   sync.Mutex
	jobs map[string]*shelved // keyed by job id
}

// shelved is the space that a job takes.
type shelved struct {
	caller  Caller
	root    string
	bytes   int64
	expires time.Time
}

func newShelf(o *Options) *shelf {
	return &shelf{most: o.MaxStored, room: o.Room, now: o.Store.Now, jobs: map[string]*shelved{}}
}

// put counts a job without checking limits.
func (s *shelf) put(job *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[job.ID] = &shelved{caller: job.Caller, root: job.Root, bytes: job.Bytes, expires: job.Expires}
}

// take counts a new job, or returns an error if that would exceed a limit.
func (s *shelf) take(job *Job) error {
	share, short := s.room.Share(s.most)
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
	case callers+job.Bytes > share:
		return &bounds.Full{Row: bounds.Jobs, Own: true, Used: callers, Most: share, Room: short}
	case all+job.Bytes > s.most:
		return &bounds.Full{Row: bounds.Jobs, Used: all, Most: s.most}
	}
	s.jobs[job.ID] = &shelved{caller: job.Caller, root: job.Root, bytes: job.Bytes, expires: job.Expires}
	return nil
}

// remove stops counting a job, and reports whether no other job has the same root.
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

// others returns the ids of the other jobs with the same root as a job.
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

// clear drops all jobs.
func (s *shelf) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.jobs)
}

// Sizes in the store, in bytes. They allow for pages that are half full, and for the header and the key of
// each value.
const (
	pageShare  = 2
	aroundEach = 64
	ofAResult  = 1024 // outcome of an item, and the call with its key
	ofAJob     = 4 << 10
)
