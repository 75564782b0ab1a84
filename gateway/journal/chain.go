package journal

import (
	"bytes"
	"errors"
	"slices"

	"adgateway/gateway/store"
)

// chain is the state of reading a journal: the last entry, and the parts of an incomplete one. It
// is a value; next returns the chain after a message.
type chain struct {
	last head       // of the last entry; zero if there is none yet
	hash store.Hash // of the last entry
	part *message   // the last part of an incomplete entry, or nil
	body [][]byte   // pieces of the incomplete entry's batch
}

// number returns the number of the entry to which the last message belongs, even if the entry is incomplete.
func (c chain) number() uint64 {
	if c.part != nil {
		return c.part.Number
	}
	return c.last.Number
}

// errStranger means that a message does not belong to the journal.
var errStranger = errors.New("the message is not the next of the journal")

// next returns the chain after a message, and the entry that the message completes, or nil if there are more
// parts to come. It fails with errStranger if the message is not the next one, for example because it is a
// copy or its writer has been deposed. It fails with [ErrRewound] if the writer must have read an entry that
// is missing.
func (c chain) next(m *message) (chain, *Entry, error) {
	body := [][]byte{m.piece}
	switch {
	case c.part != nil && m.Term == c.part.Term && m.follows(c.part.hash):
		body = slices.Concat(c.body, body)
	case m.Number == 0 && m.Term > c.last.Term && m.follows(c.hash):
	case c.part == nil && m.Term == c.last.Term && m.Number == c.last.Number+1 && m.follows(c.hash):
	case m.Term > c.last.Term && m.Number > 0, m.Term == c.last.Term && m.Number > c.number():
		return c, nil, ErrRewound
	default:
		return c, nil, errStranger
	}
	if m.Left > 0 {
		c.part, c.body = m, body
		return c, nil, nil
	}
	e := &Entry{
		Term: m.Term, Process: m.Process, Number: m.Number, Token: m.Token, Time: m.Time,
		Previous: c.hash, Batch: bytes.Join(body, nil),
	}
	return chain{last: m.head, hash: m.hash}, e, nil
}
