package sim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"time"

	"adgateway/ps/interp"
	"adgateway/ps/sim/adcmd"
	"adgateway/ps/sim/data"
	"adgateway/ps/sim/directory"
	"adgateway/ps/sim/dnscmd"
	"adgateway/ps/sim/ldif"
	"adgateway/ps/sim/zones"
)

// Options say what a [World] holds. The zero value is the built-in domain.
type Options struct {
	LDIF  []string // files laid over the built-in domain
	Zones []string // files of zones, beside the built-in ones
	Users int      // so many more are generated
	Empty bool     // leave the built-in domain and zones out
	Seed  int64    // of everything that is generated

	Culture        string        // of messages: "en-US" (also when empty) or "de-DE"
	ReplicationLag time.Duration // until the second domain controller sees a change
	Clock          func() time.Time

	// Progress is told what is being loaded and what was odd. Nil: nobody is.
	Progress func(text string)
}

// World is a simulated domain with its DNS servers, and the engine that runs
// PowerShell over it. It is safe for concurrent use.
type World struct {
	Directory *directory.Domain
	DNS       *zones.Store

	engine *interp.Engine
}

// account is whose connections the sessions of the sandbox use.
const account = `svc-adgateway$`

// NewWorld builds a world. The error lists every fault of every file.
func NewWorld(ctx context.Context, o Options) (*World, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	w := &World{}
	if err := errors.Join(w.loadDirectory(o), ctx.Err()); err != nil {
		return nil, err
	}
	if err := errors.Join(w.loadZones(o), ctx.Err()); err != nil {
		return nil, err
	}
	w.engine = interp.NewEngine(interp.Options{
		Modules: []*interp.Module{
			HostModule(),
			adcmd.Module(adcmd.Options{Domain: w.Directory, Culture: o.Culture, Account: account}),
			dnscmd.Module(dnscmd.Options{Store: w.DNS, Culture: o.Culture}),
		},
		AutoLoad: true,
		Aliases:  Aliases,
		Culture:  o.Culture,
		PID:      os.Getpid(),
		Now:      o.Clock,
	})
	return w, nil
}

// Starter starts simulated PowerShell processes on this world.
func (w *World) Starter() *Starter { return NewStarter(w.engine, nil) }

func (w *World) loadDirectory(o Options) error {
	var layers [][]ldif.Record
	var faults []error
	for _, file := range o.LDIF {
		records, err := ldif.ReadFile(file)
		faults = append(faults, err)
		layers = append(layers, records)
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	options := directory.Options{Seed: o.Seed, Clock: o.Clock, ReplicationLag: o.ReplicationLag}
	open := directory.BuiltIn
	if o.Empty {
		open = directory.Open
	}
	o.Progress("loading the directory")
	domain, err := open(options, layers...)
	if err != nil {
		return err
	}
	w.Directory = domain
	for _, warning := range domain.Warnings() {
		o.Progress(warning.Error())
	}
	if o.Users > 0 {
		o.Progress(fmt.Sprintf("generating %d users", o.Users))
		return domain.Generate(o.Users, o.Seed)
	}
	return nil
}

func (w *World) loadZones(o Options) error {
	config := zones.Config{Domain: w.Directory.DNSName(), Now: o.Clock}
	for i, dc := range w.Directory.DCs() {
		config.Servers = append(config.Servers, zones.ServerConfig{
			Name: dc.HostName(), Address: fmt.Sprintf("10.0.0.%d", 10+i), DomainController: true, ReadOnly: !dc.Writable(),
		})
	}
	w.DNS = zones.New(config)
	var sources []zones.Source
	var faults []error
	if !o.Empty {
		builtIn, err := fs.Glob(data.Files, "*.zone")
		faults = append(faults, err)
		for _, name := range builtIn {
			text, err := fs.ReadFile(data.Files, name)
			faults = append(faults, err)
			sources = append(sources, zones.Source{Name: name, Text: text})
		}
	}
	for _, name := range o.Zones {
		text, err := os.ReadFile(name)
		faults = append(faults, err)
		sources = append(sources, zones.Source{Name: name, Text: text})
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return w.DNS.Load(sources...)
}

// SetAlive switches a domain controller, and the DNS server on it, on or off.
func (w *World) SetAlive(host string, alive bool) error {
	for _, dc := range w.Directory.DCs() {
		if strings.EqualFold(dc.HostName(), host) || strings.EqualFold(dc.Name(), host) {
			dc.SetAlive(alive)
			return w.DNS.Switch(dc.HostName(), alive)
		}
	}
	return fmt.Errorf("there is no domain controller %s", host)
}

// errRefused is what a probe of a server that is off gets.
var errRefused = errors.New("connection refused: the simulated server is off")

// Dial connects to a port of a simulated server, for probes: a connection that
// is closed at once, or an error when the server is off or not there.
func (w *World) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	for _, dc := range w.Directory.DCs() {
		if strings.EqualFold(dc.HostName(), host) && dc.Alive() {
			client, server := net.Pipe()
			return client, server.Close()
		}
	}
	return nil, &net.OpError{Op: "dial", Net: network, Err: errRefused}
}

// Example names things of the world that are good to try.
type Example struct {
	User string // a username
	Zone string // a zone with records
}

// Example picks a user and a zone of the world. The user is empty when there is
// none but built-in ones.
func (w *World) Example(ctx context.Context) Example {
	example := Example{Zone: w.Directory.DNSName()}
	for _, dc := range w.Directory.DCs() {
		users, err := dc.Search(ctx, directory.SearchRequest{
			Filter:     "(&(objectCategory=person)(objectClass=user)(!(isCriticalSystemObject=TRUE)))",
			Attributes: []string{"sAMAccountName"},
			Scope:      directory.ScopeSubtree,
			Limit:      1,
		})
		if err == nil && len(users) > 0 {
			example.User = users[0].String("sAMAccountName")
			break
		}
	}
	return example
}
