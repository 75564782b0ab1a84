package members

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"adgateway/gateway/keep"
)

// fenceKind is the kind of fences in the store, by "<gateway>.<n>".
const fenceKind keep.Kind = "fence"

// slots is how many fences a gateway has: so many of its changes are allowed at the same
// time, as two that expect the same value exclude each other (facts J9).
const slots = 8

// fence is a fence as it is kept. All of a gateway are moved together.
type fence struct {
	keep.Formatted
	Incarnation string `json:"incarnation"`
	Moved       uint64 `json:"moved"` // how often
}

// ErrFenced means that the fences of a gateway were moved since a run began: another server
// was pinned, or another gateway has taken over what this one had begun. The change is not
// allowed, and nothing was changed.
var ErrFenced = errors.New("the fences of the gateway were moved since the run began")

// fences are those of this gateway.
type fences struct {
	free chan *slot // of those that no change uses

	mu    sync.Mutex
	moved uint64 // as last seen
}

// slot is a fence as it was last seen. Who has received it from free uses it alone.
type slot struct {
	key      string
	fence    fence
	revision keep.Revision
}

// takeFences returns the fences of an incarnation, and the changes that make them so and
// move them.
func takeFences(ctx context.Context, store *keep.Sealed, name, incarnation string) (taken []*slot, all []keep.Change, err error) {
	for i := range slots {
		s := &slot{key: fenceKey(name, i)}
		last, at, err := read[fence](ctx, store, fenceKind, s.key)
		if err != nil {
			return nil, nil, err
		}
		s.fence = fence{Incarnation: incarnation, Moved: last.Moved + 1}
		set, err := change(store, fenceKind, s.key, at, s.fence, time.Time{})
		if err != nil {
			return nil, nil, err
		}
		taken, all = append(taken, s), append(all, set)
	}
	return taken, all, nil
}

// taken frees the fences for changes, once they were written with a revision.
func (f *fences) taken(all []*slot, revision keep.Revision) {
	f.mu.Lock()
	f.moved = all[0].fence.Moved
	for _, s := range all[1:] {
		f.moved = max(f.moved, s.fence.Moved)
	}
	f.mu.Unlock()
	for _, s := range all {
		s.revision = revision
		f.free <- s
	}
}

func fenceKey(gateway string, n int) string { return fmt.Sprintf("%s.%d", gateway, n) }

// MoveFences returns the changes that move the fences of a gateway, for a batch with what
// they guard: from then on, no change of a run that began before is allowed. As
// each change of that gateway rewrites a fence, the batch is likely to meet
// [keep.ErrConflict]; then it is composed anew. There are none for a gateway that never joined.
func MoveFences(ctx context.Context, store *keep.Sealed, gateway string) (all []keep.Change, err error) {
	for i := range slots {
		last, at, err := read[fence](ctx, store, fenceKind, fenceKey(gateway, i))
		if err != nil {
			return nil, err
		}
		if at == keep.Absent {
			continue
		}
		last.Moved++
		set, err := change(store, fenceKind, fenceKey(gateway, i), at, last, time.Time{})
		if err != nil {
			return nil, err
		}
		all = append(all, set)
	}
	return all, nil
}

// Begin returns the state of the fences when a run begins, before it reads anything that
// its change depends on. It is 0 for nil.
func (s *Self) Begin() uint64 {
	if s == nil {
		return 0
	}
	s.fences.mu.Lock()
	defer s.fences.mu.Unlock()
	return s.fences.moved
}

// Pass is a fence that one change uses while it is being allowed. Nil is that of a gateway
// alone.
type Pass struct {
	self  *Self
	slot  *slot
	begun uint64
}

// Pass returns a fence for the change of a run that has begun in a state. It waits while
// other changes use all of them, and fails with [ErrFenced] if they were moved. [Pass.End]
// must follow.
func (s *Self) Pass(ctx context.Context, begun uint64) (*Pass, error) {
	if s == nil {
		return nil, nil
	}
	select {
	case slot := <-s.fences.free:
		p := &Pass{s, slot, begun}
		if slot.fence.Moved < begun { // another fence has shown that all were moved
			if err := p.Refresh(ctx); err != nil {
				p.End()
				return nil, err
			}
		}
		return p, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Changes returns what the batch that allows the change must contain. It fails with
// [ErrFenced] if the fences are known to have moved.
func (p *Pass) Changes() ([]keep.Change, error) {
	if p == nil {
		return nil, nil
	}
	if p.slot.fence.Moved != p.begun || p.self.Begin() != p.begun {
		return nil, ErrFenced
	}
	set, err := change(p.self.store, fenceKind, p.slot.key, p.slot.revision, p.slot.fence, time.Time{})
	return []keep.Change{set}, err
}

// Refresh reads the fence again after [keep.ErrConflict]. It fails with [ErrFenced] if it
// was moved.
func (p *Pass) Refresh(ctx context.Context) error {
	if p == nil {
		return nil
	}
	latest, at, err := read[fence](ctx, p.self.store, fenceKind, p.slot.key)
	if err != nil {
		return err
	}
	p.slot.fence, p.slot.revision = latest, at
	p.self.saw(latest)
	if latest.Moved != p.begun {
		return ErrFenced
	}
	return nil
}

// saw notes how often the fences were moved, and that another incarnation has them.
func (s *Self) saw(latest fence) {
	s.fences.mu.Lock()
	s.fences.moved = max(s.fences.moved, latest.Moved)
	s.fences.mu.Unlock()
	if latest.Incarnation != s.Incarnation() {
		s.mu.Lock()
		s.replaced = true
		s.mu.Unlock()
	}
}

// Done notes that the batch was made, with its revision.
func (p *Pass) Done(revision keep.Revision) {
	if p != nil {
		p.slot.revision = revision
	}
}

// End gives the fence to the next change.
func (p *Pass) End() {
	if p != nil {
		p.self.fences.free <- p.slot
	}
}
