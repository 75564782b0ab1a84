package history

import (
	"context"
	"strings"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// RunIndexing makes searches for an object or a caller read only a part of the history, until ctx
// is done. In a cluster only the leader may run it: the index learns of what this gateway saves.
// It calls failed with each error.
func (s *Service) RunIndexing(ctx context.Context, failed func(error)) {
	if s.History == nil {
		return
	}
	defer s.index.clear()
	for {
		if err := s.extendIndex(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		}
		select {
		case <-s.index.due:
		case <-ctx.Done():
			return
		}
	}
}

// extendIndex covers the changes that are newer than those that are covered.
func (s *Service) extendIndex(ctx context.Context) error {
	last := s.index.begin()
	var read []terms
	err := s.History.Newest(ctx, time.Time{}, "", func(c *changes.Record) bool {
		if c.ID <= last || ctx.Err() != nil {
			return false
		}
		read = append(read, s.termsOf(c))
		return true
	})
	oldest := ""
	if err == nil {
		oldest, err = s.History.Oldest(ctx)
	}
	if err != nil || ctx.Err() != nil {
		read = nil
	}
	s.index.end(read, oldest)
	return err
}

// The terms of objects, of their paths, and of callers are different ones.
const (
	objectTerm = "object "
	pathTerm   = "path "
	callerTerm = "caller "
)

// termsOf returns what a change can be found by.
func (s *Service) termsOf(c *changes.Record) terms {
	who := c.Who()
	texts := []string{callerTerm + who.Name, callerTerm + who.Identity().ID}
	if p, known := s.pastOf(c); known { // no other is found
		for _, name := range p.names() {
			texts = append(texts, objectTerm+name)
			if account, isComputer := strings.CutSuffix(name, "$"); isComputer {
				texts = append(texts, objectTerm+account)
			}
			if path, ok := schema.ParsePath(name); ok {
				texts = append(texts, pathTerm+strings.Join(path, "\x00"))
			}
		}
	}
	return terms{c.ID, s.index.sums(texts)}
}

// wanted returns what a call looks for by the filters that the index knows. The filters decide as
// [past.isAbout] and [identity.Reference] do.
func (s *Service) wanted(b *ops.Bound) (w wanted) {
	if name := b.Text("Object"); name != "" {
		name = strings.Trim(name, "{}")
		texts := []string{objectTerm + name, objectTerm + strings.TrimSuffix(name, ".")}
		for _, text := range []string{name, strings.TrimSuffix(name, ".")} {
			if path, ok := schema.ParsePath(text); ok {
				texts = append(texts, pathTerm+strings.Join(path, "\x00"))
			}
		}
		w = append(w, s.index.sums(texts))
	}
	if caller := b.Text(ops.CallerName); caller != "" {
		if i := strings.LastIndex(caller, ":"); i >= 0 { // names and ids have no colons
			caller = caller[i+1:]
		}
		w = append(w, s.index.sums([]string{callerTerm + caller}))
	}
	return w
}

// newest is [changes.History.Newest] for the changes that may have what is wanted.
func (s *Service) newest(
	ctx context.Context, until time.Time, before string, w wanted, visit func(*changes.Record) bool,
) error {
	for _, span := range s.index.spans(before, w) {
		more := true
		err := s.History.Newest(ctx, until, span.before, func(c *changes.Record) bool {
			if c.ID <= span.after {
				return false
			}
			more = visit(c)
			return more
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}
