package remote

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
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

	// Guarded by the mutex of the server.
	modules map[moduleKey]*moduleSet
	guests  map[string]*guest // by id
}

type moduleKey struct {
	account string // folded
	clock   time.Duration
}

// guest is a connected gateway.
type guest struct {
	ticket  ticket
	modules *moduleSet
	end     context.CancelFunc
}

// protocol is the version of the protocol between gateways, tests and a domain. It must change whenever
// programs of different versions could misunderstand each other.
const protocol = 2

// ticket is the proof that a gateway or a test presents.
type ticket struct {
	Secret   string        `json:"secret"`
	Protocol int           `json:"protocol"`
	Version  string        `json:"version,omitempty"`
	Gateway  string        `json:"gateway,omitempty"`
	Account  string        `json:"account,omitempty"`
	Clock    time.Duration `json:"clock,omitempty"` // how far the domain's clock is ahead of this gateway's
}

// question is what a gateway or a test asks a domain. Op determines which members are set.
type question struct {
	ticket
	Op       string   `json:"op"`
	Guest    string   `json:"guest,omitempty"` // id that the gateway got when it joined
	Name     string   `json:"name,omitempty"`
	Password string   `json:"password,omitempty"`
	Words    []string `json:"words,omitempty"` // of an order
}

// reply is the answer to a question.
type reply struct {
	Refused string           `json:"refused,omitempty"` // reason of a refusal, see refusals and logonErrors
	Text    string           `json:"text,omitempty"`    // of a refusal
	World   string           `json:"world,omitempty"`
	Guest   string           `json:"guest,omitempty"`
	Key     string           `json:"key,omitempty"`
	OK      bool             `json:"ok,omitempty"`
	Example *sandbox.Example `json:"example,omitempty"`
	Person  *sandbox.Account `json:"person,omitempty"`
	Result  json.RawMessage  `json:"result,omitempty"` // of an order
}

const questionBytes = 64 << 10

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
		guests: map[string]*guest{}}
	d.first = d.enter
	if err := d.open(o.Listen); err != nil {
		return nil, err
	}
	return d, nil
}

// Address returns the address that the domain listens on.
func (d *Domain) Address() string { return d.listener.Addr().String() }

// enter serves a connection that starts with a question. end closes the connection.
func (d *Domain) enter(ctx context.Context, end context.CancelFunc, w *wire, f *frame) {
	if f.F != "question" || f.Question == nil {
		return
	}
	q := f.Question
	if r := d.refusal(q); r != nil {
		d.options.Log("a ticket was refused", map[string]any{"gateway": shown(q.Gateway), "reason": r.Refused})
		_ = w.send(&frame{F: "reply", Reply: r}) // the client may have disconnected
		return
	}
	if q.Op == "join" {
		d.host(end, w, q.ticket)
		return
	}
	r, err := d.answer(ctx, q)
	if err != nil {
		r = &reply{Refused: refusedOther, Text: strings.ToValidUTF8(err.Error(), "")}
		for code, known := range logonErrors {
			if errors.Is(err, known) {
				r.Refused = code
			}
		}
	}
	_ = w.send(&frame{F: "reply", Reply: r})
}

// Reasons of a refusal.
const (
	refusedSecret   = "secret"
	refusedProtocol = "protocol"
	refusedName     = "name"
	refusedOther    = "other"
)

// logonErrors are the errors about accounts that a gateway distinguishes, by reason of the refusal.
var logonErrors = map[string]error{"logon": sandbox.ErrLogon, "change": sandbox.ErrMustChange,
	"expired": sandbox.ErrPasswordExpiry}

var gatewayName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

const maxAccount = 256

// refusal returns the reason why a question is refused, or nil if its ticket is accepted.
func (d *Domain) refusal(q *question) *reply {
	secret, isGateway := d.options.Ticket, true
	if q.Op == "order" {
		secret, isGateway = d.options.Orders, false
	}
	switch {
	case secret == "" || subtle.ConstantTimeCompare([]byte(q.Secret), []byte(secret)) != 1:
		return &reply{Refused: refusedSecret, Text: "the secret is not that of this domain"}
	case q.Protocol != protocol:
		return &reply{Refused: refusedProtocol, Text: fmt.Sprintf(
			"this domain, of version %s, speaks protocol %d, and version %s speaks %d", d.options.Version, protocol,
			shown(q.Version), q.Protocol)}
	case isGateway && !gatewayName.MatchString(q.Gateway):
		return &reply{Refused: refusedName, Text: fmt.Sprintf(
			"%q cannot be the name of a gateway: letters, digits, dots, hyphens and underscores can, 63 at most",
			shown(q.Gateway))}
	case isGateway && (q.Account == "" || len(q.Account) > maxAccount):
		return &reply{Refused: refusedName,
			Text: fmt.Sprintf("the account of a gateway has 1 to %d bytes", maxAccount)}
	}
	return nil
}

// shown returns an untrusted text, shortened for a log.
func shown(text string) string { return strings.ToValidUTF8(text[:min(len(text), 100)], "") }

// host keeps a gateway as a guest until its connection ends. The gateway's unused keys
// then become invalid.
func (d *Domain) host(end context.CancelFunc, w *wire, t ticket) {
	id := rand.Text()
	g := &guest{ticket: t, modules: d.modulesOf(t), end: end}
	d.mu.Lock()
	d.guests[id] = g
	d.mu.Unlock()
	d.options.Log("a gateway has come",
		map[string]any{"gateway": t.Gateway, "account": t.Account, "clock": t.Clock.String()})
	if err := w.send(&frame{F: "reply", Reply: &reply{World: d.id, Guest: id}}); err == nil {
		_, _ = w.read(0) // until the connection ends, because the gateway sends nothing more
	}
	d.mu.Lock()
	delete(d.guests, id)
	for key, unused := range d.keys {
		if unused.guest == g {
			delete(d.keys, key)
		}
	}
	d.mu.Unlock()
	d.options.Log("a gateway has gone", map[string]any{"gateway": t.Gateway})
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
		set = newModuleSet(d.options.World.ModulesOf(t.Account, t.Clock), culture)
		d.modules[key] = set
	}
	return set
}

// answer answers a question whose ticket is accepted.
func (d *Domain) answer(ctx context.Context, q *question) (*reply, error) {
	world := d.options.World
	var person *sandbox.Account
	var err error
	switch q.Op {
	case "order":
		return d.obey(ctx, q.Words)
	case "key":
		d.mu.Lock()
		g := d.guests[q.Guest]
		d.mu.Unlock()
		if g == nil {
			return nil, errors.New("the gateway has gone")
		}
		return &reply{Key: d.grant(grant{modules: g.modules, guest: g})}, nil
	case "reach":
		host, _, err := net.SplitHostPort(q.Name)
		if err != nil || !world.Network.Reached(q.Gateway, host) {
			return &reply{}, nil
		}
		conn, err := world.Dial(ctx, "tcp", q.Name)
		if err == nil {
			err = conn.Close()
		}
		return &reply{OK: err == nil}, nil
	case "example":
		example := world.Example(ctx)
		return &reply{Example: &example}, nil
	case "logon":
		person, err = world.LogOn(ctx, q.Name, q.Password)
	case "lookup":
		person, err = world.Lookup(ctx, q.Name)
	case "account":
		person, err = world.Account(ctx, q.Name)
	default:
		err = errors.New("unknown question")
	}
	return &reply{Person: person}, err
}
