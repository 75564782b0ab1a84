package dotnet

// table is an insertion-ordered hash table: the store behind Props, Hashtable
// and Set. Hashes and equality come from the caller, so that one table serves
// every comparer. Up to smallTable entries there is no index: a scan is faster.
type table[K any] struct {
	keys   []K
	values []any
	hashes []uint32
	index  []int32 // position+1 by hash, open addressing; nil while small
}

const smallTable = 8

func (t *table[K]) find(key K, hash uint32, equal func(a, b K) bool) int {
	if t.index == nil {
		for i, h := range t.hashes {
			if h == hash && equal(t.keys[i], key) {
				return i
			}
		}
		return -1
	}
	mask := uint32(len(t.index) - 1)
	for slot := hash & mask; ; slot = (slot + 1) & mask {
		at := t.index[slot]
		if at == 0 {
			return -1
		}
		if t.hashes[at-1] == hash && equal(t.keys[at-1], key) {
			return int(at - 1)
		}
	}
}

// add appends an entry whose key is not in the table.
func (t *table[K]) add(key K, hash uint32, value any) {
	if len(t.keys) == 0 {
		t.grow(4)
	}
	t.keys = append(t.keys, key)
	t.values = append(t.values, value)
	t.hashes = append(t.hashes, hash)
	switch {
	case len(t.keys) <= smallTable:
	case t.index == nil || len(t.keys)*2 > len(t.index):
		t.reindex()
	default:
		t.place(len(t.keys) - 1)
	}
}

func (t *table[K]) place(i int) {
	mask := uint32(len(t.index) - 1)
	slot := t.hashes[i] & mask
	for t.index[slot] != 0 {
		slot = (slot + 1) & mask
	}
	t.index[slot] = int32(i + 1)
}

func (t *table[K]) reindex() {
	t.index = nil
	if len(t.keys) <= smallTable {
		return
	}
	size := 4 * smallTable
	for size < 4*len(t.keys) {
		size *= 2
	}
	t.index = make([]int32, size)
	for i := range t.keys {
		t.place(i)
	}
}

// remove takes out the entry at i; what follows moves up.
func (t *table[K]) remove(i int) {
	last := len(t.keys) - 1
	copy(t.keys[i:], t.keys[i+1:])
	copy(t.values[i:], t.values[i+1:])
	copy(t.hashes[i:], t.hashes[i+1:])
	var zero K
	t.keys[last], t.values[last] = zero, nil
	t.keys, t.values, t.hashes = t.keys[:last], t.values[:last], t.hashes[:last]
	t.reindex()
}

// insert puts an entry, whose key is not in the table, at i.
func (t *table[K]) insert(i int, key K, hash uint32, value any) {
	t.keys = append(t.keys, key)
	t.values = append(t.values, nil)
	t.hashes = append(t.hashes, 0)
	copy(t.keys[i+1:], t.keys[i:])
	copy(t.values[i+1:], t.values[i:])
	copy(t.hashes[i+1:], t.hashes[i:])
	t.keys[i], t.values[i], t.hashes[i] = key, value, hash
	t.reindex()
}

func (t *table[K]) clear() { *t = table[K]{} }

func (t *table[K]) clone() table[K] {
	return table[K]{
		keys:   append([]K(nil), t.keys...),
		values: append([]any(nil), t.values...),
		hashes: append([]uint32(nil), t.hashes...),
		index:  append([]int32(nil), t.index...),
	}
}

func (t *table[K]) grow(n int) {
	if n > cap(t.keys) {
		t.keys = append(make([]K, 0, n), t.keys...)
		t.values = append(make([]any, 0, n), t.values...)
		t.hashes = append(make([]uint32, 0, n), t.hashes...)
	}
}
