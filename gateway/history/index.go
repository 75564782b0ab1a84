package history

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"adgateway/gateway/store"
)

// An index finds the changes that may concern an object or be made by a caller, so a search reads only these.
// It takes about 50 bytes of memory for each change. Changes that no block covers are always read, but only
// decoded if their terms are not known yet. It is safe for concurrent use.
type index struct {
	due  chan struct{} // receives when many changes are not covered
	used atomic.Bool   // whether saved changes are added; set by begin

	mu       sync.RWMutex
	blocks   []*block // oldest first, adjacent; a block is never modified
	building bool     // more blocks are being built from the history
	saved    []terms  // of changes that were saved while blocks are built
	newer    int      // number of saves of changes that no block covers
	known    map[string]known

	// blocks that the store does not have yet, by their last places; nil for a block that the store must remove
	dirty map[place]*block
}

// A place determines the order of changes: it is the part of a change's id before the random bits. Few
// changes share a place.
type place uint64

// A block covers the changes at the places above after, up to and including the last of places.
type block struct {
	after  place
	places []place // in order, at most changesOfBlock
	// sorted sums of terms, each with the index in places of a change that it may belong to; see entry
	entries []uint32
}

// terms holds the terms by which a change can be found.
type terms struct {
	id    string
	at    place
	sums  []uint32
	ended bool // whether the change has ended, so that the terms are final
}

// known holds the terms of a change that no block covers.
type known struct {
	sums     []uint32
	final    bool           // the change has ended, so that these are the terms of every state of it
	revision store.Revision // state with the terms, unless they are final
}

// wanted holds the terms that a search looks for: at least one of each group.
type wanted [][]uint32

// A span is the range of changes between two ids, both exclusive. An empty id is no bound. covered reports
// whether blocks cover it.
type span struct {
	after, before string
	covered       bool
}

// An entry consists of a sum and an index in the places of a block. With these sizes, a search for one term
// among a million changes reads about two changes that do not match.
const (
	placeBits      = 7
	sumBits        = 22
	changesOfBlock = 1 << placeBits
)

func entry(sum uint32, at int) uint32 { return sum<<placeBits | uint32(at) }

func newIndex() *index {
	return &index{due: make(chan struct{}, 1), known: map[string]known{}, dirty: map[place]*block{}}
}

// compacted sorts sums and removes duplicates.
func compacted(sums []uint32) []uint32 {
	slices.Sort(sums)
	return slices.Compact(sums)
}

// Parameters of the hash FNV-1a.
const (
	hashOffset = 0xcbf29ce484222325
	hashPrime  = 0x100000001b3
)

// sumOf returns the sum of a term, without regard to case. It is the same in every process, and for all texts
// that are equal under [strings.EqualFold].
func sumOf(prefix, text string) uint32 {
	hash := uint64(hashOffset)
	var room [utf8.UTFMax]byte
	for _, part := range [...]string{prefix, text} {
		for _, r := range part {
			for _, octet := range utf8.AppendRune(room[:0], folded(r)) {
				hash = (hash ^ uint64(octet)) * hashPrime
			}
		}
	}
	return uint32(hash * 0x9e3779b97f4a7c15 >> (64 - sumBits))
}

// folded returns the same letter for all letters that differ only in case.
func folded(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// idPrefix is the beginning of all ids of changes.
const idPrefix = "ch_"

// placeOf returns the place of a change. An id that is not one of a change has the first place.
func placeOf(id string) place {
	var text, octets [16]byte
	digits := strings.TrimPrefix(id, idPrefix)
	if len(digits) < 18 {
		return 0
	}
	copy(text[:8], digits)
	copy(text[8:12], digits[9:])
	copy(text[12:], digits[14:18])
	if _, err := hex.Decode(octets[:], text[:]); err != nil {
		return 0
	}
	return place(binary.BigEndian.Uint64(octets[:]))
}

// before returns a text that is less than the ids at a place, and greater than those at lesser places.
func (p place) before() string {
	digits := hex.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(p)))
	return idPrefix + digits[:8] + "-" + digits[8:12] + "-" + digits[12:]
}

// behind returns a text that is greater than the ids at a place, and less than those at greater places.
func (p place) behind() string { return p.before() + "~" }

func (b *block) last() place { return b.places[len(b.places)-1] }

// next returns the newest span before an id that a search has to read, or false if there is none.
func (x *index) next(before string, w wanted) (span, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	i := len(x.blocks)
	if i == 0 {
		return span{before: before}, true
	}
	if last := x.blocks[i-1].last().behind(); before == "" || last < before {
		return span{after: last, before: before}, true
	}
	i, _ = slices.BinarySearchFunc(x.blocks, before, func(b *block, before string) int {
		return strings.Compare(b.last().before(), before)
	})
	for i = min(i, len(x.blocks)-1); i >= 0; i-- {
		b := x.blocks[i]
		may := b.may(w)
		if may == (set{}) {
			continue
		}
		for at := may.below(len(b.places)); at >= 0; at = may.below(at) {
			if p := b.places[at]; p.before() < before {
				return span{p.before(), min(p.behind(), before), true}, true
			}
		}
	}
	if first := x.blocks[0].after.behind(); first < before {
		before = first
	}
	return span{before: before}, true
}

// may returns the set of the changes of the block that may match w.
func (b *block) may(w wanted) (may set) {
	may = set{math.MaxUint64, math.MaxUint64}
	for _, group := range w {
		var has set
		for _, sum := range group {
			for i := b.find(sum); i < len(b.entries) && b.entries[i]>>placeBits == sum; i++ {
				at := b.entries[i] & (changesOfBlock - 1)
				has[at/64] |= 1 << (at % 64)
			}
		}
		may[0], may[1] = may[0]&has[0], may[1]&has[1]
		if may == (set{}) {
			break
		}
	}
	return may
}

// A set holds indexes in the places of a block.
type set [changesOfBlock / 64]uint64

// below returns the greatest index in the set that is less than end, or -1.
func (s set) below(end int) int {
	for i := end - 1; i >= 0; i-- {
		if s[i/64]&(1<<(i%64)) != 0 {
			return i
		}
	}
	return -1
}

// find returns the index of the first entry whose sum is at least sum. Because sums are spread evenly, it
// starts at the expected index, which touches less memory than a binary search of all entries.
func (b *block) find(sum uint32) int {
	n, wanted := len(b.entries), entry(sum, 0)
	i := int(uint64(sum) * uint64(n) >> sumBits)
	for step := 16; i > 0 && b.entries[i-1] >= wanted; step *= 2 {
		i = max(i-step, 0)
	}
	from := i
	for step := 16; i < n && b.entries[i] < wanted; step *= 2 {
		from, i = i+1, min(i+step, n)
	}
	at, _ := slices.BinarySearch(b.entries[from:i], wanted)
	return from + at
}

// matches reports whether a change with the sums may match w.
func (w wanted) matches(sums []uint32) bool {
	for _, group := range w {
		if !slices.ContainsFunc(group, func(sum uint32) bool { return slices.Contains(sums, sum) }) {
			return false
		}
	}
	return true
}

// learn remembers the terms of a change that no block covers, unless the final ones are known.
func (x *index) learn(id string, k known) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.known[id].final {
		x.know(id, k)
	}
}

// know is [index.learn] for terms that replace all others. x.mu is held.
func (x *index) know(id string, k known) {
	if _, again := x.known[id]; x.used.Load() && (again || len(x.known) < mostKnown) {
		x.known[id] = k
	}
}

// final returns the final terms of a change that no block covers, or false if they are not known.
func (x *index) final(id string) (terms, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	k := x.known[id]
	return terms{id, placeOf(id), k.sums, true}, k.final
}

// mostKnown is the maximum number of changes in [index.known]. Usually at most two blocks of changes are not
// covered.
const mostKnown = 8 * changesOfBlock

// excludes reports whether the state of a change is known and does not match w.
func (x *index) excludes(id string, revision store.Revision, w wanted) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	k, there := x.known[id]
	return there && (k.final || k.revision == revision) && !w.matches(k.sums)
}

// pass reports whether the terms of a saved change that is still running are not needed, because no block
// covers it and none is being built. It counts such a change.
func (x *index) pass(at place) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.building || x.has(at) {
		return false
	}
	x.count()
	return true
}

// add adds the terms of a saved change, which may differ from its earlier terms. If no block covers the
// change and the terms are final, they are remembered until its block is built.
func (x *index) add(t terms) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.building {
		x.saved = append(x.saved, t)
	}
	if x.addTo(t) {
		return
	}
	if t.ended {
		x.know(t.id, known{sums: t.sums, final: true})
	}
	if !x.building {
		x.count()
	}
}

// count counts a saved change that no block covers. x.mu is held.
func (x *index) count() {
	if x.newer++; x.newer >= 2*changesOfBlock {
		select {
		case x.due <- struct{}{}:
		default: // a signal is already pending
		}
	}
}

// covers reports whether a block covers a place.
func (x *index) covers(at place) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.has(at)
}

// has is [index.covers] with x.mu held.
func (x *index) has(at place) bool {
	n := len(x.blocks)
	return n > 0 && x.blocks[0].after < at && at <= x.blocks[n-1].last()
}

// addTo adds terms to the block that covers their change. It returns false if no block does. x.mu is held.
func (x *index) addTo(t terms) bool {
	i, _ := slices.BinarySearchFunc(x.blocks, t.at,
		func(b *block, at place) int { return cmp.Compare(b.last(), at) })
	if !x.has(t.at) {
		return false
	}
	b := x.blocks[i]
	at, there := slices.BinarySearch(b.places, t.at)
	if !there && len(b.places) == changesOfBlock {
		lower, upper := b.split()
		x.blocks = slices.Insert(x.blocks, i, lower)
		x.blocks[i+1] = upper
		x.dirty[lower.last()], x.dirty[upper.last()] = lower, upper
		return x.addTo(t)
	}
	if next := b.with(at, !there, t); next != b {
		x.blocks[i], x.dirty[next.last()] = next, next
	}
	return true
}

// with returns a copy of b with the terms of a change added, or b itself if it has them. at is the index of
// the change in places. isNew means that the place must be inserted there.
func (b *block) with(at int, isNew bool, t terms) *block {
	next := &block{after: b.after, places: b.places, entries: b.entries}
	if isNew {
		next.places = slices.Insert(slices.Clone(b.places), at, t.at)
		next.entries = make([]uint32, len(b.entries))
		for i, e := range b.entries {
			if e&(changesOfBlock-1) >= uint32(at) {
				e++
			}
			next.entries[i] = e
		}
	}
	var more []uint32
	for _, sum := range t.sums {
		if _, has := slices.BinarySearch(next.entries, entry(sum, at)); !has {
			more = append(more, entry(sum, at))
		}
	}
	if len(more) > 0 {
		next.entries = append(slices.Clone(next.entries), more...)
		slices.Sort(next.entries)
	}
	if !isNew && len(more) == 0 {
		return b
	}
	return next
}

// split returns two blocks that cover the same changes.
func (b *block) split() (lower, upper *block) {
	half := len(b.places) / 2
	lower = &block{after: b.after, places: slices.Clone(b.places[:half])}
	upper = &block{after: lower.last(), places: slices.Clone(b.places[half:])}
	for _, e := range b.entries {
		if at := e & (changesOfBlock - 1); at < uint32(half) {
			lower.entries = append(lower.entries, e)
		} else {
			upper.entries = append(upper.entries, e-uint32(half))
		}
	}
	return lower, upper
}

// begin must be called before changes are read for more blocks. It returns the last place that is covered.
// [index.end] adds the changes that are saved meanwhile.
func (x *index) begin() (last place) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.used.Store(true)
	x.building, x.newer = true, 0
	if n := len(x.blocks); n > 0 {
		last = x.blocks[n-1].last()
	}
	return last
}

// end adds blocks for the changes that were read, which are oldest first. It drops the blocks of changes
// before oldest, the place of the oldest change that is kept.
func (x *index) end(read []terms, oldest place) {
	x.mu.Lock()
	defer x.mu.Unlock()
	kept := slices.IndexFunc(x.blocks, func(b *block) bool { return b.last() >= oldest })
	if kept < 0 {
		kept = max(len(x.blocks)-1, 0) // the next block begins where this one ends
	}
	for _, b := range x.blocks[:kept] {
		x.dirty[b.last()] = nil
	}
	x.blocks = slices.Clone(x.blocks[kept:])
	var last place
	if n := len(x.blocks); n > 0 {
		last = x.blocks[n-1].last()
	}
	for _, b := range built(read, last) {
		x.blocks, x.dirty[b.last()] = append(x.blocks, b), b
	}
	for _, t := range x.saved {
		x.addTo(t)
	}
	x.building, x.saved = false, nil
	maps.DeleteFunc(x.known, func(id string, _ known) bool { return x.has(placeOf(id)) })
}

// built returns full blocks for the changes that were read, which are oldest first. The changes that are left
// over are covered once there are more of them.
func built(read []terms, after place) (all []*block) {
	b := &block{after: after}
	for _, t := range read {
		if n := len(b.places); n == 0 || b.places[n-1] != t.at {
			if n == changesOfBlock {
				all = append(all, b.packed())
				b = &block{after: b.last()}
			}
			b.places = append(b.places, t.at)
		}
		for _, sum := range t.sums {
			b.entries = append(b.entries, entry(sum, len(b.places)-1))
		}
	}
	return all
}

// packed returns the block with its entries in order.
func (b *block) packed() *block {
	slices.Sort(b.entries)
	b.entries = slices.Clone(slices.Compact(b.entries))
	return b
}

// load sets blocks that the store has, with the terms of changes that ended after the blocks were stored.
// It may only be called between [index.begin] and [index.end].
func (x *index) load(blocks []*block, later []terms) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.blocks = blocks
	for _, t := range append(later, x.saved...) {
		x.addTo(t)
	}
}

// reset removes all blocks, also from the store, so that they are rebuilt.
func (x *index) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, b := range x.blocks {
		x.dirty[b.last()] = nil
	}
	x.blocks = nil
}

// size returns the number of changes that blocks cover, including removed ones.
func (x *index) size() (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, b := range x.blocks {
		n += len(b.places)
	}
	return n
}

// take returns the blocks that are due to be stored or removed, and resets their list.
func (x *index) take() map[place]*block {
	x.mu.Lock()
	defer x.mu.Unlock()
	taken := x.dirty
	x.dirty = map[place]*block{}
	return taken
}

// giveBack undoes [index.take] for blocks that could not be stored and have not changed since.
func (x *index) giveBack(taken map[place]*block) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for last, b := range taken {
		if _, newer := x.dirty[last]; !newer {
			x.dirty[last] = b
		}
	}
}

// clear removes everything. Searches read all changes again.
func (x *index) clear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.used.Store(false)
	x.blocks, x.building, x.saved, x.newer = nil, false, nil, 0
	x.known, x.dirty = map[string]known{}, map[place]*block{}
}
