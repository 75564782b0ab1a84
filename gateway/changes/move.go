package changes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/store"
)

// Moved counts the changes that were copied from another history.
type Moved struct {
	Added   int `json:"added"`
	Present int `json:"present"` // already in the history
}

// ErrUnfinished means that some changes are still running, or were running when their gateway stopped.
var ErrUnfinished = errors.New("changes are unfinished")

// moveAtOnce is the number of changes that are read at a time.
const moveAtOnce = 500

// Take copies the changes of another history into this one, in the order in which they ended. It can be
// repeated. It fails with [ErrUnfinished] if a change has not ended, because its gateway must settle it
// first.
func (h *History) Take(ctx context.Context, from *History, now time.Time) (moved Moved, err error) {
	running, err := from.Running(ctx)
	if err != nil {
		return moved, err
	}
	if len(running) > 0 {
		return moved, fmt.Errorf("%w: %d of them", ErrUnfinished, len(running))
	}
	for at := (store.Position{}); ; {
		ended, reached, err := from.After(ctx, at, moveAtOnce)
		if err != nil || reached == at {
			return moved, err
		}
		for i := range ended {
			added, err := h.adopt(ctx, ended[i].Record, now)
			if err != nil {
				return moved, err
			}
			if added {
				moved.Added++
			} else {
				moved.Present++
			}
		}
		at = reached
	}
}
