package keyring

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"adgateway/gateway/store"
)

// Gateway is a gateway that shares a ring. Version is the newest version that the gateway has.
type Gateway struct {
	Name    string
	Version uint32
}

// RunOptions configure [Ring.Run]. Gateway and Kinds are required.
type RunOptions struct {
	Gateway string               // name of this gateway
	Live    func() []Gateway     // returns the other live gateways, or all gateways; nil if there are no others
	Tell    func(version uint32) // publishes this gateway's newest version to the others; nil if they know it
	Reseals func() bool          // reports whether this gateway seals values again; nil if it does
	Kinds   []store.Kind         // kinds of values that are sealed again with a new version
	Every   time.Duration        // interval between checks for work; zero means 10 s
	Problem func(string, error)  // receives failures; nil discards them
}

// runner keeps a ring up to date for a gateway.
type runner struct {
	*Ring
	o RunOptions
	// number of passes over lasting values, since the version became current, that found nothing to seal
	passes int
}

// counting is the number of seals that a process has reported.
type counting struct {
	version  uint32
	before   uint64 // seals with the version by earlier processes of this gateway
	told     uint64
	revision store.Revision
	stale    bool // the stored value may differ
}

// Follow adopts new versions until ctx ends, after each change in the store and every 10 seconds. When
// reading them begins to fail, it calls problem, which may be nil.
func (r *Ring) Follow(ctx context.Context, problem func(message string, err error)) {
	r.repeat(ctx, 0, problem, r.reload)
}

// Run adopts new versions until ctx ends, informs the other gateways that this one has them, makes
// a version current when all live gateways have it, and seals lasting values again. In a cluster
// with a single writer, the writer calls it in each of its terms; the others call [Ring.Follow].
func (r *Ring) Run(ctx context.Context, o RunOptions) {
	if o.Live == nil {
		o.Live = func() []Gateway { return nil }
	}
	if o.Tell == nil {
		o.Tell = func(uint32) {}
	}
	if o.Reseals == nil {
		o.Reseals = func() bool { return true }
	}
	run := &runner{Ring: r, o: o}
	r.repeat(ctx, o.Every, o.Problem, run.once)
}

// repeat calls a function after each change of the ring, and at intervals.
func (r *Ring) repeat(
	ctx context.Context, often time.Duration, problem func(string, error), once func(context.Context) error,
) {
	failed := false
	tick := time.NewTicker(cmp.Or(often, 10*time.Second))
	defer tick.Stop()
	for ctx.Err() == nil {
		rung := r.raw.Appends(bell)
		err := once(ctx)
		if news := err != nil; news != failed && ctx.Err() == nil {
			failed = news
			if failed && problem != nil {
				problem("the key ring of the cluster cannot be read or changed; it is tried again", err)
			}
		}
		if err != nil {
			rung = nil // prefer the ticker
		}
		select {
		case <-ctx.Done():
		case <-rung:
		case <-tick.C:
		}
	}
}

// once does one round of work.
func (r *runner) once(ctx context.Context) error {
	if err := r.reload(ctx); err != nil {
		return err
	}
	known := r.known()
	r.o.Tell(known.Newest)
	if known.Newest > known.Current && len(Lacking(r.o.Live(), known.Newest)) == 0 {
		if err := r.makeCurrent(ctx, known.Newest); err != nil {
			return err
		}
		known = r.known()
	}
	if known.Resealed != known.Current && r.o.Reseals() {
		if err := r.reseal(ctx, known.Current); err != nil {
			return err
		}
	}
	if err := r.count(ctx); err != nil {
		return err
	}
	sum, err := r.seals(ctx, known.Current)
	r.mu.Lock()
	r.sealing = sum
	r.mu.Unlock()
	return err
}

// Lacking returns the names of the gateways that lack a version.
func Lacking(live []Gateway, number uint32) (names []string) {
	for _, g := range live {
		if g.Version < number {
			names = append(names, g.Name)
		}
	}
	return names
}

func (r *runner) makeCurrent(ctx context.Context, number uint32) error {
	r.passes = 0
	return r.change(ctx, func(c *content) error {
		if c.Current >= number {
			return errAsItIs
		}
		c.Current, c.Since = number, time.Now().UTC()
		return nil
	})
}

// settled is the number of passes that must find no value of an earlier version. More than one pass is needed
// because a gateway may still seal with the earlier version for a moment after another becomes current.
const settled = 2

// reseal seals lasting values again with the current version.
func (r *runner) reseal(ctx context.Context, current uint32) error {
	left := 0
	for _, kind := range r.o.Kinds {
		n, err := r.sealed.Reseal(ctx, kind)
		if err != nil {
			return fmt.Errorf("sealing values of the kind %s anew: %w", kind, err)
		}
		left += n
	}
	if left > 0 {
		r.passes = 0
		return nil
	}
	if r.passes++; r.passes < settled {
		return nil
	}
	return r.change(ctx, func(c *content) error {
		if c.Current != current || c.Resealed >= current {
			return errAsItIs
		}
		c.Resealed = current
		return nil
	})
}

// counts is the kind of values with the number of each gateway's seals.
const counts store.Kind = "seals"

type counted struct {
	store.Formatted
	Version uint32 `json:"version"`
	Seals   uint64 `json:"seals"`
}

// mostUncounted is the number of seals that a gateway makes before it reports them to the others.
const mostUncounted = 1000

// count reports the seals of this gateway to the others once there are many new ones.
func (r *runner) count(ctx context.Context) error {
	number, seals := r.sealed.Seals()
	name := hex.EncodeToString(r.sealed.Sum([]byte("seals of a gateway"), []byte(r.o.Gateway)))
	c := &r.counting
	if c.version != number || c.stale {
		found, err := r.sealed.Get(ctx, counts, name)
		if err != nil && !errors.Is(err, store.ErrAbsent) {
			return err
		}
		var before counted
		if err == nil {
			if err = store.Decode(r.sealed, found.Value, &before); err != nil {
				return err
			}
		}
		if c.version != number {
			c.version, c.before, c.told = number, 0, 0
			if before.Version == number {
				c.before, c.told = before.Seals, before.Seals
			}
		}
		c.revision, c.stale = found.Revision, false
	}
	if c.before+seals < c.told+mostUncounted {
		return nil
	}
	value, err := store.Encode(r.sealed, counted{Version: number, Seals: c.before + seals})
	if err != nil {
		return err
	}
	revision, err := r.sealed.Apply(ctx, store.Change{Kind: counts, Key: name, Expect: c.revision, Value: value})
	if err != nil {
		c.stale = true
		return err
	}
	c.revision, c.told = revision, c.before+seals
	return nil
}

// seals returns the approximate number of seals that all gateways have made with a version.
func (r *Ring) seals(ctx context.Context, number uint32) (sum uint64, err error) {
	var wrong error
	err = r.sealed.Range(ctx, counts, "", func(e store.Entry) bool {
		var c counted
		if wrong = store.Decode(r.sealed, e.Value, &c); wrong != nil {
			return false
		}
		if c.Version == number {
			sum += c.Seals
		}
		return true
	})
	return sum, errors.Join(err, wrong)
}

// Await waits until a version is current, and calls lacking with the gateways that lack it. live
// may be nil if the gateways are unknown.
func (r *Ring) Await(
	ctx context.Context, number uint32, live func(context.Context) ([]Gateway, error), lacking func([]string),
) error {
	var before []string
	for {
		rung := r.raw.Appends(bell)
		if err := r.reload(ctx); err != nil {
			return err
		}
		if r.known().Current >= number {
			return nil
		}
		if live != nil {
			found, err := live(ctx)
			if err != nil {
				return err
			}
			if now := Lacking(found, number); !slices.Equal(now, before) {
				before = now
				lacking(now)
			}
		}
		timer := time.NewTimer(time.Second)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-rung:
		case <-timer.C:
		}
		timer.Stop()
	}
}
