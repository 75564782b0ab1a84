package gateway

import (
	"context"
	"fmt"
)

// In a cluster with a single writer, the leading gateway makes all changes, like a gateway without a cluster.
// A script may begin to write only if its gateway is certain to lead and has just stored the announcement.
// When the gateway's term ends, running scripts continue to their end. The next leader keeps their objects
// locked until it learns how they ended, or until they can no longer write.

// clustered reports whether this gateway is in a cluster.
func (s *Server) clustered() bool { return s.Member != nil }

// RunMember runs the background work of a cluster member until ctx ends. In each term of this
// gateway it also calls the functions in leading, with a context that ends with the term, and waits
// until all of them have returned before the next term.
func (s *Server) RunMember(ctx context.Context, leading ...func(ctx context.Context)) {
	s.calls.Writer.RunMember(ctx, append([]func(context.Context){s.runJobsOfTerm}, leading...)...)
}

// load reads the values that the gateway holds in memory again, because other leaders may have
// changed them.
func (s *Server) load(ctx context.Context) error {
	s.calls.Keys.Forget()
	if err := s.calls.Plans.Load(ctx); err != nil {
		return fmt.Errorf("plans: %w", err)
	}
	return s.jobs.Load(ctx)
}

// runJobsOfTerm runs jobs until the term ends. By the time it begins, most open changes of earlier terms are
// judged, so items that have made such a change need not be called twice.
func (s *Server) runJobsOfTerm(ctx context.Context) {
	if s.here.WaitJudged(ctx) {
		s.RunJobs(ctx)
	}
}
