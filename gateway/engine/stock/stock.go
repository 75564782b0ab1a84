// Package stock describes a node of the engine in which several gateways keep what
// they share: NATS JetStream with the settings without which the gateways' promises do
// not hold (many 1.3).
//
// [Options] are the few things that differ from node to node; [Options.Check] says what
// is wrong with them. [Configuration] is the node as a configuration file of
// nats-server: package engine runs exactly that text, and a stock nats-server that is
// started with it is the same node. The package does not import the server, so that
// the gateway can print the text without containing one.
package stock

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	// Account is the account whose subjects and streams the gateways use.
	Account = "ADGW"
	// SystemAccount has no users: no client can reach it (E22).
	SystemAccount = "SYS"
	// NodesSubject is what a client asks to hear from every node how it is set. The
	// answers are those of $SYS.REQ.SERVER.PING.JSZ.
	NodesSubject = "adgw.nodes"
	// MaxPayload is the size in bytes of the largest message.
	MaxPayload = 8 << 20
	// clientUser is who clients are that the listener does not tell apart.
	clientUser = "gateway"
)

// Options are a node's own settings. The names in the errors of [Options.Check] are
// those of the settings file.
type Options struct {
	Node    string // the node's name, unique in the cluster
	Cluster string // the name of the cluster; required with Peers

	Listen        string   // host:port for gateways; port -1 is any free one
	ClusterListen string   // host:port for the other nodes; required with Peers
	Peers         []string // host:port of each other node: none, two or four
	// Advertise is the host:port under which nodes hear of this one from each other; when
	// empty, that of its connections. Nodes that must use Peers alone get one that refuses.
	Advertise string

	Store    string // folder of the streams, for this node alone
	MaxStore int64  // bytes that streams may take

	// Certificate is a PEM file, or the thumbprint of a certificate in the Windows store
	// LocalMachine\My. It is shown to gateways and to the other nodes. Without it the
	// node listens on loopback addresses only.
	Certificate string
	Key         string // PEM file; empty with a thumbprint
	CA          string // PEM file of the authorities that signed the others' certificates

	// Gateways are who may connect: DNS names in their certificates, and public NKeys
	// (U...). When empty, everyone whose certificate CA signed.
	Gateways []string

	Monitor string // host:port on a loopback address for the monitoring page; empty for none
}

var (
	nodeName   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	thumbprint = regexp.MustCompile(`^[0-9A-Fa-f]{40}$`)
	publicNKey = regexp.MustCompile(`^U[A-Z2-7]{55}$`)
	dnsName    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
)

// Thumbprint reports whether a certificate is named by its thumbprint, not by a file.
func Thumbprint(certificate string) bool { return thumbprint.MatchString(certificate) }

// PublicNKey reports whether text is the public part of a user's NKey.
func PublicNKey(text string) bool { return publicNKey.MatchString(text) }

// Check returns everything that is wrong with o, as sentences that say what to change,
// or nil.
func (o Options) Check() error {
	var faults []error
	fault := func(format string, values ...any) { faults = append(faults, fmt.Errorf(format, values...)) }
	if !nodeName.MatchString(o.Node) {
		fault("engine.node %q is not a node's name: use up to 63 lower-case letters, digits and hyphens, such as n1", o.Node)
	}
	if o.Store == "" {
		fault("engine.store is not set: name a folder on a local disk for this node's data")
	}
	if o.MaxStore < 1 {
		fault("engine.maxStore must be above zero")
	}
	if strings.ContainsFunc(o.Store+o.Certificate+o.Key+o.CA, func(r rune) bool { return r < ' ' }) {
		fault("the paths of the engine must not contain control characters")
	}
	faults = append(faults, o.checkTLS()...)
	faults = append(faults, o.checkPeers()...)
	for _, listener := range []struct{ key, address string }{
		{"engine.listen", o.Listen}, {"engine.cluster", o.ClusterListen}, {"engine.monitor", o.Monitor},
	} {
		if listener.address == "" && listener.key != "engine.listen" {
			continue
		}
		host, err := splitAddress(listener.address)
		switch {
		case err != nil:
			fault("%s %q is not an address: %v; write host:port or :port", listener.key, listener.address, err)
		case listener.key == "engine.monitor" && !loopback(host):
			fault("engine.monitor %q can be reached by other machines, and the page needs no credential: use a loopback address such as 127.0.0.1:8222", listener.address)
		case o.Certificate == "" && !loopback(host):
			fault("%s %q can be reached by other machines, but there is no engine.certificate: set engine.certificate, engine.key and engine.ca, or listen on a loopback address", listener.key, listener.address)
		}
	}
	for _, name := range o.Gateways {
		if !publicNKey.MatchString(name) && !dnsName.MatchString(name) {
			fault("engine.gateways: %q is neither a DNS name of a certificate nor a public NKey (56 characters that begin with U)", name)
		}
	}
	return errors.Join(faults...)
}

func (o Options) checkTLS() []error {
	var faults []error
	switch {
	case o.Certificate == "" && (o.Key != "" || o.CA != ""):
		faults = append(faults, errors.New("engine.key and engine.ca need engine.certificate"))
	case o.Certificate == "":
	case o.CA == "":
		faults = append(faults, errors.New("engine.certificate needs engine.ca: the authorities whose certificates gateways and other nodes must show"))
	case Thumbprint(o.Certificate) && o.Key != "":
		faults = append(faults, errors.New("engine.key must be empty when engine.certificate is a thumbprint: the Windows store has the key"))
	case !Thumbprint(o.Certificate) && o.Key == "":
		faults = append(faults, errors.New("engine.certificate needs engine.key: the PEM file of its private key"))
	}
	if o.Certificate == "" && slices.ContainsFunc(o.Gateways, func(name string) bool { return !publicNKey.MatchString(name) }) {
		faults = append(faults, errors.New("engine.gateways has names of certificates, but without engine.certificate nobody shows one: use public NKeys, or set engine.certificate"))
	}
	return faults
}

func (o Options) checkPeers() []error {
	var faults []error
	switch n := len(o.Peers); {
	case n == 0:
		return nil
	case n != 2 && n != 4:
		faults = append(faults, fmt.Errorf("engine.peers has %d entries: a cluster has 3 or 5 nodes, so list the 2 or 4 others, without this one", n))
	}
	if !nodeName.MatchString(o.Cluster) {
		faults = append(faults, fmt.Errorf("cluster.name %q is not a cluster's name: use up to 63 lower-case letters, digits and hyphens", o.Cluster))
	}
	if o.ClusterListen == "" {
		faults = append(faults, errors.New("engine.peers is set, but engine.cluster is not: name the address that the other nodes connect to, such as :6222"))
	}
	seen := map[string]bool{}
	for _, peer := range o.Peers {
		host, err := splitAddress(peer)
		if err != nil || host == "" {
			faults = append(faults, fmt.Errorf("engine.peers: %q is not host:port of another node", peer))
		}
		if seen[peer] {
			faults = append(faults, fmt.Errorf("engine.peers: %q is there twice", peer))
		}
		seen[peer] = true
	}
	return faults
}

func splitAddress(address string) (host string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", errors.New("there is no port")
	}
	if n, err := strconv.Atoi(port); err != nil || n == 0 || n < -1 || n > 65535 {
		return "", fmt.Errorf("%q is not a port", port)
	}
	if strings.ContainsAny(host, " /\\\"'") {
		return "", fmt.Errorf("%q is not a host", host)
	}
	return host, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
