// Package choice stores the domain controller and the DNS server that all gateways of a cluster use.
//
// The leader decides. It pins the first server of a lane that it can use, and moves the pin when it has not
// reached that server for a while and can use another one. The other gateways follow its choice. The servers
// that they can reach only matter for the election, because a gateway that reaches more lanes than the leader
// takes over, see [Choices.Lanes]. An administrator moves a pin with [Move].
package choice

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adgateway/gateway/every"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// kind is the kind of choices in the store. They are keyed by lane.
const kind store.Kind = "choice"

// Kinds are the kinds of stored values of this package that survive a change of the store's key.
var Kinds = []store.Kind{kind}

// Choice is the server that all gateways use on a lane.
type Choice struct {
	store.Formatted
	Lane   ps.Lane   `json:"lane"`
	Server string    `json:"server"`
	Epoch  uint64    `json:"epoch"` // increases with each new choice
	Since  time.Time `json:"since"` // in log time
	Reason string    `json:"reason,omitempty"`
}

const (
	moveAfter = 10 * time.Second // how long the leader must fail to reach the server before it chooses another
	look      = time.Second
)

// Options configure the choices of a gateway. Store is required.
type Options struct {
	// Store is this gateway's copy, which only accepts changes while the gateway leads.
	Store *store.Sealed

	Log func(message string, fields map[string]any) // nil if nothing is logged
	Now func() time.Time                            // monotonic; nil means time.Now
}

// Choices holds the choices for all lanes as known to one gateway. It implements servers.Shared, and is safe
// for concurrent use.
type Choices struct {
	o Options

	mu    sync.Mutex
	lanes map[ps.Lane]*lane
}

// lane is a gateway's knowledge about a lane.
type lane struct {
	last   Choice    // as last read
	looked bool      // whether this gateway has tried to reach the server
	away   time.Time // since when the server is out of reach; zero if it can be reached
	other  string    // another server that this gateway could use
	usable bool      // whether this gateway could use any of the servers when it last checked
	fault  string    // logged reason why another server could not be chosen
}

// New returns the choices of a gateway. [Choices.Run] should be called while it leads.
func New(o Options) *Choices {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = func(string, map[string]any) {}
	}
	return &Choices{o: o, lanes: map[ps.Lane]*lane{ps.Directory: {}, ps.DNS: {}}}
}

// read reads a choice, whose server is empty if none was chosen.
func read(ctx context.Context, db *store.Sealed, on ps.Lane) (c Choice, err error) {
	e, err := db.Get(ctx, kind, string(on))
	switch {
	case errors.Is(err, store.ErrAbsent):
		return Choice{Lane: on}, nil
	case err != nil:
		return Choice{}, err
	}
	err = store.Decode(db, e.Value, &c)
	return c, err
}

// errAsItIs ends an update that is no longer needed.
var errAsItIs = errors.New("it is as it should be")

// write chooses a server for a lane. It fails if may returns an error for the current choice.
func write(
	ctx context.Context, db *store.Sealed, on ps.Lane, server, reason string, may func(now Choice) error,
) error {
	err := db.Update(ctx, func(tx *store.Tx) error {
		next, err := store.Load[Choice](tx, kind, string(on))
		if errors.Is(err, store.ErrAbsent) {
			next, err = Choice{Lane: on}, nil
		}
		if err == nil {
			err = may(next)
		}
		if err != nil {
			return err
		}
		next.Server, next.Epoch, next.Since, next.Reason = server, next.Epoch+1, tx.Now().UTC(), reason
		return store.Save(tx, kind, string(on), next, time.Time{})
	})
	if errors.Is(err, errAsItIs) {
		return nil
	}
	return err
}

// current returns the choice for a lane, whose server is empty if none was chosen yet. If the store cannot be
// read, it returns the last known choice.
func (c *Choices) current(ctx context.Context, on ps.Lane) Choice {
	found, err := read(ctx, c.o.Store, on)
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lanes[on]
	if err == nil && found.Epoch >= l.last.Epoch {
		if found.Epoch > l.last.Epoch {
			l.looked, l.away, l.other = false, time.Time{}, ""
		}
		l.last = found
	}
	return l.last
}

// Pinned returns the server chosen for a lane, or "" if there is none yet, and the number of the choice.
func (c *Choices) Pinned(ctx context.Context, on ps.Lane) (server string, epoch uint64) {
	found := c.current(ctx, on)
	return found.Server, found.Epoch
}

// Pin chooses a server for a lane if this gateway leads and there is no choice yet. Otherwise it
// does nothing, because the leader will choose.
func (c *Choices) Pin(ctx context.Context, on ps.Lane, server string) error {
	before, err := read(ctx, c.o.Store, on)
	if err != nil || before.Server != "" {
		return err
	}
	err = write(ctx, c.o.Store, on, server, "", func(now Choice) error {
		if now.Server != "" {
			return errAsItIs
		}
		return nil
	})
	if errors.Is(err, store.ErrFollows) && errors.Is(err, store.ErrNotSent) {
		return nil
	}
	return err
}

// Reached records whether this gateway can use the chosen server, and names another server that it
// could use instead.
func (c *Choices) Reached(on ps.Lane, server string, reached bool, other string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lanes[on]
	if !strings.EqualFold(server, l.last.Server) {
		return
	}
	l.looked, l.other, l.usable = true, other, reached || other != ""
	switch {
	case reached:
		l.away = time.Time{}
	case l.away.IsZero():
		l.away = c.o.Now()
	}
}

// Doubted always returns false, because it does not matter which servers other gateways reach.
func (c *Choices) Doubted(ps.Lane) bool { return false }

// Lanes returns the names of the lanes on which this gateway can use the chosen server or another one. It is
// meant for cluster.Options.Lanes.
func (c *Choices) Lanes() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for on, l := range c.lanes {
		if l.usable {
			names = append(names, string(on))
		}
	}
	slices.Sort(names)
	return names
}

// Run replaces choices when necessary, until ctx ends. The leader calls it in each of its terms.
func (c *Choices) Run(ctx context.Context) {
	every.Do(ctx, look, func() {
		for _, on := range []ps.Lane{ps.Directory, ps.DNS} {
			c.check(ctx, on)
		}
	})
}

// check replaces the choice of a lane if that is due.
func (c *Choices) check(ctx context.Context, on ps.Lane) {
	before := c.current(ctx, on)
	now := c.o.Now()
	c.mu.Lock()
	l := c.lanes[on]
	other := l.other
	due := before.Server != "" && l.last.Epoch == before.Epoch && l.looked && !l.away.IsZero() &&
		now.Sub(l.away) >= moveAfter && other != "" && !strings.EqualFold(other, before.Server)
	c.mu.Unlock()
	if !due {
		return
	}
	reason := fmt.Sprintf("the gateway that leads could not use %s", before.Server)
	err := write(ctx, c.o.Store, on, other, reason, func(now Choice) error {
		if now.Epoch != before.Epoch {
			return ErrMoved
		}
		return nil
	})
	if errors.Is(err, ErrMoved) {
		return // an administrator was faster
	}
	if err == nil {
		c.o.Log("the gateways use another server", map[string]any{
			"lane": string(on), "server": other, "before": before.Server, "reason": reason, "event": "failover",
		})
	}
	c.failed(ctx, before, err)
}

// failed stores the reason why another server could not be chosen, or nil. It logs a reason only once.
func (c *Choices) failed(ctx context.Context, before Choice, err error) {
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	c.mu.Lock()
	l := c.lanes[before.Lane]
	news := fault != "" && fault != l.fault
	l.fault = fault
	c.mu.Unlock()
	if news && ctx.Err() == nil {
		c.o.Log("another server cannot be chosen", map[string]any{
			"lane": string(before.Lane), "server": before.Server, "error": fault,
		})
	}
}

// ErrMoved means that another server has been chosen meanwhile.
var ErrMoved = errors.New("another server was chosen meanwhile: look which one, and try again")

// Move chooses a server for a lane for all gateways, on behalf of an administrator. If the leading
// gateway cannot use that server, it will choose again. Move changes nothing if the server is
// already chosen.
func Move(ctx context.Context, db *store.Sealed, on ps.Lane, server string) error {
	first, err := read(ctx, db, on)
	if err != nil {
		return err
	}
	return write(ctx, db, on, server, "an administrator has chosen it", func(now Choice) error {
		switch {
		case strings.EqualFold(now.Server, server):
			return errAsItIs
		case now.Epoch != first.Epoch:
			return ErrMoved
		}
		return nil
	})
}
