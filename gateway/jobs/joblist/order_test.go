package joblist_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"adgateway/gateway/jobs/joblist"

	"github.com/stretchr/testify/assert"
)

// items reads items from words: the id, then a colon and the ids that it comes after, then @ and
// its objects, where ~ marks those that are only used. The id - stands for none.
func items(words ...string) ([]joblist.Item, func(int) joblist.Touch) {
	list := make([]joblist.Item, len(words))
	touches := make([]joblist.Touch, len(words))
	for i, word := range words {
		word, touched, _ := strings.Cut(word, "@")
		id, after, _ := strings.Cut(word, ":")
		split := func(s string) []string { return strings.FieldsFunc(s, func(c rune) bool { return c == ',' }) }
		list[i] = joblist.Item{Line: i + 2, ID: strings.Trim(id, "-"), After: split(after)}
		for _, object := range split(touched) {
			if name, uses := strings.CutPrefix(object, "~"); uses {
				touches[i].Uses = append(touches[i].Uses, name)
			} else {
				touches[i].Changes = append(touches[i].Changes, object)
			}
		}
	}
	return list, func(i int) joblist.Touch { return touches[i] }
}

func TestOrder(t *testing.T) {
	for name, c := range map[string]struct {
		items []string
		want  string // of each item: Before, then a slash and After
	}{
		"independent":       {[]string{"-@x", "-@y", "-"}, "[]/[] []/[] []/[]"},
		"one object":        {[]string{"-@x", "-@x", "-@x"}, "[]/[] [0]/[] [1]/[]"},
		"two objects":       {[]string{"-@x", "-@y", "-@x,y", "-@y"}, "[]/[] []/[] [0 1]/[] [2]/[]"},
		"same before":       {[]string{"-@x,y", "-@y,x"}, "[]/[] [0]/[]"},
		"object twice":      {[]string{"-@x,x", "-@x,x"}, "[]/[] [0]/[]"},
		"after":             {[]string{"a:b", "b", "-:a,b"}, "[1]/[1] []/[] [0 1]/[0 1]"},
		"after twice":       {[]string{"a", "-:a,a"}, "[]/[] [0]/[0]"},
		"after and objects": {[]string{"-@x", "a@y", "-:a@x"}, "[]/[] []/[] [0 1]/[1]"},
		"used":              {[]string{"-@~x", "-@x", "-@~x", "-@~x", "-@x", "-@~x"}, "[]/[] [0]/[] [1]/[] [1]/[] [1 2 3]/[] [4]/[]"},
		"used and changed":  {[]string{"-@x", "-@~x,x", "-@~x,y", "-@y"}, "[]/[] [0]/[] [1]/[] [2]/[]"},
		"no item":           {nil, ""},
		// After wins over the order of lines, but only where the two differ.
		"against the lines":     {[]string{"-:b@x", "b@x"}, "[1]/[1] []/[]"},
		"used before it is":     {[]string{"-:b@~x", "b@x"}, "[1]/[1] []/[]"},
		"a line between":        {[]string{"-:c@x", "-@x", "c@x"}, "[2]/[2] [0]/[] []/[]"},
		"others keep theirs":    {[]string{"-:c@x", "-@y", "c@x,y", "-@x", "-@y"}, "[2]/[2] []/[] [1]/[] [0]/[] [2]/[]"},
		"without need":          {[]string{"-:c@x", "-@x", "c@y"}, "[2]/[2] [0]/[] []/[]"},
		"against it, by others": {[]string{"-:b", "b:c@x", "c@x"}, "[1]/[1] [2]/[2] []/[]"},
	} {
		units, problems, circles := joblist.Order(items(c.items...))
		assert.Empty(t, problems, name)
		assert.Empty(t, circles, name)
		var got []string
		for i, unit := range units {
			assert.Equal(t, i, unit.Item)
			got = append(got, fmt.Sprintf("%v/%v", unit.Before, unit.After))
		}
		assert.Equal(t, c.want, strings.Join(got, " "), name)
	}
}

func TestImpossibleOrdersAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		items  []string
		circle bool
		want   []joblist.Problem
	}{
		"id twice": {[]string{"a", "b", "a"}, false, []joblist.Problem{{Line: 4, ID: "a", Field: "id", Message: "The item in line 2 has the same id."}}},
		"no item":  {[]string{"a:c"}, false, []joblist.Problem{{Line: 2, ID: "a", Field: "after", Message: `There is no item with the id "c".`}}},
		"case":     {[]string{"a", "b:A"}, false, []joblist.Problem{{Line: 3, ID: "b", Field: "after", Message: `There is no item with the id "A". Did you mean "a"?`}}},
		"itself":   {[]string{"a:a"}, true, []joblist.Problem{{Line: 2, ID: "a", Field: "after", Message: "The item comes after itself. Remove its own id from After."}}},
		"circle": {[]string{"d:c", "b:a", "c:b", "a:c", "e:d"}, true, []joblist.Problem{{Line: 3, ID: "b", Field: "after",
			Message: `These items wait for each other: "b" (line 3), "a" (line 5), "c" (line 4), "b" (line 3). Remove one of their ids from After.`}}},
		"two circles": {[]string{"a:b", "b:a", "c:d", "d:c"}, true, []joblist.Problem{
			{Line: 2, ID: "a", Field: "after", Message: `These items wait for each other: "a" (line 2), "b" (line 3), "a" (line 2). Remove one of their ids from After.`},
			{Line: 4, ID: "c", Field: "after", Message: `These items wait for each other: "c" (line 4), "d" (line 5), "c" (line 4). Remove one of their ids from After.`}}},
	} {
		_, problems, circles := joblist.Order(items(c.items...))
		assert.Equal(t, c.want, slices.Concat(problems, circles), name)
		assert.Equal(t, c.circle, len(circles) > 0, name)
	}
}

// many returns n items, each of which comes after as many of the preceding ones as the limit
// allows.
func many(n int) ([]joblist.Item, func(int) joblist.Touch) {
	list := make([]joblist.Item, n)
	for i := range list {
		list[i] = joblist.Item{Line: i + 2, ID: fmt.Sprint("id", i)}
		if i > 0 {
			list[i].After = []string{fmt.Sprint("id", i-1)}
		}
	}
	return list, func(i int) joblist.Touch {
		return joblist.Touch{Changes: []string{"cn=group", fmt.Sprint("user", i%100)}}
	}
}

// TestOrderOfManyItems: 20,000 items on one object and in one chain, the same against the line
// order, and as a cycle.
func TestOrderOfManyItems(t *testing.T) {
	list, object := many(20_000)
	units, _, _ := joblist.Order(list, object)
	for i, unit := range units {
		assert.LessOrEqual(t, len(unit.Before), 2, "%d", i)
	}
	for i := range list {
		list[i].After = []string{fmt.Sprint("id", i+1)}
	}
	list[len(list)-1].After = nil
	units, problems, circles := joblist.Order(list, object)
	assert.Empty(t, problems)
	assert.Empty(t, circles)
	for i, unit := range units[:len(units)-1] {
		assert.Contains(t, unit.Before, i+1)
	}
	list[len(list)-1].After = []string{"id0"}
	_, _, circles = joblist.Order(list, object)
	if assert.NotEmpty(t, circles) {
		assert.LessOrEqual(t, len(circles[0].Message), 500)
	}
	for i := range list {
		list[i].After = []string{"none"}
	}
	_, problems, _ = joblist.Order(list, object)
	assert.Len(t, problems, 1000)
}
