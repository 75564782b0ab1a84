// Package zones simulates the Windows DNS service: servers, zones and records, with the rules and error
// codes of the real service. It is independent of PowerShell; package dnscmd implements the cmdlets on
// top of it. FACTS.md lists what is simulated and what is not.
//
// A tour: [New] creates a [Store] with its servers ([ServerConfig]). [Store.Load] reads zone files (RFC
// 1035 with the comment directives of [Source]), [Store.LoadDirectory] reads directory entries (dnsZone
// and dnsNode objects with dnsRecord values). [Store.Server] returns a server by name; all reads and
// writes go through that [Server]. Directory-integrated zones are visible on every domain controller,
// file-backed zones only on the server that has the file. A [Record] holds its data as a miekg/dns RR.
// Every failed operation returns an [*Error] with a Win32 code. Config.OnChange reports every write.
package zones

import (
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// ZoneType is the type of a zone, named as in ZoneType of the cmdlets.
type ZoneType string

// The zone types.
const (
	Primary   ZoneType = "Primary"
	Secondary ZoneType = "Secondary"
	Stub      ZoneType = "Stub"
	Forwarder ZoneType = "Forwarder"
)

// Scope selects the directory partition that stores a zone.
type Scope string

// The replication scopes. ScopeNone means that the zone is file-backed.
const (
	ScopeNone   Scope = "None"
	ScopeDomain Scope = "Domain"
	ScopeForest Scope = "Forest"
	ScopeLegacy Scope = "Legacy"
	ScopeCustom Scope = "Custom"
)

// Update selects the dynamic updates that a zone accepts.
type Update string

// The dynamic update settings. UpdateSecure needs a directory-integrated zone.
const (
	UpdateNone   Update = "None"
	UpdateSecure Update = "Secure"
	UpdateAll    Update = "NonsecureAndSecure"
)

// TrustAnchors is the name of the zone for DNSSEC trust anchors. It is not flagged as
// auto-created (facts E66).
const TrustAnchors = "TrustAnchors"

// Zone is a copy of a zone's properties.
type Zone struct {
	Name              string
	Type              ZoneType
	DsIntegrated      bool
	Reverse           bool // ends in in-addr.arpa or ip6.arpa
	AutoCreated       bool
	ReadOnly          bool // a secondary, or a zone on a read-only domain controller
	Paused            bool
	Shutdown          bool // an expired secondary
	Signed            bool
	Aging             bool
	Scope             Scope
	Partition         string // e.g. "DomainDnsZones.corp.example"; empty if file-backed
	DN                string // empty if file-backed
	File              string // empty if directory-integrated
	DynamicUpdate     Update
	SecureSecondaries string // NoTransfer, TransferAnyServer, TransferToZoneNameServer, TransferToSecureServers
	Notify            string // NoNotify, Notify, NotifyServers
	Masters           []netip.Addr
	ForwarderTimeout  uint32        // of a forwarder, in seconds
	UseRecursion      bool          // for a forwarder: whether to resolve names if the masters do not answer
	Refresh           time.Duration // refresh interval of a primary zone
	NoRefresh         time.Duration // no-refresh interval of a primary zone
	ScavengeServers   []netip.Addr  // servers that may scavenge the zone; none: any
	AvailableAt       time.Time     // time from which the zone may be scavenged; zero if aging was never enabled
	Server            string        // the server that has the zone file; empty if directory-integrated
	Serial            uint32        // of the SOA; 0 without one
	Records           int           // number of records, including SOA and NS
}

// Record is a resource record. RR is shared with the store and must not be
// changed; use dns.Copy to edit it.
type Record struct {
	Zone  string    // name of the zone
	Name  string    // owner relative to the zone: "@", "www", "a.b", "*.dev"
	Stamp time.Time // hour of the last refresh in UTC; zero if static
	DN    string    // of the directory node; empty if file-backed
	RR    dns.RR    // its owner is absolute and has its original letter case
}

// Type returns the record's type number.
func (r Record) Type() uint16 { return r.RR.Header().Rrtype }

// TTL returns the record's time to live.
func (r Record) TTL() time.Duration { return time.Duration(r.RR.Header().Ttl) * time.Second }

// Query selects records of a zone. The zero Query selects all.
type Query struct {
	Name string // owner: relative, or ending with the zone's name; "@" for the apex; empty for the whole zone
	Node bool   // only that owner, without the names below it (facts E55)
	Type uint16 // 0 for all types
}

// NewZone describes a zone to be created.
type NewZone struct {
	Name  string
	Scope Scope // empty means ScopeNone
	// Partition is the DNS name of the directory partition of ScopeCustom.
	Partition string
	File      string
	Update    Update // default: UpdateSecure in the directory, UpdateNone in a file
}

// ZoneChange describes a change to the settings of a primary zone. Nil or empty fields change nothing.
type ZoneChange struct {
	Update Update
	Scope  Scope // not ScopeNone
	// Partition names the partition of ScopeCustom.
	Partition string
	File      string // of a file-backed zone
}

// NewForwarder describes a conditional forwarder to be created.
type NewForwarder struct {
	Name         string
	Scope        Scope  // empty means ScopeNone, this server only
	Partition    string // of ScopeCustom
	Masters      []netip.Addr
	Timeout      uint32
	UseRecursion bool
}

// ForwarderChange describes a change to a conditional forwarder. Nil or empty fields change nothing.
type ForwarderChange struct {
	Scope        Scope  // not ScopeNone
	Partition    string // of ScopeCustom
	Masters      []netip.Addr
	Timeout      *uint32
	UseRecursion *bool
}

// AgingChange describes a change to the aging settings of a primary zone. Nil fields are unchanged.
type AgingChange struct {
	Enabled            *bool
	Refresh, NoRefresh *time.Duration // 0 to 8760 hours
	ScavengeServers    []netip.Addr
}

// Delegation is one name server of a delegated name.
type Delegation struct {
	Zone       string
	Child      string   // relative to the zone
	NameServer Record   // NS
	Addresses  []Record // A and AAAA records of the name server, if they are in the zone
}

// NewRecord describes a record to be added.
type NewRecord struct {
	Zone       string
	Name       string // as in Query.Name
	RR         dns.RR // type and data; the record is copied and its owner ignored
	DefaultTTL bool   // take the time to live from the zone's SOA
	Age        bool   // whether to stamp the record with the current hour, so that it can be scavenged
}

// ServerConfig describes a DNS server.
type ServerConfig struct {
	Name             string   // fully qualified
	Address          string   // accepted by Store.Server as a name; may be empty
	Aliases          []string // other names of the server
	DomainController bool     // if false, the server has only file-backed zones
	ReadOnly         bool     // read-only domain controller

	// Alive reports whether the server can be reached. If it returns false, every call on the server fails with
	// CodeServerUnavailable. Alive must not call the store. If it is nil, the server can always be reached.
	Alive func() bool
}

// Config describes a store.
type Config struct {
	Servers []ServerConfig   // the first is the default server; default: a domain controller dc1.<Domain>
	Domain  string           // default: "corp.example"
	Forest  string           // default: Domain
	Now     func() time.Time // default: time.Now

	// SetKeepsPTR determines whether the PTR records of an address are kept when its address record is replaced.
	// The behavior of the real cmdlet is unknown (facts NA21).
	SetKeepsPTR bool

	// Reads determines how an operation reads names. If it is nil, all operations use Strips.
	Reads func(Op) Reading

	// OnChange is called for every write in order, after the write has taken effect, but not during loading.
	// OnChange must not call the store. It may be nil.
	OnChange func(Change)
}
