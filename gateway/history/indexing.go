package history

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/store"
)

// indexKind is the kind of the blocks of the index in the store. The key of a block is its last place. An
// index that cannot be read is rebuilt from the history.
const indexKind store.Kind = "changeindex"

// positionKey is the key of the position up to which the feed is in the stored blocks. It is greater than the
// keys of all blocks.
const positionKey = "position"

// Kinds are the kinds of stored values of this package that survive a change of the store's key.
var Kinds = []store.Kind{indexKind}

// storedAtOnce is the number of blocks that are stored together. A block has about four kilobytes.
const storedAtOnce = 32

// indexing is one run of [Service.RunIndexing].
type indexing struct {
	*Service
	// All changes that ended up to this position are in the index if a block covers them. It is zero if the
	// index is built from the beginning.
	position store.Position
	most     int // number of changes above which the index is rebuilt, without removed changes
}

// bytesOfChange is less than the size of most records.
const bytesOfChange = 512

// extend adds the changes that are newer than the indexed ones, and stores what has changed. It rebuilds the
// index if the feed lacks entries after the position, or if most indexed changes may have been removed.
func (x *indexing) extend(ctx context.Context) error {
	x.most = max(x.most, int(x.History.Most()/bytesOfChange))
	err := x.read(ctx)
	if errors.Is(err, store.ErrPosition) || err == nil && x.index.size() > x.most {
		x.position = store.Position{}
		x.index.reset()
		err = x.read(ctx)
		x.most = max(x.most, 2*x.index.size())
	}
	if err == nil {
		err = x.store(ctx)
	}
	return err
}

// read adds blocks for newer changes to the index, and the changes that ended after the position.
func (x *indexing) read(ctx context.Context) error {
	last := x.index.begin()
	read, oldest, err := x.after(ctx, last)
	x.index.end(read, oldest)
	if err != nil {
		return err
	}
	missing := func(at place) bool { return x.index.covers(at) && !hasEnded(read, at) }
	later, reached, err := x.endedAfter(ctx, x.position, missing)
	for _, t := range later {
		x.index.add(t)
	}
	if err == nil {
		x.position = reached
	}
	return err
}

// hasEnded reports whether read, which is sorted by place, contains changes at a place and all of them have
// ended.
func hasEnded(read []terms, at place) bool {
	i, there := slices.BinarySearchFunc(read, at, func(t terms, at place) int { return cmp.Compare(t.at, at) })
	for ; i < len(read) && read[i].at == at; i++ {
		there = there && read[i].ended
	}
	return there
}

// after returns the terms of the changes after a place, oldest first, and the place of the oldest change. It
// returns neither if it fails.
func (x *indexing) after(ctx context.Context, last place) (read []terms, oldest place, err error) {
	if x.position == (store.Position{}) {
		if x.position, err = x.History.End(ctx); err != nil {
			return nil, 0, err
		}
	}
	err = x.History.Newest(ctx, time.Time{}, "", func(id string, _ store.Revision) bool {
		t, known := x.index.final(id)
		if known {
			read = append(read, t)
		}
		return known
	}, func(c *changes.Record) bool {
		if placeOf(c.ID) <= last || ctx.Err() != nil {
			return false
		}
		read = append(read, x.termsOf(c))
		return true
	})
	if err != nil || ctx.Err() != nil {
		return nil, 0, errors.Join(err, ctx.Err())
	}
	slices.Reverse(read)
	id, err := x.History.Oldest(ctx)
	return read, placeOf(id), err
}

// endedAfter returns the terms of the wanted changes that ended after a position, and the position after
// them.
func (x *indexing) endedAfter(
	ctx context.Context, position store.Position, wanted func(place) bool,
) (all []terms, reached store.Position, err error) {
	reached = position
	var ids []string
	err = x.History.Store().Log(ctx, changes.Log, position, func(a store.Appended) bool {
		reached = a.Position
		if id := string(a.Value); wanted(placeOf(id)) {
			ids = append(ids, id)
		}
		return true
	})
	for _, id := range ids {
		if err != nil {
			break
		}
		var c *changes.Record
		if c, err = x.History.Get(ctx, id); err == nil {
			all = append(all, x.termsOf(c))
		} else if errors.Is(err, changes.ErrAbsent) {
			err = nil // it was removed meanwhile
		}
	}
	return all, reached, err
}

// load reads the index from the store, with the changes that ended since it was stored.
func (x *indexing) load(ctx context.Context) error {
	x.index.begin()
	var blocks []*block
	var wrong error
	var position store.Position
	err := x.History.Store().Range(ctx, indexKind, "", func(e store.Entry) bool {
		if e.Key == positionKey {
			wrong = position.UnmarshalText(e.Value)
			return wrong == nil
		}
		var b *block
		if b, wrong = decodeBlock(e.Value); wrong != nil {
			return false
		}
		if n := len(blocks); n > 0 && blocks[n-1].last() != b.after {
			blocks = nil // an older one has expired
		}
		blocks = append(blocks, b)
		return true
	})
	if ctx.Err() != nil {
		return nil
	}
	var later []terms
	if err = errors.Join(err, wrong); err == nil && position != (store.Position{}) && len(blocks) > 0 {
		covers := (&index{blocks: blocks}).covers
		later, position, err = x.endedAfter(ctx, position, covers)
	}
	if err != nil || position == (store.Position{}) || len(blocks) == 0 {
		return errors.Join(ignored(err), Forget(ctx, x.History))
	}
	x.position = position
	x.index.load(blocks, later)
	return nil
}

// ignored returns nil for errors that only mean that the index must be rebuilt.
func ignored(err error) error {
	if errors.Is(err, store.ErrPosition) || errors.Is(err, errBlock) || errors.Is(err, store.ErrUnreadable) {
		return nil
	}
	return err
}

// Forget removes the index of a history from the store, because changes were added that the feed does not
// have. The index is rebuilt when a gateway starts.
func Forget(ctx context.Context, h *changes.History) error {
	var keys []string
	err := h.Store().Store.Range(ctx, indexKind, "", func(e store.Entry) bool {
		keys = append(keys, e.Key)
		return true
	})
	slices.Reverse(keys) // the position first
	for some := range slices.Chunk(keys, storedAtOnce) {
		if err != nil {
			break
		}
		err = h.Store().Update(ctx, func(tx *store.Tx) error {
			for _, key := range some {
				tx.Delete(indexKind, key)
			}
			return nil
		})
	}
	return err
}

// store stores the blocks that have changed, and then the position. After a crash in between, the position is
// too early, and some changes are added again.
func (x *indexing) store(ctx context.Context) error {
	taken := x.index.take()
	if len(taken) == 0 {
		return nil // the stored position may be earlier, so its changes are read again
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(taken)), storedAtOnce) {
		err := x.History.Store().Update(ctx, func(tx *store.Tx) error {
			for _, last := range some {
				if b := taken[last]; b == nil {
					tx.Delete(indexKind, last.key())
				} else {
					tx.Put(indexKind, last.key(), b.encode(), x.expiry(tx.Now()))
				}
			}
			return nil
		})
		if err != nil {
			x.index.giveBack(taken)
			return err
		}
	}
	return x.History.Store().Update(ctx, func(tx *store.Tx) error {
		text, err := x.position.MarshalText()
		tx.Put(indexKind, positionKey, text, x.expiry(tx.Now()))
		return err
	})
}

// expiry returns when a part of the index expires, which is never before the changes in it.
func (x *indexing) expiry(now time.Time) time.Time { return now.Add(x.History.Life()) }

// key returns the key of the block that ends at a place.
func (p place) key() string { return fmt.Sprintf("%016x", uint64(p)) }

var errBlock = errors.New("the stored index of the history cannot be read")

// blockFormat is the first byte of a block in the store. It is followed by the place before the block, the
// number of places and the places, and the number of entries and the entries. Each place and entry is stored
// as its difference from the one before.
const blockFormat = 1

func (b *block) encode() []byte {
	to := binary.AppendUvarint([]byte{blockFormat}, uint64(b.after))
	to = binary.AppendUvarint(to, uint64(len(b.places)))
	last := b.after
	for _, p := range b.places {
		to = binary.AppendUvarint(to, uint64(p-last))
		last = p
	}
	to = binary.AppendUvarint(to, uint64(len(b.entries)))
	before := uint32(0)
	for _, e := range b.entries {
		to = binary.AppendUvarint(to, uint64(e-before))
		before = e
	}
	return to
}

func decodeBlock(from []byte) (*block, error) {
	if len(from) == 0 || from[0] != blockFormat {
		return nil, errBlock
	}
	from = from[1:]
	short := false
	number := func() uint64 {
		n, size := binary.Uvarint(from)
		if size <= 0 {
			short, size = true, 0
		}
		from = from[size:]
		return n
	}
	b := &block{after: place(number())}
	n := number()
	if n == 0 || n > changesOfBlock {
		return nil, errBlock
	}
	last := b.after
	for range n {
		last += place(number())
		b.places = append(b.places, last)
	}
	n = number()
	if n > uint64(len(from)) {
		return nil, errBlock
	}
	b.entries = make([]uint32, 0, n)
	before := uint64(0)
	for range n {
		before += number()
		b.entries = append(b.entries, uint32(before))
	}
	if short || len(from) > 0 || before >= 1<<(sumBits+placeBits) {
		return nil, errBlock
	}
	return b, nil
}
