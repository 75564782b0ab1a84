// Package nodecheck compares each night what the nodes of the engine have, as a node whose
// files are damaged does not notice it, and may lead one day (facts J3).
//
// One of the gateways does it, whichever is first ([Run]); what it found is kept in the
// store that they share, so that all of them tell of it ([Read]).
package nodecheck

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adgateway/gateway/every"
	"adgateway/gateway/keep"
	"adgateway/gateway/keep/natsstore"
)

// kind is that of the last comparison in the store, and key its key.
const kind keep.Kind = "nodecheck"

const key = "last"

// Kinds are the kinds of values of this package that outlast a key of the store.
var Kinds = []keep.Kind{kind}

// Last is the last comparison. What was found before stays while another one goes on.
type Last struct {
	keep.Formatted
	Gateway string                `json:"gateway"` // that began the last one
	Began   time.Time             `json:"began"`
	Ended   time.Time             `json:"ended,omitzero"` // of the last that has ended; zero: none has
	Found   *natsstore.Comparison `json:"found,omitempty"`
	Failed  string                `json:"failed,omitempty"` // why that one has found nothing
}

// Trouble returns which nodes must be wiped, and how; empty: none. For nil it is empty.
func (l *Last) Trouble() string {
	if l == nil || l.Found == nil {
		return ""
	}
	var all []string
	for i := range l.Found.Nodes {
		if n := &l.Found.Nodes[i]; n.Differs() {
			all = append(all, fmt.Sprintf("the node '%s' of the engine has other data than most: %d messages are missing, %d differ, %d only it has. "+Remedy, n.Name, n.Missing, n.Altered, n.Surplus))
		}
	}
	return strings.Join(all, "; ")
}

// Remedy is what to do with a node that differs.
const Remedy = "Stop its service, remove its folder (engine.store), and start it: it reads everything from the others"

// Options configure [Run]. All fields are required but Now.
type Options struct {
	Gateway string
	Store   *keep.Sealed
	Compare func(context.Context) (natsstore.Comparison, error)
	Log     func(message string, fields map[string]any)
	Now     func() time.Time // nil: time.Now
}

// A comparison is due at night, by the clock of the host, if the last one began so long ago.
const (
	firstHour = 1
	lastHour  = 4
	often     = 20 * time.Hour
)

// look is how often it is looked whether one is due.
const look = 10 * time.Minute

// Run compares the nodes when it is due, until ctx ends.
func Run(ctx context.Context, o Options) {
	every.Do(ctx, look, func() { Tick(ctx, o) })
}

// Tick compares the nodes if it is due and no other gateway does it.
func Tick(ctx context.Context, o Options) {
	if o.Now == nil {
		o.Now = time.Now
	}
	now := o.Now()
	if hour := now.Hour(); hour < firstHour || hour > lastHour {
		return
	}
	last, revision, err := read(ctx, o.Store)
	if err != nil || last != nil && now.Sub(last.Began) < often {
		return
	}
	own := Last{}
	if last != nil {
		own = *last
	}
	own.Gateway, own.Began = o.Gateway, now.UTC()
	if revision, err = save(ctx, o.Store, own, revision); err != nil {
		return // another gateway was faster, or the store is away
	}
	found, err := o.Compare(ctx)
	own.Found, own.Failed = nil, ""
	if err != nil {
		own.Failed = err.Error()
		o.Log("the data of the engine's nodes could not be compared", map[string]any{"error": err.Error()})
	} else {
		own.Found = &found
		if trouble := own.Trouble(); trouble != "" {
			o.Log("the nodes of the engine do not have the same data", map[string]any{"error": trouble})
		}
	}
	own.Ended = o.Now().UTC()
	if _, err := save(ctx, o.Store, own, revision); err != nil && ctx.Err() == nil {
		o.Log("what the nodes of the engine have was compared, and could not be kept", map[string]any{"error": err.Error()})
	}
}

// Read returns the last comparison that has ended; nil: there is none.
// It asks the mirror only.
func Read(ctx context.Context, store *keep.Sealed) (last *Last, err error) {
	ranged := store.Range(ctx, kind, key, func(e keep.Entry) bool {
		last, err = decode(store, e)
		return false
	})
	if last != nil && last.Ended.IsZero() {
		last = nil
	}
	return last, errors.Join(ranged, err)
}

func read(ctx context.Context, store *keep.Sealed) (*Last, keep.Revision, error) {
	e, err := store.Get(ctx, kind, key)
	if errors.Is(err, keep.ErrAbsent) {
		return nil, keep.Absent, nil
	}
	if err != nil {
		return nil, keep.Absent, err
	}
	last, err := decode(store, e)
	return last, e.Revision, err
}

func decode(store *keep.Sealed, e keep.Entry) (*Last, error) {
	last := &Last{}
	err := keep.Decode(store, e.Value, last)
	return last, err
}

// Save keeps a comparison that was made by a command.
func Save(ctx context.Context, store *keep.Sealed, gateway string, began, ended time.Time, found natsstore.Comparison) error {
	_, revision, err := read(ctx, store)
	if err == nil {
		_, err = save(ctx, store, Last{Gateway: gateway, Began: began.UTC(), Ended: ended.UTC(), Found: &found}, revision)
	}
	return err
}

func save(ctx context.Context, store *keep.Sealed, last Last, expect keep.Revision) (keep.Revision, error) {
	value, err := keep.Encode(store, last)
	if err != nil {
		return 0, err
	}
	return store.Apply(ctx, keep.Change{Kind: kind, Key: key, Expect: expect, Value: value})
}
