package trust

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/store"
)

// The files of a gateway. The certificate is written last, so if it exists, all other files exist, too.
const (
	keyFile         = "gateway.key"
	certificateFile = "gateway.pem"
	authorityFile   = "ca.pem"
	membersFile     = "gateways.json"
	secretFile      = "cluster.key"
)

// Folder holds the files of a gateway.
type Folder struct {
	Path     string
	Restrict func(name string) error // as in [atomicfile.Write]
}

// MembersFile returns the path of the list's copy.
func (f Folder) MembersFile() string { return filepath.Join(f.Path, membersFile) }

// Files returns the paths of the files that make the gateway a member of its cluster. It returns
// none if the gateway has not joined. The state of the log is not included.
func (f Folder) Files() (all []string, err error) {
	for _, name := range []string{certificateFile, keyFile, authorityFile, membersFile, secretFile} {
		path := filepath.Join(f.Path, name)
		switch _, err := os.Stat(path); {
		case err == nil:
			all = append(all, path)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case name == certificateFile:
			return nil, nil
		}
	}
	return all, nil
}

// Certificate returns the paths of the gateway's certificate, its key, and the certificate of
// the authority.
func (f Folder) Certificate() (certificate, key, authority string) {
	return filepath.Join(f.Path, certificateFile), filepath.Join(f.Path, keyFile),
		filepath.Join(f.Path, authorityFile)
}

// SecretFile returns the path of the cluster's key file.
func (f Folder) SecretFile() string { return filepath.Join(f.Path, secretFile) }

// Identity reads the identity of the gateway. Its errors explain what to do, and wrap
// [fs.ErrNotExist] if the gateway has not joined.
func (f Folder) Identity() (*Identity, error) {
	authority, err := f.authority()
	var id *Identity
	if err == nil {
		var shown tls.Certificate
		shown, err = tls.LoadX509KeyPair(filepath.Join(f.Path, certificateFile), filepath.Join(f.Path, keyFile))
		if err == nil {
			id, err = newIdentity(authority, shown)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the certificate by which this gateway is of a cluster, in %s, cannot be used: %w; "+
			"restore the folder from a backup, or let the gateway join by 'adgateway cluster join'", f.Path, err)
	}
	return id, nil
}

func (f Folder) authority() (*x509.Certificate, error) {
	path := filepath.Join(f.Path, authorityFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s has no certificate", path)
	}
	return x509.ParseCertificate(block.Bytes)
}

// key returns the private key of the gateway. It creates the key if there is none.
func (f Folder) key() (*ecdsa.PrivateKey, error) {
	path := filepath.Join(f.Path, keyFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.newKey(path)
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s has no private key: remove the file and run the command again", path)
	}
	found, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := found.(*ecdsa.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s has no private key of a gateway: remove the file and run the command again",
			path)
	}
	return key, nil
}

func (f Folder) newKey(path string) (*ecdsa.PrivateKey, error) {
	if err := os.MkdirAll(f.Path, 0o700); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, f.write(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func (f Folder) write(name string, text []byte) error {
	return atomicfile.Write(filepath.Join(f.Path, name), text, f.Restrict)
}

// free returns an error if the folder must not receive the files of a cluster with this authority
// and secret.
func (f Folder) free(authority string, secret []byte) error {
	const remedy = "use another folder, or move its files away if this gateway has left that cluster"
	switch found, err := f.authority(); {
	case err == nil && Digest(found) != authority:
		return fmt.Errorf("%s has the files of the cluster %q: %s", f.Path, found.Subject.CommonName, remedy)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s", err, remedy)
	}
	text, err := os.ReadFile(f.SecretFile())
	if err == nil && secret != nil && !bytes.Equal(bytes.TrimSpace(text), encoded(secret)) {
		return fmt.Errorf("%s is the key file of another cluster: %s", f.SecretFile(), remedy)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Secret reads the cluster's key file. It returns nil if there is none.
func (f Folder) Secret() ([]byte, error) {
	text, err := os.ReadFile(f.SecretFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	secret, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil {
		return nil, fmt.Errorf("%s is not a key file of a cluster: %w", f.SecretFile(), err)
	}
	return secret, nil
}

// MakeSecret creates the key file of a new cluster, unless it exists.
func (f Folder) MakeSecret() error {
	found, err := f.Secret()
	if err != nil || found != nil {
		return err
	}
	if err := os.MkdirAll(f.Path, 0o700); err != nil {
		return err
	}
	secret := make([]byte, store.KeyLength)
	_, _ = rand.Read(secret) // never fails
	return f.write(secretFile, append(encoded(secret), '\n'))
}

// encoded returns a secret in the format of a key file.
func encoded(secret []byte) []byte { return base64.StdEncoding.AppendEncode(nil, secret) }

// finish writes the files that a gateway receives, and returns its identity.
func (f Folder) finish(
	authority *x509.Certificate, certificate []byte, m Members, secret []byte,
) (*Identity, error) {
	if err := f.write(authorityFile,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw})); err != nil {
		return nil, err
	}
	if secret != nil {
		if err := f.write(secretFile, append(encoded(secret), '\n')); err != nil {
			return nil, err
		}
	}
	if err := SaveMembers(f.MembersFile(), m, f.Restrict); err != nil {
		return nil, err
	}
	if err := f.write(certificateFile,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})); err != nil {
		return nil, err
	}
	return f.Identity()
}
