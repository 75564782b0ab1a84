package gateway

import (
	"context"
	"sync"
	"time"

	"adgateway/gateway/every"
)

const (
	linesEvery = time.Minute     // how often missing lines of the audit are looked for
	judgedFor  = 5 * time.Second // as long as jobs wait for the open changes of earlier terms
)

// RunMember does what a member of a cluster of one writer has to do beside its calls, until
// ctx ends. In each term of this gateway it also calls what only the leader does, with a
// context that ends with the term, and waits until all that has returned before the next term.
func (s *Server) RunMember(ctx context.Context, leading ...func(ctx context.Context)) {
	var ended sync.WaitGroup
	defer ended.Wait()
	ended.Go(func() { every.Do(ctx, closingEvery, func() { s.leaveTidy(ctx) }) })
	ended.Go(func() {
		every.Do(ctx, linesEvery, func() {
			if err := s.recordDue(ctx); err != nil && ctx.Err() == nil {
				s.Log.WithError(err).
					Warn("lines of the audit that an earlier process has left due could not be written yet")
			}
		})
	})
	leading = append([]func(context.Context){s.RunClosing, s.runJobsOfTerm, s.measureHistory}, leading...)
	for {
		changed := s.Member.Changed()
		if term, leads := s.Member.Leads(); leads {
			s.runTerm(ctx, term, leading)
			s.handOverDoubts()
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// runTerm calls what only the leader does until a term is over.
func (s *Server) runTerm(ctx context.Context, term uint64, leading []func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, run := range leading {
		running.Go(func() { run(ctx) })
	}
	for over := false; !over; {
		changed := s.Member.Changed()
		if own, _ := s.Member.Leads(); own != term {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			over = true
		}
	}
	cancel()
	running.Wait()
}

// leaveTidy does what a gateway must that has led before.
func (s *Server) leaveTidy(ctx context.Context) {
	if term, _ := s.Member.Leads(); term != 0 {
		return // RunClosing does more
	}
	s.handOverDoubts()
	if err := s.removePaid(ctx); err != nil && ctx.Err() == nil {
		s.Log.WithError(err).Debug("notes of lines of the audit could not be removed yet")
	}
}

// runJobsOfTerm runs jobs until the term is over. Most open changes of earlier terms are judged
// by then, so that items that have made one need not be called twice.
func (s *Server) runJobsOfTerm(ctx context.Context) {
	limit := time.NewTimer(judgedFor)
	defer limit.Stop()
	for waits := true; waits; {
		changed := s.Member.Changed()
		if s.Member.Status().Open == 0 {
			break
		}
		select {
		case <-changed:
		case <-limit.C:
			waits = false
		case <-ctx.Done():
			return
		}
	}
	s.RunJobs(ctx)
}

// measureHistory finds out how large the history is, which others have added to.
func (s *Server) measureHistory(ctx context.Context) {
	if err := s.History.Measure(ctx); err != nil && ctx.Err() == nil {
		s.Log.WithError(err).Warn("the size of the history could not be read")
	}
}
