package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
)

// Newest is the newest format of values that this program reads and writes. One number
// counts for all kinds: it grows with each change that an earlier version could not read.
const Newest = 1

// Oldest is the format that every version reads, and that is written as long as nobody
// knows what the others read.
const Oldest = 1

// ErrNewer means that a value has a format of a later version of this program, which is
// never guessed at.
var ErrNewer = errors.New("a later version of adgateway has written it, in a format that this one cannot " +
	"read: update this one")

// Formatted is what every value that is kept as JSON embeds.
type Formatted struct {
	V int `json:"v"` // format, which [Encode] sets
}

func (f *Formatted) format() *int { return &f.V }

// Value is a pointer to what embeds [Formatted].
type Value[T any] interface {
	*T
	format() *int
}

// formats lists the formats of a store.
type formats struct{ newest, written atomic.Int32 } // 0: not set

// Newest returns the newest format that the gateway of this store reads: [Newest], unless
// it plays another version.
func (s *Sealed) Newest() int { return cmp.Or(int(s.formats.newest.Load()), Newest) }

// Format returns the format that values are written in now. It is the newest of a gateway
// that is alone; among several, all of them read it.
func (s *Sealed) Format() int {
	return min(cmp.Or(int(s.formats.written.Load()), s.Newest()), s.Newest())
}

// SetNewest sets the newest format that is read.
func (s *Sealed) SetNewest(format int) { s.formats.newest.Store(int32(format)) }

// SetFormat sets the format that values are written in from now on, if it is not newer than
// the newest. It may be called at any time.
func (s *Sealed) SetFormat(format int) { s.formats.written.Store(int32(format)) }

// CheckFormat returns [ErrNewer] if a format is higher than the newest that is read.
func CheckFormat(format, newest int) error {
	if format > newest {
		return fmt.Errorf("%w: it is %d", ErrNewer, format)
	}
	return nil
}

// Encode returns a value as a store keeps it, in the format that is written there now. A type whose
// form differs between formats writes it by V in its MarshalJSON.
func Encode[T any, P Value[T]](s *Sealed, value T) ([]byte, error) {
	*P(&value).format() = s.Format()
	return json.Marshal(&value)
}

// Decode decodes a value of a store. It fails with [ErrNewer], and leaves into as it is, if
// the store does not read its format.
func Decode[T any, P Value[T]](s *Sealed, value []byte, into P) error {
	format, known := formatOf(value)
	if !known {
		var found Formatted
		if err := json.Unmarshal(value, &found); err != nil {
			return err
		}
		format = found.V
	}
	if err := CheckFormat(format, s.Newest()); err != nil {
		return err
	}
	return json.Unmarshal(value, into)
}

// formatOf reads the format where Encode writes it, at the beginning, without the rest of the value.
func formatOf(value []byte) (format int, known bool) {
	after, found := bytes.CutPrefix(value, []byte(`{"v":`))
	digits, _, ends := bytes.Cut(after, []byte{','})
	if !found || !ends || len(digits) > 9 {
		return 0, false
	}
	format, err := strconv.Atoi(string(digits))
	return format, err == nil
}
