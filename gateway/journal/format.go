package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/store"
)

// format is the version of messages. It is the first byte of a plain message.
const format = 1

// headMost is the size in bytes that is reserved for a message's head and seal.
const headMost = 4 << 10

// head is a message without its piece of the batch.
type head struct {
	Term     uint64    `json:"term"`
	Process  Process   `json:"process"`
	Number   uint64    `json:"number"`
	Token    string    `json:"token"`
	Time     time.Time `json:"time"`
	Previous []byte    `json:"previous"`       // hash of the previous entry or part
	Left     int       `json:"left,omitempty"` // number of parts of the entry that follow
}

// message is a decoded message.
type message struct {
	head
	piece []byte
	hash  store.Hash // hash of the unsealed message
}

// follows reports whether the message follows one with the given hash.
func (m *message) follows(hash store.Hash) bool { return string(m.Previous) == string(hash[:]) }

// encode returns a plain message: the format, the length of the head, the head, and a piece of the
// batch.
func encode(h head, piece []byte) ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	plain := binary.AppendUvarint([]byte{format}, uint64(len(text)))
	return append(append(plain, text...), piece...), nil
}

var errDamaged = errors.New("the message is not one of a journal")

// decode is the inverse of encode. It fails with [ErrNewer] if the format is unknown.
func decode(plain []byte) (*message, error) {
	switch {
	case len(plain) == 0 || plain[0] == 0:
		return nil, errDamaged
	case plain[0] > format:
		return nil, fmt.Errorf("%w: format %d", ErrNewer, plain[0])
	}
	length, n := binary.Uvarint(plain[1:])
	if n <= 0 || length > uint64(len(plain)-1-n) {
		return nil, errDamaged
	}
	m := &message{hash: sha256.Sum256(plain)}
	text := plain[1+n:]
	if err := json.Unmarshal(text[:length], &m.head); err != nil {
		return nil, errDamaged
	}
	m.piece = text[length:]
	return m, nil
}

// split returns the plain messages of an entry: one, or several if its batch has more than most
// bytes. Each contains the hash of the previous one.
func split(e *Entry, most int) ([][]byte, error) {
	h := head{
		Term: e.Term, Process: e.Process, Number: e.Number, Token: e.Token, Time: e.Time,
		Previous: e.Previous[:], Left: max(0, len(e.Batch)-1) / most,
	}
	var all [][]byte
	for rest := e.Batch; ; h.Left-- {
		n := min(most, len(rest))
		plain, err := encode(h, rest[:n])
		if err != nil {
			return nil, err
		}
		all, rest = append(all, plain), rest[n:]
		if h.Left == 0 {
			return all, nil
		}
		hash := sha256.Sum256(plain)
		h.Previous = hash[:]
	}
}
