// Package webhooks tells other services what was changed, and which jobs have ended, by
// HTTP requests in the form of Standard Webhooks (standardwebhooks.com).
//
// [Open] prepares the targets of the settings, [Webhooks.Run] sends until it is told to
// stop. Each target has a goroutine of its own, which reads the logs of the store from the
// position that it has reached (see package store) and sends one message at a time, in
// order. The position is kept in the store, so that nothing is left out when the gateway
// is restarted, and a message comes twice at worst. Nothing here can hold up a change:
// what a target does not take waits in the log.
//
// message.go makes the messages, sign.go signs them, send.go sends one, target.go decides
// when the next one is sent.
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

// Target is where messages are sent.
type Target struct {
	Name       string // unique; the position is kept under it
	URL        string // as the settings allow it: https, or of this machine
	SecretFile string // see [ReadSecrets]; it is read for each message
	CAFile     string // authorities that the target's certificate must come from; empty: the system's
	Types      []Type // of messages; empty: all
}

// Type is what a message is about.
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
	// Log writes to the log of the gateway; an entry with the field "error" is a warning.
	Log func(message string, fields map[string]any)
	// Now is the wall clock for signatures; nil: time.Now. The time that messages are retried is
	// measured by the store's clock.
	Now func() time.Time
}

// Webhooks sends to all targets. It is safe for concurrent use.
type Webhooks struct {
	o       Options
	targets []*target
}

// Open prepares the targets. A new one begins with events from now on. The state of targets that
// are no longer configured is removed. The caller calls [Webhooks.Run].
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
			if !known[e.Key] && store.Decode(o.Store, e.Value, &read) == nil { // state in a newer format stays
				tx.Delete(kind, e.Key)
			}
			return true
		})
	})
	if errors.Is(err, store.ErrUnreachable) || errors.Is(err, store.ErrFollows) {
		return nil // the next start or term tries again
	}
	return err
}

// Run sends until ctx ends, starting at the positions in the store. A message that is interrupted
// is sent again by the next run. In a cluster with one writer, the gateway that leads calls it in
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
	Dropped   uint64    // messages that were given up, or had expired when their turn came
	Waiting   time.Time // when the next event to be sent happened; zero: none waits
	Failing   time.Time // when the current row of failures began; zero: the last attempt succeeded
	Tries     int       // failures in that row
	Stopped   bool      // by the target, with 410
	Reason    string    // of the last failure; it never has the URL, which may hold a secret
}

// Status returns the state of the targets, in the order of the settings.
func (w *Webhooks) Status() []Status {
	all := make([]Status, len(w.targets))
	for i, t := range w.targets {
		all[i] = t.snapshot()
	}
	return all
}
