package relay

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"adgateway/gateway/store"
)

// A request is one byte for its kind, followed by its arguments. An answer is any number of records, each
// preceded by its length. The last record contains the outcome of the request. Texts are preceded by their
// length, and numbers are big-endian.

// request is the kind of a request.
type request byte

// The requests.
const (
	applies    request = iota + 1 // changes
	gets                          // kind, key
	ranges                        // kind, prefix
	rangesBack                    // kind, before
	reads                         // log, and creation and sequence of the position
	ends                          // log
	tells                         // nothing
)

// record is the first byte of a part of an answer.
type record byte

// The records.
const (
	value    record = iota + 1 // key, revision, end, value
	appended                   // creation, sequence, value
	done                       // log time, revision, and creation and sequence of the position
	failed                     // log time, kinds of the error, and its text
)

// mostRecord is the maximum length of a record.
const mostRecord = 64 << 20

// errMessage means that a message is malformed, or comes from a later version.
var errMessage = errors.New("the message cannot be read")

// writer builds a message.
type writer []byte

func (w *writer) number(n uint64) { *w = binary.BigEndian.AppendUint64(*w, n) }

func (w *writer) text(text string) {
	*w = binary.BigEndian.AppendUint32(*w, uint32(len(text)))
	*w = append(*w, text...)
}

func (w *writer) time(t time.Time) {
	if t.IsZero() {
		w.number(0)
		return
	}
	w.number(uint64(t.UnixNano()))
}

// question returns a request with its texts and, if at is not nil, a position.
func question(what request, texts []string, at *store.Position) []byte {
	w := writer{byte(what)}
	for _, text := range texts {
		w.text(text)
	}
	if at != nil {
		w.text(at.Creation)
		w.number(at.Sequence)
	}
	return w
}

// encodeChanges returns a request to make changes. The expected revisions precede the batch, because the
// encoding of a batch does not contain them.
func encodeChanges(changes []store.Change) []byte {
	w := writer{byte(applies)}
	w = binary.BigEndian.AppendUint32(w, uint32(len(changes)))
	for i := range changes {
		w.number(uint64(changes[i].Expect))
	}
	batch := store.Batch{Calls: []store.Call{{Changes: changes}}}
	return append(w, batch.Encode()...)
}

// decodeChanges is the inverse of encodeChanges. Its argument lacks the first byte.
func decodeChanges(message []byte) ([]store.Change, error) {
	r := reader{left: message}
	n := int(r.short())
	if r.err != nil || n > len(r.left)/8 {
		return nil, errMessage
	}
	expected := make([]store.Revision, n)
	for i := range expected {
		expected[i] = store.Revision(r.number())
	}
	batch, err := store.DecodeBatch(r.left)
	if err != nil {
		return nil, err
	}
	if len(batch.Calls) != 1 || len(batch.Calls[0].Changes) != n || batch.Calls[0].Revision != 0 {
		return nil, fmt.Errorf("%w: it is not one call", errMessage)
	}
	changes := batch.Calls[0].Changes
	for i := range changes {
		changes[i].Expect = expected[i]
	}
	return changes, nil
}

// reader reads a message. After an error it returns zero values.
type reader struct {
	left []byte
	err  error
}

func (r *reader) take(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.left)) {
		r.err = errMessage
		return nil
	}
	taken := r.left[:n:n]
	r.left = r.left[n:]
	return taken
}

func (r *reader) short() uint32 {
	if taken := r.take(4); taken != nil {
		return binary.BigEndian.Uint32(taken)
	}
	return 0
}

func (r *reader) number() uint64 {
	if taken := r.take(8); taken != nil {
		return binary.BigEndian.Uint64(taken)
	}
	return 0
}

func (r *reader) text() string { return string(r.bytes()) }

// bytes returns the next part of the message, which is preceded by its length.
func (r *reader) bytes() []byte { return r.take(uint64(r.short())) }

func (r *reader) time() time.Time {
	n := r.number()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(n))
}

func (r *reader) position() store.Position {
	return store.Position{Creation: r.text(), Sequence: r.number()}
}

// end returns errMessage unless the whole message was read.
func (r *reader) end() error {
	if len(r.left) > 0 {
		r.err = errMessage
	}
	return r.err
}

// outcome is the last record of an answer.
type outcome struct {
	now      time.Time      // log time
	revision store.Revision // revision of the changes or, after a conflict, of the conflicting value
	position store.Position
	err      error
}

func (o outcome) encode() []byte {
	if o.err != nil {
		w := writer{byte(failed)}
		w.time(o.now)
		w.number(uint64(o.revision))
		w = binary.BigEndian.AppendUint32(w, kindsOf(o.err))
		w.text(o.err.Error())
		return w
	}
	w := writer{byte(done)}
	w.time(o.now)
	w.number(uint64(o.revision))
	w.text(o.position.Creation)
	w.number(o.position.Sequence)
	return w
}

func encodeEntry(e store.Entry) []byte {
	w := writer{byte(value)}
	w.text(e.Key)
	w.number(uint64(e.Revision))
	w.time(e.Expires)
	w.text(string(e.Value))
	return w
}

func encodeAppended(a store.Appended) []byte {
	w := writer{byte(appended)}
	w.text(a.Position.Creation)
	w.number(a.Position.Sequence)
	w.text(string(a.Value))
	return w
}

// writeRecord writes a record, preceded by its length.
func writeRecord(to io.Writer, record []byte) error {
	if len(record) > mostRecord {
		return fmt.Errorf("a record of %d bytes is too long", len(record))
	}
	if _, err := to.Write(binary.BigEndian.AppendUint32(nil, uint32(len(record)))); err != nil {
		return err
	}
	_, err := to.Write(record)
	return err
}

// readRecord reads a record. It fails if the record is empty.
func readRecord(from *bufio.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n == 0 || n > mostRecord {
		return nil, fmt.Errorf("%w: a record has %d bytes", errMessage, n)
	}
	record, err := io.ReadAll(io.LimitReader(from, int64(n)))
	if err == nil && len(record) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	return record, err
}

// part is a decoded record. Exactly one of its fields is set.
type part struct {
	entry    *store.Entry
	appended *store.Appended
	outcome  *outcome
}

// decodePart decodes a record.
func decodePart(text []byte) (p part, err error) {
	r := reader{left: text}
	what := r.take(1)
	if r.err != nil {
		return part{}, r.err
	}
	switch record(what[0]) {
	case value:
		e := store.Entry{Key: r.text(), Revision: store.Revision(r.number()), Expires: r.time()}
		e.Value = r.bytes()
		p.entry = &e
	case appended:
		p.appended = &store.Appended{Position: r.position(), Value: r.bytes()}
	case done:
		p.outcome = &outcome{now: r.time(), revision: store.Revision(r.number()), position: r.position()}
	case failed:
		o := outcome{now: r.time(), revision: store.Revision(r.number())}
		kinds := r.short()
		o.err = &farError{text: r.text(), kinds: kinds}
		p.outcome = &o
	default:
		return part{}, errMessage
	}
	if err = r.end(); err != nil {
		return part{}, err
	}
	return p, nil
}

// kinds lists the errors that stay distinguishable across a hop. Each has one bit. New kinds must be added at
// the end.
var kinds = []error{
	store.ErrConflict, store.ErrTooMany, store.ErrAbsent, store.ErrPosition, store.ErrClosed, store.ErrRewound,
	store.ErrOtherKey, store.ErrNewer, store.ErrUnreadable, store.ErrKeyUnknown, store.ErrBatch, store.ErrFollows,
	store.ErrUnreachable, store.ErrNotSent,
}

func kindsOf(err error) (bits uint32) {
	for i, kind := range kinds {
		if errors.Is(err, kind) {
			bits |= 1 << i
		}
	}
	return bits
}

// farError is an error from another gateway. It wraps the errors of its kinds.
type farError struct {
	text  string
	kinds uint32
}

func (e *farError) Error() string { return e.text }

func (e *farError) Is(target error) bool {
	for i, kind := range kinds {
		if kind == target {
			return e.kinds&(1<<i) != 0
		}
	}
	return false
}
