package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
)

// An Order is something that a test can tell a domain to do.
type Order struct {
	Usage string // name and arguments; those in brackets are optional
	Doc   string
	// run executes the order. A nil result is not shown.
	run func(d *Domain, ctx context.Context, args []string) (any, error)
}

// Orders returns the orders that a domain takes.
func Orders() []Order {
	return []Order{
		{"stop SERVER", "switch a controller off", switched(false)},
		{"start SERVER", "switch it on again", switched(true)},
		{"slow SERVER TIME", "make each command at a controller wait; 0s ends that", (*Domain).slow},
		{"cut SERVER SERVER", "stop the replication between two controllers", replicating(false)},
		{"heal SERVER SERVER", "let it go on", replicating(true)},
		{"separate GATEWAY SERVER", "make a controller unreachable for a gateway", reaching(false)},
		{"join GATEWAY SERVER", "make it reachable again", reaching(true)},
		{"lag TIME", "set how long a change takes to the other controllers", (*Domain).lag},
		{"drop GATEWAY", "close all connections of a gateway", (*Domain).drop},
		{"digest", "show a hash of all that each controller holds, and of the zones",
			func(d *Domain, _ context.Context, _ []string) (any, error) { return d.options.World.Digest() }},
		{"writes [POSITION]", "show what was written, after a position", (*Domain).writes},
		{"find SERVER FILTER [ATTRIBUTE...]", "show the objects that an LDAP filter matches", (*Domain).find},
		{"gateways", "show the gateways that are connected", (*Domain).gateways},
	}
}

// OrderOf returns the order that words begin with, or an error if there is none or if an argument is missing.
func OrderOf(words []string) (Order, error) {
	for _, o := range Orders() {
		needed, _, _ := strings.Cut(o.Usage, " [")
		usage := strings.Fields(needed)
		if len(words) >= len(usage) && words[0] == usage[0] {
			return o, nil
		}
	}
	return Order{}, fmt.Errorf(
		"%q is no order with all that it needs; 'adgateway sandbox order --help' lists them",
		shown(strings.Join(words, " ")))
}

// Give gives an order to the domain at an address, and returns its result as JSON, or nil if it has none.
// secret is the secret for orders.
func Give(ctx context.Context, address, secret string, words ...string) (json.RawMessage, error) {
	if len(words) > 0 && words[0] == "writes" {
		return allWrites(ctx, address, secret, words)
	}
	return give(ctx, address, secret, words)
}

func give(ctx context.Context, address, secret string, words []string) (json.RawMessage, error) {
	r, err := ask(ctx, address, question{ticket: ticket{Secret: secret}, Op: "order", Words: words})
	if err != nil {
		return nil, err
	}
	return r.Result, nil
}

// allWrites reads the write log, of which an order shows only a part. It returns an error if the log has
// dropped some of the writes.
func allWrites(ctx context.Context, address, secret string, words []string) (json.RawMessage, error) {
	after, err := position(words[1:])
	all := []sandbox.Write{}
	for err == nil {
		var text json.RawMessage
		var part []sandbox.Write
		if text, err = give(ctx, address, secret, []string{words[0], strconv.FormatInt(after, 10)}); err != nil {
			break
		}
		if err = json.Unmarshal(text, &part); err != nil || len(part) == 0 {
			break
		}
		if part[0].Position != after+1 {
			return nil, errors.New("the write log has lost its beginning")
		}
		all = append(all, part...)
		after = all[len(all)-1].Position
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// obey executes an order.
func (d *Domain) obey(ctx context.Context, words []string) (*reply, error) {
	o, err := OrderOf(words)
	if err != nil {
		return nil, err
	}
	d.options.Log("an order", map[string]any{"order": shown(strings.Join(words, " "))})
	result, err := o.run(d, ctx, words[1:])
	if err != nil || result == nil {
		return &reply{}, err
	}
	text, err := json.Marshal(result)
	return &reply{Result: text}, err
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

func wait(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%.60q is no time such as 500ms or 30s", text)
	}
	return d, nil
}

// position returns the position in the write log that is given; the default is the beginning.
func position(args []string) (int64, error) {
	if len(args) == 0 {
		return 0, nil
	}
	after, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || after < 0 {
		return 0, fmt.Errorf("%.60q is no position: it is a number of the list that 'writes' shows", args[0])
	}
	return after, nil
}

func switched(on bool) func(*Domain, context.Context, []string) (any, error) {
	return func(d *Domain, _ context.Context, args []string) (any, error) {
		dc, err := d.controller(args[0])
		if err == nil {
			dc.SetAlive(on)
		}
		return nil, err
	}
}

func (d *Domain) slow(_ context.Context, args []string) (any, error) {
	dc, err := d.controller(args[0])
	if err != nil {
		return nil, err
	}
	by, err := wait(args[1])
	if err == nil {
		d.options.World.Network.Slow(dc.HostName(), by)
	}
	return nil, err
}

// replicating stops or resumes the replication between two controllers.
func replicating(on bool) func(*Domain, context.Context, []string) (any, error) {
	return func(d *Domain, _ context.Context, args []string) (any, error) {
		from, err := d.controller(args[0])
		if err != nil {
			return nil, err
		}
		to, err := d.controller(args[1])
		if err == nil {
			d.options.World.Directory.Cut(from, to, !on)
		}
		return nil, err
	}
}

// reaching separates a controller from a gateway, or connects them again.
func reaching(on bool) func(*Domain, context.Context, []string) (any, error) {
	return func(d *Domain, _ context.Context, args []string) (any, error) {
		dc, err := d.controller(args[1])
		if err == nil {
			d.options.World.Network.Cut(args[0], dc.HostName(), !on)
		}
		return nil, err
	}
}

func (d *Domain) lag(_ context.Context, args []string) (any, error) {
	lag, err := wait(args[0])
	if err == nil {
		d.options.World.Directory.SetReplicationLag(lag)
	}
	return nil, err
}

// drop closes all connections of a gateway, which may reconnect.
func (d *Domain) drop(_ context.Context, args []string) (any, error) {
	dropped := 0
	d.mu.Lock()
	defer d.mu.Unlock()
	for g := range d.live {
		if g.guest != nil && g.guest.ticket.Gateway == args[0] {
			g.end()
			dropped++
		}
	}
	for _, g := range d.guests {
		if g.ticket.Gateway == args[0] {
			g.end()
			dropped++
		}
	}
	return map[string]int{"dropped": dropped}, nil
}

// maxShown is the maximum number of writes or objects that one order shows.
const maxShown = 5_000

func (d *Domain) writes(_ context.Context, args []string) (any, error) {
	after, err := position(args)
	return d.options.Writes.After(after, maxShown), err
}

// Found is an object found by an order.
type Found struct {
	DN         string              `json:"dn"`
	GUID       string              `json:"guid"`
	Attributes map[string][]string `json:"attributes"`
}

// find returns the objects that match a filter, as seen by one controller.
func (d *Domain) find(ctx context.Context, args []string) (any, error) {
	dc, err := d.controller(args[0])
	if err != nil {
		return nil, err
	}
	objects, err := dc.Search(ctx,
		directory.SearchRequest{Filter: args[1], Attributes: args[2:], Limit: maxShown})
	if err != nil {
		return nil, err
	}
	all := []Found{}
	for _, object := range objects {
		found := Found{DN: object.DN, GUID: object.GUID.String(), Attributes: map[string][]string{}}
		for _, name := range args[2:] {
			found.Attributes[name] = object.Strings(name)
		}
		all = append(all, found)
	}
	return all, nil
}

// Guest is a connected gateway.
type Guest struct {
	Gateway     string        `json:"gateway"`
	Account     string        `json:"account"`
	Clock       time.Duration `json:"clock"`
	Connections int           `json:"connections"` // number of its sessions' connections
}

func (d *Domain) gateways(context.Context, []string) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	sessions := map[string]int{}
	for g := range d.live {
		if g.guest != nil {
			sessions[g.guest.ticket.Gateway]++
		}
	}
	all := []Guest{}
	for _, g := range d.guests {
		all = append(all, Guest{Gateway: g.ticket.Gateway, Account: g.ticket.Account, Clock: g.ticket.Clock,
			Connections: sessions[g.ticket.Gateway]})
	}
	slices.SortFunc(all, func(a, b Guest) int { return strings.Compare(a.Gateway, b.Gateway) })
	return all, nil
}
