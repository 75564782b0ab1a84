package natsstore

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/keep"
)

// what is the meaning of a message.
type what byte

const (
	isValue   what = iota // a value is set
	isRemoved             // a value is removed
	isEntry               // an entry is appended to a log
	isEnd                 // a log goes as far as this
)

// token is the same in all messages of a batch, and in no other. By it a writer knows its
// own batch again if the answer was lost (facts J11).
type token [8]byte

func newToken() (t token) {
	_, _ = rand.Read(t[:]) // never fails
	return t
}

// message is the payload of a message of the stream.
type message struct {
	What    what
	Token   token
	Left    uint16 // how many messages of the batch follow this one
	Own     uint16 // how many of them are of the same call
	Expires int64  // nanoseconds since 1970; 0: never
	Name    string // kind, or log
	Key     string // of a value
	Number  uint64 // sequence of an entry, or of the last one; for the end of a log
	Cut     uint64 // for the end of a log: entries up to this one are removed
	Value   []byte // not nil
}

// format is the first byte of a payload.
const format = 1

// errNewer means that another gateway writes a format that this one does not know.
var errNewer = errors.New("a newer version of the gateway has written to the store: update this one")

var errForeign = errors.New("somebody else can write into the stream: see that engine.gateways of each node lists the gateways only")

var errMalformed = errors.New("a message of the stream was not written by a gateway")

// head is the length of what has a fixed one.
const head = 1 + 1 + 8 + 2 + 2 + 8 + 8 + 8 + 1 + 2

func (m *message) encode() []byte {
	raw := make([]byte, 0, head+len(m.Name)+len(m.Key)+len(m.Value))
	raw = append(raw, format, byte(m.What))
	raw = append(raw, m.Token[:]...)
	raw = binary.BigEndian.AppendUint16(raw, m.Left)
	raw = binary.BigEndian.AppendUint16(raw, m.Own)
	raw = binary.BigEndian.AppendUint64(raw, uint64(m.Expires))
	raw = binary.BigEndian.AppendUint64(raw, m.Number)
	raw = binary.BigEndian.AppendUint64(raw, m.Cut)
	raw = append(raw, byte(len(m.Name)))
	raw = binary.BigEndian.AppendUint16(raw, uint16(len(m.Key)))
	raw = append(raw, m.Name...)
	raw = append(raw, m.Key...)
	return append(raw, m.Value...)
}

// decodeMessage reads a payload. The value is a part of it.
func decodeMessage(raw []byte) (m message, err error) {
	switch {
	case len(raw) < 1:
		return m, errMalformed
	case raw[0] != format, len(raw) < head, raw[1] > byte(isEnd):
		return m, errMalformed
	}
	m.What = what(raw[1])
	copy(m.Token[:], raw[2:])
	m.Left = binary.BigEndian.Uint16(raw[10:])
	m.Own = binary.BigEndian.Uint16(raw[12:])
	m.Expires = int64(binary.BigEndian.Uint64(raw[14:]))
	m.Number = binary.BigEndian.Uint64(raw[22:])
	m.Cut = binary.BigEndian.Uint64(raw[30:])
	name, key := int(raw[38]), int(binary.BigEndian.Uint16(raw[39:]))
	rest := raw[head:]
	if name == 0 || len(rest) < name+key {
		return m, errMalformed
	}
	m.Name, m.Key, m.Value = string(rest[:name]), string(rest[name:name+key]), rest[name+key:]
	return m, nil
}

func (m *message) expires() time.Time {
	if m.Expires == 0 {
		return time.Time{}
	}
	return time.Unix(0, m.Expires)
}

func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// subject returns the subject of a message below a prefix. Keys do not stand in subjects,
// which monitoring shows, and which may not have all characters (facts J17).
func (m *message) subject(prefix string) string {
	switch m.What {
	case isEntry:
		return fmt.Sprintf("%s.entry.%s.%d", prefix, hashed(m.Name), m.Number)
	case isEnd:
		return prefix + ".end." + hashed(m.Name)
	default:
		return prefix + ".value." + hashed(m.Name, m.Key)
	}
}

// hashed returns 128 bits of the hash of some texts.
func hashed(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part) // never fails
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16])
}

// In the mirror a value is preceded by what a writer must know of its message.
const mirrored = 1 + 8 + 2

// mirror returns a value as it is kept in the mirror.
func (m *message) mirror() []byte {
	raw := make([]byte, 0, mirrored+len(m.Value))
	raw = append(append(raw, byte(m.What)), m.Token[:]...)
	return append(binary.BigEndian.AppendUint16(raw, m.Own), m.Value...)
}

// copied is a value of the mirror.
type copied struct {
	keep.Entry
	what  what
	token token
	own   uint16
}

// sequence is that of the message in the stream, while the revision is that of the last
// one of the call.
func (c *copied) sequence() uint64 { return uint64(c.Revision) - uint64(c.own) }

// unmirror is the reverse of mirror.
func unmirror(e keep.Entry) (c copied, err error) {
	if len(e.Value) < mirrored {
		return c, errMalformed
	}
	c = copied{Entry: e, what: what(e.Value[0]), token: token(e.Value[1:9]), own: binary.BigEndian.Uint16(e.Value[9:])}
	c.Value = e.Value[mirrored:]
	return c, nil
}

// The kinds of values that the driver has for itself.
const (
	endKind  keep.Kind = "\x00end"  // where a log ends, by its name
	tickKind keep.Kind = "\x00tick" // what a gateway writes to learn what the leader has, by its name
)

// end is where a log ends.
type end struct {
	last, cut uint64
	latest    int64  // when the last of the entries expires, as in a message; 0: never, or there are none
	sequence  uint64 // of the message; 0: there is none
}

func (m *message) endValue() []byte {
	raw := binary.BigEndian.AppendUint64(nil, m.Number)
	raw = binary.BigEndian.AppendUint64(raw, m.Cut)
	return binary.BigEndian.AppendUint64(raw, uint64(m.Expires))
}

func readEnd(c copied) (end, error) {
	if len(c.Value) != 3*8 {
		return end{}, errMalformed
	}
	return end{binary.BigEndian.Uint64(c.Value), binary.BigEndian.Uint64(c.Value[8:]), int64(binary.BigEndian.Uint64(c.Value[16:])), c.sequence()}, nil
}

// arrivals returns what the mirror does about a message with a sequence.
func (m *message) arrivals(sequence uint64) []keep.Arrival {
	revision := keep.Revision(sequence + uint64(m.Own))
	switch m.What {
	case isEntry:
		return []keep.Arrival{{Log: keep.Log(m.Name), Number: m.Number, Value: m.mirror(), Revision: revision, Expires: m.expires()}}
	case isEnd:
		value := message{What: m.What, Token: m.Token, Own: m.Own, Value: m.endValue()}
		return []keep.Arrival{
			{Log: keep.Log(m.Name), Last: m.Number, Cut: m.Cut},
			{Kind: endKind, Key: m.Name, Value: value.mirror(), Revision: revision},
		}
	default:
		return []keep.Arrival{{Kind: keep.Kind(m.Name), Key: m.Key, Value: m.mirror(), Revision: revision, Expires: m.expires()}}
	}
}
