package tlscert

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"
)

// revocationLists are the lists of client certificates revoked by their authorities. They are checked when a
// client connects. A client whose authority has no current list is refused.
type revocationLists struct {
	lists []*x509.RevocationList
	now   func() time.Time
}

// parseRevocationLists parses files in PEM or DER format. A PEM file may contain several lists.
func parseRevocationLists(files []string, contents [][]byte, now func() time.Time) (*revocationLists, error) {
	all := &revocationLists{now: now}
	for i, content := range contents {
		blocks := [][]byte{content}
		if block, rest := pem.Decode(content); block != nil {
			blocks = nil
			for ; block != nil; block, rest = pem.Decode(rest) {
				if block.Type == "X509 CRL" {
					blocks = append(blocks, block.Bytes)
				}
			}
		}
		if len(blocks) == 0 {
			return nil, fmt.Errorf("tls.clientCRLFiles %s: contains no certificate revocation list", files[i])
		}
		for _, der := range blocks {
			list, err := x509.ParseRevocationList(der)
			if err != nil {
				return nil, fmt.Errorf("tls.clientCRLFiles %s: not a certificate revocation list in PEM or DER: %w",
					files[i], err)
			}
			all.lists = append(all.lists, list)
		}
	}
	return all, nil
}

// verify is the VerifyPeerCertificate function of a listener. At least one of the verified chains
// must be free of revoked certificates.
func (r *revocationLists) verify(_ [][]byte, chains [][]*x509.Certificate) error {
	var faults []error
	for _, chain := range chains {
		err := r.check(chain)
		if err == nil {
			return nil
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...) // nil if the client has no certificate
}

// check checks all certificates of a chain except the root.
func (r *revocationLists) check(chain []*x509.Certificate) error {
	for i := range len(chain) - 1 {
		certificate, issuer := chain[i], chain[i+1]
		current := false
		for _, list := range r.lists {
			if !bytes.Equal(list.RawIssuer, certificate.RawIssuer) || list.CheckSignatureFrom(issuer) != nil {
				continue
			}
			current = current || !r.ended(list)
			for _, entry := range list.RevokedCertificateEntries {
				if entry.SerialNumber.Cmp(certificate.SerialNumber) == 0 {
					return fmt.Errorf("the client's certificate %s (serial number %x) was revoked at %s",
						certificate.Subject, certificate.SerialNumber, entry.RevocationTime.UTC().Format(time.RFC3339))
				}
			}
		}
		if !current {
			return fmt.Errorf("tls.clientCRLFiles has no current revocation list of %s: its client certificates "+
				"are refused", certificate.Issuer)
		}
	}
	return nil
}

// ended reports whether a list has expired.
func (r *revocationLists) ended(list *x509.RevocationList) bool {
	return !list.NextUpdate.IsZero() && r.now().After(list.NextUpdate)
}

// warning names the lists that have expired, or will within a day. It returns "" if there are none.
func (r *revocationLists) warning() string {
	var overdue []string
	for _, list := range r.lists {
		if !list.NextUpdate.IsZero() && r.now().Add(24*time.Hour).After(list.NextUpdate) {
			until := list.NextUpdate.UTC().Format(time.RFC3339)
			overdue = append(overdue, fmt.Sprintf("%s (until %s)", list.Issuer, until))
		}
	}
	if len(overdue) == 0 {
		return ""
	}
	return "the revocation list of " + strings.Join(overdue, ", ") +
		" ends soon or has ended; without a current one its client certificates are refused: put a new one in " +
		"its place"
}
