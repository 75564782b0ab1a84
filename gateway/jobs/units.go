package jobs

import "adgateway/ps"

// mostUnit is how many items a unit has at most.
const mostUnit = 25

// units divides the items of a job into those that one gateway claims together: items of
// one lane that wait for each other, as those do that touch the same object, and, in long
// lists, others beside them, so that a claim is not written for every item. Every gateway
// finds the same units, because they depend on nothing but the list.
type units struct {
	of    []int   // unit of each item
	items [][]int // of each unit, in the order of the list
	lanes []ps.Lane

	size   int             // of a unit to which items are added that wait for none
	filled map[ps.Lane]int // the unit to which those are added now
}

func newUnits(total int) units {
	return units{of: make([]int, total), size: min(max(total/100, 1), mostUnit), filled: map[ps.Lane]int{}}
}

// add adds an item, after all those that are before it in the list.
func (u *units) add(i int, spec *Spec) {
	unit, found := u.follows(i, spec)
	if !found {
		unit, found = u.filled[spec.Lane]
		found = found && len(u.items[unit]) < u.size
	}
	if !found {
		unit = len(u.items)
		u.items, u.lanes = append(u.items, nil), append(u.lanes, spec.Lane)
		u.filled[spec.Lane] = unit
	}
	u.items[unit] = append(u.items[unit], i)
	u.of[i] = unit
}

// follows returns the unit of the last item before an item that it waits for, if there is
// a place in it.
func (u *units) follows(i int, spec *Spec) (unit int, found bool) {
	last := -1
	for _, before := range spec.Waits {
		if before < i {
			last = max(last, before)
		}
	}
	if last < 0 {
		return 0, false
	}
	unit = u.of[last]
	return unit, u.lanes[unit] == spec.Lane && len(u.items[unit]) < mostUnit
}
