// Package config holds the gateway's settings.
//
// Every setting is one row of a table ([Rows]): key, meaning, default, and how
// its value is read. [Sources] are read in one strict pass (defaults, a YAML
// file, variables of the environment, flags) that reports every mistake at once,
// each with its place and what is allowed. [Template] writes the file from the
// table. [Live] holds the settings in force while the gateway runs and takes
// over what changes in the file; the table says which settings can.
package config

import "time"

// Settings are all settings with their values. The zero value is not usable:
// start from [Default] or [Load].
type Settings struct {
	HTTP       HTTP
	TLS        TLS
	Auth       Auth
	PowerShell PowerShell
	Pool       Pool
	Servers    Servers
	Limits     Limits
	Audit      Audit
	Docs       Docs
	Metrics    Metrics
	Log        Log
	Sandbox    Sandbox
}

// HTTP is how the server listens and what it accepts.
type HTTP struct {
	Listen              string
	AllowUnencrypted    bool   // listen without TLS where other machines reach it
	Dialect             string // standard or classic
	AllowSecretsInQuery bool
	AllowedOrigins      []string
	TrustedProxies      []string
	ReadTimeout         time.Duration // longest run of a read
	WriteTimeout        time.Duration // longest run of a change
	SettleTimeout       time.Duration // for finding out what became of a change that was cut off
	SettlePause         time.Duration // between the two readings that say it was not made
	ListTimeout         time.Duration // longest run of a list
	HeaderTimeout       time.Duration // of a client's sending: the header
	BodyTimeout         time.Duration // the whole request
	SendTimeout         time.Duration // of a client's receiving: 64 KiB
	IdleTimeout         time.Duration // between requests
	ShutdownTimeout     time.Duration // for requests that run when the server is told to stop

	MaxConnections           int
	MaxConnectionsPerAddress int
}

// TLS is the server's certificate and what is asked of clients.
type TLS struct {
	CertificateFile    string
	KeyFile            string
	PFXFile            string
	PFXPasswordFile    string
	StoreThumbprint    string
	StoreSubject       string
	MinVersion         string // 1.2 or 1.3
	ClientCAFile       string
	ClientCertificates string // optional or required
}

// Auth is how credentials are taken.
type Auth struct {
	AllowQueryToken bool
	Store           string // empty: the default place
	Failures        int    // until a user is locked from an address

	// What holds for accounts without their own; empty and nil: no limit.
	Rate                  string // "10/s", "600/m", "5000/h"
	Concurrency           *int
	DeletionsPerHour      *int
	PasswordResetsPerHour *int
}

// PowerShell is which PowerShell runs the scripts.
type PowerShell struct {
	Path      string // empty: Windows PowerShell on Windows, pwsh elsewhere
	Arguments []string
}

// Pool is how many PowerShell sessions there are and how long they live.
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

// Servers is which domain controllers and DNS server are used.
type Servers struct {
	Controllers []string
	DNSServer   string
	ReturnAfter time.Duration
}

// Limits bounds what one request may do.
type Limits struct {
	BulkDelete int
}

// Audit is where and how long is kept what was done.
type Audit struct {
	File    string // empty: the command's default; [AuditOff]: none
	KeyFile string
	MaxSize int // MiB
	MaxAge  time.Duration
	Keep    int
	Reads   bool
}

// AuditOff is the file of an audit that is switched off.
const AuditOff = "off"

// Metrics is who may read the metrics.
type Metrics struct {
	OpenOnLoopback bool
}

// Docs is what the server tells about its API.
type Docs struct {
	Enabled bool
}

// Log is how the log is written.
type Log struct {
	Format string // text or json
	Level  string

	File     string // empty: standard error, or the file of the service
	MaxSize  int    // of the file, MiB
	MaxFiles int    // kept beside it
}

// Sandbox is what the sandbox holds.
type Sandbox struct {
	LDIF           []string
	Zones          []string
	GeneratedUsers int
	Empty          bool
	Seed           int
	Culture        string
	ReplicationLag time.Duration
	Processes      bool
	Engine         string // "sandbox": its own
	Tokens         []Token
	Users          []User
}

// Token is a bearer token of the sandbox.
type Token struct {
	Value   string
	Subject string   // of the client certificate that stands for it
	Scopes  []string // empty: all
	Dialect string   // empty: http.dialect
	Limits  TokenLimits
}

// TokenLimits narrows what a token sees and changes. An empty list is no limit.
type TokenLimits struct {
	OUs    []string
	Zones  []string
	Groups []string
}

// User is a user of the sandbox who sends name and password (Basic).
type User struct {
	Name     string
	Password string
	Scopes   []string // empty: all
}

// Default returns the settings that hold where nothing is said.
func Default() *Settings {
	s := &Settings{}
	for _, row := range Rows() {
		if err := row.setText(s, row.Default); err != nil {
			panic("config: default of " + row.Key + ": " + err.Error()) // a defect of the table; the tests walk it
		}
	}
	return s
}
