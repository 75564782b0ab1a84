package histories

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// Model is an object that everybody uses one after the other.
type Model struct {
	Name  string
	model porcupine.Model
}

// model makes a model of its first state, and of whether a state explains an answer, and
// which one follows. An answer of nil was lost: whatever was asked for is done if it can be.
// If it was not done, or later, then that is how it is at the end, which nobody sees.
func model[S comparable](name string, first S, step func(state S, op Op, answer *Answer) (explained bool, next S)) Model {
	return Model{name, porcupine.Model{
		Init: func() any { return first },
		Step: func(state, input, output any) (bool, any) {
			explained, next := step(state.(S), input.(Op), output.(*Answer))
			return explained, next
		},
	}}
}

// Values: each Of is a value of a store. "write" replaces Expect by Value; "read" answers
// what it is.
var (
	// LinearizableReads is a store whose reads and refusals count like its writes.
	LinearizableReads = values("values, read as they are", false, false)

	// LinearizableRefusals is one whose reads may be old, while a refusal is not.
	LinearizableRefusals = values("values, read as they were, refused as they are", true, false)

	// LinearizableWrites is what several gateways promise: what is written follows what was
	// expected. What a gateway reads, and why it refuses a write, may be old, but never older
	// than what the same gateway has read before.
	LinearizableWrites = values("values, read and refused as they were", true, true)
)

// past is what a value has been, and how far each gateway has read it.
type past struct {
	values string // with spaces between; absent is "-"
	read   [8]int // index of what each gateway has read last
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
			return slices.ContainsFunc(all[state.read[op.At]:], func(v string) bool { return v != orAbsent(op.Expect) }), state
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

// Keys is an idempotency key: "write" is what its change does to the directory, "call" asks for it
// and gets the answer that it is done, as Value if that is not empty. It is written once, before
// any call gets an answer, and all calls get the same one. A refusal says nothing about the change.
var Keys = model("a key runs once, with one answer", keyState{}, func(state keyState, op Op, answer *Answer) (bool, keyState) {
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

// Once is what can be used once, such as a plan: "use". It is refused only when it was used.
var Once = model("used once", false, func(used bool, _ Op, answer *Answer) (bool, bool) {
	if answer != nil && answer.Refused {
		return used, used
	}
	return !used || answer == nil, true
})

// Budget is what may be spent: "spend" one of the limit. It is refused only when all is
// spent.
func Budget(limit int) Model {
	return model("at most "+strconv.Itoa(limit)+" are spent", 0, func(spent int, _ Op, answer *Answer) (bool, int) {
		switch {
		case answer != nil && answer.Refused:
			return spent >= limit, spent
		case spent >= limit:
			return answer == nil, spent
		}
		return true, spent + 1
	})
}

// Leases is an object of which at most one change is on its way: "change" makes Value out of
// Expect, which it has read under the lease.
var Leases = model("no change is lost", "0", func(value string, op Op, answer *Answer) (bool, string) {
	switch {
	case answer != nil && answer.Refused:
		return true, value
	case value != op.Expect:
		return answer == nil, value
	}
	return true, op.Value
})
