package config

import (
	"errors"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"adgateway/gateway/engine/stock"
)

// Cluster configures what gateways that share their state have in common, and who this
// one is. Without a name the gateway is alone, and nothing else of it applies.
type Cluster struct {
	Name    string
	Gateway string // this gateway's; empty on a host that only runs a node of the engine
	Site    string
	Servers []string // nats:// or tls:// with host and port
	Listen  string   // for the other gateways

	Certificate string // shown to the engine: a PEM file, or a thumbprint in the Windows store
	Key         string
	CA          string
	NKeyFile    string
	CredsFile   string // for an engine of the customer's own

	KeyFile     string // of the key that seals what is shared
	KeyGroup    string // instead of KeyFile
	SettleDelay time.Duration
	ClockWarn   time.Duration
	Loss        string // LossClosed or LossDegraded
}

// What a gateway does while it cannot reach what the gateways share.
const (
	LossClosed   = "closed"
	LossDegraded = "degraded"
)

// Engine configures the node of the engine that runs on this host. Without a node's
// name there is none.
type Engine struct {
	Node     string
	Listen   string
	Cluster  string
	Peers    []string
	Store    string
	MaxStore int64 // bytes

	Certificate string // a PEM file, or a thumbprint in the Windows store
	Key         string
	CA          string
	Gateways    []string
	Monitor     string
}

// EngineOptions are the settings of the node that runs on this host.
func (s *Settings) EngineOptions() stock.Options {
	e := s.Engine
	return stock.Options{
		Node: e.Node, Cluster: s.Cluster.Name, Listen: e.Listen, ClusterListen: e.Cluster, Peers: e.Peers,
		Store: e.Store, MaxStore: e.MaxStore, Certificate: e.Certificate, Key: e.Key, CA: e.CA,
		Gateways: e.Gateways, Monitor: e.Monitor,
	}
}

func clusterRows() []Row {
	return []Row{
		{"cluster.name", "\"\"", "Name of the cluster of gateways that share what they keep, the same for all of them; if empty, the gateway is alone.",
			clusterName(func(s *Settings) *string { return &s.Cluster.Name })},
		{"cluster.gateway", "\"\"", "Name of this gateway, which no other one of the cluster has.",
			clusterName(func(s *Settings) *string { return &s.Cluster.Gateway })},
		{"cluster.site", "\"\"", "Site of this gateway: the gateways of one site use the same domain controller and DNS server.",
			text(func(s *Settings) *string { return &s.Cluster.Site })},
		{"cluster.servers", "[]", "Nodes of the engine that keeps what is shared, such as tls://n1.corp.example:4222; all of them, so that one may be missing.",
			engineServers(func(s *Settings) *[]string { return &s.Cluster.Servers })},
		{"cluster.listen", ":7443", "Address and port at which the other gateways of the cluster reach this one.",
			address(func(s *Settings) *string { return &s.Cluster.Listen })},
		{"cluster.certificate", "\"\"", "Certificate that this gateway shows to the engine: a PEM file, or the thumbprint of one in the Windows store LocalMachine\\My.",
			text(func(s *Settings) *string { return &s.Cluster.Certificate })},
		{"cluster.key", "\"\"", "Private key of cluster.certificate in PEM format; empty with a thumbprint.",
			text(func(s *Settings) *string { return &s.Cluster.Key })},
		{"cluster.ca", "\"\"", "Certificates in PEM format of the authorities that sign those of the engine's nodes.",
			text(func(s *Settings) *string { return &s.Cluster.CA })},
		{"cluster.nkeyFile", "\"\"", "File with the seed of the NKey that this gateway proves to the engine, besides its certificate or instead of one.",
			text(func(s *Settings) *string { return &s.Cluster.NKeyFile })},
		{"cluster.credsFile", "\"\"", "File with JWT and seed for a NATS service of your own.",
			text(func(s *Settings) *string { return &s.Cluster.CredsFile })},
		{"cluster.keyFile", "\"\"", "File with the key that seals what the gateways share, the same file for all of them; the engine never sees it.",
			text(func(s *Settings) *string { return &s.Cluster.KeyFile })},
		{"cluster.keyGroup", "\"\"", "On Windows, instead of cluster.keyFile: the group of the domain whose members may open what the gateways share, such as CORP\\adgateway-gateways; the accounts of all gateways are in it.",
			text(func(s *Settings) *string { return &s.Cluster.KeyGroup })},
		{"cluster.settleDelay", "30s", "How long after the end of another gateway its unfinished changes are left alone, in which a domain controller may still be at work on them.",
			shortDuration(func(s *Settings) *time.Duration { return &s.Cluster.SettleDelay }, time.Second, 10*time.Minute)},
		{"cluster.clockWarn", "2s", "Difference between the clocks of two gateways that is reported; at 10s a gateway makes no changes any more.",
			shortDuration(func(s *Settings) *time.Duration { return &s.Cluster.ClockWarn }, 100*time.Millisecond, 10*time.Second)},
		{"cluster.loss", LossClosed, "While a gateway cannot reach what the gateways share: closed makes no changes, degraded goes on with those of single accounts and memberships, under its own locks: unlocking, enabling, disabling, updating, passwords, without a key, plan or hourly limit.",
			choice(func(s *Settings) *string { return &s.Cluster.Loss }, LossClosed, LossDegraded)},
		{"names.hold", "4h", "In a cluster: how long a name that was given at one domain controller or DNS server is not given at another, which may not know it yet; longer than the slowest replication.",
			shortDuration(func(s *Settings) *time.Duration { return &s.Names.Hold }, time.Minute, 168*time.Hour)},
	}
}

// engineRows are the settings of adgateway-engine, which reads the same file.
func engineRows() []Row {
	return []Row{
		{"engine.node", "\"\"", "Name of the node of the engine that adgateway-engine runs on this host; if empty, none runs here.",
			clusterName(func(s *Settings) *string { return &s.Engine.Node })},
		{"engine.listen", ":4222", "Address and port to which gateways connect.",
			address(func(s *Settings) *string { return &s.Engine.Listen })},
		{"engine.cluster", ":6222", "Address and port to which the other nodes connect.",
			address(func(s *Settings) *string { return &s.Engine.Cluster })},
		{"engine.peers", "[]", "The other nodes, such as n2.corp.example:6222: two or four, by the names in their certificates; if empty, the node is alone.",
			addresses(func(s *Settings) *[]string { return &s.Engine.Peers })},
		{"engine.store", "\"\"", "Folder of the node's data on a local disk, excluded from antivirus and backup.",
			text(func(s *Settings) *string { return &s.Engine.Store })},
		{"engine.maxStore", "20GiB", "Space for the node's data; when it is full, changes are refused.",
			size(func(s *Settings) *int64 { return &s.Engine.MaxStore })},
		{"engine.certificate", "\"\"", "Certificate that the node shows to gateways and other nodes: a PEM file, or the thumbprint of one in the Windows store LocalMachine\\My; if empty, it listens on loopback addresses only.",
			text(func(s *Settings) *string { return &s.Engine.Certificate })},
		{"engine.key", "\"\"", "Private key of engine.certificate in PEM format; empty with a thumbprint.",
			text(func(s *Settings) *string { return &s.Engine.Key })},
		{"engine.ca", "\"\"", "Certificates in PEM format of the authorities that sign those of gateways and other nodes.",
			text(func(s *Settings) *string { return &s.Engine.CA })},
		{"engine.gateways", "[]", "Who may connect: DNS names in the certificates of gateways, and public NKeys. A node with engine.peers and a certificate does not start without it; one that is alone takes every certificate that engine.ca has signed.",
			gateways(func(s *Settings) *[]string { return &s.Engine.Gateways })},
		{"engine.monitor", "\"\"", "Loopback address and port of the node's monitoring page, such as 127.0.0.1:8222; if empty, there is none.",
			text(func(s *Settings) *string { return &s.Engine.Monitor })},
	}
}

var clusterNamePattern = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$`)

// clusterName is the name of a cluster, a gateway or a node.
func clusterName(field func(*Settings) *string) value {
	return scalar[string]{field, func(t string) (string, error) {
		if !clusterNamePattern.MatchString(t) {
			return "", errNotAllowed
		}
		return t, nil
	}, "a name of up to 63 lower-case letters, digits and hyphens"}
}

// engineServers are the URLs of the engine's nodes.
func engineServers(field func(*Settings) *[]string) value {
	return list{field, func(item string) bool {
		u, err := url.Parse(item)
		if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.User != nil || item != u.Scheme+"://"+u.Host {
			return false
		}
		return hostAndPort(u.Host)
	}, "a list of nodes, such as tls://n1.corp.example:4222, or nats:// for one on this machine"}
}

func addresses(field func(*Settings) *[]string) value {
	return list{field, hostAndPort, "a list of HOST:PORT, such as n2.corp.example:6222"}
}

func hostAndPort(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || strings.ContainsAny(host, "/\\ ") {
		return false
	}
	n, err := strconv.Atoi(port)
	return err == nil && n > 0 && n <= 65535
}

// sizeUnits are what a size is written in, the largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}}

// sized is a setting with a number of bytes.
type sized struct{ scalar[int64] }

func size(field func(*Settings) *int64) value {
	return sized{scalar[int64]{field, parseSize, "a size from 64MiB to 1024TiB, such as 500MiB or 20GiB"}}
}

func parseSize(text string) (int64, error) {
	for _, unit := range sizeUnits {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 1 || n > (1<<50)/unit.bytes || n*unit.bytes < 64<<20 {
			return 0, errNotAllowed
		}
		return n * unit.bytes, nil
	}
	return 0, errNotAllowed
}

func (v sized) get(s *Settings, _ bool) any {
	n := *v.field(s)
	for _, unit := range sizeUnits {
		if n%unit.bytes == 0 && n > 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// clusterMisfits passes on why the settings of the cluster and of the engine's node
// contradict each other.
func (s *Settings) clusterMisfits(fault func(keys []string, format string, args ...any)) {
	c := s.Cluster
	if c.Name != "" && (s.Engine.Node == "" || c.Gateway != "" || len(c.Servers) > 0) {
		if c.Gateway == "" {
			fault([]string{"cluster.name"}, "a gateway of a cluster has a name of its own: set cluster.gateway, such as gw1")
		}
		if len(c.Servers) == 0 {
			fault([]string{"cluster.name"}, "the gateways of a cluster share what they keep by an engine: set cluster.servers to its nodes, such as tls://n1.corp.example:4222")
		}
	}
	if c.Name == "" && s.Auth.Shared {
		fault([]string{"auth.shared"}, "tokens and users can be shared in a cluster only: set cluster.name")
	}
	if c.KeyFile != "" && c.KeyGroup != "" {
		fault([]string{"cluster.keyGroup", "cluster.keyFile"}, "cluster.keyFile and cluster.keyGroup are two ways of keeping the key of what is shared: set one of them")
	}
	if err := c.checkAccess(); c.Name != "" && err != nil {
		fault([]string{"cluster.servers", "cluster.certificate", "cluster.nkeyFile"}, "%v", err)
	}
	if s.Engine.Node != "" {
		for _, f := range s.EngineOptions().Faults() {
			fault([]string{f.Key, "engine.node"}, "%s", f.Text)
		}
	}
}

// checkAccess returns what is missing to connect to the engine.
func (c Cluster) checkAccess() error {
	encrypted := false
	for _, server := range c.Servers {
		u, err := url.Parse(server)
		if err != nil {
			return err // not after engineServers
		}
		if u.Scheme == "tls" {
			encrypted = true
		} else if !ofThisMachine(u.Hostname()) {
			return errors.New(server + " is another machine, and others could read and alter what is sent to it: use tls:// and set cluster.ca")
		}
	}
	byThumbprint := stock.Thumbprint(c.Certificate)
	switch {
	case encrypted && c.CA == "":
		return errors.New("tls:// needs cluster.ca: the authorities that sign the certificates of the engine's nodes")
	case c.Certificate != "" && c.Key == "" && !byThumbprint:
		return errors.New("cluster.certificate needs cluster.key: the PEM file of its private key")
	case c.Certificate == "" && c.Key != "":
		return errors.New("cluster.key needs cluster.certificate")
	case byThumbprint && c.Key != "":
		return errors.New("the Windows store has the key of the certificate that cluster.certificate names by its thumbprint: leave cluster.key empty")
	case c.NKeyFile != "" && c.CredsFile != "":
		return errors.New("cluster.nkeyFile and cluster.credsFile are two ways of saying who connects: set one of them")
	}
	return nil
}

// clusterFiles are the files that the settings of cluster and engine name.
func (s *Settings) clusterFiles() []namedFile {
	c, e := s.Cluster, s.Engine
	files := []namedFile{
		{"cluster.key", c.Key, false}, {"cluster.ca", c.CA, false}, {"cluster.nkeyFile", c.NKeyFile, false},
		{"cluster.credsFile", c.CredsFile, false}, {"cluster.keyFile", c.KeyFile, false},
		{"engine.key", e.Key, false}, {"engine.ca", e.CA, false},
	}
	for key, certificate := range map[string]string{"cluster.certificate": c.Certificate, "engine.certificate": e.Certificate} {
		if !stock.Thumbprint(certificate) {
			files = append(files, namedFile{key, certificate, false})
		}
	}
	return files
}
