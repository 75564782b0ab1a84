package peer

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/engine/stock"
)

// Nodes says where the nodes are that have the log: those of the hosts of the cluster, or a NATS
// of the user's own.
type Nodes struct {
	Servers   []string // of a NATS of the user's own; empty: the nodes of the cluster
	CA        string   // file with the certificates of its authorities; empty: those of the system
	NKeyFile  string   // with the seed of a key; empty: none
	CredsFile string   // with a JWT and its key; empty: none
}

// connect connects to one of the nodes, to that of the own host if possible.
func (n Nodes) connect(id *trust.Identity, list func() trust.Members, options []nats.Option) (*nats.Conn, error) {
	if len(n.Servers) > 0 {
		return n.connectOwn(options)
	}
	options = append(options, nats.Secure(id.Client(list, "")), nats.DontRandomize(),
		nats.CustomInboxPrefix(stock.InboxPrefix(id.Cluster, id.Gateway)))
	return nats.Connect(strings.Join(list().Servers(id.Gateway), ","), options...)
}

// connectOwn connects to a NATS of the user's own.
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
