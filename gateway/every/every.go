// Package every repeats work in the background.
package every

import (
	"context"
	"time"
)

// Do calls work at every interval until ctx is done. A call that takes longer delays
// the next one.
func Do(ctx context.Context, interval time.Duration, work func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if ctx.Err() == nil {
				work()
			}
		}
	}
}
