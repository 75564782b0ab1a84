package journal

import (
	"context"
	"errors"
	"sync"
	"time"

	"adgateway/gateway/store"
)

const (
	// lookEvery is how soon the end of the stream is read if nothing was delivered.
	lookEvery = 250 * time.Millisecond

	// deliverAgain is how soon delivery is asked for again.
	deliverAgain = time.Second
)

// Follow applies what is stored, as it comes, until ctx ends. What is delivered is applied
// at once; while nothing is delivered, it reads. It goes on while nobody answers, which
// [Status.Fault] says, and returns the other errors of [Log.CatchUp].
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

// untilQuiet waits until nothing has been read for a while.
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

// receive applies what is delivered, until ctx ends. What cannot be delivered or applied is
// read, which then says why.
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
