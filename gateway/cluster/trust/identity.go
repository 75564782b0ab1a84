package trust

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Identity is a gateway's proof of its name in a cluster. It is safe for concurrent use.
type Identity struct {
	Cluster   string
	Gateway   string
	authority *x509.Certificate
	shown     tls.Certificate // including the authority's certificate
}

// newIdentity returns the identity for a certificate, its key and its authority.
func newIdentity(authority *x509.Certificate, shown tls.Certificate) (*Identity, error) {
	cluster := authority.Subject.CommonName
	if err := check(cluster, authority, shown.Leaf); err != nil {
		return nil, err
	}
	gateway, _ := gatewayOf(cluster, shown.Leaf)
	shown.Certificate = [][]byte{shown.Leaf.Raw, authority.Raw}
	return &Identity{cluster, gateway, authority, shown}, nil
}

// Authority returns the certificate of the cluster's authority.
func (id *Identity) Authority() *x509.Certificate { return id.authority }

// Server returns the configuration with which a gateway listens for others of its cluster. They must present
// a certificate, and be on the list when they connect. A connection is not closed when its gateway is removed
// from the list, so [Listed] must be called for each request. The node on a gateway's host also uses this
// configuration to listen, and to connect to other nodes.
func (id *Identity) Server(list func() Members) *tls.Config { return id.config(list, "") }

// Client returns the configuration with which a gateway connects to the gateway peer, which must
// prove its name. An empty peer stands for any gateway on the list. The host name in the address
// does not matter.
func (id *Identity) Client(list func() Members, peer string) *tls.Config {
	return id.config(list, peer)
}

// config serves both sides of a connection, because nodes connect and listen with the same configuration.
// verify replaces the check in crypto/tls, and its error gives the reason for a refusal. A caller may set
// ClientAuth or InsecureSkipVerify to have crypto/tls verify as well; even then no clock is used. ClientCAs
// is not set, because a client that receives such a list does not present a certificate of another authority,
// so no reason could be given.
func (id *Identity) config(list func() Members, peer string) *tls.Config {
	only := x509.NewCertPool()
	only.AddCert(id.authority)
	return &tls.Config{
		RootCAs: only, Time: func() time.Time { return checkedAt(id.authority) },
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{id.shown},
		ClientAuth: tls.RequireAnyClientCert, InsecureSkipVerify: true, SessionTicketsDisabled: true,
		VerifyConnection: func(s tls.ConnectionState) error { return id.verify(s, list(), peer) },
	}
}

func (id *Identity) verify(s tls.ConnectionState, list Members, peer string) error {
	if len(s.PeerCertificates) == 0 {
		return errNoCertificate
	}
	if err := check(id.Cluster, id.authority, s.PeerCertificates[0]); err != nil {
		return err
	}
	found, err := Listed(s, list)
	if err == nil && peer != "" && found != peer {
		err = fmt.Errorf("gateway %s was expected, and %s answered: check the addresses of both", peer, found)
	}
	return err
}

var errNoCertificate = errors.New(
	"the other side showed no certificate: only gateways of the cluster may connect")

// Listed returns the name of the gateway at the other end of a connection made with [Identity.Server] or
// [Identity.Client], if that gateway is still on the list with the key that it presents.
func Listed(s tls.ConnectionState, list Members) (gateway string, err error) {
	if len(s.PeerCertificates) == 0 {
		return "", errNoCertificate
	}
	gateway, ok := gatewayOf(list.Cluster, s.PeerCertificates[0])
	if !ok {
		return "", fmt.Errorf("the certificate of %q names no gateway of the cluster %s",
			s.PeerCertificates[0].Subject, list.Cluster)
	}
	m, ok := list.Find(gateway)
	switch {
	case !ok:
		return "", fmt.Errorf("gateway %s is not on the list of the cluster %s, because it was removed or has "+
			"not joined: "+
			"let it join by 'adgateway cluster join'", gateway, list.Cluster)
	case m.HasJoined() && m.Key != Digest(s.PeerCertificates[0]):
		return "", fmt.Errorf("gateway %s shows another key than the one that it joined with: "+
			"it is a host that had the name before; let it join under another name", gateway)
	}
	return gateway, nil
}

// JoinProtocol is the protocol of connections on which gateways join. Servers recognize it during
// the handshake (ALPN).
const JoinProtocol = "adgateway-join/1"

// AllowJoins changes a configuration of [Identity.Server] to also accept connections of gateways that join,
// which present no certificate, and returns it. [net/http.Server] passes these connections to the entry for
// [JoinProtocol] in TLSNextProto, and closes them if there is no such entry.
func (id *Identity) AllowJoins(c *tls.Config) *tls.Config {
	joins := &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{id.shown}, SessionTicketsDisabled: true,
		NextProtos: []string{JoinProtocol},
	}
	c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if slices.Equal(hello.SupportedProtos, joins.NextProtos) {
			return joins, nil
		}
		return nil, nil
	}
	return c
}
