// Package sorted sorts the records of a list by their keys. It keeps most of a long list in a file. For a
// page, it keeps only the records of that page.
package sorted

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
)

// File keeps blocks of records. It need not be safe for concurrent use.
type File interface {
	// Put appends a block. After an error it may be called again.
	Put(block []byte) error
	// Get returns a block by its number, and may return it in buffer. The blocks of successful calls of Put are
	// numbered from 0.
	Get(number int, buffer []byte) ([]byte, error)
	// Close discards all blocks.
	Close()
}

// Sizes in bytes.
const (
	standardMemory = 8 << 20
	blockSize      = 64 << 10
	aroundItem     = 64 // overhead of an item in memory
)

// BatchSize is the maximum number of records in a batch.
const BatchSize = 500

// Records is a list of records to be sorted. It is not safe for concurrent use.
type Records struct {
	file   File
	memory int // number of bytes of records to keep in memory before they are written to the file

	items  []item
	size   int // of the items, in bytes
	blocks int // number of blocks in the file
	runs   []run

	first string // smallest key of a page
	most  int    // maximum number of records of a page; zero for a whole list
	last  string // key of the last record of a page if more records follow
}

// item is a record with its key.
type item struct {
	key    string
	record []byte
}

// run is a range of blocks with sorted items.
type run struct{ first, end int }

// New returns an empty list. The caller must call [Records.Close]. memory is the number of bytes of records
// to keep in memory; zero means 8 MiB. The other records are written to file. If file is nil or has no room,
// all records are kept in memory.
func New(file File, memory int) *Records {
	if memory == 0 {
		memory = standardMemory
	}
	return &Records{file: file, memory: memory}
}

// NewPage returns an empty list for one page: the most records with the smallest keys that are not less
// than first. It keeps little more than these, in memory. most must be positive.
func NewPage(first string, most int) *Records { return &Records{first: first, most: most} }

// Add adds records, each with its key. It retains the records. It must not be called after [Records.Each].
func (r *Records) Add(keys []string, records []json.RawMessage) error {
	if len(keys) != len(records) {
		return fmt.Errorf("%d keys for %d records", len(keys), len(records))
	}
	for i, key := range keys {
		if Compare(key, r.first) < 0 {
			continue
		}
		record := records[i]
		if r.most > 0 {
			record = bytes.Clone(record) // or it would keep the records around it, which do not belong to the page
		}
		r.items = append(r.items, item{key, record})
		r.size += len(key) + len(record) + aroundItem
	}
	switch {
	case r.most > 0 && len(r.items) > 2*r.most+BatchSize:
		r.cut()
	case r.file != nil && r.size > r.memory:
		r.spill()
	}
	return nil
}

// cut sorts the items of a page and drops those that do not belong to it, except the first of these, which
// shows that there are more.
func (r *Records) cut() {
	r.sort()
	if kept := r.most + 1; len(r.items) > kept {
		clear(r.items[kept:])
		r.items = r.items[:kept]
	}
}

// Discard discards the records of a page whose keys are not less than from. Records with these keys can be
// added again. The records that the page has dropped before had greater keys than all it has kept. So if any
// of the kept records has such a key, all dropped ones had, too.
func (r *Records) Discard(from string) {
	r.items = slices.DeleteFunc(r.items, func(it item) bool { return Compare(it.key, from) >= 0 })
}

// Last returns the key of the last record of a page if more records follow, and otherwise "". It must be
// called after [Records.Each].
func (r *Records) Last() string { return r.last }

// spill moves the items to the file, unless it has no room.
func (r *Records) spill() {
	r.sort()
	added := run{first: r.blocks}
	block := make([]byte, 0, blockSize)
	put := func() bool {
		if len(block) == 0 {
			return true
		}
		if r.file.Put(block) != nil {
			return false
		}
		r.blocks++
		block = block[:0]
		return true
	}
	for _, it := range r.items {
		if len(block)+it.encodedSize() > blockSize && !put() {
			break
		}
		block = it.append(block)
	}
	if !put() {
		r.memory = 2 * r.size // try again once there is much more
		return
	}
	added.end = r.blocks
	r.runs = append(r.runs, added)
	clear(r.items)
	r.items, r.size = r.items[:0], 0
}

func (r *Records) sort() {
	slices.SortStableFunc(r.items, func(a, b item) int { return Compare(a.key, b.key) })
}

func (it item) encodedSize() int { return len(it.key) + len(it.record) + 2*binary.MaxVarintLen64 }

func (it item) append(to []byte) []byte {
	to = append(binary.AppendUvarint(to, uint64(len(it.key))), it.key...)
	return append(binary.AppendUvarint(to, uint64(len(it.record))), it.record...)
}

// Each calls emit with the records in the order of their keys, in batches: JSON arrays of at most
// [BatchSize] records, which emit may keep. It stops at the first error and returns it.
func (r *Records) Each(emit func(batch json.RawMessage) error) error {
	r.sort()
	if r.most > 0 && len(r.items) > r.most {
		r.items = r.items[:r.most]
		r.last = r.items[r.most-1].key
	}
	merged := merge{r: r}
	for i := range r.runs {
		merged.sources = append(merged.sources, &source{next: r.runs[i], number: i})
	}
	merged.sources = append(merged.sources, &source{items: r.items, number: len(r.runs)})
	if err := merged.begin(); err != nil {
		return err
	}
	b := batch{emit: emit}
	for len(merged.sources) > 0 {
		if err := b.add(merged.sources[0].items[0].record); err != nil {
			return err
		}
		if err := merged.advance(); err != nil {
			return err
		}
	}
	return b.end()
}

// Close releases the file.
func (r *Records) Close() {
	if r.file != nil {
		r.file.Close()
	}
	r.items = nil
}

// source is a sorted sequence of items: the rest of a run in the file, or the items that stayed in memory.
type source struct {
	items  []item // already read but not merged yet; empty only at the end
	next   run    // blocks to be read
	number int    // position in the order of addition, for sources with equal keys
	buffer []byte // of the block that the items refer to
}

// fill reads the next block if all items are used.
func (s *source) fill(r *Records) (err error) {
	if len(s.items) > 0 || s.next.first == s.next.end {
		return nil
	}
	if s.buffer, err = r.file.Get(s.next.first, s.buffer); err != nil {
		return fmt.Errorf("a list cannot be read from its temporary file: %w", err)
	}
	s.next.first++
	s.items = s.items[:0]
	for rest := s.buffer; len(rest) > 0; {
		var key, record []byte
		key, rest = cut(rest)
		record, rest = cut(rest)
		s.items = append(s.items, item{string(key), record})
	}
	return nil
}

// cut returns the first text of a block, which follows its length, and the rest of the block.
func cut(from []byte) (text, rest []byte) {
	size, n := binary.Uvarint(from)
	return from[n : n+int(size)], from[n+int(size):]
}

// merge merges sources. It is a heap of the sources that are not exhausted, ordered by their first items.
type merge struct {
	r       *Records
	sources []*source
}

// begin reads the first items of all sources.
func (m *merge) begin() error {
	for _, s := range m.sources {
		if err := s.fill(m.r); err != nil {
			return err
		}
	}
	m.sources = slices.DeleteFunc(m.sources, func(s *source) bool { return len(s.items) == 0 })
	heap.Init(m)
	return nil
}

// advance removes the first item of the first source.
func (m *merge) advance() error {
	s := m.sources[0]
	s.items = s.items[1:]
	if err := s.fill(m.r); err != nil {
		return err
	}
	if len(s.items) == 0 {
		heap.Pop(m)
	} else {
		heap.Fix(m, 0)
	}
	return nil
}

func (m *merge) Len() int { return len(m.sources) }

func (m *merge) Less(i, j int) bool {
	a, b := m.sources[i], m.sources[j]
	order := Compare(a.items[0].key, b.items[0].key)
	return order < 0 || order == 0 && a.number < b.number
}

func (m *merge) Swap(i, j int) { m.sources[i], m.sources[j] = m.sources[j], m.sources[i] }

// Push implements [heap.Interface]. It is never called, because no source is added to a merge.
func (m *merge) Push(any) { panic("a source is added to a merge") }

// Pop implements [heap.Interface].
func (m *merge) Pop() any {
	last := m.sources[len(m.sources)-1]
	m.sources = m.sources[:len(m.sources)-1]
	return last
}

// batch collects records up to the size of a batch.
type batch struct {
	emit    func(json.RawMessage) error
	text    []byte
	records int
}

func (b *batch) add(record []byte) error {
	if b.records == 0 {
		b.text = append(make([]byte, 0, len(b.text)+len(b.text)/8), '[')
	} else {
		b.text = append(b.text, ',')
	}
	b.text = append(b.text, record...)
	if b.records++; b.records == BatchSize {
		return b.end()
	}
	return nil
}

// end emits the records of an incomplete batch, if there are any.
func (b *batch) end() error {
	if b.records == 0 {
		return nil
	}
	b.records = 0
	b.text = append(b.text, ']')
	return b.emit(b.text)
}

// Compare compares two texts by their UTF-16 code units, like .NET's ordinal comparison. Both must be valid
// UTF-8.
func Compare(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return rank(a[i]) - rank(b[i])
		}
	}
	return len(a) - len(b)
}

// rank returns a number that orders the first bytes of characters by the first UTF-16 code units of the
// characters. The code units of characters beyond U+FFFF are surrogates, which are less than U+E000.
func rank(c byte) int {
	switch {
	case c >= 0xF0:
		return int(c) - 2
	case c >= 0xEE:
		return int(c) + 0x10
	}
	return int(c)
}
