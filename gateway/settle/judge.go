package settle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adgateway/ps"
)

// Properties in an observation's state that are treated specially.
const (
	existence      = "exists"
	absent         = "False" // a value of existence
	otherwise      = "*"     // key whose value applies to all properties that the state does not name
	parent         = "parent"
	userParameters = "userParameters"
)

// observation is the state of an announced object, as a settling script reports it.
type observation struct {
	GUID   string            `json:"guid"`
	DN     string            `json:"dn"`
	Age    int               `json:"age"` // in seconds, by the server's clock
	State  map[string]string `json:"state"`
	Record json.RawMessage   `json:"record"`
}

// progress is the progress of a change.
type progress uint8

const (
	idle    progress = iota // there was nothing to change
	made                    // fully visible
	notMade                 // not visible at all
	half                    // partly visible
	unclear                 // not readable, or changed by somebody else
)

// phrases describe the outcomes of a property to people.
var phrases = map[progress]string{
	made: "was changed", notMade: "was not changed", half: "is neither as it was nor as it should be", unclear: "may have been changed or not",
}

// verdict is the outcome of an intent.
type verdict struct {
	outcome ps.Outcome
	objects []progress // by announced object
	idle    bool       // nothing had to be changed
	// text for people about the changed and the unchanged parts; empty if all or none were changed
	notes []string
}

// equal reports whether two readings led to the same verdict.
func (v verdict) equal(other verdict) bool {
	return v.outcome == other.outcome && slices.Equal(v.notes, other.notes)
}

// subjects returns the number of objects whose record was announced, as in removals, and the number of these
// objects that are done.
func (v verdict) subjects(intent *ps.Intent) (all, done int) {
	for i := range intent.Objects {
		if isNull(intent.Objects[i].Record) {
			continue
		}
		all++
		if i < len(v.objects) && v.objects[i] == made {
			done++
		}
	}
	return all, done
}

// judge compares an announcement with the observations. It considers steps only if the state is
// inconclusive.
func judge(intent *ps.Intent, steps []ps.Step, seen []observation) verdict {
	v := verdict{outcome: ps.OutcomeUnknown}
	counts := map[progress]int{}
	for i := range intent.Objects {
		object := &intent.Objects[i]
		if len(object.Changes) == 0 {
			v.objects = append(v.objects, idle)
			continue
		}
		if i >= len(seen) {
			v.objects = append(v.objects, unclear)
			counts[unclear]++
			continue
		}
		at, notes := judgeObject(object, steps, &seen[i])
		v.objects = append(v.objects, at)
		counts[at]++
		v.notes = append(v.notes, notes...)
	}
	switch {
	case counts[unclear] > 0:
	case counts[half] > 0 || counts[made] > 0 && counts[notMade] > 0:
		v.outcome = ps.OutcomePartial
	case counts[notMade] > 0:
		v.outcome = ps.OutcomeNone
	default:
		v.outcome, v.idle = ps.OutcomeDone, counts[made] == 0
		for i, at := range v.objects {
			if at == idle && len(intent.Objects[i].Changes) > 0 || i == 0 {
				v.objects[i] = made // its record is part of the answer
			}
		}
	}
	if v.outcome == ps.OutcomeDone || v.outcome == ps.OutcomeNone {
		v.notes = nil
	}
	return v
}

// judgeObject compares one object and notes the outcome of each of its changes.
func judgeObject(object *ps.Intended, steps []ps.Step, seen *observation) (progress, []string) {
	name := cmp.Or(object.DN, seen.DN, object.GUID, object.Account, object.Name)
	gone := seen.State[existence] == absent
	if first := object.Changes[0]; first.Name == existence {
		switch {
		case gone && first.After == absent:
			return made, []string{fmt.Sprintf("'%s' is gone", name)}
		case gone:
			return notMade, []string{fmt.Sprintf("'%s' is not there", name)}
		}
	} else if gone {
		return unclear, []string{fmt.Sprintf("'%s' is not there any more", name)}
	}
	at := make([]progress, len(object.Changes))
	for i := range object.Changes {
		at[i] = judgeChange(&object.Changes[i], steps, seen.State)
	}
	inferUnclear(object.Changes, at)
	var notes []string
	counts := map[progress]int{}
	for i, change := range object.Changes {
		counts[at[i]]++
		if at[i] == idle || change.Name == existence && len(at) > 1 && change.After != absent {
			continue
		}
		notes = append(notes, fmt.Sprintf("'%s': %s %s", name, change.Name, phrases[at[i]]))
	}
	switch {
	case counts[half] > 0 || counts[made] > 0 && counts[notMade] > 0:
		return half, notes
	case counts[unclear] > 0:
		return unclear, notes
	case counts[made] > 0:
		return made, notes
	case counts[notMade] > 0:
		return notMade, notes
	}
	return idle, notes
}

// judgeChange compares one property.
func judgeChange(c *ps.IntendedChange, steps []ps.Step, state map[string]string) progress {
	now, known := state[c.Name]
	if !known {
		now, known = state[otherwise]
	}
	same := func(a, b string) bool {
		return a == b || c.Name == parent && strings.EqualFold(a, b)
	}
	switch {
	case !known:
		return unclear
	case c.Renewed && c.After == "" && now != c.Before:
		return made
	case c.Renewed && c.After == "":
		return notMade
	case c.Renewed && c.Before == c.After && now == c.After:
		// The value was either changed and changed back, or never changed.
		if slices.ContainsFunc(steps, func(s ps.Step) bool { return s.Label == c.Step }) {
			return made
		}
		return unclear
	case same(c.Before, c.After) && same(now, c.After):
		return idle
	case same(c.Before, c.After), c.Renewed && now != c.After && now != c.Before:
		return half
	case same(now, c.After):
		return made
	case same(now, c.Before):
		return notMade
	default:
		return unclear // somebody else has changed it
	}
}

// inferUnclear infers the outcome of changes that are not visible from the outcomes of neighboring changes.
// This is possible because a script changes the properties of an object in the announced order.
func inferUnclear(changes []ps.IntendedChange, at []progress) {
	for i := range at {
		switch {
		case at[i] != unclear:
		case slices.Contains(at[i+1:], made):
			at[i] = made
		case slices.Contains(at[:i], notMade), changes[i].Renewed && slices.Contains(at, notMade):
			at[i] = notMade // a value that is changed and changed back is only final after the last step
		}
	}
}
