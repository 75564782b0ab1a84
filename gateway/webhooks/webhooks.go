// Package webhooks informs other services about changes and about jobs that have ended, by HTTP
// requests in the format of Standard Webhooks (standardwebhooks.com).
//
// [Open] prepares the targets in the settings, and [Webhooks.Run] sends until its context ends. Each target
// has its own goroutine, which reads the logs of the store from the position that it has reached (see package
// store) and sends one message at a time, in order. The position is stored, so no message is left out when
// the gateway restarts, and at worst a message is sent twice. Webhooks never delay a change, because messages
// that a target does not accept wait in the log.
//
// message.go creates the messages, sign.go signs them, send.go sends one, and target.go decides
// when to send the next one.
package webhooks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/store"
)

// Target is a receiver of messages.
type Target struct {
	Name       string // unique; its position is stored under this name
	URL        string // https, or an address on this machine, as the settings require
	SecretFile string // see [ReadSecrets]; read for each message
	CAFile     string // file with the authorities of the target's certificate; empty means the system's
	Types      []Type // of messages; empty for all
}

// Type is the subject of a message.
type Type string

// The types of messages.
const (
	Change Type = "change" // a change has ended
	Job    Type = "job"    // a job has ended
)

// Types are all types of messages.
var Types = []Type{Change, Job}

// Options configure webhooks. All fields are required unless their comments say otherwise.
type Options struct {
	Targets []Target
	Store   *store.Sealed
	History *changes.History
	// Log writes to the gateway's log. An entry with the field "error" is a warning.
	Log func(message string, fields map[string]any)
	// Now is the wall clock for signatures. Nil means time.Now. How long messages are retried is
	// measured by the store's clock.
	Now func() time.Time
}

// Webhooks sends messages to all targets. It is safe for concurrent use.
type Webhooks struct {
	o       Options
	targets []*target
}

// Open prepares the targets. A new target gets events from now on. The state of targets that are no
// longer configured is removed. The caller must call [Webhooks.Run].
func Open(ctx context.Context, o Options) (*Webhooks, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	w := &Webhooks{o: o}
	for _, settings := range o.Targets {
		t, err := newTarget(ctx, settings, &w.o)
		if err != nil {
			return nil, fmt.Errorf("webhook %s: %w", settings.Name, err)
		}
		w.targets = append(w.targets, t)
	}
	return w, w.forget(ctx)
}

// forget removes the state of targets that the settings no longer name.
func (w *Webhooks) forget(ctx context.Context) error {
	o, known := &w.o, map[string]bool{}
	for _, t := range o.Targets {
		known[t.Name] = true
	}
	err := o.Store.Update(ctx, func(tx *store.Tx) error {
		return tx.Range(kind, "", func(e store.Entry) bool {
			var read kept
			if !known[e.Key] && store.Decode(o.Store, e.Value, &read) == nil { // state in a newer format is kept
				tx.Delete(kind, e.Key)
			}
			return true
		})
	})
	if errors.Is(err, store.ErrUnreachable) || errors.Is(err, store.ErrFollows) {
		return nil // tried again at the next start or in the next term
	}
	return err
}

// Run sends messages until ctx ends, starting at the stored positions. The next run sends an
// interrupted message again. In a cluster with a single writer, the leading gateway calls Run in
// each of its terms.
func (w *Webhooks) Run(ctx context.Context) {
	if err := w.forget(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
		w.o.Log("what is kept of former webhooks could not be removed", map[string]any{"error": err.Error()})
	}
	var all sync.WaitGroup
	for _, t := range w.targets {
		all.Go(func() { t.run(ctx) })
	}
	all.Wait()
}

// Status is the state of a target.
type Status struct {
	Name      string
	Delivered uint64
	Failed    uint64    // attempts
	Dropped   uint64    // messages that were given up, or that had expired when their turn came
	Waiting   time.Time // time of the next event to be sent; zero if there is none
	Failing   time.Time // when the current series of failures began; zero if the last attempt succeeded
	Tries     int       // number of failures in that series
	Stopped   bool      // the target has answered 410
	Reason    string    // reason for the last failure; never contains the URL, which may hold a secret
}

// Status returns the state of the targets, in the order of the settings.
func (w *Webhooks) Status() []Status {
	all := make([]Status, len(w.targets))
	for i, t := range w.targets {
		all[i] = t.snapshot()
	}
	return all
}
