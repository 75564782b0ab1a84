// Package stock describes a node of the engine in which several gateways store their shared data: NATS
// JetStream with the settings on which the gateways' guarantees rely.
//
// [Options] are the few settings that differ between nodes. [Options.Check] returns the faults in them.
// [Configuration] returns the nats-server configuration file of a node. Package engine runs a node with
// exactly that text, and a stock nats-server started with it is the same node. The package does not import
// the server, so the gateway can print the text without containing a server.
package stock

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
)

const (
	// Account is the account of the subjects and streams that the gateways use.
	Account = "ADGW"
	// SystemAccount has no users, so no client can reach it (facts J22).
	SystemAccount = "SYS"
	// MaxPayload is the maximum size of a message in bytes.
	MaxPayload = 8 << 20
	// mostPeers is the maximum number of other nodes.
	mostPeers = 4
	// clientUser is the user for all clients if the listener does not tell them apart.
	clientUser = "gateway"
)

// Options are the settings of a node, and the relevant facts from the member list of its cluster.
type Options struct {
	Node    string // name of the node, unique in the cluster
	Cluster string // name of the cluster; required with Peers

	Listen        string // host:port for gateways; port -1 means any free port
	ClusterListen string // host:port for the other nodes; required with Peers
	// Peers are the host:port addresses of the other nodes, at most four. Some may be missing, because
	// a lost host may not have been replaced.
	Peers []string
	// Advertise is the host:port that nodes tell each other for this node. If it is empty, they use the address
	// of its connections. A node that others must only reach by their Peers gets an address that refuses
	// connections.
	Advertise string

	Store    string // folder of the streams, used only by this node
	MaxStore int64  // bytes that streams may take

	// Certificate is a PEM file, or the thumbprint of a certificate in the Windows store
	// LocalMachine\My. The node presents it to gateways and other nodes. Without it the node only
	// listens on loopback addresses.
	Certificate string
	Key         string // PEM file; empty if Certificate is a thumbprint
	CA          string // PEM file with the authorities that signed the others' certificates

	// Members are the gateways that may connect, each with its own subjects. If there are none, any client may
	// connect whose certificate was signed by CA. With Peers and a certificate, there must be at least one
	// member.
	Members []Member

	Monitor string // host:port on a loopback address for the monitoring page; empty for none
}

var (
	nodeName   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	thumbprint = regexp.MustCompile(`^[0-9A-Fa-f]{40}$`)
	publicNKey = regexp.MustCompile(`^U[A-Z2-7]{55}$`)
	dnsName    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
)

// Thumbprint reports whether a certificate is given by its thumbprint instead of a file.
func Thumbprint(certificate string) bool { return thumbprint.MatchString(certificate) }

// PublicNKey reports whether text is the public part of a user's NKey.
func PublicNKey(text string) bool { return publicNKey.MatchString(text) }

// Fault is a fault in options: the key of the setting, or the name of the fact about the cluster,
// and a sentence with the remedy.
type Fault struct{ Key, Text string }

func (f Fault) Error() string { return f.Key + ": " + f.Text }

// Check returns an error that joins all faults of o, or nil.
func (o Options) Check() error {
	var all []error
	for _, fault := range o.Faults() {
		all = append(all, fault)
	}
	return errors.Join(all...)
}

// faults collects faults.
type faults []Fault

func (f *faults) add(key, format string, values ...any) {
	*f = append(*f, Fault{key, fmt.Sprintf(format, values...)})
}

// Faults returns all faults of o.
func (o Options) Faults() []Fault {
	var f faults
	if !nodeName.MatchString(o.Node) {
		f.add("node", "%q is not a node's name: use up to 63 lower-case letters, digits and hyphens, such as n1",
			o.Node)
	}
	if o.Store == "" {
		f.add("engine.store", "no folder is set: name one on a local disk for this node's data")
	}
	if o.MaxStore < 1 {
		f.add("engine.maxStore", "there is no room for any data: set a size such as 20GiB")
	}
	for _, path := range [][2]string{{"engine.store", o.Store}, {"certificate", o.Certificate}, {"key", o.Key},
		{"ca", o.CA}} {
		if strings.ContainsFunc(path[1], func(r rune) bool { return r < ' ' }) {
			f.add(path[0], "%q has control characters: write the path without them", path[1])
		}
	}
	o.checkTLS(&f)
	o.checkPeers(&f)
	o.checkListeners(&f)
	if len(o.Peers) > 0 && o.Certificate != "" && len(o.users()) == 0 {
		f.add("gateways", "the list of the cluster has no gateway, so anyone who has a certificate of its "+
			"authority "+
			"could write to the log")
	}
	for _, m := range o.Members {
		if !nodeName.MatchString(m.Gateway) {
			f.add("gateways", "%q is not a gateway's name: use up to 63 lower-case letters, digits and hyphens",
				m.Gateway)
		}
	}
	for _, u := range o.users() {
		if name := u.name; !IsGateway(name) {
			f.add("gateways", "%q is neither a DNS name of a certificate nor a public NKey (56 characters that "+
				"begin with U)", name)
		}
	}
	return f
}

// IsGateway reports whether a text can identify a gateway: the DNS name in a certificate, or a
// public NKey.
func IsGateway(name string) bool { return publicNKey.MatchString(name) || dnsName.MatchString(name) }

func (o Options) checkListeners(f *faults) {
	for _, listener := range []struct{ key, address string }{
		{"engine.listen", o.Listen}, {"engine.cluster", o.ClusterListen}, {"engine.monitor", o.Monitor},
	} {
		if listener.address == "" && listener.key != "engine.listen" || listener.key == "engine.cluster" &&
			len(o.Peers) == 0 {
			continue
		}
		host, err := splitAddress(listener.address)
		switch {
		case err != nil:
			f.add(listener.key, "%q is not an address to listen on: %v; write HOST:PORT or :PORT", listener.address,
				err)
		case listener.key == "engine.monitor" && !loopback(host):
			f.add(listener.key, "%s can be reached by other machines, and the page asks for no credential: use a "+
				"loopback address such as 127.0.0.1:8222", listener.address)
		case o.Certificate == "" && !loopback(host):
			f.add(listener.key, "%s can be reached by other machines, but the node has no certificate: listen on a "+
				"loopback address such as 127.0.0.1:4222", listener.address)
		}
	}
}

func (o Options) checkTLS(f *faults) {
	switch {
	case o.Certificate == "" && o.Key != "":
		f.add("key", "a key needs its certificate")
	case o.Certificate == "" && o.CA != "":
		f.add("ca", "others show a certificate only when the node has one")
	case o.Certificate == "":
	case o.CA == "":
		f.add("certificate", "gateways and other nodes must show a certificate, too, and there is no authority")
	case Thumbprint(o.Certificate) && o.Key != "":
		f.add("key", "the Windows store has the key of a certificate that is named by its thumbprint")
	case !Thumbprint(o.Certificate) && o.Key == "":
		f.add("certificate", "the certificate has no private key")
	}
	if o.Certificate == "" && o.namesCertificates() {
		f.add("gateways", "names of certificates are useless, because without a certificate of the node nobody "+
			"shows one")
	}
}

func (o Options) checkPeers(f *faults) {
	n := len(o.Peers)
	if (n > 0 || len(o.Members) > 0) && !nodeName.MatchString(o.Cluster) {
		f.add("cluster", "%q is not a cluster's name: use up to 63 lower-case letters, digits and hyphens",
			o.Cluster)
	}
	if n == 0 {
		return
	}
	if n > mostPeers {
		f.add("peers", "%d other nodes are listed, but a cluster has at most %d nodes", n, mostPeers+1)
	}
	if o.ClusterListen == "" {
		f.add("engine.cluster", "the other nodes have no address to connect to: set one, such as :6222")
	}
	seen := map[string]bool{}
	for _, peer := range o.Peers {
		if host, err := splitAddress(peer); err != nil || host == "" {
			f.add("peers", "%q is not HOST:PORT of another node, such as n2.corp.example:6222", peer)
		}
		if seen[peer] {
			f.add("peers", "%s is there twice: list every other node once", peer)
		}
		seen[peer] = true
	}
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
