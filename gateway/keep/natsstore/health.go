package natsstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// lookEvery is how often the engine is asked how it is.
const lookEvery = 5 * time.Second

// behind is how many messages a node may lack without being in trouble: a follower is
// always a few behind under load.
const behind = 10_000

// watchHealth asks the engine how the stream is, until the store is closed.
func (s *Store) watchHealth() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		s.lookAtHealth()
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// lookAtHealth asks once. When no answer comes, nothing is known: that the engine cannot be
// reached is told by [keep.State].
func (s *Store) lookAtHealth() {
	s.mu.Lock()
	stream := s.stream
	s.mu.Unlock()
	trouble := ""
	if stream != nil {
		ctx, cancel := context.WithTimeout(s.ctx, requestTimeout)
		defer cancel()
		if info, err := stream.Info(ctx); err == nil {
			trouble = troubleOf(info)
		}
	}
	s.mu.Lock()
	s.trouble = trouble
	s.mu.Unlock()
}

// troubleOf returns what is wrong with a stream although it works, and what to do; empty:
// nothing (many E4, Z13).
func troubleOf(info *jetstream.StreamInfo) string {
	var all []string
	if info.Cluster != nil {
		for _, node := range info.Cluster.Replicas {
			switch {
			case node.Offline:
				all = append(all, fmt.Sprintf("the node '%s' of the engine does not run, or cannot be reached by the others: until it is back, none of the rest may be lost", node.Name))
			case !node.Current && node.Lag > behind:
				all = append(all, fmt.Sprintf("the node '%s' of the engine lacks %d messages and reads them: stop no other node until it has them", node.Name, node.Lag))
			}
		}
		slices.Sort(all)
	}
	used, most := info.State.Bytes, info.Config.MaxBytes
	if most > 0 && used >= uint64(most)/10*8 {
		all = append(all, fmt.Sprintf("the stream of the store uses %d of %d MiB, and refuses changes when it is full: raise its limit, or keep less (changes.keep, audit.mirrorKeep)", used>>20, most>>20))
	}
	return strings.Join(all, "; ")
}

// Trouble returns what was wrong with the engine when it last answered, although it works,
// and what to do: a node that is away, or little space. It is empty if there is nothing or
// the engine does not answer, and at most some seconds old.
func (s *Store) Trouble() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trouble
}
