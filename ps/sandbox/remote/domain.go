package remote

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"

	"adgateway/ps/sandbox"
)

// DomainOptions configure a [Domain].
type DomainOptions struct {
	World  *sandbox.World
	Listen string // HOST:PORT, loopback only; port 0 means any free port

	Ticket  string            // secret for gateways; not empty
	Orders  string            // secret for tests that give orders; if empty, orders are refused
	Writes  *sandbox.WriteLog // write log of the world, for orders
	Version string            // of the program, for messages

	// Log receives messages about gateways. Nil discards them.
	Log func(text string, fields map[string]any)
}

// Domain is a [Server] that provides one world to the gateways of several processes. Each gateway has its own
// modules, because the directory counts connections for the gateway's account, and times are relative to its
// clock. It is safe for concurrent use.
type Domain struct {
	*Server
	options DomainOptions
	id      string // id of this world

	mu      sync.Mutex
	modules map[moduleKey]*moduleSet
	guests  map[*guest]bool
}

type moduleKey struct {
	account string // folded
	clock   time.Duration
}

// guest is a connected gateway with a ticket.
type guest struct {
	ticket  ticket
	modules *moduleSet
	end     context.CancelFunc
}

// protocol is the version of the protocol between gateways, tests and a domain. It must change whenever
// programs of different versions could misunderstand each other.
const protocol = 1

// ticket is the proof that a gateway or a test presents.
type ticket struct {
	Secret   string        `json:"secret"`
	Protocol int           `json:"protocol"`
	Version  string        `json:"version,omitempty"`
	Gateway  string        `json:"gateway,omitempty"`
	Account  string        `json:"account,omitempty"`
	Clock    time.Duration `json:"clock,omitempty"` // how far the domain's clock is ahead of this gateway's
}

const controlBytes = 64 << 10

// errNotLoopback keeps other computers from connecting, because frames are not encrypted.
var errNotLoopback = errors.New(
	"a simulated domain listens on a loopback address only, such as 127.0.0.1:7300, because what it says is " +
		"not encrypted")

// NewDomain listens and serves in the background until Close.
func NewDomain(o DomainOptions) (*Domain, error) {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, errNotLoopback
	}
	if o.Ticket == "" {
		return nil, errors.New("a domain needs a ticket that its gateways know")
	}
	if o.Log == nil {
		o.Log = func(string, map[string]any) {}
	}
	d := &Domain{Server: &Server{}, options: o, id: rand.Text(), modules: map[moduleKey]*moduleSet{},
		guests: map[*guest]bool{}}
	d.first = d.enter
	if err := d.open(o.Listen); err != nil {
		return nil, err
	}
	return d, nil
}

// Address returns the address that the domain listens on.
func (d *Domain) Address() string { return d.listener.Addr().String() }

// enter serves a connection that starts with a ticket.
func (d *Domain) enter(ctx context.Context, w *wire, f *frame) {
	secret := ""
	switch f.F {
	case "ticket":
		secret = d.options.Ticket
	case "orders":
		secret = d.options.Orders
	default:
		return
	}
	if f.Ticket == nil {
		return
	}
	t := *f.Ticket
	if code, text := d.refusal(f.F, t, secret); code != "" {
		d.options.Log("a ticket was refused", map[string]any{"gateway": shown(t.Gateway), "reason": code})
		_ = w.send(&frame{F: "refused", Name: code, Text: text}) // the client may have disconnected
		return
	}
	if err := w.send(&frame{F: "granted", Key: d.id, Text: d.options.Version}); err != nil {
		return
	}
	if f.F == "orders" {
		d.obey(ctx, w)
		return
	}
	d.host(ctx, w, t)
}

// Reasons of a refusal.
const (
	refusedSecret   = "secret"
	refusedProtocol = "protocol"
	refusedName     = "name"
	refusedOrder    = "order"
)

var gatewayName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

const maxAccount = 256

// refusal returns the reason why a ticket is refused, or "" if it is accepted.
func (d *Domain) refusal(kind string, t ticket, secret string) (code, text string) {
	switch {
	case secret == "" || subtle.ConstantTimeCompare([]byte(t.Secret), []byte(secret)) != 1:
		return refusedSecret, "the secret is not that of this domain"
	case t.Protocol != protocol:
		return refusedProtocol, fmt.Sprintf(
			"this domain, of version %s, speaks protocol %d, and version %s speaks %d", d.options.Version, protocol,
			shown(t.Version), t.Protocol)
	case kind == "ticket" && !gatewayName.MatchString(t.Gateway):
		return refusedName, fmt.Sprintf(
			"%q cannot be the name of a gateway: letters, digits, dots, hyphens and underscores can, 63 at most",
			shown(t.Gateway))
	case kind == "ticket" && (t.Account == "" || len(t.Account) > maxAccount):
		return refusedName, fmt.Sprintf("the account of a gateway has 1 to %d bytes", maxAccount)
	}
	return "", ""
}

// shown returns an untrusted text, shortened for a log.
func shown(text string) string { return strings.ToValidUTF8(text[:min(len(text), 100)], "") }

// host serves the control connection of a gateway until it ends. The gateway's unused keys
// then become invalid.
func (d *Domain) host(ctx context.Context, w *wire, t ticket) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := &guest{ticket: t, modules: d.modulesOf(t), end: cancel}
	d.mu.Lock()
	d.guests[g] = true
	d.mu.Unlock()
	d.options.Log("a gateway has come",
		map[string]any{"gateway": t.Gateway, "account": t.Account, "clock": t.Clock.String()})
	frames := make(chan *frame)
	d.work.Go(func() {
		defer close(frames)
		for {
			f, err := w.read(controlBytes)
			if err != nil {
				return
			}
			select {
			case frames <- f:
			case <-ctx.Done():
				return
			}
		}
	})
	for open := true; open; {
		select {
		case f, ok := <-frames:
			if open = ok; ok {
				answer := d.answer(ctx, g, f)
				answer.ID = f.ID
				open = w.send(answer) == nil
			}
		case <-ctx.Done():
			open = false
		}
	}
	d.mu.Lock()
	delete(d.guests, g)
	d.mu.Unlock()
	d.revoke(g)
	d.options.Log("a gateway has gone", map[string]any{"gateway": t.Gateway})
}

// revoke invalidates the unused keys of a guest.
func (s *Server) revoke(g *guest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, unused := range s.keys {
		if unused.guest == g {
			delete(s.keys, key)
		}
	}
}

// modulesOf returns the modules for a ticket's account and clock. Gateways with the same
// account and clock share them.
func (d *Domain) modulesOf(t ticket) *moduleSet {
	key := moduleKey{strings.ToLower(t.Account), t.Clock}
	d.mu.Lock()
	defer d.mu.Unlock()
	set := d.modules[key]
	if set == nil {
		_, culture := d.options.World.Modules()
		set = newModuleSet(Options{Modules: d.options.World.ModulesOf(t.Account, t.Clock),
			Declared: sandbox.Declarations(), Culture: culture})
		d.modules[key] = set
	}
	return set
}

// answer answers a frame of a gateway.
func (d *Domain) answer(ctx context.Context, g *guest, f *frame) *frame {
	world := d.options.World
	switch f.F {
	case "issue":
		return &frame{F: "key", Key: d.grant(grant{modules: g.modules, guest: g})}
	case "reach":
		host, _, err := net.SplitHostPort(f.Name)
		if err != nil || !world.Network.Reached(g.ticket.Gateway, host) {
			return &frame{F: "answer"}
		}
		conn, err := world.Dial(ctx, "tcp", f.Name)
		if err == nil {
			err = conn.Close()
		}
		return &frame{F: "answer", OK: err == nil}
	case "example":
		example := world.Example(ctx)
		return &frame{F: "example", Name: example.User, Text: example.Zone}
	case "logon":
		return person(world.LogOn(ctx, f.Name, f.Text))
	case "lookup":
		return person(world.Lookup(ctx, f.Name))
	case "account":
		return person(world.Account(ctx, f.Name))
	}
	return &frame{F: "refused", Name: refusedOrder, Text: "unknown frame"}
}

// logonErrors are the errors about accounts that a gateway distinguishes.
var logonErrors = map[string]error{"logon": sandbox.ErrLogon, "change": sandbox.ErrMustChange,
	"expired": sandbox.ErrPasswordExpiry}

func person(a *sandbox.Account, err error) *frame {
	if err == nil {
		return &frame{F: "person", Person: a}
	}
	answer := &frame{F: "refused", Text: strings.ToValidUTF8(err.Error(), "")}
	for name, known := range logonErrors {
		if errors.Is(err, known) {
			answer.Name = name
		}
	}
	return answer
}
