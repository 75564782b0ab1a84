package store

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// protection is the system's way to make the secret in a file useless on other computers. The zero value
// protects nothing, so that only the file's mode guards the secret.
type protection struct{ protect, unprotect func([]byte) ([]byte, error) }

// protectedMark begins a key file whose secret is protected. A file without it contains the plain
// secret, as earlier versions and backups write it.
var protectedMark = []byte("adgateway protected key 1\n")

// ReadKey returns the key in a file. A missing file is created with a new key. On Windows the secret is
// protected with DPAPI, so the file is useless on another computer. A file that an earlier version or a
// backup wrote without protection is rewritten with it.
func ReadKey(path string) (*Key, error) {
	secret, err := takeSecret(path, systemProtection)
	if err != nil {
		return nil, err
	}
	return NewKey(secret)
}

// ReadSecret returns the plain secret of [KeyLength] bytes in a key file. It changes nothing.
func ReadSecret(path string) ([]byte, error) { return readSecret(path, systemProtection) }

// CheckKey returns an error if the file exists and is not a key file.
func CheckKey(path string) error {
	_, err := ReadSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// takeSecret implements [ReadKey] with the given protection. It returns the secret.
func takeSecret(path string, by protection) ([]byte, error) {
	secret, err := readSecret(path, by)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		secret = make([]byte, KeyLength)
		_, _ = rand.Read(secret) // never fails
		text, err := by.text(secret)
		if err == nil {
			err = createFile(path, text)
		}
		if errors.Is(err, fs.ErrExist) { // another process was faster
			return readSecret(path, by)
		}
		return secret, err
	case err != nil || by.protect == nil:
		return secret, err
	}
	_, torn := readOne(path, by)
	// else the secret is protected no better than before
	if torn == nil && isProtected(path) || rewrite(path, secret, by) == nil {
		err = absent(os.Remove(newKey(path))) // left by an interrupted rewrite
	}
	return secret, err
}

// Unprotected reports whether a key file exists whose secret is unprotected although the system
// could protect it.
func Unprotected(path string) bool {
	_, err := os.Stat(path)
	return err == nil && systemProtection.protect != nil && !isProtected(path)
}

func isProtected(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && bytes.HasPrefix(text, protectedMark)
}

// newKey returns the name of the temporary file for rewriting a key file.
func newKey(path string) string { return path + ".new" }

// rewrite protects the secret in a file. It overwrites the bytes of the file itself, because replacing the
// file would leave the secret on the disk. Meanwhile a temporary file has the new content.
func rewrite(path string, secret []byte, by protection) (err error) {
	if found, other := readOne(newKey(path), by); other != nil || !bytes.Equal(found, secret) ||
		!isProtected(newKey(path)) {
		if err = absent(os.Remove(newKey(path))); err != nil {
			return err
		}
		text, err := by.text(secret)
		if err == nil {
			err = createFile(newKey(path), text)
		}
		if err != nil {
			return err
		}
	}
	text, err := os.ReadFile(newKey(path))
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(text, 0) // longer than the previous content
	return errors.Join(err, file.Sync(), file.Close())
}

// createFile creates a file that only its owner may read.
func createFile(path string, text []byte) error {
	created, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = created.Write(text)
	if err = errors.Join(err, created.Sync(), created.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// text returns the content of a file with a secret.
func (p protection) text(secret []byte) ([]byte, error) {
	if p.protect == nil {
		return secret, nil
	}
	sealed, err := p.protect(secret)
	if err != nil {
		return nil, fmt.Errorf("the key cannot be protected for this computer: %w", err)
	}
	return append(bytes.Clone(protectedMark), sealed...), nil
}

// readSecret returns the secret in a file, or in the temporary file of an interrupted rewrite.
func readSecret(path string, by protection) ([]byte, error) {
	secret, err := readOne(path, by)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if found, other := readOne(newKey(path), by); other == nil {
			return found, nil
		}
	}
	return secret, err
}

func readOne(path string, by protection) ([]byte, error) {
	const remedy = "restore it from a backup, or remove it together with the store, whose values are lost " +
		"without it"
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sealed, protected := bytes.CutPrefix(text, protectedMark)
	switch {
	case protected && by.unprotect == nil:
		return nil, fmt.Errorf("key file %s: it is protected for the Windows computer that wrote it: %s", path,
			remedy)
	case protected:
		if text, err = by.unprotect(sealed); err != nil {
			return nil, fmt.Errorf("key file %s: it cannot be read on this computer: %w: %s", path, err, remedy)
		}
	}
	if len(text) != KeyLength {
		return nil, fmt.Errorf("key file %s: the key has %d bytes, not %d: %s", path, len(text), KeyLength, remedy)
	}
	return text, nil
}
