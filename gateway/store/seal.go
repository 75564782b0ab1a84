package store

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
)

// KeyLength is the length of a key in bytes.
const KeyLength = 32

// Key is the key of a store.
type Key struct{ seal, sum []byte }

// NewKey derives a key from a secret of [KeyLength] bytes.
func NewKey(secret []byte) (*Key, error) {
	if len(secret) != KeyLength {
		return nil, fmt.Errorf("the key has %d bytes, not %d", len(secret), KeyLength)
	}
	seal, err := hkdf.Key(sha256.New, secret, nil, "values", KeyLength)
	if err != nil {
		return nil, err
	}
	sum, err := hkdf.Key(sha256.New, secret, nil, "sums", KeyLength)
	return &Key{seal, sum}, err
}

// Sum returns the HMAC-SHA-256 of several parts. Different parts have different sums, even if their
// concatenations are equal.
func (k *Key) Sum(parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, k.sum)
	for _, part := range parts {
		_, _ = fmt.Fprintf(mac, "%d:", len(part)) // never fails
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// Seal returns a store whose values are encrypted with AES-256-GCM, each bound to its kind and key.
// Reading a value that was changed, moved or sealed with another key fails with [ErrUnreadable].
func Seal(store Store, key *Key) (*Sealed, error) {
	aead, err := newAEAD(key.seal)
	return &Sealed{Store: store, Key: key, common: &common{aead: aead}}, err
}

// Over returns another store that is sealed in the same way. Both share the key and its versions, the formats
// and the list of unreadable values, including later changes of these. Both stores must give access to the
// same values, for example one through a local copy and the other through the leader.
func (s *Sealed) Over(store Store) *Sealed {
	return &Sealed{Store: store, Key: s.Key, common: s.common}
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Sealed is a store whose values are encrypted.
type Sealed struct {
	Store
	*Key
	*common
}

// common is shared by all stores that are sealed in the same way.
type common struct {
	aead    cipher.AEAD
	keys    versions
	formats formats
	faults  faults
}

// Errors of sealed values.
var (
	// ErrUnreadable means that a value was changed or sealed with another key.
	ErrUnreadable = errors.New("a value cannot be decrypted")

	// ErrKeyUnknown means that a message was sealed with a version of the key that this gateway
	// does not have.
	ErrKeyUnknown = errors.New("the version of the key is not known here")
)

// format is the format version of sealed values, to which they are bound.
const format = "1"

func bound(kind Kind, key string) []byte {
	return []byte(format + "\x00" + string(kind) + "\x00" + key)
}

// boundTo returns the context to which the entries of a log are bound. It differs from that of every kind.
func boundTo(log Log) []byte { return bound("\x00log", string(log)) }

func (s *Sealed) open(kind Kind, e Entry) (Entry, error) {
	value, err := s.unseal(e.Value, bound(kind, e.Key))
	if err != nil {
		s.faults.note(string(kind), e.Key)
		return Entry{}, fmt.Errorf("%w: %s", ErrUnreadable, kind)
	}
	e.Value = value
	return e, nil
}

// Get implements [Store]. It may also fail with [ErrUnreadable].
func (s *Sealed) Get(ctx context.Context, kind Kind, key string) (Entry, error) {
	e, err := s.Store.Get(ctx, kind, key)
	if err != nil {
		return e, err
	}
	return s.open(kind, e)
}

// Range implements [Store]. It ends with [ErrUnreadable] at a value that cannot be decrypted,
// because values that belong together are only useful if all can be read.
func (s *Sealed) Range(ctx context.Context, kind Kind, prefix string, visit func(Entry) bool) error {
	var unreadable error
	err := s.Store.Range(ctx, kind, prefix, func(e Entry) bool {
		if e, unreadable = s.open(kind, e); unreadable != nil {
			return false
		}
		return visit(e)
	})
	return errors.Join(err, unreadable)
}

// RangeBack implements [Store]. It skips values that cannot be decrypted, because it lists values that are
// independent of each other. [Sealed.Unreadable] counts the skipped values.
func (s *Sealed) RangeBack(ctx context.Context, kind Kind, before string, visit func(Entry) bool) error {
	return s.Store.RangeBack(ctx, kind, before, func(e Entry) bool {
		e, err := s.open(kind, e)
		return err != nil || visit(e)
	})
}

// Apply implements [Store]. If the answer of the store is lost, it determines the outcome of the changes, or
// retries for a short time. It fails with [ErrOtherKey] if [Sealed.CheckKey] has failed with that error.
func (s *Sealed) Apply(ctx context.Context, changes ...Change) (Revision, error) {
	if err := s.Writable(); err != nil {
		return 0, err
	}
	sealed := make([]Change, len(changes))
	for i, c := range changes {
		switch {
		case c.Value == nil:
		case c.Log != "":
			c.Value = s.seal(c.Value, boundTo(c.Log))
		default:
			c.Value = s.seal(c.Value, bound(c.Kind, c.Key))
		}
		sealed[i] = c
	}
	return s.certainly(ctx, sealed)
}

// Log implements [Store]. It skips entries that cannot be decrypted, because a reader would be
// stuck at them forever. [Sealed.Unreadable] counts them.
func (s *Sealed) Log(ctx context.Context, log Log, after Position, visit func(Appended) bool) error {
	return s.Store.Log(ctx, log, after, func(a Appended) bool {
		value, err := s.unseal(a.Value, boundTo(log))
		if err != nil {
			s.faults.note("log "+string(log), a.Position.String())
			return true
		}
		a.Value = value
		return visit(a)
	})
}
