// Package config defines and loads the gateway's settings.
//
// Every setting is one row of a table ([Rows]): key, meaning, default, and how its value is parsed.
// [Sources] (defaults, a YAML file, environment variables, flags) are loaded in one strict pass
// that reports all mistakes at once, each with its place and the allowed values. [Template]
// generates the file from the table. [Live] holds the settings in effect while the gateway runs,
// and applies changes of the file to the settings that the table allows to change.
package config

import (
	"path/filepath"
	"time"

	"adgateway/gateway/attributes"
)

// Settings are the values of all settings. The zero value is not usable; start from [Default] or
// [Load].
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

// HTTP configures the HTTP server and its limits.
type HTTP struct {
	Listen              string
	AllowUnencrypted    bool   // listen without TLS on addresses that other machines can reach
	Dialect             string // standard or classic
	AllowSecretsInQuery bool
	RequireGuard        []string // scopes
	RequireKey          []string // scopes
	AllowedOrigins      []string
	TrustedProxies      []string
	ReadTimeout         time.Duration // time limit of a read
	WriteTimeout        time.Duration // time limit of a change
	SettleTimeout       time.Duration // time limit for settling an interrupted change
	SettlePause         time.Duration // pause between the two reads before a change counts as not made
	ListTimeout         time.Duration // time limit of a list
	HeaderTimeout       time.Duration // time for a client to send the header
	BodyTimeout         time.Duration // time for a client to send the whole request
	SendTimeout         time.Duration // time for a client to receive 64 KiB
	IdleTimeout         time.Duration // idle time between two requests of a connection
	ShutdownTimeout     time.Duration // time limit for running requests to end when the server stops

	MaxConnections           int
	MaxConnectionsPerAddress int
	MaxBodyMemory            int // MiB

	MaxSpool    int    // MiB
	SpoolFolder string // empty means the system's folder for temporary files
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
	Running   int // jobs that run at the same time
	PerCaller int
	Share     int // percentage of a lane's sessions that jobs may use
	Rate      int // items per second and job; 0 for no limit
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
	Failures        int // failed logins before a user is locked for an address

	// Quotas of accounts without quotas of their own. Empty and nil mean no limit.
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

// Limits are limits for a single request.
type Limits struct {
	BulkDelete    int
	StaleDays     int
	GuardedGroups []string
	GuardedNames  []string
}

// Account configures the attributes of accounts.
type Account struct {
	Attributes []attributes.Site // additional attributes of users
}

// ACME configures the challenges of certificate authorities in DNS.
type ACME struct {
	TTL      int      // time to live of the records, in seconds
	Zones    []string // zones in which a challenge may have any name
	Accounts []ACMEAccount
}

// ACMEAccount lets a credential write the challenges for one name, as acme-dns clients do.
type ACMEAccount struct {
	Subdomain  string // as sent by the client
	Credential string // an [identity.Reference] to a token or user
	Name       string // full name of the record
}

// ExternalDNS configures the webhook provider of ExternalDNS.
type ExternalDNS struct {
	Budget time.Duration // time for the changes of one request
}

// ExpiryNotice is how long before its expiry a credential deserves a warning.
const ExpiryNotice = 14 * 24 * time.Hour

// Store configures the data that the gateway stores beyond a request.
type Store struct {
	MinFree int    // MiB
	File    string // empty means the command's default, [AuditOff] means none
}

// KeyFile returns the path of the file with the store's encryption key.
func (s Store) KeyFile() string { return s.File + ".key" }

// KeptFree returns the number of bytes to keep free on the disks of the store and the audit log.
func (s Store) KeptFree() uint64 { return uint64(s.MinFree) << 20 }

// ClusterFolder returns the folder that holds a gateway's data about its cluster. It is "" if there
// is no store, so the gateway cannot be in a cluster.
func (s Store) ClusterFolder() string {
	if s.File == "" || s.File == AuditOff {
		return ""
	}
	return filepath.Join(filepath.Dir(s.File), "cluster")
}

// Reason configures which changes must have a reason.
type Reason struct {
	Required []string // operation ids, or patterns
}

// Time configures the time zone in which days begin and end.
type Time struct {
	Zone string // name in the IANA database
}

// Location returns the time zone.
func (t Time) Location() *time.Location {
	if zone, err := time.LoadLocation(t.Zone); err == nil && t.Zone != "UTC" {
		return zone
	}
	return time.UTC // settings with an unknown zone are refused
}

// Names configures the names of objects in a cluster.
type Names struct {
	Hold time.Duration // how long a name that was assigned at one server is not assigned at another one
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

// Events configures how clients are notified of changes.
type Events struct {
	Streams  int // streams that are open at the same time
	Webhooks []Webhook
}

// Webhook is a receiver of messages about changes.
type Webhook struct {
	Name       string
	URL        string
	SecretFile string
	CAFile     string   // empty means the system's authorities
	Types      []string // empty means all
}

// Console configures the pages for people.
type Console struct {
	Procedures []Procedure
}

// Procedure is a set of related changes with a single form on the pages.
type Procedure struct {
	Name  string
	Title []string // in English, and optionally in German
	Steps []string // operations with their parameters
}

// SignIn configures how people sign in to the pages.
type SignIn struct {
	Mode     string // SwitchOff, SignInForm, SignInKerberos or SignInBoth
	Keytab   string // empty means the keys that Windows has for the service's account
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

// The values of the setting whether a ticket must be bound to the TLS connection on which it arrives.
// SwitchOff means that it need not be.
const (
	BindingsRequired = "required"
	BindingsIfSent   = "ifSent"
)

// Tickets reports whether people sign in with Kerberos tickets.
func (s SignIn) Tickets() bool { return s.Mode == SignInKerberos || s.Mode == SignInBoth }

// Role holds the rights of a group's members on the pages for people.
type Role struct {
	Group  string // DOMAIN\name, or a SID
	Name   string // for people; empty means the group's name
	Scopes []string
	Limits TokenLimits
	Quota  Quota
}

// Quota limits each member of a role. Values that are not set come from [Auth].
type Quota struct {
	Rate                  string // empty if unset
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
	File    string // empty means the command's default, [AuditOff] means none
	KeyFile string
	MaxSize int // MiB
	MaxAge  time.Duration
	Reads   bool

	KeepFor    time.Duration
	MaxTotal   int    // MiB
	AnchorFile string // path of the anchor; empty means next to the key file, [AuditOff] means none
	Checkpoint time.Duration
	EventLog   string // "off", "changes" or "all"

	// For gateways in a cluster.
	Mirror     string // SwitchOn or SwitchOff
	MirrorKeep time.Duration
	Witness    time.Duration
}

// Anchor returns the path of the file that also records the end of the log, or "".
func (a Audit) Anchor() string {
	switch {
	case a.AnchorFile == AuditOff:
		return ""
	case a.AnchorFile == "" && a.KeyFile != "":
		return a.KeyFile + ".anchor"
	}
	return a.AnchorFile
}

// AuditOff is the value of audit.file that switches the audit log off, and of audit.anchorFile that
// switches the anchor off.
const AuditOff = "off"

// Metrics configures who may read the metrics.
type Metrics struct {
	OpenOnLoopback bool
}

// Docs configures the documentation that the server serves.
type Docs struct {
	Enabled bool
}

// Memory configures the garbage collector of the gateway process.
type Memory struct {
	GCPercent int // like GOGC
	Limit     int // like GOMEMLIMIT, in MiB; zero for none
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
	Domain         string // HOST:PORT of the process that holds the domain; empty means this process
	TicketFile     string // ticket file of that process
	GatewayName    string
	// account whose connections the directory counts; empty means that all share one account
	Account string
	Clock   time.Duration // how far the domain's clock is ahead
	Tokens  []Token
	Users   []User
}

// Token is a bearer token of the sandbox.
type Token struct {
	Value   string
	Subject string   // subject of a client certificate that is accepted in place of the token
	Scopes  []string // empty means all
	Dialect string   // empty means http.dialect
	InQuery bool     // passwords may be sent in the query
	Limits  TokenLimits
}

// TokenLimits restrict what a token can see and change. An empty list means no limit.
type TokenLimits struct {
	OUs    []string
	Zones  []string
	Groups []string
	Names  []string
}

// User is a caller of the sandbox that sends a name and a password (Basic).
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
			panic("config: default of " + row.Key + ": " + err.Error()) // a defect of the table
		}
	}
	return s
}
