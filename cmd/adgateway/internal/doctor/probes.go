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

// Probes give the checks access to the computer, the network and the domain. No probe that a
// table of checks uses may be nil. A probe that does not support this system returns
// errors.ErrUnsupported, and its check is skipped. Results contain no secrets.
type Probes struct {
	Settings func() (Settings, error) // the error joins all mistakes

	System  func() (host.System, error)
	Account func() (host.Account, error)
	Service func() (host.Service, error)
	// Policy returns the execution policy that a group policy sets for an edition of PowerShell, "Desktop" or
	// "Core". It returns "" if no policy sets one.
	Policy func(edition string) (string, error)
	Sleep  func() (host.Sleep, error)

	// Self asks the running gateway for its view of its sessions, see [SelfFiles.Ask]. It returns
	// errors.ErrUnsupported if a gateway with these settings has no place for such files.
	Self func(ctx context.Context, s *config.Settings) (SelfView, error)

	FindPowerShell func(path string) (string, error)
	Survey         func(ctx context.Context) (Survey, error)                // in a PowerShell outside the pool
	Open           func(ctx context.Context, lane ps.Lane) (Session, error) // the first session of a lane
	Run            func(ctx context.Context, request ps.Request) (*ps.Result, error)
	Dial           func(ctx context.Context, network, address string) (net.Conn, error)

	// Listen opens the gateway's listener and closes it. Its error may wrap
	// [ErrPortTaken] or [ErrPortForbidden].
	Listen     func(ctx context.Context, s *config.Settings) error
	PortHolder func(ctx context.Context, address string) string
	KeyProbes
	Names func() []string // names by which clients may reach this computer

	// Receiver connects to the receiver of a webhook without sending anything.
	Receiver func(ctx context.Context, w config.Webhook) error

	// Cluster asks the gateways of a cluster for its state, in the same way as a gateway does.
	Cluster func(ctx context.Context, s *config.Settings) (Cluster, error)

	Node NodeProbes

	// Rewound returns an error if the store in a file was replaced by an earlier copy, otherwise nil.
	Rewound func(path string) error

	// Exposed returns the accounts, except the owner and the service, that may read a file, or
	// "". It returns an error if others may write the file.
	Exposed     func(path string) (readers string, err error)
	Writable    func(path string) error // nil if the file can be written or created
	Free        func(path string) (bytes uint64, err error)
	Credentials func(path string) ([]Credential, error)

	Now func() time.Time
	OUs []string // OUs whose rights are checked, in addition to the domain's default containers

	Limit time.Duration // time limit of every check; zero means that each check has its own
}

// KeyProbes examine the certificate and the keytab of the gateway, and the clients that send it
// tickets.
type KeyProbes struct {
	// Certificate describes the certificate in the settings. It returns errors.ErrUnsupported if the settings
	// name no certificate.
	Certificate func(s *config.Settings) (Certificate, error)
	// Keytab returns the names for which a keytab contains keys.
	Keytab func(path string) ([]string, error)
	// Browsers returns the policies of this computer that let browsers send tickets.
	Browsers func() ([]host.BrowserPolicy, error)
}

// NodeProbes are used only by the checks of a node.
type NodeProbes struct {
	// Owned reports whether a folder contains only a node's data. If the folder does not exist,
	// the error is [fs.ErrNotExist].
	Owned func(folder string) (bool, error)
	// Routes returns the names of the other nodes connected to a node, given the address of its monitoring page.
	Routes func(ctx context.Context, address string) ([]string, error)

	Volume     func(folder string) (host.Volume, error)
	WriteCache func(folder string) (host.WriteCache, error)
	Scanner    func() (excluded []string, err error) // excluded folders
	Backup     func() (excluded []string, err error) // excluded folders
	Indexed    func(folder string) (bool, error)
}

// Errors of Probes.Listen.
var (
	ErrPortTaken     = errors.New("the port is in use")
	ErrPortForbidden = errors.New("the port may not be used")
)

// Settings are the settings that 'adgateway serve' uses.
type Settings struct {
	File   string
	Exists bool
	Values *config.Settings // the settings, with the paths of the default files next to the settings file

	// Node is the name of a node, and Peers are the addresses of the others. Both are empty for a gateway.
	Node  string
	Peers []string
}

// Survey is a PowerShell's report about itself.
type Survey struct {
	Version      string
	Edition      string // "Desktop", "Core"
	LanguageMode string
	Modules      []string // "ActiveDirectory 1.0.1.0"
}

// Session is a session's report about itself when it was ready.
type Session struct {
	PowerShell, Edition   string
	Module, ModuleVersion string
	Took                  time.Duration
}

// Certificate describes the certificate that the gateway serves.
type Certificate struct {
	Subject string
	Names   []string // DNS names and addresses
	Ends    time.Time
}

// Cluster is the state of the cluster that a gateway has joined.
type Cluster struct {
	Name, Gateway string           // empty if not in a cluster
	Leader        string           // according to one of the gateways; empty if none knows a leader
	Gateways      []ClusterGateway // on the member list
	NoNode        []string         // an error for each node; empty if any node was reached
}

// ClusterGateway is a gateway on the cluster's member list.
type ClusterGateway struct {
	Name string
	Err  error // the reason why the gateway did not answer; nil if it did
}

// Credential is a token or a user.
type Credential struct {
	Name    string
	Expires time.Time // zero means never
}

// exam is the state of an examination: its probes, and findings of earlier checks.
type exam struct {
	Probes
	ended map[string]Status

	settings    *config.Settings
	file        string
	peers       []string // addresses of the other nodes
	system      host.System
	service     host.Service
	survey      Survey
	controllers []string // controllers that answer on the ADWS port
	candidates  []candidate
	dnsServer   string // the server that answers
}

// candidate is a domain controller found by discovery.
type candidate struct {
	HostName string `json:"hostName"`
	Writable bool   `json:"writable"`
}
