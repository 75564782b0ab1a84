// Package stock describes a node of the engine in which several gateways keep what they share: NATS
// JetStream with the settings without which the gateways' promises do not hold.
//
// [Options] are the few things that differ from node to node; [Options.Check] returns their faults.
// [Configuration] is the node as a configuration file of nats-server: package engine runs exactly
// that text, and a stock nats-server that is started with it is the same node. The package does not
// import the server, so the gateway can print the text without containing one.
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
	// Account is the account whose subjects and streams the gateways use.
	Account = "ADGW"
	// SystemAccount has no users: no client can reach it (facts J22).
	SystemAccount = "SYS"
	// MaxPayload is the size in bytes of the largest message.
	MaxPayload = 8 << 20
	// mostPeers is the limit on other nodes.
	mostPeers = 4
	// clientUser is who clients are that the listener does not tell apart.
	clientUser = "gateway"
)

// Options are a node's own settings, and the facts in the list of its cluster.
type Options struct {
	Node    string // the node's name, unique in the cluster
	Cluster string // the name of the cluster; required with Peers

	Listen        string // host:port for gateways; port -1 is any free one
	ClusterListen string // host:port for the other nodes; required with Peers
	// Peers are host:port of each other node, at most four. Some may be missing, as there is no
	// host in the place of one that was lost.
	Peers []string
	// Advertise is the host:port under which nodes hear of this one from each other; when empty,
	// the address of its connections. Nodes that must use Peers alone get one that refuses.
	Advertise string

	Store    string // folder of the streams, for this node alone
	MaxStore int64  // bytes that streams may take

	// Certificate is a PEM file, or the thumbprint of a certificate in the Windows store
	// LocalMachine\My. It is shown to gateways and to the other nodes. Without it the
	// node listens on loopback addresses only.
	Certificate string
	Key         string // PEM file; empty with a thumbprint
	CA          string // PEM file of the authorities that signed the others' certificates

	// Members are who may connect. Each has subjects of its own. When empty, everyone whose
	// certificate CA signed; with Peers and a certificate it is not empty.
	Members []Member

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

// Fault is a fault of options: the key of the setting, or the name of the fact about the cluster,
// and a sentence with the remedy.
type Fault struct{ Key, Text string }

func (f Fault) Error() string { return f.Key + ": " + f.Text }

// Check returns everything that is wrong with o, or nil.
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

// Faults returns everything that is wrong with o.
func (o Options) Faults() []Fault {
	var f faults
	if !nodeName.MatchString(o.Node) {
		f.add("node", "%q is not a node's name: use up to 63 lower-case letters, digits and hyphens, such as n1", o.Node)
	}
	if o.Store == "" {
		f.add("engine.store", "no folder is set: name one on a local disk for this node's data")
	}
	if o.MaxStore < 1 {
		f.add("engine.maxStore", "there is no room for any data: set a size such as 20GiB")
	}
	for _, path := range [][2]string{{"engine.store", o.Store}, {"certificate", o.Certificate}, {"key", o.Key}, {"ca", o.CA}} {
		if strings.ContainsFunc(path[1], func(r rune) bool { return r < ' ' }) {
			f.add(path[0], "%q has control characters: write the path without them", path[1])
		}
	}
	o.checkTLS(&f)
	o.checkPeers(&f)
	o.checkListeners(&f)
	if len(o.Peers) > 0 && o.Certificate != "" && len(o.users()) == 0 {
		f.add("gateways", "the list of the cluster has no gateway, so that whoever has a certificate of its authority "+
			"could write to the log")
	}
	for _, m := range o.Members {
		if !nodeName.MatchString(m.Gateway) {
			f.add("gateways", "%q is not a gateway's name: use up to 63 lower-case letters, digits and hyphens", m.Gateway)
		}
	}
	for _, u := range o.users() {
		if name := u.name; !IsGateway(name) {
			f.add("gateways", "%q is neither a DNS name of a certificate nor a public NKey (56 characters that begin with U)", name)
		}
	}
	return f
}

// IsGateway reports whether a text can name a gateway: the DNS name of a certificate, or a
// public NKey.
func IsGateway(name string) bool { return publicNKey.MatchString(name) || dnsName.MatchString(name) }

func (o Options) checkListeners(f *faults) {
	for _, listener := range []struct{ key, address string }{
		{"engine.listen", o.Listen}, {"engine.cluster", o.ClusterListen}, {"engine.monitor", o.Monitor},
	} {
		if listener.address == "" && listener.key != "engine.listen" || listener.key == "engine.cluster" && len(o.Peers) == 0 {
			continue
		}
		host, err := splitAddress(listener.address)
		switch {
		case err != nil:
			f.add(listener.key, "%q is not an address to listen on: %v; write HOST:PORT or :PORT", listener.address, err)
		case listener.key == "engine.monitor" && !loopback(host):
			f.add(listener.key, "%s can be reached by other machines, and the page asks for no credential: use a loopback address such as 127.0.0.1:8222", listener.address)
		case o.Certificate == "" && !loopback(host):
			f.add(listener.key, "%s can be reached by other machines, but the node has no certificate: listen on a loopback address such as 127.0.0.1:4222", listener.address)
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
		f.add("gateways", "names of certificates are useless, because without a certificate of the node nobody shows one")
	}
}

func (o Options) checkPeers(f *faults) {
	n := len(o.Peers)
	if (n > 0 || len(o.Members) > 0) && !nodeName.MatchString(o.Cluster) {
		f.add("cluster", "%q is not a cluster's name: use up to 63 lower-case letters, digits and hyphens", o.Cluster)
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
