package dotnet

import "math"

// table is an insertion-ordered hash table, the storage of Props, Hashtable, Set and the members of a Type.
// The caller provides hashes and equality, so that a single table type serves all comparers. Tables with up
// to smallTable entries have no index, because a scan is faster.
type table[K any] struct {
	entries []entry[K]
	index   tableIndex
}

type entry[K any] struct {
	key   K
	value any
	hash  uint32
}

const smallTable = 8

// find returns the position of the entry with this hash whose key matches, or -1.
func (t *table[K]) find(hash uint32, matches func(K) bool) int {
	slots := t.index.slots()
	if slots == 0 {
		for i := range t.entries {
			if e := &t.entries[i]; e.hash == hash && matches(e.key) {
				return i
			}
		}
		return -1
	}
	mask := uint32(slots - 1)
	for slot := hash & mask; ; slot = (slot + 1) & mask {
		at := t.index.at(slot)
		if at == 0 {
			return -1
		}
		if e := &t.entries[at-1]; e.hash == hash && matches(e.key) {
			return int(at - 1)
		}
	}
}

// add appends an entry whose key is not in the table.
func (t *table[K]) add(key K, hash uint32, value any) {
	if n := len(t.entries); n == cap(t.entries) {
		t.grow(newCap(n))
	}
	t.entries = append(t.entries, entry[K]{key, value, hash})
	switch n := len(t.entries); {
	case n <= smallTable:
	case t.index.holds(n):
		t.place(n - 1)
	default:
		t.reindex()
	}
}

// newCap returns the new capacity of a table with n entries that grows. It is much larger, because most
// tables that outgrow their first capacity soon outgrow the next one.
func newCap(n int) int {
	switch {
	case n < 4:
		return 4
	case n < 16:
		return 16
	case n < 48:
		return 48
	default:
		return 2 * n
	}
}

func (t *table[K]) place(i int) {
	mask := uint32(t.index.slots() - 1)
	slot := t.entries[i].hash & mask
	for t.index.at(slot) != 0 {
		slot = (slot + 1) & mask
	}
	t.index.put(slot, uint32(i+1))
}

func (t *table[K]) reindex() {
	t.index = tableIndex{}
	if len(t.entries) <= smallTable {
		return
	}
	t.index.make(len(t.entries))
	for i := range t.entries {
		t.place(i)
	}
}

func (t *table[K]) clone() table[K] {
	return table[K]{entries: append([]entry[K](nil), t.entries...), index: t.index.clone()}
}

func (t *table[K]) grow(n int) {
	if n > cap(t.entries) {
		t.entries = append(make([]entry[K], 0, n), t.entries...)
	}
}

// tableIndex maps hashes to the positions of entries, plus one, with open addressing. One
// byte per position suffices for most tables, so only one of the two slices is used.
type tableIndex struct {
	short []uint8
	long  []uint32
}

func (x *tableIndex) slots() int { return max(len(x.short), len(x.long)) }

// holds reports whether the index has capacity for n entries.
func (x *tableIndex) holds(n int) bool {
	return 2*n <= len(x.long) || 2*n <= len(x.short) && n <= math.MaxUint8
}

func (x *tableIndex) at(slot uint32) uint32 {
	if x.long != nil {
		return x.long[slot]
	}
	return uint32(x.short[slot])
}

func (x *tableIndex) put(slot, position uint32) {
	if x.long != nil {
		x.long[slot] = position
		return
	}
	x.short[slot] = uint8(position)
}

// make empties the index and gives it capacity for more than n entries.
func (x *tableIndex) make(n int) {
	slots := 8 * smallTable
	for slots < 4*n {
		slots *= 2
	}
	if n <= math.MaxUint8/2 {
		*x = tableIndex{short: make([]uint8, slots)}
		return
	}
	*x = tableIndex{long: make([]uint32, slots)}
}

func (x *tableIndex) clone() tableIndex {
	return tableIndex{short: append([]uint8(nil), x.short...), long: append([]uint32(nil), x.long...)}
}
