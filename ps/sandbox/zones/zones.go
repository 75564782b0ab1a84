// Package zones is the simulated Windows DNS service: servers, their zones and
// the records in them, with the rules and error codes of the real one. It is
// plain Go and knows no PowerShell; package dnscmd puts the cmdlets over it. What
// it copies of the real one, and what not, is listed in FACTS.md.
//
// A tour: [New] makes a [Store] with its servers ([ServerConfig]), [Store.Load]
// fills it from zone files (RFC 1035 with the comment directives of [Source]),
// [Store.LoadDirectory] from directory entries (dnsZone, dnsNode with dnsRecord),
// [Store.Server] gives the one server a caller has named, and all reading and
// writing goes through that [Server]: zones kept in the directory are seen by
// every domain controller, zones kept in files only by the server that has the
// file. A [Record] holds its data as a miekg/dns RR. Every refusal is an
// [*Error] with a Win32 code. [Store.Journal], [Store.Snapshot] and [Compare]
// are for tests.
package zones

import (
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// ZoneType is the kind of a zone as the server names it.
type ZoneType string

// The zone types.
const (
	Primary   ZoneType = "Primary"
	Secondary ZoneType = "Secondary"
	Stub      ZoneType = "Stub"
	Forwarder ZoneType = "Forwarder"
)

// Scope says which directory partition a zone is kept in.
type Scope string

// The replication scopes. ScopeNone is a zone kept in a file.
const (
	ScopeNone   Scope = "None"
	ScopeDomain Scope = "Domain"
	ScopeForest Scope = "Forest"
	ScopeLegacy Scope = "Legacy"
	ScopeCustom Scope = "Custom"
)

// Update says which dynamic updates a zone accepts.
type Update string

// The dynamic update settings. UpdateSecure needs a zone kept in the directory.
const (
	UpdateNone   Update = "None"
	UpdateSecure Update = "Secure"
	UpdateAll    Update = "NonsecureAndSecure"
)

// TrustAnchors is the name of the zone that holds DNSSEC trust points. It is
// not flagged as auto-created (facts E66).
const TrustAnchors = "TrustAnchors"

// Zone is a copy of a zone's properties; changing it changes nothing.
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
	Partition         string // "DomainDnsZones.corp.example"; empty when kept in a file
	DN                string // empty when kept in a file
	File              string // empty when kept in the directory
	DynamicUpdate     Update
	SecureSecondaries string // NoTransfer, TransferAnyServer, TransferToZoneNameServer, TransferToSecureServers
	Notify            string // NoNotify, Notify, NotifyServers
	Masters           []netip.Addr
	Server            string // the server that has the file; empty when kept in the directory
	Serial            uint32 // of the SOA; 0 when the zone has none
	Records           int    // number of records, SOA and NS included
}

// Record is one resource record. Records are values: what is reached through
// RR is shared with the store and must not be changed; use dns.Copy to edit.
type Record struct {
	Zone  string    // name of the zone
	Name  string    // owner relative to the zone: "@", "www", "a.b", "*.dev"
	Stamp time.Time // hour of the last refresh, UTC; zero: static
	DN    string    // of the node in the directory; empty when kept in a file
	RR    dns.RR    // owner absolute, case as written
}

// Type is the record's type number.
func (r Record) Type() uint16 { return r.RR.Header().Rrtype }

// TTL is the record's time to live.
func (r Record) TTL() time.Duration { return time.Duration(r.RR.Header().Ttl) * time.Second }

// Query selects records of a zone. The zero Query selects all.
type Query struct {
	Name string // owner: relative, or ending in the zone's name, "@" for the apex; empty: the whole zone
	Node bool   // exactly that owner; otherwise what lies below it too (facts E55)
	Type uint16 // 0: all
}

// NewZone are the properties of a zone to be made.
type NewZone struct {
	Name         string
	Scope        Scope  // empty or ScopeNone: kept in File
	Partition    string // of ScopeCustom
	File         string
	Update       Update // empty: Secure in the directory, None in a file
	Responsible  string // empty: hostmaster of the server's domain
	LoadExisting bool   // take over the file that a removed zone has left
}

// NewRecord is a record to be added.
type NewRecord struct {
	Zone string
	Name string // as in Query.Name; relative unless it ends in the zone's name
	RR   dns.RR // type and data, not kept; the owner in its header is ignored
	// DefaultTTL takes the time to live from the zone's SOA.
	DefaultTTL bool
	// Age stamps the record with the current hour, so that it can be scavenged.
	Age bool
}

// ServerConfig describes one DNS server.
type ServerConfig struct {
	Name             string   // fully qualified
	Address          string   // its own address, for -ComputerName by address; may be empty
	Aliases          []string // other names it answers to
	DomainController bool     // false: no directory, only zones in files
	ReadOnly         bool     // read-only domain controller
}

// Config describes a store.
type Config struct {
	Servers []ServerConfig   // the first is the one an unnamed server means; none: one domain controller dc1.<Domain>
	Domain  string           // "corp.example"; empty: the same
	Forest  string           // empty: Domain
	Custom  []string         // custom directory partitions, by DNS name
	Now     func() time.Time // nil: time.Now
}
