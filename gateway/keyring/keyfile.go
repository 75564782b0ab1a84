package keyring

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"

	"adgateway/gateway/store"
)

// keyFile wraps with a secret in a file. Every gateway has a copy of the file.
type keyFile struct {
	path string
	aead cipher.AEAD
}

// Copy is the remedy for a key file that is missing or wrong.
const Copy = "copy it from another gateway of the cluster, or from the backup"

// OfCluster returns the wrapper of a cluster's key ring: the wrapper that protect returns for the domain
// group in cluster.keyGroup or, if group is empty, a wrapper with the secret in a file. If protect is nil,
// groups are not supported.
func OfCluster(group, file string, protect func(group string) (Wrapper, error)) (Wrapper, error) {
	switch {
	case group == "":
		return KeyFile(file)
	case protect == nil:
		return nil, errors.New("cluster.keyGroup: this program cannot use groups of a domain here: leave it empty")
	}
	w, err := protect(group)
	if err != nil {
		return nil, fmt.Errorf("cluster.keyGroup: %w", err)
	}
	return w, nil
}

// KeyFile returns a wrapper with the secret in a file that consists of one line of base64.
func KeyFile(path string) (Wrapper, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	secret, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(secret) != store.KeyLength {
		return nil, fmt.Errorf("%s is not a key file of a cluster, which has one line of 44 characters: %s", path,
			Copy)
	}
	aead, err := newAEAD(secret)
	return &keyFile{path, aead}, err
}

// newAEAD returns the cipher for a secret.
func newAEAD(secret []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "key ring", store.KeyLength)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// CreateKeyFile writes a new secret to a file that does not exist.
func CreateKeyFile(path string) error {
	secret := make([]byte, store.KeyLength)
	_, _ = rand.Read(secret) // never fails
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(base64.StdEncoding.EncodeToString(secret) + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

const boundTo = "key ring of a cluster"

func (f *keyFile) Wrap(plain []byte) ([]byte, error) {
	return f.aead.Seal(nil, nil, plain, []byte(boundTo)), nil
}

func (f *keyFile) Unwrap(wrapped []byte) ([]byte, error) {
	return f.aead.Open(nil, nil, wrapped, []byte(boundTo))
}

func (f *keyFile) Remedy() string {
	return fmt.Sprintf("the key file %s, which belongs to another cluster or was changed: %s", f.path, Copy)
}
