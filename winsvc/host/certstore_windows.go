package host

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"math/big"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Certificates returns the machine's certificate store, or nil if the system has
// none.
func Certificates() CertificateStore { return machineStore{} }

// machineStore reads the stores of LocalMachine. It does not use the available library, because that lists
// the files of private keys, which a service account may not do.
type machineStore struct{}

// each calls visit for the certificates in a store until visit returns false. The context passed to visit is
// valid only during the call.
func (machineStore) each(store string, visit func(*windows.CertContext) bool) error {
	name, err := windows.UTF16PtrFromString(store)
	if err != nil {
		return err
	}
	handle, err := windows.CertOpenStore(windows.CERT_STORE_PROV_SYSTEM_W, 0, 0,
		windows.CERT_SYSTEM_STORE_LOCAL_MACHINE|windows.CERT_STORE_OPEN_EXISTING_FLAG|windows.CERT_STORE_READONLY_FLAG,
		uintptr(unsafe.Pointer(name)))
	runtime.KeepAlive(name)
	if err != nil {
		return fmt.Errorf("open LocalMachine\\%s: %w", store, err)
	}
	defer func() { _ = windows.CertCloseStore(handle, 0) }() // opened for reading
	var context *windows.CertContext
	for {
		context, err = windows.CertEnumCertificatesInStore(handle, context) // frees the previous one
		if errors.Is(err, windows.Errno(windows.CRYPT_E_NOT_FOUND)) || errors.Is(err, windows.ERROR_NO_MORE_FILES) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list LocalMachine\\%s: %w", store, err)
		}
		if !visit(context) {
			_ = windows.CertFreeCertificateContext(context) // always succeeds
			return nil
		}
	}
}

func encoded(context *windows.CertContext) []byte {
	return unsafe.Slice(context.EncodedCert, context.Length)
}

// Certificates implements [CertificateStore]. It skips certificates that Go cannot parse.
func (s machineStore) Certificates(store string) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	err := s.each(store, func(context *windows.CertContext) bool {
		if certificate, err := x509.ParseCertificate(slices.Clone(encoded(context))); err == nil {
			all = append(all, certificate)
		}
		return true
	})
	return all, err
}

// Key implements [CertificateStore].
func (s machineStore) Key(certificate *x509.Certificate) (crypto.Signer, error) {
	found := errors.New("the certificate is no longer in the store")
	key := &machineKey{public: certificate.PublicKey}
	err := s.each("MY", func(context *windows.CertContext) bool {
		if !slices.Equal(encoded(context), certificate.Raw) {
			return true
		}
		// The key may depend on the context, so both are kept as long as a handshake may sign with the key.
		kept := acquired{context: windows.CertDuplicateCertificateContext(context)}
		var spec uint32
		found = windows.CryptAcquireCertificatePrivateKey(kept.context,
			windows.CRYPT_ACQUIRE_SILENT_FLAG|windows.CRYPT_ACQUIRE_ONLY_NCRYPT_KEY_FLAG, nil, &kept.key, &spec,
			&kept.free)
		if found != nil {
			kept.release()
			return false
		}
		key.handle = kept.key
		runtime.AddCleanup(key, acquired.release, kept)
		return false
	})
	if err = errors.Join(err, found); err != nil {
		return nil, err
	}
	return key, nil
}

// machineKey is a private key in the store. Windows signs with it.
type machineKey struct {
	handle windows.Handle // NCRYPT_KEY_HANDLE
	public crypto.PublicKey
}

// acquired are the resources behind a key.
type acquired struct {
	context *windows.CertContext
	key     windows.Handle
	free    bool // the key must be freed
}

func (a acquired) release() {
	if a.free {
		_, _, _ = freeObject.Call(uintptr(a.key)) // an error could not be reported anywhere
	}
	_ = windows.CertFreeCertificateContext(a.context) // always succeeds
}

func (k *machineKey) Public() crypto.PublicKey { return k.public }

var (
	ncrypt     = windows.NewLazySystemDLL("ncrypt.dll")
	signHash   = ncrypt.NewProc("NCryptSignHash")
	freeObject = ncrypt.NewProc("NCryptFreeObject")
)

// Flags and structures of NCryptSignHash (bcrypt.h).
const (
	padPKCS1 = 2
	padPSS   = 8
)

type pkcs1Padding struct{ algorithm *uint16 }

type pssPadding struct {
	algorithm *uint16
	salt      uint32
}

// Sign implements [crypto.Signer]. It is safe for concurrent use.
func (k *machineKey) Sign(_ io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	if len(digest) == 0 {
		return nil, errors.New("there is nothing to sign")
	}
	switch k.public.(type) {
	case *ecdsa.PublicKey:
		raw, err := k.sign(digest, nil, 0)
		if err != nil {
			return nil, err
		}
		half := len(raw) / 2
		return asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(raw[:half]),
			new(big.Int).SetBytes(raw[half:])})
	case *rsa.PublicKey:
		name, err := hashName(options.HashFunc())
		if err != nil {
			return nil, err
		}
		if pss, ok := options.(*rsa.PSSOptions); ok {
			salt := pss.SaltLength
			if salt == rsa.PSSSaltLengthEqualsHash {
				salt = options.HashFunc().Size()
			}
			if salt < 0 {
				return nil, errors.New("the length of the salt must be given")
			}
			return k.sign(digest, unsafe.Pointer(&pssPadding{name, uint32(salt)}), padPSS)
		}
		return k.sign(digest, unsafe.Pointer(&pkcs1Padding{name}), padPKCS1)
	default:
		return nil, fmt.Errorf("Windows signs with RSA and ECDSA keys, not with %T", k.public)
	}
}

func (k *machineKey) sign(digest []byte, padding unsafe.Pointer, flags uintptr) ([]byte, error) {
	const silent = 0x40 // never show a dialog
	defer runtime.KeepAlive(k)
	call := func(signature []byte, size *uint32) error {
		// unsafe.SliceData(nil) is nil, which requests the size.
		status, _, _ := signHash.Call(uintptr(k.handle), uintptr(padding),
			uintptr(unsafe.Pointer(unsafe.SliceData(digest))), uintptr(len(digest)),
			uintptr(unsafe.Pointer(unsafe.SliceData(signature))), uintptr(len(signature)),
			uintptr(unsafe.Pointer(size)), flags|silent)
		if code := uint32(status); code != 0 { // a SECURITY_STATUS has 32 bits
			return fmt.Errorf("NCryptSignHash: %w", windows.Errno(code))
		}
		return nil
	}
	var size uint32
	if err := call(nil, &size); err != nil {
		return nil, err
	}
	signature := make([]byte, size)
	if err := call(signature, &size); err != nil {
		return nil, err
	}
	return signature[:size], nil
}

// hashName returns the name of a hash in Windows (BCRYPT_*_ALGORITHM).
func hashName(hash crypto.Hash) (*uint16, error) {
	names := map[crypto.Hash]string{crypto.SHA1: "SHA1", crypto.SHA256: "SHA256", crypto.SHA384: "SHA384",
		crypto.SHA512: "SHA512"}
	name, known := names[hash]
	if !known {
		return nil, fmt.Errorf("Windows does not sign with the hash %s", hash)
	}
	return windows.UTF16PtrFromString(name)
}
