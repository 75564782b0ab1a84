package history

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
)

// An index finds the parts of the history that may contain changes of an object or by a caller, so that a
// search reads only these parts. It is in memory, and takes about 50 bytes for each change. Changes that it
// does not cover are always read. It is safe for concurrent use.
type index struct {
	seed maphash.Seed
	due  chan struct{} // receives when many changes are not covered
	used atomic.Bool   // saved changes have to be added

	mu       sync.RWMutex
	blocks   []block // oldest first
	building bool    // more blocks are being built from the history
	saved    []terms // of changes that were saved while blocks are built
	newer    int     // number of saves of changes that no block covers
}

// A block covers the changes after the previous block, up to and including last.
type block struct {
	last  string   // id of a change
	terms []uint32 // sorted; some may belong to removed changes
}

// terms holds the terms by which a change can be found.
type terms struct {
	id   string
	sums []uint32
}

// wanted holds the terms that a search looks for: at least one of each group.
type wanted [][]uint32

// A span is the range of changes between two ids, both exclusive. An empty id is no bound.
type span struct{ after, before string }

// changesOfBlock is the number of changes in a block. A search reads at most this many changes per match, and
// few others.
const changesOfBlock = 128

func newIndex() *index { return &index{seed: maphash.MakeSeed(), due: make(chan struct{}, 1)} }

// sums returns the hashes of texts, without regard to case.
func (x *index) sums(texts []string) []uint32 {
	all := make([]uint32, len(texts))
	for i, text := range texts {
		all[i] = uint32(maphash.String(x.seed, fold(text)))
	}
	return all
}

// fold returns the same text for all texts that are equal under [strings.EqualFold].
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, text)
}

// spans returns the spans that a search before an id has to read, newest first.
func (x *index) spans(before string, w wanted) (found []span) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	end := before // end of the span being built; an adjacent older part extends it
	open := true
	for i := len(x.blocks) - 1; i >= 0; i-- {
		b := &x.blocks[i]
		if before != "" && i > 0 && x.blocks[i-1].last >= before {
			continue // the whole block is newer
		}
		may := b.may(w)
		switch {
		case open && !may:
			found, open = append(found, span{b.last, end}), false
		case !open && may:
			end, open = b.last+"\x00", true
		}
	}
	if open {
		found = append(found, span{"", end})
	}
	return found
}

// may reports whether a change of the block may match w.
func (b *block) may(w wanted) bool {
	for _, group := range w {
		if !slices.ContainsFunc(group, b.has) {
			return false
		}
	}
	return true
}

func (b *block) has(sum uint32) bool {
	_, has := slices.BinarySearch(b.terms, sum)
	return has
}

// add adds the terms of a saved change, which may differ from its earlier terms.
func (x *index) add(t terms) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.building:
		x.saved = append(x.saved, t)
	case !x.addTo(t):
		if x.newer++; x.newer >= 2*changesOfBlock {
			select {
			case x.due <- struct{}{}:
			default: // a signal is already pending
			}
		}
	}
}

// addTo adds terms to the block that covers their change. It returns false if no block does.
func (x *index) addTo(t terms) bool {
	i, _ := slices.BinarySearchFunc(x.blocks, t.id,
		func(b block, id string) int { return cmp.Compare(b.last, id) })
	if i == len(x.blocks) {
		return false
	}
	b := &x.blocks[i]
	for _, sum := range t.sums {
		if at, has := slices.BinarySearch(b.terms, sum); !has {
			b.terms = slices.Insert(b.terms, at, sum)
		}
	}
	return true
}

// begin must be called before changes are read for more blocks. It returns the id after which no change is
// covered. [index.end] adds the changes that are saved meanwhile.
func (x *index) begin() (last string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.used.Store(true)
	x.building, x.newer = true, 0
	if len(x.blocks) > 0 {
		last = x.blocks[len(x.blocks)-1].last
	}
	return last
}

// end adds blocks for the changes that were read, which are newest first. It drops the blocks of changes
// before oldest, the id of the oldest change that is kept.
func (x *index) end(read []terms, oldest string) {
	var more []block
	slices.Reverse(read)
	for chunk := range slices.Chunk(read, changesOfBlock) {
		if len(chunk) < changesOfBlock {
			break // covered once there are more of them
		}
		b := block{last: chunk[len(chunk)-1].id}
		for _, t := range chunk {
			b.terms = append(b.terms, t.sums...)
		}
		slices.Sort(b.terms)
		b.terms = slices.Clip(slices.Compact(b.terms))
		more = append(more, b)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.blocks = append(slices.DeleteFunc(x.blocks, func(b block) bool { return b.last < oldest }), more...)
	for _, t := range x.saved {
		x.addTo(t)
	}
	x.building, x.saved = false, nil
}

// clear removes everything. Searches read all changes again.
func (x *index) clear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.used.Store(false)
	x.blocks, x.building, x.saved, x.newer = nil, false, nil, 0
}
