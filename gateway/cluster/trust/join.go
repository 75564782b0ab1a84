package trust

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"

	"adgateway/gateway/store"
)

// Create creates a cluster in a store, with the gateway of this host as its first one, and writes
// the gateway's files. The other gateways are on the list. They can connect once they are invited
// and have joined. Gateways with a NodeAddress run the cluster's nodes.
//
// Create can be called again if it was interrupted. The key file of the cluster must exist, because the store
// is sealed with that key. Create sets Joined and Key of self.
func Create(
	ctx context.Context, r *Register, cluster string, self Member, f Folder, others ...Member,
) (*Identity, error) {
	names := []error{checkName("cluster", cluster), checkName("gateway", self.Name)}
	for _, g := range others {
		names = append(names, checkName("gateway", g.Name))
	}
	if err := errors.Join(names...); err != nil {
		return nil, err
	}
	key, err := f.key()
	if err != nil {
		return nil, err
	}
	if self.Key, err = digestOf(key); err != nil {
		return nil, err
	}
	a, list, err := r.begin(ctx, cluster, self, others)
	if err != nil {
		return nil, err
	}
	if err := f.free(Digest(a.cert), nil); err != nil {
		return nil, err
	}
	certificate, err := a.Issue(self.Name, key.Public())
	if err != nil {
		return nil, err
	}
	return f.finish(a.cert, certificate, list, nil)
}

func digestOf(key *ecdsa.PrivateKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:]), err
}

// Join lets the gateway of this host join a cluster, and writes its files. It can be called again
// if it was interrupted, and does nothing if the gateway has already joined. It fails with a
// [Refusal] if the cluster refuses it. The name in self must be the one in the invitation. Joined
// and Key are not used.
func Join(ctx context.Context, i Invitation, self Member, f Folder) (*Identity, error) {
	i.Authority = strings.ToLower(i.Authority)
	if err := f.free(i.Authority, nil); err != nil {
		return nil, err
	}
	if id, err := f.Identity(); err == nil {
		if id.Cluster != i.Cluster || id.Gateway != i.Gateway {
			return nil, fmt.Errorf("%s has the files of gateway %s of the cluster %s: use another folder for "+
				"gateway %s", f.Path, id.Gateway, id.Cluster, i.Gateway)
		}
		return id, nil
	}
	key, err := f.key()
	if err != nil {
		return nil, err
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(request{Cluster: i.Cluster, Gateway: i.Gateway, Request: csr, Hosts: self.Hosts,
		HopAddress: self.HopAddress, NodeAddress: self.NodeAddress, ClientAddress: self.ClientAddress})
	if err != nil {
		return nil, err
	}
	authority, given, err := ask(ctx, i, text)
	if err != nil {
		return nil, err
	}
	if err := accepts(i, authority, given, key); err != nil {
		return nil, fmt.Errorf("the answer of %s cannot be used: %w", i.Address, err)
	}
	if err := f.free(i.Authority, given.Secret); err != nil {
		return nil, err
	}
	return f.finish(authority, given.Certificate, given.Members, given.Secret)
}

// ask sends a request to a gateway of the cluster, and returns the answer. It sends nothing before
// the gateway has presented the authority of the invitation.
func ask(
	ctx context.Context, i Invitation, text []byte,
) (authority *x509.Certificate, given answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", i.Address)
	if err != nil {
		return nil, given, fmt.Errorf(
			"no gateway of the cluster is reached: %w; check --address, see that the gateway there runs, and open "+
				"its port", err)
	}
	conn := tls.Client(raw, &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{JoinProtocol}, InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			authority, err = pinned(i, s)
			return err
		},
	})
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer func() {
		stop()
		_ = conn.Close() // the answer is complete, or an error is already known
	}()
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, given, fmt.Errorf("%s cannot let this gateway join: %w", i.Address, err)
	}
	secret, err := proofKey(i.Secret)
	if err != nil {
		return nil, given, err
	}
	state := conn.ConnectionState()
	proven, err := proof(secret, &state, text)
	if err != nil {
		return nil, given, err
	}
	if err := writeMessage(conn, append(proven, text...)); err != nil {
		return nil, given, err
	}
	message, err := readMessage(conn)
	if err != nil {
		return nil, given, fmt.Errorf("%s gave no answer: %w; run the same command again", i.Address, err)
	}
	given, err = parseAnswer(message)
	return authority, given, err
}

// pinned returns the authority named in an invitation. It fails if the other side does not present this
// authority together with a certificate that the authority has signed.
func pinned(i Invitation, s tls.ConnectionState) (*x509.Certificate, error) {
	for _, c := range s.PeerCertificates[1:] {
		if Digest(c) != i.Authority {
			continue
		}
		if cluster := c.Subject.CommonName; cluster != i.Cluster {
			return nil, fmt.Errorf("it is of the cluster %q, not of %s: check --cluster and --address of the command",
				cluster, i.Cluster)
		}
		return c, check(i.Cluster, c, s.PeerCertificates[0])
	}
	return nil, errors.New("it shows another authority than the command says: check --address and " +
		"--authority; " +
		"if they are right, something between the hosts takes its place, and the secret was not sent to it")
}

// accepts returns an error if an answer does not belong to the invitation and the key.
func accepts(i Invitation, authority *x509.Certificate, given answer, key *ecdsa.PrivateKey) error {
	if given.Secret != nil && len(given.Secret) != store.KeyLength {
		return fmt.Errorf("its secret has %d bytes", len(given.Secret))
	}
	leaf, err := x509.ParseCertificate(given.Certificate)
	if err != nil {
		return err
	}
	id, err := newIdentity(authority, tls.Certificate{Leaf: leaf})
	if err != nil {
		return err
	}
	public, err := digestOf(key)
	if err != nil {
		return err
	}
	m, _ := given.Members.Find(i.Gateway)
	if id.Gateway != i.Gateway || given.Members.Cluster != i.Cluster || Digest(leaf) != public ||
		m.Key != public {
		return errors.New("it is for another gateway")
	}
	return nil
}
