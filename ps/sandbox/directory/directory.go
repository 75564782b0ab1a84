// Package directory simulates Active Directory: a domain with its schema, objects
// and domain controllers, with the rules of the real directory. It is independent
// of PowerShell and .NET: failed operations return an [*Error] with the Win32
// code of the real directory, which callers translate. FACTS.md lists what is
// simulated and what is not.
//
// A tour: [BuiltIn] and [Open] create a [Domain] from LDIF records, and
// [Domain.Generate] adds generated users. A [DC] is one domain controller's view
// of the domain and has all operations: search, add, modify, rename, move,
// delete, passwords, protection. An [Object] is an immutable copy of the requested
// attributes. [Schema] describes attributes and classes and prepares the
// [Selection] of attributes for repeated reads. [Domain.Journal] and
// [DC.Snapshot] show what has been written.
//
// A parameter named ref is an object reference: a distinguished name, or
// "<GUID=...>" or "<SID=...>" as in LDAP (see [GUID.Ref] and [SID.Ref]).
//
// All types are safe for concurrent use. Writes are atomic: a failed write
// changes nothing.
package directory

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/ps/sandbox/internal/ldif"
)

// Options configure a domain. The zero value is usable.
type Options struct {
	// Seed determines the generated GUIDs and users, and the domain SID if the entries do not
	// contain it. Equal seeds and equal calls result in equal domains.
	Seed int64
	// Clock returns the current time; nil means time.Now. It must be safe for
	// concurrent use.
	Clock func() time.Time
	// ReplicationLag is the delay after which the other DCs see a write; 0 means
	// none.
	ReplicationLag time.Duration
	// RecycleBin enables the Recycle Bin.
	RecycleBin bool
	// TombstoneLifetime is the time after which tombstones and recycled objects are
	// removed; 0 means 180 days. DeletedObjectLifetime is the time after which the
	// Recycle Bin recycles a deleted object; 0 means TombstoneLifetime.
	TombstoneLifetime, DeletedObjectLifetime time.Duration
	// MaxConnections limits the ADWS connections of an account to one DC; 0 means
	// 5.
	MaxConnections int
	// OtherDomain is advice for a user who loads a file of a different domain than the first layers. It is part
	// of the error.
	OtherDomain string
	// JournalLimit is the maximum number of writes in the journal; 0 means 100,000. The oldest
	// are dropped first.
	JournalLimit int
	// Replicas gives every DC its own replica even without a replication lag, which
	// SetReplicationLag and Cut require.
	Replicas bool
	// OnLockout, if not nil, is called with each account that wrong passwords have locked out.
	OnLockout func(Lockout)
	// OnWrite, if not nil, is called with each journal entry, in order. It must not call the domain.
	OnWrite func(JournalEntry)
}

// Domain is a simulated domain, created by Open or BuiltIn.
type Domain struct {
	opts   Options
	schema *Schema
	clock  func() time.Time
	identity

	mu      sync.Mutex // held during every write; guards the fields below
	guids   uint64     // number of generated GUIDs
	nextRID uint32
	maxRID  uint32
	all     []*replica // one, or one for each DC
	dcs     []*DC
	queue   []change        // writes to be replicated
	cut     map[[2]int]bool // pairs of DCs that do not replicate, by index, the lower one first
	pending atomic.Int32    // len(queue), for reads without mu
	sweepAt atomic.Int64    // when a deleted object expires, in Unix seconds; 0 means never
	last    time.Time       // time of the latest write

	journal  journal
	loaded   Loaded
	warnings []ldif.Fault
}

// identity contains the names of a domain and its identifiers.
type identity struct {
	dnsName   string
	netBIOS   string
	rootDN    DN
	rootText  string
	configNC  string // CN=Configuration,..., which is not simulated
	schemaKey string // "," and the key of CN=Schema,CN=Configuration,...
	rootGUID  GUID
	sid       SID
}

// newDomain returns a domain without objects.
func newDomain(opts Options, schema *Schema) *Domain {
	d := &Domain{opts: opts, schema: schema, clock: opts.Clock, nextRID: 1000, maxRID: 1 << 30}
	if d.clock == nil {
		d.clock = time.Now
	}
	if d.journal.limit = opts.JournalLimit; d.journal.limit == 0 {
		d.journal.limit = 100_000
	}
	d.journal.onWrite = opts.OnWrite
	return d
}

// addDC adds a domain controller on the first replica.
func (d *Domain) addDC(name, host string, account GUID, readOnly bool) {
	c := &DC{domain: d, name: name, host: host, account: account, index: len(d.dcs), rep: d.all[0]}
	c.readOnly.Store(readOnly)
	d.dcs = append(d.dcs, c)
}

// Lockout describes the lockout of an account after wrong passwords.
type Lockout struct {
	Time    time.Time
	Account string // sAMAccountName
	SID     SID
	Source  string // computer that sent the last wrong password; empty if unknown
}

// NetBIOSName returns the NetBIOS name of the domain, e.g. "CORP".
func (d *Domain) NetBIOSName() string { return d.netBIOS }

// DNSName returns the DNS name of the domain, e.g. "corp.example".
func (d *Domain) DNSName() string { return d.dnsName }

// RootDN returns the DN of the domain's root, e.g. "DC=corp,DC=example".
func (d *Domain) RootDN() string { return d.rootText }

// SID returns the SID of the domain.
func (d *Domain) SID() SID { return d.sid }

// GUID returns the objectGUID of the domain's root.
func (d *Domain) GUID() GUID { return d.rootGUID }

// Schema returns the schema of the domain.
func (d *Domain) Schema() *Schema { return d.schema }

// Now returns the current time of the domain in UTC.
func (d *Domain) Now() time.Time { return d.clock().UTC() }

// GUIDs of the wellKnownObjects of the domain's root.
const (
	wellKnownUsers     = "A9D1CA15768811D1ADED00C04FD8D5CD"
	wellKnownComputers = "AA312825768811D1ADED00C04FD8D5CD"
)

// UsersContainer returns the DN of the default container for users and groups. It comes from the root's
// wellKnownObjects, and is CN=Users if that has none.
func (d *Domain) UsersContainer() string { return d.container(wellKnownUsers, "CN=Users,") }

// ComputersContainer returns the DN of the default container for computers.
func (d *Domain) ComputersContainer() string {
	return d.container(wellKnownComputers, "CN=Computers,")
}

func (d *Domain) container(guid, otherwise string) string {
	r := d.dcs[0].rep
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, s := range r.root.get(r.sch.wellKnown) {
		if dn, ok := strings.CutPrefix(r.shownRef(s.val), "B:32:"+guid+":"); ok {
			return dn
		}
	}
	return otherwise + d.rootText
}

// DCs returns the domain controllers in a fixed order.
func (d *Domain) DCs() []*DC { return append([]*DC(nil), d.dcs...) }

// DC returns a controller by name in the forms that -Server accepts: a short or full DNS name in any case,
// with or without a port. "" and the domain's DNS or NetBIOS name select the first controller that is alive,
// preferring writable ones. The error is KindServerDown, with code 0 if the server does not exist or is off,
// and 1355 if no controller is alive.
func (d *Domain) DC(server string) (*DC, error) {
	name, _, _ := strings.Cut(server, ":")
	name = strings.TrimSuffix(name, ".")
	for _, c := range d.dcs {
		if strings.EqualFold(name, c.name) || strings.EqualFold(name, c.HostName()) {
			if !c.Alive() {
				return nil, c.down("connect")
			}
			return c, nil
		}
	}
	if name != "" && !strings.EqualFold(name, d.dnsName) && !strings.EqualFold(name, d.netBIOS) {
		return nil, &Error{Code: CodeUnspecified, Kind: KindServerDown, Op: "connect", DN: server,
			Detail: "no such server"}
	}
	var any *DC
	for _, c := range d.dcs {
		if c.Alive() && c.Writable() {
			return c, nil
		}
		if c.Alive() && any == nil {
			any = c
		}
	}
	if any == nil {
		return nil, &Error{Code: CodeDirectoryNotFound, Kind: KindServerDown, Op: "connect", DN: server,
			Detail: "no domain controller answers"}
	}
	return any, nil
}

// Child is a child domain.
//
// A domain can have child domains: entries of class domainDNS below its root that have an
// objectSid (other naming contexts, such as application partitions, have none). The
// controllers of the domain contain them in the form of a global catalog: only searches of
// the catalog can read them, and they lack attributes that are not in the catalog and the
// members of groups that are not universal (facts G14, G15). They are never written.
type Child struct {
	DN, DNSName, NetBIOS string
	SID                  SID
}

// Children returns the child domains in the order of their names.
func (d *Domain) Children() []Child { return slices.Clone(d.all[0].children) }
