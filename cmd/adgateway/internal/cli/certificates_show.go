package cli

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/config"
	"adgateway/gateway/tlscert"
	"adgateway/winsvc/host"
)

// CertificateDescription describes a certificate.
type CertificateDescription struct {
	Subject    string    `json:"subject"`
	Issuer     string    `json:"issuer"`
	Names      []string  `json:"names"`
	Key        string    `json:"keyType"`
	NotBefore  time.Time `json:"notBefore"`
	NotAfter   time.Time `json:"notAfter"`
	Days       int       `json:"daysLeft"`
	SHA256     string    `json:"sha256"`     // of the whole certificate
	Thumbprint string    `json:"thumbprint"` // SHA-1, as Windows names it
	Chain      []string  `json:"chain"`      // SHA-1, the identifier that Windows uses
}

func describeCertificate(
	leaf *x509.Certificate, chain []*x509.Certificate, now time.Time,
) *CertificateDescription {
	sum := sha256.Sum256(leaf.Raw)
	d := &CertificateDescription{
		Subject: leaf.Subject.String(), Issuer: leaf.Issuer.String(), Names: tlscert.Names(leaf),
		Key:       leaf.PublicKeyAlgorithm.String(),
		NotBefore: leaf.NotBefore.UTC(), NotAfter: leaf.NotAfter.UTC(),
		Days:   int(leaf.NotAfter.Sub(now).Hours() / 24),
		SHA256: hex.EncodeToString(sum[:]), Thumbprint: tlscert.Thumbprint(leaf), Chain: []string{},
	}
	for _, c := range chain {
		d.Chain = append(d.Chain, c.Subject.String())
	}
	return d
}

// Text writes one line per property.
func (d *CertificateDescription) Text(w io.Writer) error {
	chain := "none"
	if len(d.Chain) > 0 {
		chain = strings.Join(d.Chain, "; ")
	}
	for _, line := range [][2]string{
		{"subject", d.Subject}, {"issuer", d.Issuer}, {"names", strings.Join(d.Names, ", ")}, {"key", d.Key},
		{"valid", fmt.Sprintf("%s to %s, %d days left", d.NotBefore.Format(time.DateOnly), d.NotAfter.Format(time.DateOnly), d.Days)},
		{"sha256", d.SHA256}, {"thumbprint", d.Thumbprint}, {"sent with it", chain},
	} {
		if _, err := fmt.Fprintf(w, "  %-13s %s\n", line[0]+":", line[1]); err != nil {
			return err
		}
	}
	return nil
}

// shownCertificate holds the certificate that the settings name and the one that is currently served.
type shownCertificate struct {
	Source      string                  `json:"source"`            // the setting that names it
	Configured  *CertificateDescription `json:"configured"`        // nil if it cannot be used
	Problem     string                  `json:"problem,omitempty"` // why Configured is nil
	Listen      string                  `json:"listen"`
	Served      *CertificateDescription `json:"served"` // nil if nothing answered with TLS
	ServedError string                  `json:"servedError,omitempty"`
}

// errNoCertificate means that the settings name no certificate.
var errNoCertificate = errors.New(
	"the settings name no certificate: create one with 'adgateway tls selfsigned', or request one with " +
		"'adgateway tls request'")

// showCertificate reads the certificate of the settings and its key, with the rights of the
// current account, and asks the gateway at http.listen for the one that it serves.
func showCertificate(ctx context.Context, s *config.Settings, now time.Time) (shownCertificate, error) {
	shown := shownCertificate{Listen: s.HTTP.Listen}
	for _, row := range [][2]string{
		{"tls.certificateFile", s.TLS.CertificateFile}, {"tls.pfxFile", s.TLS.PFXFile},
		{"tls.storeThumbprint", s.TLS.StoreThumbprint}, {"tls.storeSubject", s.TLS.StoreSubject},
	} {
		if row[1] != "" {
			shown.Source = row[0] + " " + row[1]
		}
	}
	configured, err := app.Certificate(s, host.Certificates())
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return shown, errNoCertificate
	case err != nil:
		shown.Problem = err.Error()
	default:
		var chain []*x509.Certificate
		for _, raw := range configured.Certificate[1:] {
			if c, err := x509.ParseCertificate(raw); err == nil {
				chain = append(chain, c)
			}
		}
		shown.Configured = describeCertificate(configured.Leaf, chain, now)
	}
	sent, err := servedChain(ctx, s.HTTP.Listen)
	if err != nil {
		shown.ServedError = err.Error()
	} else {
		shown.Served = describeCertificate(sent[0], sent[1:], now)
	}
	return shown, nil
}

// servedChain returns the certificates that a listener on this computer sends.
func servedChain(ctx context.Context, listen string) ([]*x509.Certificate, error) {
	const limit = 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	hostname, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(hostname); hostname == "" || ip != nil && ip.IsUnspecified() {
		hostname = "localhost"
	}
	// The served certificate is shown whether it is valid or not. Nothing is sent over the connection.
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(hostname, port))
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates, nil
}

// Text writes the configured and the served certificate.
func (s shownCertificate) Text(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s\n", s.Source)
	if err == nil && s.Configured != nil {
		err = s.Configured.Text(w)
	} else if err == nil {
		_, err = fmt.Fprintf(w, "  cannot be used: %s\n", s.Problem)
	}
	switch {
	case err != nil:
		return err
	case s.Served == nil:
		_, err = fmt.Fprintf(w, "served at %s: nothing (%s)\n", s.Listen, s.ServedError)
	case s.Configured != nil && s.Served.SHA256 == s.Configured.SHA256:
		_, err = fmt.Fprintf(w, "served at %s: this certificate\n", s.Listen)
	default:
		if _, err = fmt.Fprintf(w, "served at %s: another certificate\n", s.Listen); err == nil {
			err = s.Served.Text(w)
		}
	}
	return err
}
