package store

import (
	"crypto/sha256"
	"encoding/hex"
)

// Hash is the SHA-256 of an entry of the journal.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Point is a place in the journal: after an entry. The zero point is before the first.
//
// The hash of an entry covers the hash of the one before, so that two stores at the same
// hash have applied the same entries.
type Point struct {
	Journal  string // identity of the stream that has the entry; empty: it is in this file only
	Sequence uint64 // in the journal
	Hash     Hash
}
