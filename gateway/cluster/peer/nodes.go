package peer

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/engine/stock"
	"adgateway/gateway/journal/jetstream"
)

// Nodes locates the nodes of the log: on the hosts of the cluster, or on external NATS servers.
type Nodes struct {
	Servers   []string // URLs of external NATS servers; empty to use the nodes of the cluster
	CA        string   // file with the certificates of the authorities; empty means the system's authorities
	NKeyFile  string   // file with the seed of a key; empty if none
	CredsFile string   // file with a JWT and its key; empty if none
}

// ErrNoNodes means that there are no nodes in the cluster or in the settings.
var ErrNoNodes = errors.New("no host of the cluster has a node: its log is in a NATS of your own, " +
	"so set cluster.servers as on the other hosts")

// connect connects to one of the nodes, preferably the one on the same host.
func (n Nodes) connect(
	id *trust.Identity, list func() trust.Members, options []nats.Option,
) (*nats.Conn, error) {
	if len(n.Servers) > 0 {
		return n.Own(id.Cluster, id.Gateway).Connect(options...)
	}
	servers := list().Servers(id.Gateway)
	if len(servers) == 0 {
		return nil, ErrNoNodes
	}
	options = append(options, nats.Secure(id.Client(list, "")), nats.DontRandomize(),
		nats.CustomInboxPrefix(stock.InboxPrefix(id.Cluster, id.Gateway)))
	return nats.Connect(strings.Join(servers, ","), options...)
}

// Own returns the options by which a gateway reaches the log of its cluster on external NATS servers.
func (n Nodes) Own(cluster, gateway string) jetstream.Options {
	return jetstream.Options{Cluster: cluster, Connect: func(options ...nats.Option) (*nats.Conn, error) {
		return n.connectOwn(append(options, nats.CustomInboxPrefix(stock.InboxPrefix(cluster, gateway))))
	}}
}

// PublicKey returns the public key in cluster.nkeyFile, or "" if there is none.
func (n Nodes) PublicKey() (string, error) {
	if n.NKeyFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(n.NKeyFile)
	if err != nil {
		return "", fmt.Errorf("cluster.nkeyFile: %w", err)
	}
	pair, err := nkeys.ParseDecoratedUserNKey(text)
	if err != nil {
		return "", fmt.Errorf("cluster.nkeyFile: %s has no seed of a user's NKey: %w", n.NKeyFile, err)
	}
	return pair.PublicKey()
}

func (n Nodes) connectOwn(options []nats.Option) (*nats.Conn, error) {
	if n.CA != "" {
		text, err := os.ReadFile(n.CA)
		if err != nil {
			return nil, fmt.Errorf("cluster.ca: %w", err)
		}
		settings := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		if !settings.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("cluster.ca has no certificate in PEM: " + n.CA)
		}
		options = append(options, nats.Secure(settings))
	}
	if n.CredsFile != "" {
		options = append(options, nats.UserCredentials(n.CredsFile))
	}
	if n.NKeyFile != "" {
		seed, err := nats.NkeyOptionFromSeed(n.NKeyFile)
		if err != nil {
			return nil, fmt.Errorf("cluster.nkeyFile: %w", err)
		}
		options = append(options, seed)
	}
	return nats.Connect(strings.Join(n.Servers, ","), options...)
}
