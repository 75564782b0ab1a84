// Package trust decides which gateways belong to a cluster.
//
// A cluster has its own certificate authority, the [Authority], and a list of its gateways, [Members]. Both
// are values in the cluster's store (see [Register]), so any gateway can let another one join. A gateway
// proves its name with a certificate of that authority, its [Identity].
//
// Access begins with an entry on the list and ends with the removal of the entry. It never ends because of a
// clock. Certificates are valid for 20 years, from two years before their creation, and are checked as of a
// fixed time in that period.
//
//	authority.go  the authority of a cluster and its certificates
//	members.go    the list of gateways, and its copy in a file
//	list.go       the list as known to a process
//	identity.go   a gateway's certificate, and checks of other certificates
//	register.go   authority, list and invitations in the store
//	message.go    request and answer of a gateway that joins
//	admission.go  the side that lets gateways join
//	join.go       the side that joins, and the creation of a cluster
//	folder.go     the files of a gateway
//	origin.go     the point that the log of a new cluster continues from
package trust

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net"
	"regexp"
	"strings"
	"time"
)

const (
	backdated    = 2  // number of years before its creation at which an authority becomes valid
	valid        = 20 // total validity in years
	organization = "adgateway cluster"
	zone         = "adgateway.internal" // .internal is reserved for names outside of the public DNS
)

var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// checkName returns an error if a name is not allowed for a cluster or a gateway.
func checkName(what, name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("%q is not the name of a %s: use up to 63 lower-case letters, digits and hyphens", name,
			what)
	}
	return nil
}

// Authority is the certificate authority of a cluster.
type Authority struct {
	cluster string
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
}

// New creates the authority of a new cluster. The authority can only sign names of that cluster, so trusting
// its certificate puts nothing else at risk.
func New(cluster string, now time.Time) (*Authority, error) {
	if err := checkName("cluster", cluster); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	from := now.UTC().AddDate(-backdated, 0, 0)
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{Organization: []string{organization}, CommonName: cluster},
		NotBefore: from, NotAfter: from.AddDate(valid, 0, 0),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: []string{cluster + "." + zone},
		ExcludedIPRanges: []*net.IPNet{{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)},
			{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &Authority{cluster, cert, key}, err
}

func serial() *big.Int {
	bits := make([]byte, 16)
	_, _ = rand.Read(bits) // never fails
	return new(big.Int).SetBytes(bits)
}

// Certificate returns the certificate of the authority.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }

// Issue returns a certificate in DER for the key of a gateway. The key must be an ECDSA key on
// P-256.
func (a *Authority) Issue(gateway string, public crypto.PublicKey) ([]byte, error) {
	if err := checkName("gateway", gateway); err != nil {
		return nil, err
	}
	if key, ok := public.(*ecdsa.PublicKey); !ok || key.Curve != elliptic.P256() {
		return nil, errors.New("the key of a gateway is an ECDSA key on P-256")
	}
	name := DNSName(a.cluster, gateway)
	return x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{Organization: []string{organization}, CommonName: gateway},
		DNSNames:  []string{name},
		NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, public, a.key)
}

// DNSName returns the name in the certificate of a gateway.
func DNSName(cluster, gateway string) string { return gateway + "." + cluster + "." + zone }

// gatewayOf returns the gateway named in a certificate from the authority of a cluster.
func gatewayOf(cluster string, c *x509.Certificate) (string, bool) {
	if len(c.DNSNames) != 1 {
		return "", false
	}
	gateway, ok := strings.CutSuffix(c.DNSNames[0], "."+cluster+"."+zone)
	return gateway, ok && namePattern.MatchString(gateway)
}

// Digest returns the SHA-256 of the public key of a certificate, in hexadecimal digits.
func Digest(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

// checkedAt returns the time as of which an authority's certificates are checked.
func checkedAt(authority *x509.Certificate) time.Time {
	return authority.NotBefore.AddDate(backdated, 0, 0)
}

// check returns an error that describes the owner of a certificate, unless the authority has signed the
// certificate for one of the cluster's gateways. It uses no clock.
func check(cluster string, authority, c *x509.Certificate) error {
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	_, err := c.Verify(x509.VerifyOptions{
		Roots: roots, CurrentTime: checkedAt(authority),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	if err == nil {
		if _, ok := gatewayOf(cluster, c); !ok {
			err = fmt.Errorf("the certificate of %q names no gateway of the cluster %s", c.Subject, cluster)
		}
		return err
	}
	const remedy = "let the gateway join by 'adgateway cluster join'"
	ours := len(c.Issuer.Organization) == 1 && c.Issuer.Organization[0] == organization
	switch {
	case c.CheckSignatureFrom(authority) == nil:
		return fmt.Errorf("the certificate of %q is of the cluster %s, but not one that its gateways use: %w",
			c.Subject, cluster, err)
	case string(c.RawIssuer) == string(c.RawSubject):
		return fmt.Errorf("the certificate of %q is self-signed, and not by the authority of the cluster %s: %s",
			c.Subject, cluster, remedy)
	case ours && c.Issuer.CommonName == cluster:
		return fmt.Errorf("the certificate of %q is of another cluster that is named %s, too: check the "+
			"addresses, or %s", c.Subject, cluster, remedy)
	case ours:
		return fmt.Errorf("the certificate of %q is of the cluster %q, and this is the cluster %s: check the "+
			"addresses", c.Subject, c.Issuer.CommonName, cluster)
	}
	return fmt.Errorf("the certificate of %q was signed by %q, not by the authority of the cluster %s: %s",
		c.Subject, c.Issuer, cluster, remedy)
}
