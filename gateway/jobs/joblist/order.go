package joblist

import (
	"fmt"
	"slices"
	"strings"
)

// Unit is an item with the items that it waits for.
type Unit struct {
	Item   int   // index
	Before []int // ascending indexes of the items that it directly waits for
	After  []int // those items in Before that its After names; the item runs only if they succeed
}

// Touch names the objects of an item. The same object always has the same name.
type Touch struct {
	Changes []string // objects that are changed one after another, in list order
	Uses    []string // objects that must be as earlier items left them
}

// Order returns the items that each item waits for, in item order. An item waits for the items that its After
// names, and for earlier items that touch the same objects. Items that change the same object keep their
// order, and an item that uses an object waits for the last change of it. If After demands the opposite,
// After wins. Order takes time and space proportional to the number of objects that the items touch.
//
// Problems are duplicate ids, and an After without its item. Circles are items that come after each other, or
// after themselves. Each of these lists has at most 1,000 entries. If either has an entry, units must not be
// used.
func Order(items []Item, touch func(i int) Touch) (units []Unit, problems, circles []Problem) {
	o := &order{items: items, byID: make(map[string]int, len(items)), byLower: map[string]int{}}
	for i, item := range items {
		if item.ID == "" {
			continue
		}
		if first, twice := o.byID[item.ID]; twice {
			o.wrong(&o.problems, i, "id", fmt.Sprintf("The item in line %d has the same id.", items[first].Line))
			continue
		}
		o.byID[item.ID] = i
		if lower := strings.ToLower(item.ID); o.byLower[lower] == 0 {
			o.byLower[lower] = i + 1
		}
	}
	after := make([][]int, len(items))
	for i, item := range items {
		after[i] = o.named(i, item.After)
	}
	if o.findCircles(after); len(o.problems)+len(o.circles) > 0 {
		return nil, o.problems, o.circles
	}
	units = make([]Unit, len(items))
	for i, before := range Waits(touch, after) {
		units[i] = Unit{Item: i, After: after[i], Before: before}
	}
	return units, nil, nil
}

// Waits returns the items that each item waits for, as [Order] does. after holds the items that each
// item comes after, and must not contain cycles.
func Waits(touch func(i int) Touch, after [][]int) [][]int {
	lines := make([]int, len(after))
	for i := range lines {
		lines[i] = i
	}
	waits := waitsIn(lines, touch, after)
	if sequence := untangled(waits, after); sequence != nil {
		waits = waitsIn(sequence, touch, after)
	}
	return waits
}

// waitsIn returns the items that each item waits for if items that touch the same object keep the
// order of a sequence.
func waitsIn(sequence []int, touch func(i int) Touch, after [][]int) [][]int {
	waits, objects := make([][]int, len(after)), objects{}
	for _, i := range sequence {
		waits[i] = objects.before(i, touch(i), after[i])
	}
	return waits
}

// objects are the objects that items touch, by name.
type objects map[string]*touched

type touched struct {
	changed int   // index + 1 of the last item that changes the object; 0 if none does
	users   []int // items that have used it since then
}

// before returns the items that an item waits for, including those in after.
func (o objects) before(i int, touch Touch, after []int) []int {
	found := slices.Clone(after)
	of := func(name string) *touched {
		if o[name] == nil {
			o[name] = &touched{}
		}
		if last := o[name].changed - 1; last >= 0 && last != i {
			found = append(found, last)
		}
		return o[name]
	}
	for _, name := range touch.Uses {
		used := of(name)
		used.users = append(used.users, i)
	}
	for _, name := range touch.Changes {
		changed := of(name)
		for _, user := range changed.users {
			if user != i {
				found = append(found, user)
			}
		}
		changed.changed, changed.users = i+1, nil
	}
	slices.Sort(found)
	return slices.Compact(found)
}

type order struct {
	items    []Item
	byID     map[string]int
	byLower  map[string]int // index + 1, keyed by the id in lower case
	problems []Problem
	circles  []Problem
}

// wrong adds a problem with an item, unless there are already enough.
func (o *order) wrong(to *[]Problem, i int, field, message string) {
	if len(*to) < mostProblems {
		*to = append(*to, Problem{Line: o.items[i].Line, ID: o.items[i].ID, Field: field, Message: message})
	}
}

// named returns the indexes of the items that an After names.
func (o *order) named(i int, ids []string) []int {
	var found []int
	for _, id := range ids {
		at, ok := o.byID[id]
		switch {
		case ok && at == i:
			o.wrong(&o.circles, i, "after", "The item comes after itself. Remove its own id from After.")
		case ok:
			found = append(found, at)
		case o.byLower[strings.ToLower(id)] > 0:
			o.wrong(&o.problems, i, "after",
				fmt.Sprintf("There is no item with the id %q. Did you mean %q?", id,
					o.items[o.byLower[strings.ToLower(id)]-1].ID))
		default:
			o.wrong(&o.problems, i, "after", fmt.Sprintf("There is no item with the id %q.", id))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// findCircles finds items that come after each other. These remain when items that come after no other are
// removed repeatedly. Of several cycles that share items, it reports one.
func (o *order) findCircles(after [][]int) {
	waiting := make([]int, len(after))
	followers := make([][]int, len(after))
	var free []int
	for i, all := range after {
		waiting[i] = len(all)
		for _, before := range all {
			followers[before] = append(followers[before], i)
		}
		if waiting[i] == 0 {
			free = append(free, i)
		}
	}
	for len(free) > 0 {
		i := free[len(free)-1]
		free = free[:len(free)-1]
		for _, follower := range followers[i] {
			if waiting[follower]--; waiting[follower] == 0 {
				free = append(free, follower)
			}
		}
	}
	// Each remaining item waits for another one. A walk from one to the next ends in a cycle, or
	// reaches an earlier walk.
	walk := make([]int, len(after)) // number of the walk that met an item, from 1
	for i := range after {
		var path []int
		at := i
		for waiting[at] > 0 && walk[at] == 0 {
			walk[at] = i + 1
			path = append(path, at)
			next := slices.IndexFunc(after[at], func(before int) bool { return waiting[before] > 0 })
			at = after[at][next]
		}
		if len(path) > 0 && walk[at] == i+1 {
			o.circle(path[slices.Index(path, at):])
		}
	}
}

// longestCircle is the maximum number of items of a cycle that an answer names.
const longestCircle = 10

// circle adds a cycle in which each item comes after the next one.
func (o *order) circle(path []int) {
	first := slices.Index(path, slices.Min(path))
	path = slices.Concat(path[first:], path[:first])
	var names []string
	for _, i := range path {
		names = append(names, o.name(i))
	}
	if len(names) > longestCircle {
		names = append(names[:longestCircle], fmt.Sprintf("%d others", len(path)-longestCircle))
	}
	o.wrong(&o.circles, path[0], "after", fmt.Sprintf(
		"These items wait for each other: %s, %s. Remove one of their ids from After.", strings.Join(names, ", "),
		names[0]))
}

func (o *order) name(i int) string {
	if o.items[i].ID != "" {
		return fmt.Sprintf("%q (line %d)", o.items[i].ID, o.items[i].Line)
	}
	return fmt.Sprintf("line %d", o.items[i].Line)
}
