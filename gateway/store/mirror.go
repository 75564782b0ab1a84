package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"time"

	"go.etcd.io/bbolt"
)

// mirror is a file with the copy of a store that gateways of an earlier version shared.
type mirror struct {
	db       *bbolt.DB
	path     string
	creation string // identity of the mirrored store
}

// Known is the last known point of a mirror's store. Its file outlives the mirror.
type Known struct {
	Creation string    `json:"creation"`
	Sequence uint64    `json:"sequence"` // of the last change that was followed or acknowledged
	At       time.Time `json:"at"`       // when that change was made
}

var (
	mirrorBucket = []byte("followed")
	sequenceKey  = []byte("sequence")
)

// readKnown returns the last known point of the store of the mirror in a file. It is zero if the
// head file does not exist or cannot be parsed.
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

// at returns the identity of the mirror's store, and its last change.
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
