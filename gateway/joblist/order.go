package joblist

import (
	"fmt"
	"slices"
	"strings"
)

// Unit is an item with those that it waits for.
type Unit struct {
	Item   int   // index
	Before []int // indexes of the items that must have ended before it begins, ascending, those of After among them; only direct ones
	After  []int // those of Before that its After names: it runs only if they were done
}

// Touch says which objects an item is about, by names that are equal for the same object.
type Touch struct {
	Changes []string // one at a time, in the order of the list
	Uses    []string // which must be as the items above have left them
}

// Order returns what each item waits for, in the order of the items: those that its
// After names, and because of the objects that it touches items above it: items that
// change the same object keep their order, and one that uses an object waits for its
// last change. It takes time and space in proportion to what the items touch.
//
// Problems are an id that is there twice, an After without its item, and items that wait
// for each other; the first 1,000. With a problem the units are of no use.
func Order(items []Item, touch func(i int) Touch) ([]Unit, []Problem) {
	o := &order{items: items, byID: make(map[string]int, len(items)), byLower: map[string]int{}}
	for i, item := range items {
		if item.ID == "" {
			continue
		}
		if first, twice := o.byID[item.ID]; twice {
			o.wrong(i, "id", fmt.Sprintf("The item in line %d has the same id.", items[first].Line))
			continue
		}
		o.byID[item.ID] = i
		if lower := strings.ToLower(item.ID); o.byLower[lower] == 0 {
			o.byLower[lower] = i + 1
		}
	}
	units, after := make([]Unit, len(items)), make([][]int, len(items))
	for i, item := range items {
		after[i] = o.named(i, item.After)
	}
	for i, before := range Waits(touch, after) {
		units[i] = Unit{Item: i, After: after[i], Before: before}
	}
	o.circles(units)
	return units, o.problems
}

// Waits returns what each item waits for, as [Order] does, given what it waits for beside
// those that touch the same objects.
func Waits(touch func(i int) Touch, after [][]int) [][]int {
	waits, objects := make([][]int, len(after)), objects{}
	for i := range after {
		waits[i] = objects.before(i, touch(i), after[i])
	}
	return waits
}

// objects are those that items touch, by name.
type objects map[string]*touched

type touched struct {
	changed int   // index + 1 of the last item that changes it; 0: none
	users   []int // items that use it since then
}

// before returns the items that an item waits for, those of after among them.
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
	byLower  map[string]int // index + 1, by the id in lower case
	problems []Problem
}

func (o *order) wrong(i int, field, message string) {
	if len(o.problems) < mostProblems {
		o.problems = append(o.problems, Problem{Line: o.items[i].Line, ID: o.items[i].ID, Field: field, Message: message})
	}
}

// named returns the items that an After names.
func (o *order) named(i int, ids []string) []int {
	var found []int
	for _, id := range ids {
		at, ok := o.byID[id]
		switch {
		case ok && at == i:
			o.wrong(i, "after", "The item comes after itself. Remove its own id from After.")
		case ok:
			found = append(found, at)
		case o.byLower[strings.ToLower(id)] > 0:
			o.wrong(i, "after", fmt.Sprintf("There is no item with the id %q. Did you mean %q?", id, o.items[o.byLower[strings.ToLower(id)]-1].ID))
		default:
			o.wrong(i, "after", fmt.Sprintf("There is no item with the id %q.", id))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// circles finds items that wait for each other: what is left when those that wait for
// none are removed, again and again. Of circles that wait for each other, one is told.
func (o *order) circles(units []Unit) {
	waiting := make([]int, len(units))
	followers := make([][]int, len(units))
	var free []int
	for i, unit := range units {
		waiting[i] = len(unit.Before)
		for _, before := range unit.Before {
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
	// Whoever still waits, waits for one who does: going from one to the next ends in a
	// circle, or where an earlier walk came by.
	walk := make([]int, len(units)) // in which one an item was met, from 1
	for i := range units {
		var path []int
		at := i
		for waiting[at] > 0 && walk[at] == 0 {
			walk[at] = i + 1
			path = append(path, at)
			next := slices.IndexFunc(units[at].Before, func(before int) bool { return waiting[before] > 0 })
			at = units[at].Before[next]
		}
		if len(path) > 0 && walk[at] == i+1 {
			o.circle(units, path[slices.Index(path, at):])
		}
	}
}

// longestCircle is how many items of a circle are named.
const longestCircle = 10

// circle tells of a circle, in which each item waits for the next.
func (o *order) circle(units []Unit, path []int) {
	first := slices.Index(path, slices.Min(path))
	path = slices.Concat(path[first:], path[:first])
	var names []string
	sameObject := false
	for k, i := range path {
		names = append(names, o.name(i))
		if !slices.Contains(units[i].After, path[(k+1)%len(path)]) {
			sameObject = true
		}
	}
	if len(names) > longestCircle {
		names = append(names[:longestCircle], fmt.Sprintf("%d others", len(path)-longestCircle))
	}
	message := fmt.Sprintf("These items wait for each other: %s, %s. Remove one of their ids from After.", strings.Join(names, ", "), names[0])
	if sameObject {
		message = fmt.Sprintf("These items wait for each other: %s, %s. Items of one object run in the order of the lines: move the lines, or remove an id from After.",
			strings.Join(names, ", "), names[0])
	}
	o.wrong(path[0], "after", message)
}

func (o *order) name(i int) string {
	if o.items[i].ID != "" {
		return fmt.Sprintf("%q (line %d)", o.items[i].ID, o.items[i].Line)
	}
	return fmt.Sprintf("line %d", o.items[i].Line)
}
