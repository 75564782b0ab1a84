package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
)

// The key of a cluster's store has several versions, so it can be changed while all gateways run. Sealed
// values contain the version with which they were sealed, and are bound to it. Sums always use the [Key],
// which does not change, because a name must always have the same sum. Values of a store with a single key
// contain no version, as in earlier versions, and remain readable.

// marked begins values that were sealed with a version; the version's number follows. A value without a
// version begins with random bytes, which may look like a mark. So a value with a mark is tried both ways.
const marked = "adgw\x00key"

// versions holds the versions of a key.
type versions struct {
	ring  atomic.Pointer[ring] // nil if there are none
	seals atomic.Uint64        // values sealed with the current version
	learn atomic.Pointer[func()]
}

type ring struct {
	current uint32
	aeads   map[uint32]cipher.AEAD
}

// UseVersions sets the versions of the key for reading values, and the current one for sealing new
// values. Each secret has [KeyLength] bytes. Values without a version are read with the key itself.
func (s *Sealed) UseVersions(current uint32, secrets map[uint32][]byte) error {
	next := &ring{current, make(map[uint32]cipher.AEAD, len(secrets))}
	for version, secret := range secrets {
		key, err := NewKey(secret)
		if err != nil {
			return fmt.Errorf("version %d: %w", version, err)
		}
		if next.aeads[version], err = newAEAD(key.seal); err != nil {
			return err
		}
	}
	if next.aeads[current] == nil {
		return fmt.Errorf("there is no version %d of the key", current)
	}
	if before := s.keys.ring.Swap(next); before == nil || before.current != current {
		s.keys.seals.Store(0)
	}
	return nil
}

// Learn sets the function that is called when a value was sealed with an unknown version. The function must
// call [Sealed.UseVersions] with the versions that exist at that time.
func (s *Sealed) Learn(learn func()) { s.keys.learn.Store(&learn) }

// Seals returns the current version, or 0 if there are none, and the number of values that were
// sealed with it.
func (s *Sealed) Seals() (version uint32, count uint64) {
	r := s.keys.ring.Load()
	if r == nil {
		return 0, s.keys.seals.Load()
	}
	return r.current, s.keys.seals.Load()
}

// version returns the key version in the prefix of a value, and the rest of the value; ok is false
// if it has no such prefix.
func version(value []byte) (number uint32, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(value, []byte(marked))
	if !ok || len(rest) < 4 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(rest), rest[4:], true
}

// boundToo returns the context to which a value with a version is bound.
func boundToo(number uint32, to []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte("key"), number), to...)
}

func (s *Sealed) seal(value, to []byte) []byte {
	s.keys.seals.Add(1)
	r := s.keys.ring.Load()
	if r == nil {
		return s.aead.Seal(nil, nil, value, to)
	}
	sealed := binary.BigEndian.AppendUint32([]byte(marked), r.current)
	return r.aeads[r.current].Seal(sealed, nil, value, boundToo(r.current, to))
}

func (s *Sealed) unseal(sealed, to []byte) ([]byte, error) {
	var unknown error
	if number, rest, ok := version(sealed); ok {
		aead := s.versionOf(number)
		if aead == nil {
			unknown = fmt.Errorf("%w: version %d", ErrKeyUnknown, number)
		} else if value, err := aead.Open(nil, nil, rest, boundToo(number, to)); err == nil {
			return value, nil
		}
	}
	value, err := s.aead.Open(nil, nil, sealed, to)
	if err != nil {
		err = cmp.Or(unknown, err)
	}
	return value, err
}

// versionOf returns the cipher of a version, or nil if the version is unknown.
func (s *Sealed) versionOf(number uint32) cipher.AEAD {
	if r := s.keys.ring.Load(); r != nil && r.aeads[number] != nil {
		return r.aeads[number]
	}
	if learn := s.keys.learn.Load(); learn != nil {
		(*learn)()
		if r := s.keys.ring.Load(); r != nil {
			return r.aeads[number]
		}
	}
	return nil
}

// filed is the kind under which values outside of the store are sealed. They are also bound to their purpose.
const filed Kind = "\x00file"

// SealFor encrypts a value that is stored elsewhere, such as in a file of this gateway.
func (s *Sealed) SealFor(purpose string, value []byte) []byte {
	return s.seal(value, bound(filed, purpose))
}

// OpenFor decrypts a value that [Sealed.SealFor] has encrypted for the same purpose. It fails with
// [ErrUnreadable].
func (s *Sealed) OpenFor(purpose string, sealed []byte) ([]byte, error) {
	value, err := s.unseal(sealed, bound(filed, purpose))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrUnreadable, purpose)
	}
	return value, nil
}

// message is the kind under which messages are sealed. They are also bound to the context that the caller
// gives.
const message Kind = "\x00message"

// Cipher seals messages between gateways with the key of a store, or with its current version if it has
// versions. It is safe for concurrent use.
type Cipher struct{ store *Sealed }

// Cipher returns the cipher with the key of the store.
func (s *Sealed) Cipher() Cipher { return Cipher{s} }

// Seal encrypts plain and binds it to the context to.
func (c Cipher) Seal(plain, to []byte) []byte {
	sealed := c.store.seal(plain, bound(message, string(to)))
	return append(sealed, c.store.Sum([]byte(message), sealed)...)
}

// Open decrypts a sealed message. It fails with [ErrUnreadable] if sealed was altered, was bound to another
// context, or was not made with the key, and with [ErrKeyUnknown] if it was sealed with a version that this
// gateway does not have. Only holders of the key can cause the latter error, because the check that precedes
// it does not depend on the version.
func (c Cipher) Open(sealed, to []byte) ([]byte, error) {
	sealed, sum := sealed[:max(0, len(sealed)-sha256.Size)], sealed[max(0, len(sealed)-sha256.Size):]
	if !hmac.Equal(sum, c.store.Sum([]byte(message), sealed)) {
		return nil, fmt.Errorf("%w: a message", ErrUnreadable)
	}
	plain, err := c.store.unseal(sealed, bound(message, string(to)))
	if err != nil && !errors.Is(err, ErrKeyUnknown) {
		return nil, fmt.Errorf("%w: a message", ErrUnreadable)
	}
	return plain, err
}

// Reseal seals the values of a kind with the current version, and returns the number of values that had
// another version before. It skips values that change meanwhile, because they are already sealed with the
// current version.
func (s *Sealed) Reseal(ctx context.Context, kind Kind) (resealed int, err error) {
	r := s.keys.ring.Load()
	if r == nil {
		return 0, nil
	}
	var failed error
	err = s.Store.Range(ctx, kind, "", func(e Entry) bool {
		if number, _, ok := version(e.Value); ok && number == r.current {
			return true
		}
		if e, failed = s.open(kind, e); failed != nil {
			return false
		}
		_, failed = s.Apply(ctx, Change{Kind: kind, Key: e.Key, Expect: e.Revision, Value: e.Value,
			Expires: e.Expires})
		switch {
		case failed == nil:
			resealed++
		case errors.Is(failed, ErrConflict):
			failed = nil
		}
		return failed == nil
	})
	return resealed, errors.Join(err, failed)
}
