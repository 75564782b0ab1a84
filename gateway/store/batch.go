package store

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Batch is a set of decided changes that a writer applies at once. Applying equal batches to stores
// with equal content leaves their content equal.
type Batch struct{ Calls []Call }

// Call is one call of Apply or Sweep in a batch.
type Call struct {
	// Revision is the revision of the store after the call, which is one more than before.
	Revision Revision

	Changes []Change // in order; their expected revisions are not part of a batch
}

// changes returns the changes of all calls.
func (b *Batch) changes() (all []Change) {
	for i := range b.Calls {
		all = append(all, b.Calls[i].Changes...)
	}
	return all
}

// ErrBatch means that the bytes are not a batch, or a batch of a later version of this program.
var ErrBatch = errors.New("this is no batch that can be read")

// batchFormat is the first byte of an encoded batch.
const batchFormat = 1

// Kinds of changes in an encoded batch.
const (
	sets byte = iota + 1
	removes
	appends
	cuts
	compares // a comparison; only in calls that are sent to another gateway, never in a decided batch
)

// Encode returns the encoded batch. Equal batches have equal encodings.
func (b *Batch) Encode() []byte {
	size := 1 + 4
	for i := range b.Calls {
		size += sizeOf(b.Calls[i].Changes)
	}
	to := append(make([]byte, 0, size), batchFormat)
	to = binary.BigEndian.AppendUint32(to, uint32(len(b.Calls)))
	for i := range b.Calls {
		c := &b.Calls[i]
		to = binary.BigEndian.AppendUint64(to, uint64(c.Revision))
		to = binary.BigEndian.AppendUint32(to, uint32(len(c.Changes)))
		for j := range c.Changes {
			to = c.Changes[j].encode(to)
		}
	}
	return to
}

// Sizes of an encoded call without changes, and the least and greatest size of an encoded change
// without its names and value.
const (
	callSize    = 8 + 4
	leastChange = 1 + 2*4
	mostChange  = 1 + 3*4 + 8
)

// sizeOf returns an upper bound on the size of an encoded call in bytes.
func sizeOf(changes []Change) int {
	size := callSize
	for i := range changes {
		c := &changes[i]
		size += mostChange + len(c.Kind) + len(c.Key) + len(c.Log) + len(c.Value)
	}
	return size
}

func (c *Change) encode(to []byte) []byte {
	switch {
	case c.Compares:
		return appendText(appendText(append(to, compares), string(c.Kind)), c.Key)
	case c.Log != "" && c.Value == nil:
		return binary.BigEndian.AppendUint64(appendText(append(to, cuts), string(c.Log)), c.Through)
	case c.Log != "":
		to = appendText(append(to, appends), string(c.Log))
	case c.Value == nil:
		return appendText(appendText(append(to, removes), string(c.Kind)), c.Key)
	default:
		to = appendText(appendText(append(to, sets), string(c.Kind)), c.Key)
	}
	return appendText(binary.BigEndian.AppendUint64(to, end(c.Expires)), string(c.Value))
}

func appendText(to []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32(to, uint32(len(text))), text...)
}

// DecodeBatch decodes a batch. Its values share the memory of encoded. It fails with [ErrBatch].
func DecodeBatch(encoded []byte) (*Batch, error) {
	if len(encoded) == 0 || encoded[0] != batchFormat {
		return nil, fmt.Errorf("%w: it is of another format", ErrBatch)
	}
	from := reader{left: encoded[1:]}
	b := &Batch{Calls: make([]Call, from.count(callSize))}
	for i := range b.Calls {
		c := &b.Calls[i]
		c.Revision = Revision(from.number())
		c.Changes = make([]Change, from.count(leastChange))
		for j := range c.Changes {
			from.change(&c.Changes[j])
		}
		if err := CheckChanges(c.Changes); err != nil && from.err == nil {
			from.err = fmt.Errorf("%w: %w", ErrBatch, err)
		}
		if from.err != nil {
			return nil, from.err
		}
	}
	if len(from.left) > 0 {
		from.fail("it has more bytes than it says")
	}
	return b, from.err
}

// reader reads an encoded batch. After an error it returns only zeros.
type reader struct {
	left []byte
	err  error
}

func (r *reader) fail(reason string) {
	if r.err == nil {
		r.left, r.err = nil, fmt.Errorf("%w: %s", ErrBatch, reason)
	}
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.left) {
		r.fail("it ends early")
		return make([]byte, 8)
	}
	taken := r.left[:n:n]
	r.left = r.left[n:]
	return taken
}

func (r *reader) number() uint64 { return binary.BigEndian.Uint64(r.take(8)) }

func (r *reader) bytes() []byte { return r.take(int(binary.BigEndian.Uint32(r.take(4)))) }

// count reads the number of elements that follow. Each takes at least size bytes, so a number that
// cannot fit is an error.
func (r *reader) count(size int) int {
	n := int(binary.BigEndian.Uint32(r.take(4)))
	if n < 0 || n > len(r.left)/size {
		r.fail("it ends early")
		return 0
	}
	return n
}

func (r *reader) change(c *Change) {
	what := r.take(1)[0]
	switch what {
	case sets, removes, compares:
		c.Compares = what == compares
		c.Kind, c.Key = Kind(r.bytes()), string(r.bytes())
	case appends, cuts:
		if c.Log = Log(r.bytes()); c.Log == "" {
			r.fail("a log has no name")
		}
	default:
		r.fail("a change does what is not known")
	}
	switch what {
	case sets, appends:
		c.Expires = fromEnd(r.number())
		c.Value = r.bytes()
	case cuts:
		c.Through = r.number()
	}
}

// after returns the point after a batch that a store outside of a cluster has applied at p.
func (p Point) after(batch []byte, time time.Time) Point {
	next := Point{Sequence: p.Sequence + 1}
	sum := sha256.New()
	sum.Write(p.Hash[:])
	numbers := binary.BigEndian.AppendUint64(nil, next.Sequence)
	sum.Write(binary.BigEndian.AppendUint64(numbers, uint64(time.UnixNano())))
	sum.Write(batch)
	next.Hash = Hash(sum.Sum(nil))
	return next
}

// encodePoint encodes a point and the log time of its batch.
func encodePoint(p Point, time time.Time) []byte {
	to := binary.BigEndian.AppendUint64(nil, p.Sequence)
	to = append(binary.BigEndian.AppendUint64(to, uint64(time.UnixNano())), p.Hash[:]...)
	return append(to, p.Journal...)
}

func decodePoint(value []byte) (p Point, at time.Time, err error) {
	from := reader{left: value}
	p.Sequence, at = from.number(), time.Unix(0, int64(from.number()))
	copy(p.Hash[:], from.take(len(p.Hash)))
	p.Journal = string(from.left)
	if from.err != nil {
		return Point{}, at, fmt.Errorf("%w: its point has %d bytes", errDamaged, len(value))
	}
	return p, at, nil
}
