package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/atomicfile"
	"adgateway/gateway/filefault"
	"adgateway/gateway/tlscert"
	"adgateway/winsvc/host"
)

// The names of the files in a certificate folder.
const (
	certificateFile        = "gw.pem"
	certificateKeyFile     = "gw.key"
	certificateRequestFile = "gw.csr"
	nextCertificateKeyFile = "gw.key.new" // of a request that is still unanswered
)

// certificateFolder is the folder that holds the files of a certificate.
type certificateFolder string

// certificateFiles are the files that a command has written.
type certificateFiles struct {
	Certificate string `json:"certificate,omitempty"`
	Key         string `json:"key"`
	Request     string `json:"request,omitempty"`
	*CertificateDescription
}

func (f certificateFolder) path(name string) string { return filepath.Join(string(f), name) }

func (f certificateFolder) has(name string) bool {
	_, err := os.Lstat(f.path(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// write writes a file that only the gateway's account and administrators may read.
func (f certificateFolder) write(name string, text []byte) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(f.path(name), text, program.Files.Restrict)
}

// SelfSigned writes a self-signed certificate and its key. Without force, existing files are an
// error.
func (f certificateFolder) SelfSigned(
	names []string, days int, force bool, now time.Time,
) (certificateFiles, error) {
	for _, name := range []string{certificateFile, certificateKeyFile} {
		if f.has(name) && !force {
			return certificateFiles{}, fmt.Errorf("%s already exists: --force replaces it and its key",
				f.path(name))
		}
	}
	certificate, key, err := tlscert.SelfSigned(names, days, now)
	if err != nil {
		return certificateFiles{}, err
	}
	_, leaf, err := tlscert.Import([][]byte{certificate}, key, nil, now)
	if err != nil {
		return certificateFiles{}, err
	}
	if err := errors.Join(f.write(certificateKeyFile, key), f.write(certificateFile, certificate)); err != nil {
		return certificateFiles{}, err
	}
	return certificateFiles{Certificate: f.path(certificateFile), Key: f.path(certificateKeyFile),
		CertificateDescription: describeCertificate(leaf, nil, now)}, nil
}

// Request writes a certificate request and its key. An existing key is not replaced and
// stays in use until the answer is imported. Without force, an existing request is an error.
func (f certificateFolder) Request(names []string, template string, force bool) (certificateFiles, error) {
	if f.has(certificateRequestFile) && !force {
		return certificateFiles{}, fmt.Errorf(
			"%s already exists, and its answer has not been imported: --force replaces it, and that answer is "+
				"then useless", f.path(certificateRequestFile))
	}
	request, key, err := tlscert.Request(names, template)
	if err != nil {
		return certificateFiles{}, err
	}
	name := certificateKeyFile
	if f.has(certificateKeyFile) {
		name = nextCertificateKeyFile
	}
	if err := errors.Join(f.write(name, key), f.write(certificateRequestFile, request)); err != nil {
		return certificateFiles{}, err
	}
	return certificateFiles{Key: f.path(name), Request: f.path(certificateRequestFile)}, nil
}

// Import checks the certificate that an authority has sent against the key of the request,
// or the current key, and writes it. It may be repeated. A running gateway keeps its
// certificate until the new certificate and key match.
func (f certificateFolder) Import(answers []string, names []string, now time.Time) (certificateFiles, error) {
	var contents [][]byte
	for _, answer := range answers {
		content, err := os.ReadFile(answer)
		if err != nil {
			return certificateFiles{}, filefault.Explain("FILE", err)
		}
		if err := tlscert.Readable(content); err != nil {
			return certificateFiles{}, fmt.Errorf("%s %w", answer, err)
		}
		contents = append(contents, content)
	}
	var faults []error
	for _, name := range []string{nextCertificateKeyFile, certificateKeyFile} {
		key, err := os.ReadFile(f.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return certificateFiles{}, err
		}
		chain, leaf, err := tlscert.Import(contents, key, names, now)
		if err != nil {
			if !errors.Is(err, tlscert.ErrOtherKey) {
				return certificateFiles{}, err
			}
			faults = append(faults, fmt.Errorf("%s: %w", f.path(name), err))
			continue
		}
		if name == nextCertificateKeyFile {
			if err := f.write(certificateKeyFile, key); err != nil {
				return certificateFiles{}, err
			}
		}
		if err := f.write(certificateFile, chain); err != nil {
			return certificateFiles{}, err
		}
		for _, done := range []string{nextCertificateKeyFile, certificateRequestFile} {
			if err := os.Remove(f.path(done)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return certificateFiles{}, err
			}
		}
		return certificateFiles{Certificate: f.path(certificateFile), Key: f.path(certificateKeyFile),
			CertificateDescription: describeCertificate(leaf, nil, now)}, nil
	}
	if len(faults) == 0 {
		return certificateFiles{}, fmt.Errorf(
			"there is no key in %s: create one, with a request, by 'adgateway tls request'", f)
	}
	return certificateFiles{}, errors.Join(faults...)
}

// certificateNames returns the names and addresses by which clients may reach this computer from elsewhere.
func certificateNames() []string {
	names := host.Names()
	for i, name := range names {
		names[i] = strings.ToLower(name)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return slices.Compact(names) // the names suffice
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.IsGlobalUnicast() {
			names = append(names, network.IP.String())
		}
	}
	return slices.Compact(names)
}
