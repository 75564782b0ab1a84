package auditmirror

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/store"
)

// bell is the log whose entries wake the witnesses. The entries are empty.
const bell store.Log = "audit.heads"

// headValue is the stored form of the end of a gateway's chain.
type headValue struct {
	store.Formatted
	Gateway string `json:"gateway"`
	audit.Head
	Time time.Time `json:"time"`
}

// read reads the end of a gateway's chain.
func (h *headValue) read(db *store.Sealed, e store.Entry) error {
	if err := store.Decode(db, e.Value, h); err != nil {
		return fmt.Errorf("the end of a chain: %w", err)
	}
	return nil
}

// WitnessOptions configure a [Witness]. All fields except Problem are required.
type WitnessOptions struct {
	Gateway  string
	Store    *store.Sealed
	Log      *audit.Log
	Interval time.Duration // interval at which the gateway publishes the end of its chain
	Problem  func(message string, err error)
}

// Witness publishes the end of the gateway's chain to other gateways, and records their ends in the
// chain. Only [Witness.Run] calls its other methods.
type Witness struct {
	o       WitnessOptions
	seen    map[string]store.Revision // of the other gateways' ends, by key
	noticed time.Time                 // when another gateway last published its end, by this gateway's clock
	alone   time.Time                 // when the lack of other gateways was last recorded; zero if there are any
	failed  bool
}

// NewWitness returns a witness.
func NewWitness(o WitnessOptions) *Witness {
	if o.Problem == nil {
		o.Problem = func(string, error) {}
	}
	return &Witness{o: o, seen: map[string]store.Revision{}, noticed: time.Now()}
}

const (
	missed     = 3         // number of intervals after which another gateway counts as gone
	aloneEvery = time.Hour // interval at which the absence of other gateways is recorded
	bellLife   = time.Hour
)

// Run publishes and records ends until ctx is done. It records the end of another gateway as soon as that is
// published.
func (w *Witness) Run(ctx context.Context) {
	tell := time.NewTicker(w.o.Interval)
	defer tell.Stop()
	told := w.Tell(ctx)
	for ctx.Err() == nil {
		rung := w.o.Store.Appends(bell)
		looked := w.Look(ctx)
		w.Judge(time.Now(), errors.Join(told, looked))
		if looked != nil {
			rung = nil // prefer the ticker
		}
		select {
		case <-ctx.Done():
		case <-rung:
		case <-tell.C:
			told = w.Tell(ctx)
		}
	}
}

// Tell writes the end of the gateway's own chain to the store.
func (w *Witness) Tell(ctx context.Context) error {
	key := keyOf(w.o.Store, w.o.Gateway)
	head := headValue{Gateway: w.o.Gateway, Head: w.o.Log.Head(), Time: time.Now().UTC()}
	return w.o.Store.Update(ctx, func(tx *store.Tx) error {
		tx.Append(bell, []byte("{}"), tx.Now().Add(bellLife))
		return store.Save(tx, heads, key, head, time.Time{})
	})
}

// Look records the ends that others have published since the last call.
func (w *Witness) Look(ctx context.Context) error {
	ownKey := keyOf(w.o.Store, w.o.Gateway)
	var failed error
	err := w.o.Store.Range(ctx, heads, "", func(e store.Entry) bool {
		if e.Key == ownKey || w.seen[e.Key] == e.Revision {
			return true
		}
		var head headValue
		if failed = head.read(w.o.Store, e); failed != nil {
			return false
		}
		if failed = w.o.Log.Witness(head.Gateway, head.Head, head.Time); failed != nil {
			return false
		}
		if before, again := w.seen[e.Key]; again && before != e.Revision {
			w.noticed = time.Now()
		} else if time.Since(head.Time).Abs() < missed*w.o.Interval {
			w.noticed = time.Now() // published before this gateway started
		}
		w.seen[e.Key] = e.Revision
		return true
	})
	return errors.Join(err, failed)
}

// Judge records, at most once per aloneEvery, that no other gateway witnesses the end of the chain. err is
// the error of the last exchange. Judge reports an error when it first occurs.
func (w *Witness) Judge(now time.Time, err error) {
	if failed := err != nil; failed != w.failed {
		w.failed = failed
		if failed {
			w.o.Problem("the end of the audit log's chain cannot be told to other gateways", err)
		}
	}
	reason := ""
	switch {
	case err != nil:
		reason = "the store of the cluster cannot be reached"
	case now.Sub(w.noticed) >= missed*w.o.Interval:
		reason = "no other gateway tells the end of its chain"
	}
	switch {
	case reason == "":
		w.alone = time.Time{}
	case w.alone.IsZero() || now.Sub(w.alone) >= aloneEvery:
		if w.o.Log.Alone(reason) == nil {
			w.alone = now
		}
	}
}

// Heads returns the ends that have been published, by gateway.
func Heads(ctx context.Context, db *store.Sealed) (map[string]audit.Witnessed, error) {
	found := map[string]audit.Witnessed{}
	var wrong error
	err := db.Range(ctx, heads, "", func(e store.Entry) bool {
		var head headValue
		if wrong = head.read(db, e); wrong != nil {
			return false
		}
		found[head.Gateway] = audit.Witnessed{Gateway: head.Gateway, Head: head.Head,
			Time: head.Time.Format(time.RFC3339)}
		return true
	})
	return found, errors.Join(err, wrong)
}
