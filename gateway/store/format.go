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

// Newest is the newest format of values that this program reads and writes. A single number covers all kinds.
// It grows with each change that an earlier version cannot read.
const Newest = 1

// Oldest is the format that every version reads. A gateway writes it as long as it does not know which
// formats the other gateways read.
const Oldest = 1

// ErrNewer means that a later version of this program has written a value in a format that this one
// cannot read.
var ErrNewer = errors.New("a later version of adgateway has written it, in a format that this one cannot " +
	"read: update this one")

// Formatted is embedded in every value that is stored as JSON.
type Formatted struct {
	V int `json:"v"` // format, set by [Encode]
}

func (f *Formatted) format() *int { return &f.V }

// Value is a pointer to a type that embeds [Formatted].
type Value[T any] interface {
	*T
	format() *int
}

// formats holds the newest format that is read and the one that is written.
type formats struct{ newest, written atomic.Int32 } // 0 if not set

// Newest returns the newest format that this store's gateway reads. It is [Newest] unless
// [Sealed.SetNewest] has changed it.
func (s *Sealed) Newest() int { return cmp.Or(int(s.formats.newest.Load()), Newest) }

// Format returns the format in which values are written now. In a cluster, all gateways read this format;
// outside of a cluster, it is the newest.
func (s *Sealed) Format() int {
	return min(cmp.Or(int(s.formats.written.Load()), s.Newest()), s.Newest())
}

// SetNewest sets the newest format that is read.
func (s *Sealed) SetNewest(format int) { s.formats.newest.Store(int32(format)) }

// SetFormat sets the format in which values are written from now on. A format above the newest one
// has the effect of the newest. It is safe for concurrent use.
func (s *Sealed) SetFormat(format int) { s.formats.written.Store(int32(format)) }

// CheckFormat returns [ErrNewer] if a format is higher than the newest that is read.
func CheckFormat(format, newest int) error {
	if format > newest {
		return fmt.Errorf("%w: it is %d", ErrNewer, format)
	}
	return nil
}

// Encode encodes a value for the store, in the format that is written now. A type whose JSON differs between
// formats must check V in its MarshalJSON.
func Encode[T any, P Value[T]](s *Sealed, value T) ([]byte, error) {
	*P(&value).format() = s.Format()
	return json.Marshal(&value)
}

// Decode decodes a value of the store into into. If the store does not read the value's format, it
// fails with [ErrNewer] and leaves into unchanged.
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

// formatOf reads the format from the beginning of a value, where Encode writes it, without parsing
// the rest.
func formatOf(value []byte) (format int, known bool) {
	after, found := bytes.CutPrefix(value, []byte(`{"v":`))
	digits, _, ends := bytes.Cut(after, []byte{','})
	if !found || !ends || len(digits) > 9 {
		return 0, false
	}
	format, err := strconv.Atoi(string(digits))
	return format, err == nil
}
