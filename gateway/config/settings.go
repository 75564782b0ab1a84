// Package config defines and loads the gateway's settings.
//
// Every setting is one row of a table ([Rows]): key, meaning, default, and how its
// value is parsed. [Sources] (defaults, a YAML file, environment variables, flags)
// are loaded in one strict pass that reports every mistake at once, with its place
// and the allowed values. [Template] generates the file from the table. [Live] holds
// the settings in effect while the gateway runs and applies changes of the file; the
// table says which settings can change.
package config

import (
	"path/filepath"
	"time"

	"adgateway/gateway/attributes"
)

// Settings are the values of all settings. The zero value is not usable: start from
// [Default] or [Load].
type Settings struct {
	HTTP        HTTP
	TLS         TLS
	Auth        Auth
	PowerShell  PowerShell
	SignIn      SignIn
	Console     Console
	Pool        Pool
	Servers     Servers
	Limits      Limits
	Account     Account
	ACME        ACME
	External    ExternalDNS
	Audit       Audit
	Store       Store
	Changes     Changes
	Events      Events
	Idempotency Idempotency
	Names       Names
	Reason      Reason
	Time        Time
	Plans       Plans
	Jobs        Jobs
	Memory      Memory
	Docs        Docs
	Metrics     Metrics
	Log         Log
	Cluster     Cluster
	Engine      Engine
	Former      Former
	Sandbox     Sandbox
}

// HTTP configures how the server listens and what it accepts.
type HTTP struct {
	Listen              string
	AllowUnencrypted    bool   // listen without TLS where other machines can connect
	Dialect             string // standard or classic
	AllowSecretsInQuery bool
	RequireGuard        []string // scopes
	RequireKey          []string // scopes
	AllowedOrigins      []string
	TrustedProxies      []string
	ReadTimeout         time.Duration // time limit of a read
	WriteTimeout        time.Duration // time limit of a change
	SettleTimeout       time.Duration // time limit for settling a change that was cut off
	SettlePause         time.Duration // between the two reads that confirm it did not happen
	ListTimeout         time.Duration // time limit of a list
	HeaderTimeout       time.Duration // for a client to send the header
	BodyTimeout         time.Duration // for a client to send the whole request
	SendTimeout         time.Duration // for a client to receive 64 KiB
	IdleTimeout         time.Duration // between requests
	ShutdownTimeout     time.Duration // for running requests when the server stops

	MaxConnections           int
	MaxConnectionsPerAddress int
	MaxBodyMemory            int // MiB

	MaxSpool    int    // MiB
	SpoolFolder string // empty means the system's
}

// TLS configures the server's certificate and client certificates.
type TLS struct {
	CertificateFile    string
	KeyFile            string
	PFXFile            string
	PFXPasswordFile    string
	StoreThumbprint    string
	StoreSubject       string
	MinVersion         string // 1.2 or 1.3
	ClientCAFile       string
	ClientCRLFiles     []string
	ClientCertificates string // optional or required
}

// Jobs configures lists of changes that run as one job.
type Jobs struct {
	MaxItems  int
	MaxBytes  int // MiB
	Running   int // at a time
	PerCaller int
	Share     int // of a lane's sessions, in percent
	Rate      int // items of a job a second; 0: no limit
	Keep      time.Duration
	MaxStored int    // MiB
	Secrets   string // SecretsRefused or SecretsSealed
}

// The values of jobs.secrets.
const (
	SecretsRefused = "refuse"
	SecretsSealed  = "sealed"
)

// Auth configures authentication.
type Auth struct {
	AllowQueryToken bool
	Store           string // empty means the command's default
	StaleMax        time.Duration
	Failures        int // failed logins before a user is locked from an address

	// Quotas of accounts without their own; empty and nil mean no limit.
	Rate                  string // "10/s", "600/m", "5000/h"
	Concurrency           *int
	DeletionsPerHour      *int
	PasswordResetsPerHour *int
	ChangesPerHour        *int
	RevealsPerHour        int
}

// PowerShell configures the PowerShell that runs the scripts.
type PowerShell struct {
	Path      string // empty means Windows PowerShell on Windows, pwsh elsewhere
	Arguments []string
}

// Pool configures the number of PowerShell sessions and their lifetime.
type Pool struct {
	DirectorySessions int
	DNSSessions       int
	MaxWait           time.Duration
	MaxQueue          int
	MaxRequests       int
	MaxAge            time.Duration
	MaxMemory         int // MiB
	StartTimeout      time.Duration
	MaxList           int // MiB
}

// Servers configures the domain controllers and the DNS server.
type Servers struct {
	Controllers []string
	DNSServer   string
	ReturnAfter time.Duration
}

// Limits limit what one request may do.
type Limits struct {
	BulkDelete    int
	StaleDays     int
	GuardedGroups []string
	GuardedNames  []string
}

// Account configures what accounts have.
type Account struct {
	Attributes []attributes.Site // further ones of users
}

// ACME configures the challenges of certificate authorities in DNS.
type ACME struct {
	TTL      int      // of the records, in seconds
	Zones    []string // in which a challenge may have any name
	Accounts []ACMEAccount
}

// ACMEAccount lets a credential write the challenges of one name, as clients of
// acme-dns do.
type ACMEAccount struct {
	Subdomain  string // what the client sends
	Credential string // an [identity.Reference] to a token or user
	Name       string // of the record, in full
}

// ExternalDNS configures the webhook provider of ExternalDNS.
type ExternalDNS struct {
	Budget time.Duration // for the changes of one request
}

// ExpiryNotice is how long before its end a credential is worth a warning.
const ExpiryNotice = 14 * 24 * time.Hour

// Store configures what the gateway keeps beyond one request.
type Store struct {
	MinFree int    // MiB
	File    string // empty means the command's default, [AuditOff] none
}

// KeyFile returns the file of the key that the store is encrypted with.
func (s Store) KeyFile() string { return s.File + ".key" }

// KeptFree returns how many bytes are kept free where the store and the audit log are.
func (s Store) KeptFree() uint64 { return uint64(s.MinFree) << 20 }

// ClusterFolder returns the folder with what a gateway has of its cluster; empty: there is no
// store, so that the gateway is alone.
func (s Store) ClusterFolder() string {
	if s.File == "" || s.File == AuditOff {
		return ""
	}
	return filepath.Join(filepath.Dir(s.File), "cluster")
}

// Reason configures which changes must say why they are made.
type Reason struct {
	Required []string // ids of operations, or patterns
}

// Time configures in which zone days begin and end.
type Time struct {
	Zone string // by its name in the IANA database
}

// Location returns the zone.
func (t Time) Location() *time.Location {
	if zone, err := time.LoadLocation(t.Zone); err == nil && t.Zone != "UTC" {
		return zone
	}
	return time.UTC // a zone that does not exist is refused with the settings
}

// Names configures the names of objects in a cluster.
type Names struct {
	Hold time.Duration // for which a name given at one server is not given at another
}

// Idempotency configures calls with an Idempotency-Key.
type Idempotency struct {
	Keep    time.Duration
	MaxSize int // MiB
}

// Changes configures the history of changes.
type Changes struct {
	Keep    time.Duration
	MaxSize int // MiB
}

// Events configures how others learn what was changed.
type Events struct {
	Streams  int // that are served at the same time
	Webhooks []Webhook
}

// Webhook is a receiver of messages about what was changed.
type Webhook struct {
	Name       string
	URL        string
	SecretFile string
	CAFile     string   // empty: the authorities of the system
	Types      []string // empty: all
}

// Console configures the pages for people.
type Console struct {
	Procedures []Procedure
}

// Procedure are changes that belong together, which have one form on the pages.
type Procedure struct {
	Name  string
	Title []string // in English, and perhaps in German
	Steps []string // operations with their parameters
}

// SignIn configures how people sign in to the pages.
type SignIn struct {
	Mode     string // SwitchOff, SignInForm, SignInKerberos or SignInBoth
	Keytab   string // empty: the keys that Windows has for the account of the service
	Bindings string // BindingsRequired, BindingsIfSent or SwitchOff
	Domains  []string
	Roles    []Role
	Tokens   string // SwitchAuto, SwitchOn or SwitchOff
	Idle     time.Duration
	Max      time.Duration
	Recheck  time.Duration
	Tries    int
}

// The modes in which people sign in with their account.
const (
	SignInForm     = "form"     // with name and password
	SignInKerberos = "kerberos" // with a ticket
	SignInBoth     = "form+kerberos"
)

// Whether a ticket must be made for the TLS connection that it comes by; SwitchOff: it need not be.
const (
	BindingsRequired = "required"
	BindingsIfSent   = "ifSent"
)

// Tickets reports whether people sign in with a ticket of Kerberos.
func (s SignIn) Tickets() bool { return s.Mode == SignInKerberos || s.Mode == SignInBoth }

// Role is what the members of a group may do on the pages for people.
type Role struct {
	Group  string // DOMAIN\name, or a SID
	Name   string // shown to people; empty: the group
	Scopes []string
	Limits TokenLimits
	Quota  Quota
}

// Quota is how much each member of a role may do. What is absent is as for everybody ([Auth]).
type Quota struct {
	Rate                  string // empty: absent
	Concurrency           *int
	DeletionsPerHour      *int
	PasswordResetsPerHour *int
	ChangesPerHour        *int
	RevealsPerHour        *int
}

// Plans configures plans of changes that dry runs make.
type Plans struct {
	MaxSize     int // MiB
	Life        time.Duration
	OtherCaller bool
}

// Audit configures the audit log.
type Audit struct {
	File    string // empty means the command's default, [AuditOff] none
	KeyFile string
	MaxSize int // MiB
	MaxAge  time.Duration
	Reads   bool

	KeepFor    time.Duration
	MaxTotal   int    // MiB
	AnchorFile string // empty means next to the key file, [AuditOff] none
	Checkpoint time.Duration
	EventLog   string // "off", "changes" or "all"

	// Of a gateway of a cluster.
	Mirror     string // SwitchOn or SwitchOff
	MirrorKeep time.Duration
	Witness    time.Duration
}

// Anchor returns the file in which the end of the log is recorded as well, or "".
func (a Audit) Anchor() string {
	switch {
	case a.AnchorFile == AuditOff:
		return ""
	case a.AnchorFile == "" && a.KeyFile != "":
		return a.KeyFile + ".anchor"
	}
	return a.AnchorFile
}

// AuditOff is the value of audit.file that switches the audit log off, and of
// audit.anchorFile for none.
const AuditOff = "off"

// Metrics configures who may read the metrics.
type Metrics struct {
	OpenOnLoopback bool
}

// Docs configures the documentation that the server offers.
type Docs struct {
	Enabled bool
}

// Memory configures the garbage collector of the gateway's process.
type Memory struct {
	GCPercent int // as GOGC
	Limit     int // as GOMEMLIMIT, MiB; zero: none
}

// Log configures the log.
type Log struct {
	Format string // text or json
	Level  string

	File     string // empty means standard error, or the service's default file
	MaxSize  int    // size at which the file is rotated, MiB
	MaxFiles int    // rotated files to keep
}

// Sandbox configures the sandbox.
type Sandbox struct {
	LDIF           []string
	Zones          []string
	GeneratedUsers int
	Empty          bool
	Seed           int
	Culture        string
	ReplicationLag time.Duration
	RecycleBin     bool
	SetRemovesPTR  bool
	Processes      bool
	Engine         string // "sandbox" is the built-in engine
	Domain         string // HOST:PORT of the process that holds the domain; empty: this one
	TicketFile     string // of that process
	GatewayName    string
	Account        string        // whose connections the directory counts; empty: the account of all gateways
	Clock          time.Duration // how far the clock of the domain is ahead
	Tokens         []Token
	Users          []User
}

// Token is a bearer token of the sandbox.
type Token struct {
	Value   string
	Subject string   // of a client certificate that is accepted instead
	Scopes  []string // empty means all
	Dialect string   // empty means http.dialect
	InQuery bool     // passwords may stand in the query
	Limits  TokenLimits
}

// TokenLimits restrict what a token sees and changes. An empty list means no limit.
type TokenLimits struct {
	OUs    []string
	Zones  []string
	Groups []string
	Names  []string
}

// User is a user of the sandbox who sends name and password (Basic).
type User struct {
	Name     string
	Password string
	Scopes   []string // empty means all
	Limits   TokenLimits
}

// Default returns the default settings.
func Default() *Settings {
	s := &Settings{}
	for _, row := range Rows() {
		if err := row.setText(s, row.Default); err != nil {
			panic("config: default of " + row.Key + ": " + err.Error()) // a defect of the table; the tests walk it
		}
	}
	return s
}
