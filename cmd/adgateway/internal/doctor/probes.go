package doctor

import (
	"context"
	"errors"
	"net"
	"time"

	"adgateway/gateway/config"
	"adgateway/ps"
	"adgateway/winsvc/host"
)

// Probes are all that the checks ask of the computer, the network and the
// domain. None is nil. A probe that does not know this system answers
// errors.ErrUnsupported, and its check is skipped. What a probe answers holds no
// secrets.
type Probes struct {
	Settings func() (Settings, error) // the error names every fault of the sources

	System  func() (host.System, error)
	Account func() (host.Account, error)
	Service func() (host.Service, error)
	// Policy is the execution policy that a group policy sets for the PowerShell
	// of that edition, "Desktop" or "Core"; empty: none does.
	Policy func(edition string) (string, error)

	FindPowerShell func(path string) (string, error)
	Survey         func(ctx context.Context) (Survey, error)                // without a session
	Open           func(ctx context.Context, lane ps.Lane) (Session, error) // the first session of a lane
	Run            func(ctx context.Context, request ps.Request) (*ps.Result, error)
	Dial           func(ctx context.Context, network, address string) (net.Conn, error)

	// Listen opens the gateway's listener and closes it. Its error may be
	// [ErrPortTaken] or [ErrPortForbidden].
	Listen     func(ctx context.Context, s *config.Settings) error
	PortHolder func(ctx context.Context, address string) string
	// Certificate is unsupported where the settings name none.
	Certificate func(s *config.Settings) (Certificate, error)
	Names       func() []string // of this computer, as clients may call it

	// Exposed tells who but the owner and the service may read a file; that
	// others may write it is an error.
	Exposed     func(path string) (readers string, err error)
	Writable    func(path string) error // nil: a file in the place of path can be written
	Free        func(path string) (bytes uint64, err error)
	Credentials func(path string) ([]Credential, error)

	Now func() time.Time
	OUs []string // whose rights are looked at; empty: the domain's own containers

	Limit time.Duration // of every check at most; zero: each has its own
}

// Why a port cannot be listened at.
var (
	ErrPortTaken     = errors.New("the port is taken")
	ErrPortForbidden = errors.New("the port may not be used")
)

// Settings are those that 'adgateway serve' would use.
type Settings struct {
	File   string
	Exists bool
	Values *config.Settings // what is kept beside the file is filled in
}

// Survey is what a PowerShell says of itself line by line.
type Survey struct {
	Version      string
	Edition      string // "Desktop", "Core"
	LanguageMode string
	Modules      []string // "ActiveDirectory 1.0.1.0"
}

// Session is what a session said of itself when it was ready.
type Session struct {
	PowerShell, Edition   string
	Module, ModuleVersion string
	Took                  time.Duration
}

// Certificate is the one that the gateway would serve.
type Certificate struct {
	Subject string
	Names   []string // DNS names and addresses
	Ends    time.Time
}

// Credential is one token or user.
type Credential struct {
	Name    string
	Expires time.Time // zero: never
}

// exam is one examination: the probes, and what earlier checks have found.
type exam struct {
	Probes
	ended map[string]Status

	settings    *config.Settings
	file        string
	system      host.System
	service     host.Service
	survey      Survey
	controllers []string // that answer on the port of ADWS
	candidates  []candidate
	dnsServer   string // that answers
}

// candidate is a server that discovery found.
type candidate struct {
	HostName string `json:"hostName"`
	Writable bool   `json:"writable"`
}
