package store

import (
	"crypto/sha256"
	"encoding/hex"
)

// Hash is the SHA-256 of an entry of the journal.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Point is a place in the journal after an entry. The zero point is before the first entry.
//
// The hash of an entry covers the hash of the previous one, so two stores with the same hash have
// applied the same entries.
type Point struct {
	Journal  string // identity of the journal's stream; empty if the entry is in this file only
	Sequence uint64 // in the journal
	Hash     Hash
}
