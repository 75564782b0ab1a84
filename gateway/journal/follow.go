package journal

import (
	"context"
	"errors"
	"sync"
	"time"

	"adgateway/gateway/store"
)

const (
	// lookEvery is the time without a delivery after which the end of the stream is read.
	lookEvery = 250 * time.Millisecond

	// deliverAgain is the pause before delivery is requested again.
	deliverAgain = time.Second
)

// Follow applies entries as they are stored, until ctx ends. Delivered messages are applied at once; while
// none are delivered, Follow reads the stream. While no node answers, Follow continues, and [Status.Fault]
// contains the error. It returns the other errors of [Log.CatchUp].
func (l *Log) Follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var delivery sync.WaitGroup
	defer delivery.Wait()
	defer cancel()
	for first := true; ; first = false {
		err := l.CatchUp(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, store.ErrUnreachable) {
			return err
		}
		if first {
			delivery.Go(func() { l.receive(ctx) })
		}
		l.untilQuiet(ctx)
	}
}

// untilQuiet waits until nothing was read for a while.
func (l *Log) untilQuiet(ctx context.Context) {
	for {
		l.mu.Lock()
		moved := l.moved
		l.mu.Unlock()
		select {
		case <-moved:
		case <-time.After(lookEvery):
			return
		case <-ctx.Done():
			return
		}
	}
}

// receive applies delivered messages until ctx ends. A message that cannot be delivered or applied
// is read by Follow, which returns the error.
func (l *Log) receive(ctx context.Context) {
	for ctx.Err() == nil {
		_ = l.stream.Follow(ctx, l.position(), func(sequence uint64, sealed []byte) bool {
			return l.take(ctx, sequence, sealed) == nil && sequence <= l.position()
		})
		select {
		case <-time.After(deliverAgain):
		case <-ctx.Done():
		}
	}
}
