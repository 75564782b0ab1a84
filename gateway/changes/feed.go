package changes

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"adgateway/gateway/store"
)

// Ended is a change with its final outcome, and its place in the order in which changes ended.
type Ended struct {
	Position store.Position
	*Record
}

// Ends returns a channel that is closed when a change ends, or when the store is closed. A reader must get
// the channel before it reads, and wait for it afterwards.
func (h *History) Ends() <-chan struct{} { return h.store.Appends(Log) }

// End returns the position after the last change that has ended.
func (h *History) End(ctx context.Context) (store.Position, error) { return h.store.End(ctx, Log) }

// After returns up to most changes that ended after a position, in the order in which they ended,
// and the new position, which is unchanged if there are none. It fails with [store.ErrPosition] if
// some of them are no longer stored, or if the position belongs to another store.
func (h *History) After(
	ctx context.Context, position store.Position, most int,
) (ended []Ended, reached store.Position, err error) {
	reached = position
	var ids []string
	err = h.store.Log(ctx, Log, position, func(a store.Appended) bool {
		ids, reached = append(ids, string(a.Value)), a.Position
		ended = append(ended, Ended{Position: a.Position})
		return len(ids) < most
	})
	for i := 0; err == nil && i < len(ids); i++ {
		ended[i].Record, err = h.Get(ctx, ids[i])
		if errors.Is(err, ErrAbsent) {
			err = nil // the record was removed meanwhile to make room
		}
	}
	if err != nil {
		return nil, position, err
	}
	return slices.DeleteFunc(ended, func(e Ended) bool { return e.Record == nil }), reached, nil
}

// longest is an upper bound on the duration of a change. The history is in the order in which changes ended,
// so a change can precede another that began up to this much earlier.
const longest = time.Hour

// From returns the position before the first change that began at or after a time, or the end if
// there is none.
func (h *History) From(ctx context.Context, t time.Time) (store.Position, error) {
	oldest, found, err := h.next(ctx, store.Position{})
	end, endErr := h.End(ctx)
	if err = errors.Join(err, endErr); err != nil || !found {
		return end, err
	}
	position := oldest.Position
	position.Sequence--
	// Changes are in the order in which they ended, which is nearly the order in which they began.
	low, high := position.Sequence, end.Sequence
	for low < high {
		middle := store.Position{Creation: end.Creation, Sequence: low + (high-low)/2}
		entry, found, err := h.next(ctx, middle)
		if err != nil && !errors.Is(err, store.ErrPosition) { // ErrPosition means that entries were just removed
			return end, err
		}
		early := false
		if found {
			if early, err = h.early(ctx, string(entry.Value), t.Add(-longest)); err != nil {
				return end, err
			}
		}
		if early {
			low = entry.Position.Sequence
		} else {
			high = middle.Sequence
		}
	}
	position.Sequence = low
	found = false
	err = h.store.Log(ctx, Log, position, func(a store.Appended) bool {
		began, _ := Time(string(a.Value))
		if found = !began.Before(t); !found {
			position = a.Position
		}
		return !found
	})
	return position, err
}

// early reports whether a change both began and was stored before t. The journal of a cluster may
// store a change long after it began.
func (h *History) early(ctx context.Context, id string, t time.Time) (bool, error) {
	if began, _ := Time(id); !began.Before(t) {
		return false, nil
	}
	r, err := h.Get(ctx, id)
	if errors.Is(err, ErrAbsent) {
		return true, nil // the record was removed, so it was one of the oldest
	}
	return err == nil && r.Sent.Before(t), err
}

// next returns the entry after a position.
func (h *History) next(
	ctx context.Context, position store.Position,
) (entry store.Appended, found bool, err error) {
	err = h.store.Log(ctx, Log, position, func(a store.Appended) bool {
		entry, found = a, true
		return false
	})
	return entry, found, err
}

// ErrCursor means that a text is not a cursor.
var ErrCursor = errors.New("it is not a cursor")

// The first octet of a cursor determines the format of the rest.
const (
	blockCursor  = 1 // a single block that is the same for equal positions; used by earlier versions
	sealedCursor = 2 // a nonce, and the sealed position
)

// positionSize is the length of a position in a cursor: the sum that identifies the store, and the
// sequence.
const positionSize = creationSize + 8

// Cursor returns a position as text for clients. Every gateway with the key of this store can read it. The
// text is different each time, so two cursors do not reveal whether any change ended in between.
func (h *History) Cursor(position store.Position) string {
	plain := binary.BigEndian.AppendUint64(creationSum(position.Creation), position.Sequence)
	seal := h.cursors()
	octets := make([]byte, 1+seal.NonceSize(), 1+seal.NonceSize()+positionSize+seal.Overhead())
	octets[0] = sealedCursor
	_, _ = rand.Read(octets[1:]) // never fails
	return base64.RawURLEncoding.EncodeToString(seal.Seal(octets, octets[1:], plain, octets[:1]))
}

// Position reads a cursor. It fails with [ErrCursor] if the text is not a cursor, and with
// [store.ErrPosition] if it belongs to another store.
func (h *History) Position(ctx context.Context, cursor string) (store.Position, error) {
	octets, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || base64.RawURLEncoding.EncodeToString(octets) != cursor {
		return store.Position{}, ErrCursor
	}
	position, err := h.End(ctx)
	if err != nil {
		return store.Position{}, err
	}
	plain, err := h.openCursor(octets)
	if err != nil {
		return store.Position{}, err
	}
	if !slices.Equal(plain[:creationSize], creationSum(position.Creation)) {
		return store.Position{}, errOtherStore
	}
	last := position.Sequence
	position.Sequence = binary.BigEndian.Uint64(plain[creationSize:])
	if position.Sequence > last {
		// Another gateway may have issued the cursor, and this one may not have its changes yet. If the store does
		// not find the position even after it has caught up, the store was rolled back.
		if _, _, err = h.next(ctx, position); err != nil {
			return store.Position{}, err
		}
	}
	return position, nil
}

var errOtherStore = fmt.Errorf("%w: it is one of another store", store.ErrPosition)

// openCursor returns the position in the octets of a cursor.
func (h *History) openCursor(octets []byte) (plain []byte, err error) {
	seal := h.cursors()
	switch {
	case len(octets) == 1+positionSize && octets[0] == blockCursor:
		h.cipher("cursor of the feed").Decrypt(octets[1:], octets[1:])
		return octets[1:], nil
	case len(octets) == 1+seal.NonceSize()+positionSize+seal.Overhead() && octets[0] == sealedCursor:
		nonce, sealed := octets[1:1+seal.NonceSize()], octets[1+seal.NonceSize():]
		if plain, err = seal.Open(nil, nonce, sealed, octets[:1]); err != nil {
			return nil, errOtherStore // sealed with another key
		}
		return plain, nil
	}
	return nil, ErrCursor
}

// creationSize is the length of the part of a cursor that identifies the store.
const creationSize = 8

func creationSum(creation string) []byte {
	sum := sha256.Sum256([]byte(creation))
	return sum[:creationSize:creationSize]
}

// cursors returns the cipher that seals cursors.
func (h *History) cursors() cipher.AEAD {
	seal, _ := cipher.NewGCM(h.cipher("sealed cursor of the feed")) // fails only for other block sizes
	return seal
}

func (h *History) cipher(use string) cipher.Block {
	block, _ := aes.NewCipher(h.store.Sum([]byte(use))) // fails only for other key lengths
	return block
}
