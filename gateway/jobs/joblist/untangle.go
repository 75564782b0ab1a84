package joblist

import "slices"

// untangled returns the items in an order in which no item precedes one that it waits for. Where the objects
// demand the opposite of after, after wins. It returns nil if the objects never demand the opposite. after
// must not contain a cycle.
func untangled(waits, after [][]int) []int {
	if !upwards(after) {
		return nil // each item only waits for lines above it
	}
	t := &tangle{waits: waits, met: make([]int, len(waits)), low: make([]int, len(waits)),
		open: make([]bool, len(waits))}
	for i := range waits {
		if t.met[i] == 0 {
			t.visit(i, after)
		}
	}
	if !t.tied {
		return nil
	}
	return t.sequence
}

// upwards reports whether any item comes after an item that is below it in the list.
func upwards(after [][]int) bool {
	for i, all := range after {
		if len(all) > 0 && slices.Max(all) > i {
			return true
		}
	}
	return false
}

// tangle finds the groups of items that wait for each other, directly or indirectly, with Tarjan's
// algorithm. Each group comes after all groups that it waits for.
type tangle struct {
	waits    [][]int
	met      []int // when an item was visited, from 1; 0 if not yet
	low      []int // earliest visited item that it waits for, directly or indirectly
	open     []bool
	stack    []int // items whose group is still unknown
	count    int
	sequence []int
	tied     bool // some items wait for each other
}

func (t *tangle) visit(i int, after [][]int) {
	t.count++
	t.met[i], t.low[i], t.open[i] = t.count, t.count, true
	t.stack = append(t.stack, i)
	for _, before := range t.waits[i] {
		if t.met[before] == 0 {
			t.visit(before, after)
			t.low[i] = min(t.low[i], t.low[before])
		} else if t.open[before] {
			t.low[i] = min(t.low[i], t.met[before])
		}
	}
	if t.low[i] != t.met[i] {
		return
	}
	first := len(t.stack) - 1
	for t.stack[first] != i {
		first--
	}
	group := slices.Clone(t.stack[first:])
	t.stack = t.stack[:first]
	slices.Sort(group)
	t.tied = t.tied || len(group) > 1
	for _, member := range group {
		t.append(member, after)
	}
}

// append appends an item of the open group, after the items of the group that must precede it.
func (t *tangle) append(i int, after [][]int) {
	if !t.open[i] {
		return
	}
	t.open[i] = false
	for _, before := range after[i] {
		t.append(before, after)
	}
	t.sequence = append(t.sequence, i)
}
