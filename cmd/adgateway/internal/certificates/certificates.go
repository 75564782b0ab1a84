// Package certificates keeps the certificate of an installation: it writes one that signs
// itself, or a request for one and what the authority answers, into a [Folder], and says
// what is served ([Show]).
package certificates

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

	"adgateway/cmd/adgateway/internal/settings"
	"adgateway/gateway/atomicfile"
	"adgateway/gateway/tlscert"
	"adgateway/winsvc/host"
)

// The files of a folder.
const (
	certificateFile = "gw.pem"
	keyFile         = "gw.key"
	requestFile     = "gw.csr"
	nextKeyFile     = "gw.key.new" // of a request that has not been answered
)

// Folder is where the files of a certificate are.
type Folder string

// Written are the files that a command has written.
type Written struct {
	Certificate string `json:"certificate,omitempty"`
	Key         string `json:"key"`
	Request     string `json:"request,omitempty"`
	*Description
}

func (f Folder) path(name string) string { return filepath.Join(string(f), name) }

func (f Folder) has(name string) bool {
	_, err := os.Lstat(f.path(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// write writes a file that only the gateway's account and administrators may read.
func (f Folder) write(name string, text []byte) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(f.path(name), text, settings.Files.Restrict)
}

// SelfSigned writes a certificate that signs itself, and its key. Without force files that
// are there are an error.
func (f Folder) SelfSigned(names []string, days int, force bool, now time.Time) (Written, error) {
	for _, name := range []string{certificateFile, keyFile} {
		if f.has(name) && !force {
			return Written{}, fmt.Errorf("%s is there already: --force replaces it, with its key", f.path(name))
		}
	}
	certificate, key, err := tlscert.SelfSigned(names, days, now)
	if err != nil {
		return Written{}, err
	}
	_, leaf, err := tlscert.Import([][]byte{certificate}, key, nil, now)
	if err != nil {
		return Written{}, err
	}
	if err := errors.Join(f.write(keyFile, key), f.write(certificateFile, certificate)); err != nil {
		return Written{}, err
	}
	return Written{Certificate: f.path(certificateFile), Key: f.path(keyFile), Description: describe(leaf, nil, now)}, nil
}

// Request writes a request for a certificate and its key, beside a key that is there: that
// one is in use until the answer is imported. Without force a request that is there is an
// error.
func (f Folder) Request(names []string, template string, force bool) (Written, error) {
	if f.has(requestFile) && !force {
		return Written{}, fmt.Errorf("%s is there already, and waits for its answer: --force replaces it, and the answer to it is of no use then", f.path(requestFile))
	}
	request, key, err := tlscert.Request(names, template)
	if err != nil {
		return Written{}, err
	}
	name := keyFile
	if f.has(keyFile) {
		name = nextKeyFile
	}
	if err := errors.Join(f.write(name, key), f.write(requestFile, request)); err != nil {
		return Written{}, err
	}
	return Written{Key: f.path(name), Request: f.path(requestFile)}, nil
}

// Import writes the certificate that an authority has sent, after it was found usable with
// the key of the request, or with the present one. It may be repeated: a running gateway
// keeps what it has until certificate and key fit together.
func (f Folder) Import(answers []string, names []string, now time.Time) (Written, error) {
	var contents [][]byte
	for _, answer := range answers {
		content, err := os.ReadFile(answer)
		if err != nil {
			return Written{}, err
		}
		contents = append(contents, content)
	}
	var faults []error
	for _, name := range []string{nextKeyFile, keyFile} {
		key, err := os.ReadFile(f.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Written{}, err
		}
		chain, leaf, err := tlscert.Import(contents, key, names, now)
		if err != nil {
			if !errors.Is(err, tlscert.ErrOtherKey) {
				return Written{}, err
			}
			faults = append(faults, fmt.Errorf("%s: %w", f.path(name), err))
			continue
		}
		if name == nextKeyFile {
			if err := f.write(keyFile, key); err != nil {
				return Written{}, err
			}
		}
		if err := f.write(certificateFile, chain); err != nil {
			return Written{}, err
		}
		for _, done := range []string{nextKeyFile, requestFile} {
			if err := os.Remove(f.path(done)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return Written{}, err
			}
		}
		return Written{Certificate: f.path(certificateFile), Key: f.path(keyFile), Description: describe(leaf, nil, now)}, nil
	}
	if len(faults) == 0 {
		return Written{}, fmt.Errorf("there is no key in %s: 'adgateway tls request' writes one with the request", f)
	}
	return Written{}, errors.Join(faults...)
}

// DefaultNames returns what clients may call this computer: its names and addresses, as far
// as they can be reached from elsewhere.
func DefaultNames() []string {
	names := host.Names()
	for i, name := range names {
		names[i] = strings.ToLower(name)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return slices.Compact(names) // the names are enough
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.IsGlobalUnicast() {
			names = append(names, network.IP.String())
		}
	}
	return slices.Compact(names)
}
