package gateway

import (
	"errors"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/cluster"
	"adgateway/gateway/journal"
	"adgateway/gateway/keep"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// In a cluster of one writer the gateway that leads makes all changes, as one that is alone
// does. A script may begin to write only while the gateway leads for certain, and its
// announcement was stored just now. When the term of the gateway ends, the scripts that run
// go on to their end; the next leader keeps their objects locked until it is told how they
// have ended, or they cannot write any more.

// clustered reports whether this gateway is in a cluster.
func (s *Server) clustered() bool { return s.Member != nil }

// How long a script may write from when it was allowed to.
const (
	writeLimit    = 15 * time.Second
	writeLimitFor = 100 * time.Millisecond // more for each object
)

// writeLimitOf returns how long the script that has announced a change may write.
func writeLimitOf(i ps.Intent) time.Duration {
	return writeLimit + time.Duration(len(i.Objects))*writeLimitFor
}

// mostStoring is how long it is tried to store what a script is about to change. Later it could
// not begin anyway.
const mostStoring = 5 * time.Second

// process returns the process that runs the scripts of this gateway; zero for one that is alone.
func (s *Server) process() journal.Process {
	if s.Member == nil {
		return journal.Process{}
	}
	return s.Member.Self()
}

// beginRun begins a run of the script of a change. It ends the run before, which has changed
// nothing.
func (s *Server) beginRun(r *request, limit time.Duration) error {
	if s.Member == nil {
		return nil
	}
	r.endRun()
	term, _ := s.Member.Leads()
	most := writeLimit + time.Duration(r.policy.BulkLimit)*writeLimitFor
	run, err := s.Member.Begin(max(limit, most))
	if err != nil {
		return stoppedBy(ps.KindStopped, notLeading(err))
	}
	r.run, r.term = run, term
	return nil
}

// endRun notes that the script of a change does not write any more, and that what became of the
// change is stored, or will be by another gateway.
func (r *request) endRun() {
	if r.run != nil {
		r.run.End()
		r.run = nil
	}
}

// stored stores what a script is about to change.
func (r *request) stored(store func() error) error {
	if r.run == nil {
		return store()
	}
	return r.run.Store(store)
}

// mayWrite refuses a change that a member of a cluster must not let begin any more.
func (s *Server) mayWrite(r *request) error {
	err := r.run.Go()
	if err == nil {
		return nil
	}
	s.Log.WithError(err).WithFields(logrus.Fields{"request_id": r.id, "operation": r.op.ID}).
		Warn("a change was stopped before it began")
	return notLeading(err)
}

// deposed reports whether the term is over in which a change was begun.
func (s *Server) deposed(r *request) bool {
	if s.Member == nil || r.term == 0 {
		return false
	}
	term, _ := s.Member.Leads()
	return term != r.term
}

// notLeading returns the refusal of a change that a member of a cluster could not begin, or not
// store.
func notLeading(err error) error {
	failed := problem.New(schema.NotLeader, "This gateway does not lead the cluster, or not any more, "+
		"so that nothing was changed. Send it again.")
	switch {
	case errors.Is(err, cluster.ErrLate):
		failed = problem.New(schema.Unavailable, "The host of the gateway stood still while the change was prepared, "+
			"so that it was not begun. Send it again.")
	case errors.Is(err, cluster.ErrNotLeader), errors.Is(err, keep.ErrFollows), errors.Is(err, keep.ErrNotSent):
	default:
		return clusterUnavailable(err)
	}
	failed.RetryAfter, failed.Cause = time.Second, err
	return failed
}
