package changes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/store"
)

// Moved counts the changes taken over from another history.
type Moved struct {
	Added   int `json:"added"`
	Present int `json:"present"` // in the history already
}

// ErrUnfinished means that changes are running, or were when their gateway ended.
var ErrUnfinished = errors.New("changes are unfinished")

// moveAtOnce is how many changes are read at a time.
const moveAtOnce = 500

// Take adds the changes of another history, which stay there, in the order of their ends. It
// can be repeated. It fails with [ErrUnfinished] if one of them has not ended: its gateway
// must settle it first.
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
