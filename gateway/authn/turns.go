package authn

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

// Turns limits how many strangers occupy a scarce resource at once, and how many wait for it. It is safe for
// concurrent use.
type Turns struct {
	taken, asked *semaphore.Weighted
	longest      time.Duration
}

// NewTurns returns turns of which atOnce may be taken at the same time. At most most callers have a turn or
// wait for one, each of them no longer than longest.
func NewTurns(atOnce, most int64, longest time.Duration) Turns {
	return Turns{taken: semaphore.NewWeighted(atOnce), asked: semaphore.NewWeighted(most), longest: longest}
}

// Take waits for a turn, and reports whether it got one. The caller must then call end.
func (t Turns) Take(ctx context.Context) (end func(), has bool) {
	if !t.asked.TryAcquire(1) {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, t.longest)
	defer cancel()
	if t.taken.Acquire(ctx, 1) != nil {
		t.asked.Release(1)
		return nil, false
	}
	return func() {
		t.taken.Release(1)
		t.asked.Release(1)
	}, true
}
