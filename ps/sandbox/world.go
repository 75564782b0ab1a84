package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"adgateway/ps/sandbox/adcmd"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/dnscmd"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/internal/data"
	"adgateway/ps/sandbox/internal/ldif"
	"adgateway/ps/sandbox/wincmd"
	"adgateway/ps/sandbox/zones"
)

// Options configure a [World]. The zero value is the built-in domain.
type Options struct {
	LDIF  []string // files loaded on top of the built-in domain
	Zones []string // zone files, in addition to the built-in ones
	Users int      // number of additional users to generate
	Empty bool     // omit the built-in domain and zones
	Seed  int64    // seed of all generated content

	// Account is the account that the gateway's sessions run as. Zero means an account outside the domain.
	Account engine.Account

	NoRecycleBin bool // deleted objects immediately become tombstones
	SetKeepsPTR  bool // see zones.Config

	// Reads determines how the DNS servers read names, see zones.Config.
	Reads func(zones.Op) zones.Reading

	Culture        string        // culture of messages: "en-US" (default) or "de-DE"
	ReplicationLag time.Duration // delay until the second domain controller gets a change
	Clock          func() time.Time

	// Service is the account whose connections the directory counts, see Modules. Empty means svc-adgateway$.
	Service string
	// Replicas gives every controller its own directory even without a replication lag. Network and
	// directory.Domain.SetReplicationLag require this.
	Replicas bool
	// Writes records all writes. Nil records none.
	Writes *WriteLog

	// Checked reports whether a text is known to be valid, see [engine.Options].
	Checked func(text string) bool

	// Progress receives load messages. Nil discards them.
	Progress func(text string)
	// Warn receives irregularities in the files, one at a time. Nil means Progress.
	Warn func(text string)
	// OnDNSChange is the OnChange of the world's [zones.Config]. Nil discards the
	// changes.
	OnDNSChange func(zones.Change)
}

// World is a simulated domain with its DNS servers and the engine that runs PowerShell over
// it. It is safe for concurrent use.
type World struct {
	Directory *directory.Domain
	DNS       *zones.Store

	// Events is the log of lockouts.
	Events wincmd.Log

	// Network is the network between the callers and the controllers.
	Network Network

	modules []*engine.Module // work on the stores
	noLAPS  atomic.Bool
	culture string
	engine  *engine.Engine
}

// ServiceAccount is the default account of the sandbox's sessions.
const ServiceAccount = `svc-adgateway$`

// NewWorld builds a world. It reads the zone files even if the directory cannot be built, so that the error
// lists all faults of all files.
func NewWorld(ctx context.Context, o Options) (*World, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Warn == nil {
		o.Warn = o.Progress
	}
	w := &World{}
	layers, err := readLDIF(o.LDIF)
	layers, entries := splitZones(layers)
	if err == nil {
		err = w.loadDirectory(o, layers)
	}
	if err := errors.Join(err, w.loadZones(o, entries), ctx.Err()); err != nil {
		return nil, err
	}
	if !o.Empty {
		w.exampleLockout(ctx)
	}
	w.culture = o.Culture
	w.modules = w.ModulesOf(cmp.Or(o.Service, ServiceAccount), 0)
	options := engineOptions(o.Culture, w.modules)
	options.Account, options.Checked = o.Account, o.Checked
	w.engine = engine.NewEngine(options)
	return w, nil
}

// exampleLockout adds the first event in the log of the built-in domain.
func (w *World) exampleLockout(ctx context.Context) {
	const account, source, ago = "locked.out", "PC07", 3 * time.Hour
	found, err := w.Directory.DCs()[0].Search(ctx, directory.SearchRequest{
		Scope: directory.ScopeSubtree, Filter: "(sAMAccountName=" + account + ")",
	})
	if err == nil && len(found) == 1 {
		at := w.Directory.Now().Add(-ago)
		w.Events.Add(directory.Lockout{Time: at, Account: account, SID: found[0].SID, Source: source})
	}
}

// ModulesOf returns modules for the sessions of an account. The directory counts the connections of all these
// sessions together. For these sessions, the clock of the domain is ahead by skew.
func (w *World) ModulesOf(account string, skew time.Duration) []*engine.Module {
	modules := []*engine.Module{
		adcmd.Module(adcmd.Options{Domain: w.Directory, Culture: w.culture, Account: account, Skew: skew, Gate: w.gate}),
		dnscmd.Module(dnscmd.Options{Store: w.DNS, Culture: w.culture, Gate: w.gate}),
	}
	return append(modules, wincmd.Modules(wincmd.Options{
		Domain: w.Directory, Log: &w.Events, Account: account, Gate: w.gate, NoLAPS: w.noLAPS.Load,
	})...)
}

// SetLAPS determines whether the hosts of the sessions have the module LAPS. They have it by default.
func (w *World) SetLAPS(installed bool) { w.noLAPS.Store(!installed) }

// engineOptions returns the options of every engine of the sandbox.
func engineOptions(culture string, modules []*engine.Module) engine.Options {
	return engine.Options{
		Modules:  append([]*engine.Module{HostModule()}, modules...),
		AutoLoad: true,
		Aliases:  Aliases,
		Culture:  culture,
		PID:      os.Getpid(),
	}
}

// Modules returns the modules whose commands work on the world's stores, and the
// culture of their messages.
func (w *World) Modules() (modules []*engine.Module, culture string) { return w.modules, w.culture }

// Declarations returns the same modules without stores and command bodies.
func Declarations() []*engine.Module {
	return append([]*engine.Module{adcmd.Declaration(), dnscmd.Declaration()}, wincmd.Declarations()...)
}

// Starter returns a Starter of simulated PowerShell processes on this world.
func (w *World) Starter() *Starter { return NewStarter(w.engine, nil) }

// readLDIF reads the files, one layer each.
func readLDIF(files []string) ([][]ldif.Record, error) {
	var layers [][]ldif.Record
	var faults []error
	for _, file := range files {
		records, err := ldif.ReadFile(file)
		faults = append(faults, err)
		layers = append(layers, records)
	}
	return layers, errors.Join(faults...)
}

// warningsShown is the number of warnings about files that are shown. Further warnings are only counted.
const warningsShown = 200

func (w *World) loadDirectory(o Options, layers [][]ldif.Record) error {
	options := directory.Options{Seed: o.Seed, Clock: o.Clock, ReplicationLag: o.ReplicationLag,
		RecycleBin: !o.NoRecycleBin,
		Replicas:   o.Replicas, OnWrite: o.Writes.directory(), OnLockout: w.Events.Add}
	open := directory.BuiltIn
	if o.Empty {
		open = directory.Open
	} else {
		options.OtherDomain = "--empty (sandbox.empty) leaves out the built-in domain, so that the files define it"
	}
	o.Progress("loading the directory")
	domain, err := open(options, layers...)
	if err != nil {
		return err
	}
	w.Directory = domain
	warnings := domain.Warnings()
	for i, warning := range warnings {
		if i == warningsShown {
			o.Warn(fmt.Sprintf("%d more warnings of the same kinds", len(warnings)-i))
			break
		}
		o.Warn(warning.Error())
	}
	if n := domain.Loaded(); len(o.LDIF) > 0 {
		o.Progress(fmt.Sprintf("the directory has %d entries; %d were skipped, %d were missing and added, %d "+
			"values are kept as written",
			n.Entries, n.Skipped, n.Added, n.Kept))
	}
	if o.Users > 0 {
		o.Progress(fmt.Sprintf("generating %d users", o.Users))
		return domain.Generate(o.Users, o.Seed)
	}
	return nil
}

// onDNSChange returns a function that passes changes on to all observers.
func (o *Options) onDNSChange() func(zones.Change) {
	if o.Writes == nil {
		return o.OnDNSChange
	}
	return func(c zones.Change) {
		o.Writes.dns(c)
		if o.OnDNSChange != nil {
			o.OnDNSChange(c)
		}
	}
}

// loadZones loads the built-in zones, then the zones in the LDIF files, and then the zone
// files. Later ones replace earlier ones.
func (w *World) loadZones(o Options, entries []zones.Entry) error {
	config := zones.Config{Now: o.Clock, OnChange: o.onDNSChange(), SetKeepsPTR: o.SetKeepsPTR, Reads: o.Reads}
	if w.Directory != nil { // otherwise the zones are only loaded to find faults
		config.Domain = w.Directory.DNSName()
		for i, dc := range w.Directory.DCs() {
			config.Servers = append(config.Servers, zones.ServerConfig{
				Name: dc.HostName(), Address: fmt.Sprintf("10.0.0.%d", 10+i), DomainController: true,
				ReadOnly: !dc.Writable(), Alive: dc.Alive,
			})
		}
	}
	w.DNS = zones.New(config)
	var faults []error
	if !o.Empty {
		builtIn, err := builtInZones()
		faults = append(faults, err, w.DNS.Load(builtIn...))
	}
	faults = append(faults, w.DNS.LoadDirectory(entries))
	var sources []zones.Source
	for _, name := range o.Zones {
		text, err := os.ReadFile(name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		sources = append(sources, zones.Source{Name: name, Text: text})
	}
	return errors.Join(append(faults, w.DNS.Load(sources...))...)
}

func builtInZones() ([]zones.Source, error) {
	names, err := fs.Glob(data.Zones, "*.zone")
	var sources []zones.Source
	for _, name := range names {
		text, readErr := fs.ReadFile(data.Zones, name)
		err = errors.Join(err, readErr)
		sources = append(sources, zones.Source{Name: name, Text: text})
	}
	return sources, err
}

// splitZones separates the entries of zones and their nodes from the layers, because they belong to
// the DNS store. It drops other entries of the DNS partitions, which are not part of the domain.
func splitZones(layers [][]ldif.Record) ([][]ldif.Record, []zones.Entry) {
	var entries []zones.Entry
	rest := make([][]ldif.Record, len(layers))
	for i, records := range layers {
		for k := range records {
			r := &records[k]
			zone, node := hasValue(r, "objectClass", "dnsZone"), hasValue(r, "objectClass", "dnsNode")
			switch {
			case zone || node:
				entries = append(entries, zones.Entry{
					DN: r.DN, Node: node, File: r.File, Line: r.Line,
					Records: octets(r.Get("dnsRecord")), Properties: octets(r.Get("dNSProperty")),
					Tombstoned: hasValue(r, "dNSTombstoned", "TRUE"),
				})
			case !inDNSPartition(r.DN):
				rest[i] = append(rest[i], *r)
			}
		}
	}
	return rest, entries
}

// inDNSPartition reports whether a DN is in DC=DomainDnsZones or DC=ForestDnsZones of a domain.
func inDNSPartition(text string) bool {
	dn, err := directory.ParseDN(text)
	if err != nil {
		return false // the directory reports the fault
	}
	for ; !dn.IsZero(); dn = dn.Parent() {
		rdn := dn.RDN()
		if strings.EqualFold(rdn.Type, "DC") &&
			(strings.EqualFold(rdn.Value, "DomainDnsZones") || strings.EqualFold(rdn.Value, "ForestDnsZones")) {
			return true
		}
	}
	return false
}

func hasValue(r *ldif.Record, attribute, value string) bool {
	return slices.ContainsFunc(r.Get(attribute), func(v string) bool { return strings.EqualFold(v, value) })
}

func octets(values []string) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = []byte(v)
	}
	return out
}

// errRefused is the error of a connection to a server that is off.
var errRefused = errors.New("connection refused: the simulated server is off")

// Dial simulates a connection to a server, for probes. It returns a connection whose other end is closed, or
// an error if the server is off or unknown.
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

// Example names objects of the world with which to try the API.
type Example struct {
	User string // a username
	Zone string // a zone with records
}

// Example returns a user and a zone of the world. If possible, the user is an ordinary person with
// many attributes and a name that needs no quoting. User is empty if there are only built-in accounts.
func (w *World) Example(ctx context.Context) Example {
	example := Example{Zone: w.Directory.DNSName()}
	personal := []string{"givenName", "sn", "title", "department", "mail", "manager", "telephoneNumber"}
	for _, dc := range w.Directory.DCs() {
		users, err := dc.Search(ctx, directory.SearchRequest{
			Filter:     "(&(objectCategory=person)(objectClass=user)(!(isCriticalSystemObject=TRUE)))",
			Attributes: append([]string{"sAMAccountName"}, personal...),
			Scope:      directory.ScopeSubtree,
			Limit:      examplesTried,
		})
		if err != nil {
			continue
		}
		best := -1
		for _, user := range users {
			name, known := user.String("sAMAccountName"), 0
			for _, attribute := range personal {
				if user.String(attribute) != "" {
					known++
				}
			}
			if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == "" {
				known += len(personal) + 1
			}
			if known > best {
				example.User, best = name, known
			}
		}
		if example.User != "" {
			return example
		}
	}
	return example
}

// examplesTried is the number of users that Example considers.
const examplesTried = 200
