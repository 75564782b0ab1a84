package journaltest

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"sync"

	"adgateway/gateway/journal"
	"adgateway/gateway/store"
)

// Cipher returns a cipher for tests with a key derived from a password. It never fails with
// [journal.ErrKeyUnknown].
func Cipher(password string) journal.Cipher {
	key := sha256.Sum256([]byte(password))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // the key has the right length
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // the block has the right size
	}
	return sealer{aead}
}

type sealer struct{ aead cipher.AEAD }

func (s sealer) Seal(plain, bound []byte) []byte { return s.aead.Seal(nil, nil, plain, bound) }

func (s sealer) Open(sealed, bound []byte) ([]byte, error) {
	return s.aead.Open(nil, nil, sealed, bound)
}

// Options returns the options of a log of journal j1 of cluster corp.
func Options() journal.Options {
	return journal.Options{Cluster: "corp", Journal: "j1", Cipher: Cipher("key"), MaxMessage: 1 << 20}
}

// Record is a [journal.Applier] that records entries. It is safe for concurrent use.
type Record struct {
	mu      sync.Mutex
	entries []journal.Entry
	point   store.Point
	fault   error
}

// NewRecord returns a record that has applied the entries up to a point.
func NewRecord(at store.Point) *Record { return &Record{point: at} }

// Point implements [journal.Applier].
func (r *Record) Point() (store.Point, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.point, r.fault
}

// Apply implements [journal.Applier].
func (r *Record) Apply(_ context.Context, e *journal.Entry, at store.Point) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault != nil {
		return r.fault
	}
	r.entries, r.point = append(r.entries, *e), at
	return nil
}

// Fail makes Apply fail with an error. Nil makes it work again.
func (r *Record) Fail(with error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = with
}

// Entries returns the applied entries.
func (r *Record) Entries() []journal.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entries[:len(r.entries):len(r.entries)]
}

// Batches returns the applied batches without the empty ones.
func (r *Record) Batches() []string {
	var all []string
	for _, e := range r.Entries() {
		if len(e.Batch) > 0 {
			all = append(all, string(e.Batch))
		}
	}
	return all
}
