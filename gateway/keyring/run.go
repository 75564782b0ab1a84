package keyring

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"adgateway/gateway/keep"
	"adgateway/gateway/members"
)

// Members are the gateways of the cluster. [members.Self] implements it.
type Members interface {
	Name() string
	Live() []members.Member
	Report(func(*members.Member))
}

// RunOptions configure [Ring.Run]. Members and Kinds are required.
type RunOptions struct {
	Members Members
	Kinds   []keep.Kind   // of the values that are sealed anew under a new version
	Every   time.Duration // how often it is looked whether anything is to be done; zero: 10 seconds
	Problem func(message string, err error)
}

// runner is a ring that a gateway serves.
type runner struct {
	*Ring
	o        RunOptions
	before   uint64 // seals under the version that processes of this gateway made before
	version  uint32 // of them
	told     uint64
	revision keep.Revision
	passes   int // over what lasts, since the version is current, that have found nothing
	failed   bool
}

// Run takes over new versions until ctx ends, tells the other gateways that this one has
// them, makes a version current when all that live have it, and seals anew what lasts.
func (r *Ring) Run(ctx context.Context, o RunOptions) {
	if o.Every == 0 {
		o.Every = 10 * time.Second
	}
	if o.Problem == nil {
		o.Problem = func(string, error) {}
	}
	run := &runner{Ring: r, o: o}
	tick := time.NewTicker(o.Every)
	defer tick.Stop()
	for ctx.Err() == nil {
		rung := r.raw.Appends(bell)
		err := run.once(ctx)
		if failed := err != nil; failed != run.failed && ctx.Err() == nil {
			run.failed = failed
			if failed {
				o.Problem("the key ring of the cluster cannot be read or changed; it is tried again", err)
			}
		}
		if err != nil {
			rung = nil // the ticker comes first
		}
		select {
		case <-ctx.Done():
		case <-rung:
		case <-tick.C:
		}
	}
}

// once does what is to be done now.
func (r *runner) once(ctx context.Context) error {
	if err := r.reload(ctx); err != nil {
		return err
	}
	known := r.known()
	r.o.Members.Report(func(m *members.Member) { m.KeyVersion = int(known.Newest) })
	if known.Newest > known.Current && len(Lacking(r.o.Members.Live(), known.Newest)) == 0 {
		if err := r.makeCurrent(ctx, known.Newest); err != nil {
			return err
		}
		known = r.known()
	}
	if known.Resealed != known.Current && r.first() {
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

// Lacking returns the names of the members that do not have a version.
func Lacking(live []members.Member, number uint32) (names []string) {
	for _, m := range live {
		if m.KeyVersion < int(number) {
			names = append(names, m.Name)
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

// first reports whether this gateway is the one of those that live that does what just one
// should do.
func (r *runner) first() bool {
	live := r.o.Members.Live()
	return len(live) == 0 || live[0].Name == r.o.Members.Name()
}

// settled is how many passes must find nothing that is sealed under an earlier version: a
// gateway may seal under it for a moment after another one is current.
const settled = 2

// reseal seals what lasts under the current version.
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

// counts are the values that say how much gateways have sealed.
const counts keep.Kind = "seals"

type counted struct {
	keep.Formatted
	Version uint32 `json:"version"`
	Seals   uint64 `json:"seals"`
}

// mostUncounted is how many seals are not told to the others.
const mostUncounted = 1000

// count tells the others how much this gateway has sealed, when that has grown by much.
func (r *runner) count(ctx context.Context) error {
	number, seals := r.sealed.Seals()
	name := hex.EncodeToString(r.sealed.Sum([]byte("seals of a gateway"), []byte(r.o.Members.Name())))
	if r.version != number {
		found, err := r.sealed.Get(ctx, counts, name)
		if err != nil && !errors.Is(err, keep.ErrAbsent) {
			return err
		}
		var before counted
		if err == nil {
			if err = keep.Decode(r.sealed, found.Value, &before); err != nil {
				return err
			}
		}
		r.revision, r.version, r.before, r.told = found.Revision, number, 0, 0
		if before.Version == number {
			r.before, r.told = before.Seals, before.Seals
		}
	}
	if r.before+seals < r.told+mostUncounted {
		return nil
	}
	value, err := keep.Encode(r.sealed, counted{Version: number, Seals: r.before + seals})
	if err != nil {
		return err
	}
	revision, err := r.sealed.Apply(ctx, keep.Change{Kind: counts, Key: name, Expect: r.revision, Value: value})
	if err != nil {
		r.version = 0 // what is there is read again
		return err
	}
	r.revision, r.told = revision, r.before+seals
	return nil
}

// seals returns how much all gateways have sealed under a version, about.
func (r *Ring) seals(ctx context.Context, number uint32) (sum uint64, err error) {
	var wrong error
	err = r.sealed.Range(ctx, counts, "", func(e keep.Entry) bool {
		var c counted
		if wrong = keep.Decode(r.sealed, e.Value, &c); wrong != nil {
			return false
		}
		if c.Version == number {
			sum += c.Seals
		}
		return true
	})
	return sum, errors.Join(err, wrong)
}

// Await waits until a version is current, and calls lacking when other gateways lack it.
func (r *Ring) Await(ctx context.Context, number uint32, live func(context.Context) ([]members.Member, error), lacking func([]string)) error {
	var before []string
	for {
		rung := r.raw.Appends(bell)
		if err := r.reload(ctx); err != nil {
			return err
		}
		if r.known().Current >= number {
			return nil
		}
		found, err := live(ctx)
		if err != nil {
			return err
		}
		if now := Lacking(found, number); !slices.Equal(now, before) {
			before = now
			lacking(now)
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
