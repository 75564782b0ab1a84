package histories

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// Model is an object that all clients use one after another.
type Model struct {
	Name  string
	model porcupine.Model
}

// model returns a model with a first state and a step function. step reports whether an answer is possible in
// a state, and returns the next state. A nil answer means that the answer was lost, and step then does the
// operation if possible. For an operation that was not done, or was done later, the checker can put the call
// at the end of the order, where no other call sees its effect.
func model[S comparable](
	name string, first S, step func(state S, op Op, answer *Answer) (explained bool, next S),
) Model {
	return Model{name, porcupine.Model{
		Init: func() any { return first },
		Step: func(state, input, output any) (bool, any) {
			explained, next := step(state.(S), input.(Op), output.(*Answer))
			return explained, next
		},
	}}
}

// Values are values of a store, one for each Of. The operation "write" replaces Expect with Value, and "read"
// returns the value.
var (
	// LinearizableReads is a store whose reads and refusals are as current as its writes.
	LinearizableReads = values("values, read as they are", false, false)

	// LinearizableRefusals is a store whose reads may be outdated, while its refusals are current.
	LinearizableRefusals = values("values, read as they were, refused as they are", true, false)

	// LinearizableWrites is the promise of several gateways. A write replaces the expected value. Reads and
	// refusals may be outdated, but a gateway never returns a value that is older than one that it has returned
	// before.
	LinearizableWrites = values("values, read and refused as they were", true, true)
)

// past contains the previous values of an object, and the position up to which each gateway has read them.
type past struct {
	values string // separated by spaces; "-" is absent
	read   [8]int // index of the last value that each gateway has read
}

func values(name string, oldReads, oldRefusals bool) Model {
	return model(name, past{values: "-"}, func(state past, op Op, answer *Answer) (bool, past) {
		all := strings.Fields(state.values)
		last := all[len(all)-1]
		next := state
		switch {
		case op.Do == "read" && answer == nil:
			return true, state
		case op.Do == "read":
			from := len(all) - 1
			if oldReads {
				from = state.read[op.At]
			}
			at := slices.Index(all[from:], orAbsent(answer.Value))
			next.read[op.At] = from + max(0, at)
			return at >= 0, next
		case answer != nil && answer.Refused && oldRefusals:
			return slices.ContainsFunc(all[state.read[op.At]:],
				func(v string) bool { return v != orAbsent(op.Expect) }), state
		case answer != nil && answer.Refused:
			return last != orAbsent(op.Expect), state
		case last == orAbsent(op.Expect):
			next.values += " " + orAbsent(op.Value)
			return true, next
		}
		return answer == nil, state
	})
}

func orAbsent(value string) string {
	if value == "" {
		return "-"
	}
	return value
}

// Keys are idempotency keys. The operation "write" is the write of a key's change to the directory. "call"
// requests the change. It is answered when the change is done, with Value unless that is empty. The change is
// written once, before any call is answered, and all calls get the same answer. A refusal reveals nothing
// about the change.
var Keys = model("a key runs once, with one answer", keyState{},
	func(state keyState, op Op, answer *Answer) (bool, keyState) {
		switch {
		case op.Do == "write":
			return !state.written, keyState{true, state.answer}
		case answer == nil, answer.Refused:
			return true, state
		case answer.Value == "":
			return state.written, state
		case state.answer == "":
			return state.written, keyState{state.written, answer.Value}
		}
		return state.answer == answer.Value, state
	})

type keyState struct {
	written bool
	answer  string
}

// Once are objects, such as plans, that can be used once with the operation "use". A use is refused only
// after another use.
var Once = model("used once", false, func(used bool, _ Op, answer *Answer) (bool, bool) {
	if answer != nil && answer.Refused {
		return used, used
	}
	return !used || answer == nil, true
})

// Budget is a budget with a limit. The operation "spend" spends one unit. It is refused only when the budget
// is spent.
func Budget(limit int) Model {
	return model("at most "+strconv.Itoa(limit)+" are spent", 0,
		func(spent int, _ Op, answer *Answer) (bool, int) {
			switch {
			case answer != nil && answer.Refused:
				return spent >= limit, spent
			case spent >= limit:
				return answer == nil, spent
			}
			return true, spent + 1
		})
}

// Leases are objects with at most one change at a time. The operation "change" replaces Expect, which the
// client has read under the lease, with Value.
var Leases = model("no change is lost", "0", func(value string, op Op, answer *Answer) (bool, string) {
	switch {
	case answer != nil && answer.Refused:
		return true, value
	case value != op.Expect:
		return answer == nil, value
	}
	return true, op.Value
})
