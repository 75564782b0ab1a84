// Package directory is the simulated Active Directory: one domain, its schema,
// its objects and its domain controllers, with the rules of the real one. It
// knows no PowerShell and no .NET: conditions leave as *Error with the Win32
// code the real directory gives, and callers turn them into their own errors.
//
// A tour. A Domain holds the tree; a DC is one domain controller's view of it
// and carries every operation (Search, Add, Modify, Rename, Move, Delete,
// passwords, protection). An Object is an immutable copy of what a read asked
// for. Schema says what attributes and classes exist and how values are typed,
// and looks up the Selection of attributes that reads ask for again and again.
// DN, GUID, SID and Filter are the field's own notations. Open reads a domain
// from LDIF records; Generate adds made-up users. Journal and Snapshot are for
// tests and audits.
//
// Everywhere a parameter is called ref it takes a distinguished name, or
// "<GUID=...>" or "<SID=...>" as LDAP does (GUID.Ref and SID.Ref make them).
//
// Everything here may be used by several goroutines at once. A write is seen
// whole or not at all; a failed write changes nothing.
package directory

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/ps/sandbox/internal/ldif"
)

// Options say how a domain behaves. The zero value is usable.
type Options struct {
	// Seed decides every GUID, the domain SID (unless the entries bring them)
	// and generated users. Equal seeds and equal calls give equal stores.
	Seed int64
	// NetBIOS is the short name; "" means what the entries say, else the first
	// label of the DNS name in upper case.
	NetBIOS string
	// Clock gives the current time; nil means time.Now. It is called from all
	// goroutines that use the domain.
	Clock func() time.Time
	// ReplicationLag is how long a write on one DC stays unseen by the others.
	// 0 means that all DCs see it at once.
	ReplicationLag time.Duration
	// MaxConnections is how many sessions an account may hold on one DC
	// (ADWS refuses more); 0 means 5.
	MaxConnections int
	// MaxMembers is how many members ADWS resolves in one group listing; 0
	// means 5,000. The store only reports it (see Domain.MaxMembers).
	MaxMembers int
	// Progress, when it is not nil, is called while Open reads entries: now and
	// then, and once at the end.
	Progress func(done, total int)
	// JournalLimit is how many writes the journal keeps; 0 means 100,000. The
	// oldest are dropped first.
	JournalLimit int
}

// Domain is one simulated domain. Make one with New or Open.
type Domain struct {
	opts   Options
	schema *Schema
	clock  func() time.Time

	dnsName  string
	netBIOS  string
	rootDN   DN
	rootText string
	configNC string // CN=Configuration,...: not part of the store
	rootGUID GUID
	sid      SID

	mu      sync.Mutex // held through every write; guards what follows
	guids   uint64     // GUIDs made so far
	nextRID uint32
	maxRID  uint32
	all     []*replica // one, or one for each DC
	dcs     []*DC
	queue   []change     // writes that have not reached all replicas
	pending atomic.Int32 // len(queue), for readers without mu
	last    time.Time    // the latest time a write was given

	journal  journal
	warnings []ldif.Fault
}

// New makes a domain with the standard containers and the built-in accounts
// and nothing else. name is the DNS name; netBIOS may be "" (then the first
// label in upper case). Its controllers are dc1 and dc2.
func New(name, netBIOS string, opts Options) (*Domain, error) {
	records, err := StandardRecords(name)
	if err != nil {
		return nil, err
	}
	opts.NetBIOS = netBIOS
	return Open(opts, records)
}

// NetBIOSName is the short name of the domain, e.g. "CORP".
func (d *Domain) NetBIOSName() string { return d.netBIOS }

// DNSName is the DNS name of the domain, e.g. "corp.example".
func (d *Domain) DNSName() string { return d.dnsName }

// RootDN is the DN of the domain's root, e.g. "DC=corp,DC=example".
func (d *Domain) RootDN() string { return d.rootText }

// SID is the domain's SID.
func (d *Domain) SID() SID { return d.sid }

// GUID is the objectGUID of the domain's root.
func (d *Domain) GUID() GUID { return d.rootGUID }

// Schema is the domain's schema.
func (d *Domain) Schema() *Schema { return d.schema }

// Now is the domain's clock, in UTC.
func (d *Domain) Now() time.Time { return d.clock().UTC() }

// MaxMembers is the ADWS limit on members in one listing (facts E23).
func (d *Domain) MaxMembers() int {
	if d.opts.MaxMembers == 0 {
		return 5000
	}
	return d.opts.MaxMembers
}

// wellKnown GUIDs of wellKnownObjects on the domain's root.
const (
	wellKnownUsers     = "A9D1CA15768811D1ADED00C04FD8D5CD"
	wellKnownComputers = "AA312825768811D1ADED00C04FD8D5CD"
)

// UsersContainer is the DN where users and groups without a path go: what the
// root's wellKnownObjects say, else CN=Users.
func (d *Domain) UsersContainer() string { return d.container(wellKnownUsers, "CN=Users,") }

// ComputersContainer is the same for computers.
func (d *Domain) ComputersContainer() string {
	return d.container(wellKnownComputers, "CN=Computers,")
}

func (d *Domain) container(guid, otherwise string) string {
	r := d.dcs[0].rep
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, s := range r.root.get(r.sch.wellKnown) {
		if dn, ok := strings.CutPrefix(s.val, "B:32:"+guid+":"); ok {
			return dn
		}
	}
	return otherwise + d.rootText
}

// DCs are the domain controllers, in a fixed order.
func (d *Domain) DCs() []*DC { return append([]*DC(nil), d.dcs...) }

// DC finds a controller as -Server names one: short or full DNS name in any
// case, with or without a port; "" or the domain's DNS or NetBIOS name gives
// the first one that is alive, writable ones first. No such server or
// switched off: KindServerDown, code 0; no DC alive: 1355.
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
		return nil, &Error{Code: CodeUnspecified, Kind: KindServerDown, Op: "connect", DN: server, Detail: "no such server"}
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
		return nil, &Error{Code: CodeDirectoryNotFound, Kind: KindServerDown, Op: "connect", DN: server, Detail: "no domain controller answers"}
	}
	return any, nil
}
