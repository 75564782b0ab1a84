package gateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adgateway/ps"
)

// Names of states that mean more here than their text.
const (
	existence      = "exists"
	absent         = "False"
	parent         = "parent"
	userParameters = "userParameters"
)

// observation is what there is of an announced object: a record of a script
// that settles.
type observation struct {
	GUID   string            `json:"guid"`
	DN     string            `json:"dn"`
	Age    int               `json:"age"` // seconds since it was created, by the server's clock
	State  map[string]string `json:"state"`
	Record json.RawMessage   `json:"record"`
}

// standing is how far the changes of an object have come.
type standing uint8

const (
	isIdle    standing = iota // there was nothing to change
	isDone                    // all of it shows
	isNot                     // none of it shows
	isHalf                    // some of it shows
	isUnknown                 // it cannot be seen
)

// verdict is what became of an intent.
type verdict struct {
	outcome ps.Outcome
	objects []standing // of each announced object
	idle    bool       // nothing had to be changed
	notes   []string   // for people: what is so and what is not, unless all or nothing is
}

// same tells whether two verdicts say the same.
func (v verdict) same(other verdict) bool {
	return v.outcome == other.outcome && slices.Equal(v.notes, other.notes)
}

// subjects counts the objects that a removal answers with, and those done.
func (v verdict) subjects(intent *ps.Intent) (all, done int) {
	for i := range intent.Objects {
		if isNull(intent.Objects[i].Record) {
			continue
		}
		all++
		if i < len(v.objects) && v.objects[i] == isDone {
			done++
		}
	}
	return all, done
}

// judge compares what was announced with what is there. Steps count only where
// the state cannot tell.
func judge(intent *ps.Intent, steps []ps.Step, seen []observation) verdict {
	v := verdict{outcome: ps.OutcomeUnknown}
	counts := map[standing]int{}
	for i := range intent.Objects {
		object := &intent.Objects[i]
		if len(object.Changes) == 0 {
			v.objects = append(v.objects, isIdle)
			continue
		}
		if i >= len(seen) {
			v.objects = append(v.objects, isUnknown)
			counts[isUnknown]++
			continue
		}
		at, notes := judgeObject(object, steps, &seen[i])
		v.objects = append(v.objects, at)
		counts[at]++
		v.notes = append(v.notes, notes...)
	}
	switch {
	case counts[isUnknown] > 0:
	case counts[isHalf] > 0 || counts[isDone] > 0 && counts[isNot] > 0:
		v.outcome = ps.OutcomePartial
	case counts[isNot] > 0:
		v.outcome = ps.OutcomeNone
	default:
		v.outcome, v.idle = ps.OutcomeDone, counts[isDone] == 0
		for i, at := range v.objects {
			if at == isIdle && len(intent.Objects[i].Changes) > 0 || i == 0 {
				v.objects[i] = isDone // its record is answered all the same
			}
		}
	}
	if v.outcome == ps.OutcomeDone || v.outcome == ps.OutcomeNone {
		v.notes = nil
	}
	return v
}

// judgeObject compares one object, and tells of each change where it stands.
func judgeObject(object *ps.Intended, steps []ps.Step, seen *observation) (standing, []string) {
	name := firstOf(object.DN, seen.DN, object.GUID, object.Account, object.Name)
	gone := seen.State[existence] == absent
	if first := object.Changes[0]; first.Name == existence {
		switch {
		case gone && first.After == absent:
			return isDone, []string{fmt.Sprintf("'%s' is gone", name)}
		case gone:
			return isNot, []string{fmt.Sprintf("'%s' is not there", name)}
		}
	} else if gone {
		return isUnknown, []string{fmt.Sprintf("'%s' is not there any more", name)}
	}
	at := make([]standing, len(object.Changes))
	for i := range object.Changes {
		at[i] = judgeChange(&object.Changes[i], steps, seen.State)
	}
	settleUnseen(object.Changes, at)
	var notes []string
	counts := map[standing]int{}
	for i, change := range object.Changes {
		counts[at[i]]++
		if at[i] == isIdle || change.Name == existence && len(at) > 1 && change.After != absent {
			continue
		}
		notes = append(notes, fmt.Sprintf("'%s': %s %s", name, change.Name, map[standing]string{
			isDone: "was changed", isNot: "was not changed", isHalf: "is neither as it was nor as it should be", isUnknown: "may have been changed or not",
		}[at[i]]))
	}
	switch {
	case counts[isHalf] > 0 || counts[isDone] > 0 && counts[isNot] > 0:
		return isHalf, notes
	case counts[isUnknown] > 0:
		return isUnknown, notes
	case counts[isDone] > 0:
		return isDone, notes
	case counts[isNot] > 0:
		return isNot, notes
	}
	return isIdle, notes
}

// judgeChange compares one property.
func judgeChange(c *ps.IntendedChange, steps []ps.Step, state map[string]string) standing {
	now, known := state[c.Name]
	same := func(a, b string) bool {
		return a == b || c.Name == parent && strings.EqualFold(a, b)
	}
	switch {
	case !known:
		return isUnknown
	case c.Renewed && c.After == "" && now != c.Before:
		return isDone
	case c.Renewed && c.After == "":
		return isNot
	case c.Renewed && c.Before == c.After && now == c.After:
		// It went away and came back, or never went.
		if slices.ContainsFunc(steps, func(s ps.Step) bool { return s.Label == c.Step }) {
			return isDone
		}
		return isUnknown
	case same(c.Before, c.After) && same(now, c.After):
		return isIdle
	case same(c.Before, c.After), c.Renewed && now != c.After && now != c.Before:
		return isHalf
	case same(now, c.After):
		return isDone
	case same(now, c.Before):
		return isNot
	default:
		return isUnknown // somebody else has changed it
	}
}

// settleUnseen decides what cannot be seen by its neighbours: the changes of an
// object are made in their order.
func settleUnseen(changes []ps.IntendedChange, at []standing) {
	for i := range at {
		switch {
		case at[i] != isUnknown:
		case slices.Contains(at[i+1:], isDone):
			at[i] = isDone
		case slices.Contains(at[:i], isNot), changes[i].Renewed && slices.Contains(at, isNot):
			at[i] = isNot // what ends as it began ends so with the last step
		}
	}
}
