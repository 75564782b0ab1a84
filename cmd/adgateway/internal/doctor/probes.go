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

// Probes are everything that the checks use of the computer, the network and the
// domain. None that the table of checks uses is nil. A probe that does not support this system returns
// errors.ErrUnsupported, and its check is skipped. Results contain no secrets.
type Probes struct {
	Settings func() (Settings, error) // the error joins every mistake

	System  func() (host.System, error)
	Account func() (host.Account, error)
	Service func() (host.Service, error)
	// Policy returns the execution policy that a group policy sets for the PowerShell
	// of an edition, "Desktop" or "Core", or "".
	Policy func(edition string) (string, error)
	Sleep  func() (host.Sleep, error)

	// Self asks the running gateway for its view of its sessions, see [SelfFiles.Ask]. Its error is
	// errors.ErrUnsupported if such a gateway leaves no files.
	Self func(ctx context.Context, s *config.Settings) (SelfView, error)

	FindPowerShell func(path string) (string, error)
	Survey         func(ctx context.Context) (Survey, error)                // without a session
	Open           func(ctx context.Context, lane ps.Lane) (Session, error) // the first session of a lane
	Run            func(ctx context.Context, request ps.Request) (*ps.Result, error)
	Dial           func(ctx context.Context, network, address string) (net.Conn, error)

	// Listen opens the gateway's listener and closes it. Its error may wrap
	// [ErrPortTaken] or [ErrPortForbidden].
	Listen     func(ctx context.Context, s *config.Settings) error
	PortHolder func(ctx context.Context, address string) string
	KeyProbes
	Names func() []string // names of this computer that clients may use

	// Receiver connects to the receiver of a webhook, and sends nothing.
	Receiver func(ctx context.Context, w config.Webhook) error

	// Cluster asks the other gateways of a cluster as the gateway does.
	Cluster func(ctx context.Context, s *config.Settings) (Cluster, error)

	Node NodeProbes

	// Rewound returns why the store in a file was taken back, or nil.
	Rewound func(path string) error

	// Exposed returns who but the owner and the service may read a file, or "". If
	// others may write it, that is an error.
	Exposed     func(path string) (readers string, err error)
	Writable    func(path string) error // nil if the file can be written or created
	Free        func(path string) (bytes uint64, err error)
	Credentials func(path string) ([]Credential, error)

	Now func() time.Time
	OUs []string // OUs whose rights are checked, in addition to the domain's default containers

	Limit time.Duration // maximum time of every check; zero means that each has its own
}

// KeyProbes are about the certificate and the keytab of the gateway, and who sends tickets for them.
type KeyProbes struct {
	// Certificate returns errors.ErrUnsupported if the settings name none.
	Certificate func(s *config.Settings) (Certificate, error)
	// Keytab returns the names that a keytab has keys for.
	Keytab func(path string) ([]string, error)
	// Browsers returns the policies of this computer that let browsers send tickets.
	Browsers func() ([]host.BrowserPolicy, error)
}

// NodeProbes are used only by the checks of a node.
type NodeProbes struct {
	// Owned reports whether a folder has nothing in it but a node's data. The error of one
	// that does not exist is [fs.ErrNotExist].
	Owned func(folder string) (bool, error)
	// Routes returns the names of the other nodes that are connected to the one whose
	// monitoring page is at an address.
	Routes func(ctx context.Context, address string) ([]string, error)

	Volume     func(folder string) (host.Volume, error)
	WriteCache func(folder string) (host.WriteCache, error)
	Scanner    func() (excluded []string, err error) // folders
	Backup     func() (excluded []string, err error) // folders
	Indexed    func(folder string) (bool, error)
}

// Errors of Probes.Listen.
var (
	ErrPortTaken     = errors.New("the port is in use")
	ErrPortForbidden = errors.New("the port may not be used")
)

// Settings are the settings that 'adgateway serve' would use.
type Settings struct {
	File   string
	Exists bool
	Values *config.Settings // including the default files next to the settings file

	// Of a node: its name, and where the other nodes are.
	Node  string
	Peers []string
}

// Survey is what a PowerShell reports about itself.
type Survey struct {
	Version      string
	Edition      string // "Desktop", "Core"
	LanguageMode string
	Modules      []string // "ActiveDirectory 1.0.1.0"
}

// Session is what a session reported about itself when it was ready.
type Session struct {
	PowerShell, Edition   string
	Module, ModuleVersion string
	Took                  time.Duration
}

// Certificate describes the certificate that the gateway would serve.
type Certificate struct {
	Subject string
	Names   []string // DNS names and addresses
	Ends    time.Time
}

// Cluster is the state of the cluster that a gateway has joined.
type Cluster struct {
	Name, Gateway string           // empty: it has joined none
	Leader        string           // that a gateway knows; empty: none does
	Gateways      []ClusterGateway // of the list
	NoNode        []string         // why each node is not reached; empty: one is
}

// ClusterGateway is a gateway of the list.
type ClusterGateway struct {
	Name string
	Err  error // why it does not answer; nil: it does
}

// Credential is one token or user.
type Credential struct {
	Name    string
	Expires time.Time // zero for never
}

// exam is the state of an examination: the probes and the findings of earlier checks.
type exam struct {
	Probes
	ended map[string]Status

	settings    *config.Settings
	file        string
	peers       []string // of a node
	system      host.System
	service     host.Service
	survey      Survey
	controllers []string // those that respond on the port of ADWS
	candidates  []candidate
	dnsServer   string // the one that responds
}

// candidate is a domain controller that discovery found.
type candidate struct {
	HostName string `json:"hostName"`
	Writable bool   `json:"writable"`
}
