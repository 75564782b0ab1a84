package remote

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
)

// Order is a request of a test to a domain. Op determines which of the other fields are used.
type Order struct {
	Op         string        `json:"op"`
	Server     string        `json:"server,omitempty"` // a controller, or a gateway for cut and heal
	Other      string        `json:"other,omitempty"`  // a controller
	Gateway    string        `json:"gateway,omitempty"`
	For        time.Duration `json:"for,omitempty"`
	After      int64         `json:"after,omitempty"`
	Limit      int           `json:"limit,omitempty"`
	Filter     string        `json:"filter,omitempty"`
	Attributes []string      `json:"attributes,omitempty"`
}

// Outcome is the result of an order.
type Outcome struct {
	Digest   *sandbox.Digest `json:"digest,omitempty"`
	Writes   []sandbox.Write `json:"writes,omitempty"`
	Objects  []Found         `json:"objects,omitempty"`
	Gateways []Guest         `json:"gateways,omitempty"`
	Dropped  int             `json:"dropped,omitempty"` // number of closed connections
}

// Found is an object found by an order.
type Found struct {
	DN         string              `json:"dn"`
	GUID       string              `json:"guid"`
	Attributes map[string][]string `json:"attributes"`
}

// Guest is a connected gateway.
type Guest struct {
	Gateway     string        `json:"gateway"`
	Account     string        `json:"account"`
	Clock       time.Duration `json:"clock"`
	Connections int           `json:"connections"` // number of its sessions' connections
}

// maxWritesRead is the maximum number of writes that one order reads.
const maxWritesRead = 5_000

// orders are the supported orders.
var orders = map[string]func(*Domain, context.Context, *Order) (*Outcome, error){
	"stop":     func(d *Domain, _ context.Context, o *Order) (*Outcome, error) { return d.switchTo(o.Server, false) },
	"start":    func(d *Domain, _ context.Context, o *Order) (*Outcome, error) { return d.switchTo(o.Server, true) },
	"slow":     (*Domain).slow,
	"cut":      func(d *Domain, _ context.Context, o *Order) (*Outcome, error) { return d.cut(o, true) },
	"heal":     func(d *Domain, _ context.Context, o *Order) (*Outcome, error) { return d.cut(o, false) },
	"lag":      (*Domain).lag,
	"drop":     (*Domain).drop,
	"digest":   (*Domain).digest,
	"writes":   (*Domain).writes,
	"find":     (*Domain).find,
	"gateways": (*Domain).gateways,
}

// obey executes orders until the connection ends.
func (d *Domain) obey(ctx context.Context, w *wire) {
	for {
		f, err := w.read(controlBytes)
		if err != nil || f.F != "order" || f.Order == nil {
			return
		}
		answer := &frame{F: "done"}
		if answer.Outcome, err = d.do(ctx, f.Order); err != nil {
			answer = &frame{F: "refused", Name: refusedOrder, Text: strings.ToValidUTF8(err.Error(), "")}
		}
		answer.ID = f.ID
		if err := w.send(answer); err != nil {
			return
		}
	}
}

func (d *Domain) do(ctx context.Context, o *Order) (*Outcome, error) {
	run := orders[o.Op]
	if run == nil {
		return nil, fmt.Errorf("there is no order %.40q; there are %s", o.Op,
			strings.Join(slices.Sorted(maps.Keys(orders)), ", "))
	}
	d.options.Log("an order", map[string]any{"op": o.Op, "server": shown(o.Server), "other": shown(o.Other),
		"gateway": shown(o.Gateway), "for": o.For.String()})
	return run(d, ctx, o)
}

// controller returns a controller by name, whether it is on or off.
func (d *Domain) controller(name string) (*directory.DC, error) {
	var known []string
	for _, dc := range d.options.World.Directory.DCs() {
		if strings.EqualFold(dc.Name(), name) || strings.EqualFold(dc.HostName(), name) {
			return dc, nil
		}
		known = append(known, dc.Name())
	}
	return nil, fmt.Errorf("there is no controller %.60q; there are %s", name, strings.Join(known, ", "))
}

func (d *Domain) switchTo(name string, alive bool) (*Outcome, error) {
	dc, err := d.controller(name)
	if err != nil {
		return nil, err
	}
	dc.SetAlive(alive)
	return &Outcome{}, nil
}

func (d *Domain) slow(_ context.Context, o *Order) (*Outcome, error) {
	dc, err := d.controller(o.Server)
	if err != nil {
		return nil, err
	}
	d.options.World.Network.Slow(dc.HostName(), o.For)
	return &Outcome{}, nil
}

// cut separates or reconnects two controllers, or a gateway and a controller.
func (d *Domain) cut(o *Order, cut bool) (*Outcome, error) {
	to, err := d.controller(o.Other)
	if err != nil {
		return nil, err
	}
	if from, err := d.controller(o.Server); err == nil {
		d.options.World.Directory.Cut(from, to, cut)
		return &Outcome{}, nil
	} else if o.Gateway == "" {
		return nil, err
	}
	d.options.World.Network.Cut(o.Gateway, to.HostName(), cut)
	return &Outcome{}, nil
}

func (d *Domain) lag(_ context.Context, o *Order) (*Outcome, error) {
	if o.For < 0 {
		return nil, fmt.Errorf("a lag of %s cannot be", o.For)
	}
	d.options.World.Directory.SetReplicationLag(o.For)
	return &Outcome{}, nil
}

// drop closes all connections of a gateway, which may reconnect.
func (d *Domain) drop(_ context.Context, o *Order) (*Outcome, error) {
	dropped := 0
	d.Server.mu.Lock()
	for g := range d.live {
		if g.guest != nil && g.guest.ticket.Gateway == o.Gateway {
			g.end()
			dropped++
		}
	}
	d.Server.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	for g := range d.guests {
		if g.ticket.Gateway == o.Gateway {
			g.end()
			dropped++
		}
	}
	return &Outcome{Dropped: dropped}, nil
}

func (d *Domain) digest(context.Context, *Order) (*Outcome, error) {
	digest, err := d.options.World.Digest()
	return &Outcome{Digest: &digest}, err
}

func (d *Domain) writes(_ context.Context, o *Order) (*Outcome, error) {
	limit := maxWritesRead
	if o.Limit > 0 {
		limit = min(limit, o.Limit)
	}
	return &Outcome{Writes: d.options.Writes.After(o.After, limit)}, nil
}

// find returns the objects that match a filter, as seen by one controller.
func (d *Domain) find(ctx context.Context, o *Order) (*Outcome, error) {
	dc, err := d.controller(o.Server)
	if err != nil {
		return nil, err
	}
	objects, err := dc.Search(ctx,
		directory.SearchRequest{Filter: o.Filter, Attributes: o.Attributes, Limit: maxWritesRead})
	if err != nil {
		return nil, err
	}
	outcome := &Outcome{}
	for _, object := range objects {
		found := Found{DN: object.DN, GUID: object.GUID.String(), Attributes: map[string][]string{}}
		for _, name := range o.Attributes {
			found.Attributes[name] = object.Strings(name)
		}
		outcome.Objects = append(outcome.Objects, found)
	}
	return outcome, nil
}

func (d *Domain) gateways(context.Context, *Order) (*Outcome, error) {
	outcome := &Outcome{}
	sessions := map[string]int{}
	d.Server.mu.Lock()
	for g := range d.live {
		if g.guest != nil {
			sessions[g.guest.ticket.Gateway]++
		}
	}
	d.Server.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	for g := range d.guests {
		outcome.Gateways = append(outcome.Gateways, Guest{
			Gateway: g.ticket.Gateway, Account: g.ticket.Account, Clock: g.ticket.Clock,
			Connections: sessions[g.ticket.Gateway],
		})
	}
	slices.SortFunc(outcome.Gateways, func(a, b Guest) int { return strings.Compare(a.Gateway, b.Gateway) })
	return outcome, nil
}
