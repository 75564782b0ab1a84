// Package pins keeps which server the gateways of a site use together, by lane, and moves
// them to another one when most of them cannot use it.
//
// The pin is a value in the store that they share. [Pins.Pinned] reads it for each run, so
// that it is never older than the fences of the gateway: a pin is moved in one batch with
// the fences of all gateways of the site (see package members), and a change that was begun
// on the old server is refused before its first write. Each gateway tells in its heartbeat
// whether it can use the server ([Pins.Reached]), and [Pins.Run] looks what they tell. A
// gateway that cannot reach the store moves nothing. An administrator moves a pin by [Move].
package pins

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"adgateway/gateway/keep"
	"adgateway/gateway/members"
	"adgateway/ps"
)

// kind is the kind of pins in the store, by "<site>/<lane>".
const kind keep.Kind = "pin"

// Kinds are the kinds of values of this package.
var Kinds = []keep.Kind{kind}

// Pin is the server that the gateways of a site use on a lane.
type Pin struct {
	keep.Formatted
	Site   string    `json:"site"`
	Lane   ps.Lane   `json:"lane"`
	Server string    `json:"server"`
	Epoch  uint64    `json:"epoch"` // greater each time that it is moved
	Since  time.Time `json:"since"`
	Reason string    `json:"reason,omitempty"` // why it was moved

	revision keep.Revision
}

const (
	moveAfter = 10 * time.Second // for which most gateways of the site cannot reach the server
	look      = time.Second
	mostTries = 50 // of a move, while changes rewrite the fences
)

// Options configure the pins of a gateway. Store is required.
type Options struct {
	Store   *keep.Sealed
	Members func() *members.Self // returns nil as long as the gateway has not joined: it moves nothing
	Site    string
	Log     func(message string, fields map[string]any) // nil: nothing is logged
	Now     func() time.Time                            // nil: time.Now
}

// Pins are those of the site of a gateway: the [servers.Shared] of its runs. They are safe
// for concurrent use.
type Pins struct {
	o Options

	mu    sync.Mutex
	lanes map[ps.Lane]*lane
}

// lane is what a gateway knows of a lane.
type lane struct {
	last    Pin    // as last read
	other   string // another server, which can be used from here
	reached bool   // the pinned server can; meaningful once it was looked at
	looked  bool
	doubted bool      // another gateway cannot use it
	epoch   uint64    // of the pin that lost is about
	lost    time.Time // since when most gateways cannot reach the server; zero: they can
	fault   string    // why the last move failed, as logged
}

// New returns the pins of a gateway. [Pins.Run] should follow.
func New(o Options) *Pins {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = func(string, map[string]any) {}
	}
	return &Pins{o: o, lanes: map[ps.Lane]*lane{ps.Directory: {}, ps.DNS: {}}}
}

func key(site string, lane ps.Lane) string { return site + "/" + string(lane) }

// read reads a pin; it has no server if there is none.
func read(ctx context.Context, store *keep.Sealed, site string, lane ps.Lane) (Pin, error) {
	e, err := store.Get(ctx, kind, key(site, lane))
	if errors.Is(err, keep.ErrAbsent) {
		return Pin{Site: site, Lane: lane}, nil
	}
	if err != nil {
		return Pin{}, err
	}
	return decode(store, e)
}

func decode(store *keep.Sealed, e keep.Entry) (pin Pin, err error) {
	err = keep.Decode(store, e.Value, &pin)
	pin.revision = e.Revision
	return pin, err
}

// Read returns the pins of all sites.
func Read(ctx context.Context, store *keep.Sealed) (all []Pin, err error) {
	var wrong error
	err = store.Range(ctx, kind, "", func(e keep.Entry) bool {
		var pin Pin
		if pin, wrong = decode(store, e); wrong == nil {
			all = append(all, pin)
		}
		return wrong == nil
	})
	return all, errors.Join(err, wrong)
}

// current returns the pin of a lane, without a server if there is none yet. If the store
// cannot be read, it is the one that was read last.
func (p *Pins) current(ctx context.Context, on ps.Lane) Pin {
	pin, err := read(ctx, p.o.Store, p.o.Site, on)
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[on]
	if err == nil && pin.Epoch > l.last.Epoch {
		l.last, l.looked, l.other = pin, false, ""
	}
	return l.last
}

// Pinned returns the pinned server of a lane, empty if there is none yet, and how often the
// pin was set.
func (p *Pins) Pinned(ctx context.Context, on ps.Lane) (server string, epoch uint64) {
	pin := p.current(ctx, on)
	return pin.Server, pin.Epoch
}

// Pin pins a server of a lane, unless the site has one.
func (p *Pins) Pin(ctx context.Context, on ps.Lane, server string) error {
	pin, err := read(ctx, p.o.Store, p.o.Site, on)
	if err != nil || pin.Server != "" {
		return err
	}
	pin.Server, pin.Epoch, pin.Since = server, 1, p.o.Now().UTC()
	_, err = p.o.Store.Apply(ctx, set(p.o.Store, pin))
	if errors.Is(err, keep.ErrConflict) {
		return nil // another gateway was faster
	}
	return err
}

// set returns the change that sets a pin.
func set(store *keep.Sealed, pin Pin) keep.Change {
	value, _ := keep.Encode(store, pin) // texts, a number and a time: it cannot fail
	return keep.Change{Kind: kind, Key: key(pin.Site, pin.Lane), Expect: pin.revision, Value: value}
}

// Reached notes whether this gateway can use a server, if it is the pinned one, and another
// one that it could use instead. The next heartbeat tells it.
func (p *Pins) Reached(on ps.Lane, server string, reached bool, other string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.lanes[on]; strings.EqualFold(server, l.last.Server) {
		l.looked, l.reached, l.other = true, reached, other
	}
}

// Doubted reports whether another gateway of the site cannot use the pinned server.
func (p *Pins) Doubted(on ps.Lane) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lanes[on].doubted
}

// tell has the next heartbeats say what is known of the pinned servers.
func (p *Pins) tell(self *members.Self) {
	reach := map[string]bool{}
	p.mu.Lock()
	for on, l := range p.lanes {
		if l.looked {
			reach[string(on)] = l.reached
		}
	}
	p.mu.Unlock()
	self.Report(func(m *members.Member) { m.Reach = reach })
}

// Run moves pins, until ctx ends.
func (p *Pins) Run(ctx context.Context) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.Tick(ctx)
		}
	}
}

// Tick tells how the pinned servers are, looks what the other gateways of the site tell, and
// moves the pins that most of them have not reached for a while. Run calls it each second.
func (p *Pins) Tick(ctx context.Context) {
	self := p.o.Members()
	if self == nil {
		return
	}
	p.tell(self)
	for _, on := range []ps.Lane{ps.Directory, ps.DNS} {
		pin := p.current(ctx, on)
		other, due := p.due(self, on, pin)
		if !due {
			continue
		}
		why := fmt.Sprintf("most gateways of the site could not use %s", pin.Server)
		moved, err := move(ctx, p.o.Store, pin, other, why, p.o.Now())
		if moved {
			p.o.Log("the gateways of the site use another server", map[string]any{"lane": string(on), "server": other, "before": pin.Server, "reason": why, "event": "failover"})
		}
		p.failed(ctx, pin, err)
	}
}

// failed notes why a pin could not be moved, or nil, and logs it if it is new.
func (p *Pins) failed(ctx context.Context, pin Pin, err error) {
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	p.mu.Lock()
	l := p.lanes[pin.Lane]
	news := fault != "" && fault != l.fault
	l.fault = fault
	p.mu.Unlock()
	if news && ctx.Err() == nil {
		p.o.Log("the pinned server cannot be replaced", map[string]any{"lane": string(pin.Lane), "server": pin.Server, "error": fault})
	}
}

// due reports whether a pin is to be moved, and where to. A gateway that has just seen it
// move gives the others the time to tell what they think of the new one.
func (p *Pins) due(self *members.Self, on ps.Lane, pin Pin) (other string, due bool) {
	live, without, others := 0, 0, false
	for _, m := range self.Live() {
		if m.Site != p.o.Site {
			continue
		}
		live++
		if reached, told := m.Reach[string(on)]; told && !reached {
			without++
			others = others || m.Name != self.Name()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[on]
	l.doubted = others
	switch {
	case pin.Server == "" || pin.Epoch != l.epoch || 2*without <= live:
		l.epoch, l.lost = pin.Epoch, time.Time{}
	case l.lost.IsZero():
		l.lost = p.o.Now()
	}
	return l.other, !l.lost.IsZero() && p.o.Now().Sub(l.lost) >= moveAfter && l.other != "" && !strings.EqualFold(l.other, pin.Server)
}

// ErrNoPin means that a site has no pin of a lane, as no gateway of it has run yet.
var ErrNoPin = errors.New("the site has no pinned server yet")

// ErrMoved means that another gateway has moved the pin meanwhile.
var ErrMoved = errors.New("a gateway has moved the pin meanwhile")

// Move pins another server of a lane for all gateways of a site, for an administrator. The
// changes that they have begun on the old one are run again.
func Move(ctx context.Context, store *keep.Sealed, site string, lane ps.Lane, server string) error {
	pin, err := read(ctx, store, site, lane)
	if err != nil {
		return err
	}
	if pin.Server == "" {
		return ErrNoPin
	}
	moved, err := move(ctx, store, pin, server, "an administrator has chosen it", time.Now())
	if err == nil && !moved {
		err = ErrMoved
	}
	return err
}

// move pins another server, and moves the fences of the site with it. It reports whether it
// has; otherwise another gateway has moved the pin.
func move(ctx context.Context, store *keep.Sealed, pin Pin, server, why string, now time.Time) (moved bool, err error) {
	next := pin
	next.Server, next.Epoch, next.Since, next.Reason = server, pin.Epoch+1, now.UTC(), why
	fenced, err := together(ctx, store, pin.Site, nil, func() ([]keep.Change, bool, error) {
		latest, err := read(ctx, store, pin.Site, pin.Lane)
		next.revision = latest.revision // it may have been sealed anew
		return []keep.Change{set(store, next)}, latest.Epoch == pin.Epoch, err
	})
	if err != nil || fenced == nil {
		return false, err
	}
	// A gateway that has joined meanwhile may have begun with the old one.
	_, err = together(ctx, store, pin.Site, fenced, func() ([]keep.Change, bool, error) { return nil, true, nil })
	return true, err
}

// together makes changes in one batch with the moved fences of all gateways of a site but
// some, and returns these gateways; nil if nothing was to be done. The changes are composed
// for each try, as long as they are wanted.
func together(ctx context.Context, store *keep.Sealed, site string, but []string, compose func() (changes []keep.Change, wanted bool, err error)) (fenced []string, err error) {
	for range mostTries {
		batch, wanted, err := compose()
		if err != nil || !wanted {
			return nil, err
		}
		fenced = []string{}
		all, _, err := members.Read(ctx, store)
		if err != nil {
			return nil, err
		}
		for i := range all {
			if all[i].Site != site || slices.Contains(but, all[i].Name) {
				continue
			}
			fences, err := members.MoveFences(ctx, store, all[i].Name)
			if err != nil {
				return nil, err
			}
			fenced, batch = append(fenced, all[i].Name), append(batch, fences...)
		}
		if len(batch) == 0 {
			return nil, nil
		}
		if _, err = store.Apply(ctx, batch...); !errors.Is(err, keep.ErrConflict) {
			return fenced, err
		}
		if !pause(ctx, 5*time.Millisecond+rand.N(20*time.Millisecond)) {
			return nil, context.Cause(ctx)
		}
	}
	return nil, errors.New("changes rewrite the fences of the site all the time")
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
