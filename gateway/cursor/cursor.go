// Package cursor implements the cursors of lists, which identify where the next page begins. Pages are in the
// order of objectGUIDs, so a cursor needs no state on the server. A cursor contains the last GUID and a
// digest of its query. It is opaque to clients but not secret, because another client's cursor does not let a
// client see more.
package cursor

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
)

const (
	version    = 1
	guidSize   = 16
	digestSize = 8
	size       = 1 + digestSize + guidSize
)

// Digest identifies a query.
type Digest [digestSize]byte

// DigestOf returns the digest of a query, given as texts.
func DigestOf(parts ...string) Digest {
	whole := sha256.New()
	for _, part := range parts {
		sum := sha256.Sum256([]byte(part))
		whole.Write(sum[:])
	}
	return Digest(whole.Sum(nil))
}

// GUID is an objectGUID in the directory's byte order, by which pages are sorted.
type GUID [guidSize]byte

// Next returns the next greater GUID, or false after the last one.
func (g GUID) Next() (next GUID, ok bool) {
	for i := guidSize - 1; i >= 0; i-- {
		if g[i]++; g[i] != 0 {
			return g, true
		}
	}
	return GUID{}, false
}

// Cursor is the position where a page of a query ended.
type Cursor struct {
	Question Digest
	Last     GUID
}

func (c Cursor) String() string {
	octets := append([]byte{version}, c.Question[:]...)
	return base64.RawURLEncoding.EncodeToString(append(octets, c.Last[:]...))
}

var errMalformed = errors.New("is not the next of an answer")

// Parse reads the text of a cursor.
func Parse(text string) (Cursor, error) {
	octets, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(octets) != size || octets[0] != version || strings.ContainsAny(text, "\r\n") {
		return Cursor{}, errMalformed
	}
	return Cursor{Digest(octets[1 : 1+digestSize]), GUID(octets[1+digestSize:])}, nil
}
