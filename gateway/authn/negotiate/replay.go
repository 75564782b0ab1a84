package negotiate

import (
	"crypto/sha256"
	"sync"
	"time"
)

// usedMost is how many tickets are remembered. If more come in five minutes, they are refused.
const usedMost = 500_000

// replays remembers used authenticators for as long as a wrong clock could let them be used again.
type replays struct {
	now func() time.Time

	mu    sync.Mutex
	until map[[16]byte]int64 // seconds since 1970
	swept int64
}

func newReplays(now func() time.Time) *replays {
	return &replays{now: now, until: map[[16]byte]int64{}}
}

// use notes the use of an authenticator that a client made at a time. It is encrypted together with
// its checksum, so it cannot be changed without the key.
func (r *replays) use(authenticator []byte, made time.Time) error {
	sum := sha256.Sum256(authenticator)
	key, now := [16]byte(sum[:16]), r.now().Unix()
	r.mu.Lock()
	defer r.mu.Unlock()
	if until, known := r.until[key]; known && until >= now {
		return refuse(Replayed, "the same authenticator was used before")
	}
	const every = 60 // seconds
	if now-r.swept >= every || len(r.until) >= usedMost {
		r.swept = now
		for old, until := range r.until {
			if until < now {
				delete(r.until, old)
			}
		}
	}
	if len(r.until) >= usedMost {
		return refuse(Full, "more tickets are in use than are remembered")
	}
	r.until[key] = made.Add(Skew).Unix() + 1
	return nil
}
