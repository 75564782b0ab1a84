package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"time"

	"go.etcd.io/bbolt"
)

// mirror is the copy, in a file, of a store that gateways of an earlier version shared.
type mirror struct {
	db       *bbolt.DB
	path     string
	creation string // of the mirrored store
}

// Known is what is known of the store that a mirror is of. Its file outlives the mirror.
type Known struct {
	Creation string    `json:"creation"`
	Sequence uint64    `json:"sequence"` // of the last change that was followed or acknowledged
	At       time.Time `json:"at"`       // when the change of the sequence was made
}

var (
	mirrorBucket = []byte("followed")
	sequenceKey  = []byte("sequence")
)

// readKnown returns what was known of the store when the mirror in a file was used last.
// It is nothing if there is no such file, or none that can be read.
func readKnown(path string) (known Known, err error) {
	text, err := os.ReadFile(HeadOf(path))
	if errors.Is(err, os.ErrNotExist) {
		return known, nil
	}
	if err == nil && json.Unmarshal(text, &known) != nil {
		known = Known{}
	}
	return known, err
}

// at returns which store the mirror is of, and up to which change.
func (m *mirror) at() (Known, error) {
	at := Known{Creation: m.creation}
	err := m.db.View(func(tx *bbolt.Tx) error {
		if b := tx.Bucket(mirrorBucket); b != nil {
			if stored, err := decode(sequenceKey, b.Get(sequenceKey)); err == nil && len(stored.Value) == 16 {
				at.Sequence, at.At = binary.BigEndian.Uint64(stored.Value), time.Unix(0,
					int64(binary.BigEndian.Uint64(stored.Value[8:])))
			}
		}
		return nil
	})
	return at, closed(err)
}
