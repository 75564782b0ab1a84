package journal

import (
	"bytes"
	"errors"
	"slices"

	"adgateway/gateway/store"
)

// chain is what was read of a journal: the last entry, and the parts of one whose end has
// not been read. It is a value; next returns the one after a message.
type chain struct {
	last head       // of the last entry; zero: there is none yet
	hash store.Hash // of the last entry
	part *message   // the last one of an entry that is not complete
	body [][]byte   // pieces of its batch
}

// number returns the number of the entry that the last message belongs to. The message may be a
// part of the entry.
func (c chain) number() uint64 {
	if c.part != nil {
		return c.part.Number
	}
	return c.last.Number
}

// errStranger means that a message does not belong to the journal.
var errStranger = errors.New("the message is not the next of the journal")

// next returns the chain after a message, and the entry that is complete with it, nil if
// there are parts to come. It fails with errStranger if the message is not the next one: it
// is a copy, or its writer has been deposed. It fails with [ErrRewound] if a writer can only
// have sent it after an entry that was not read.
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
