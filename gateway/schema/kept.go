package schema

import (
	"strings"

	"adgateway/ps"
)

// mostSaid is the length of the longest value that a reason repeats.
const mostSaid = 100

// Kept returns the kind of a value that an update may also leave unchanged. It passes on a value
// that the other kind refuses, together with the reason, and the script refuses the value unless it
// is the stored one. The script gets the reason, or an empty text, as a second argument with the
// suffix Odd. A third, with the suffix Back, says that the undo of a change gives the value back.
func Kept(k Kind) Kind { return keptKind{k.(patternKind)} }

// Strict returns the kind that [Kept] was given; another one is returned as it is.
func Strict(k Kind) Kind {
	if kept, is := k.(keptKind); is {
		return kept.patternKind
	}
	return k
}

type keptKind struct{ patternKind }

func (keptKind) Parts() []Part {
	return []Part{{Type: "string"}, {Suffix: "Odd", Type: "string"}, {Suffix: "Back", Type: "bool"}}
}

func (k keptKind) Decode(raw any) (*Decoded, *FieldError) {
	if before, is := raw.(Stored); is {
		s := string(before)
		return &Decoded{Values: []ps.Value{ps.Text(s), ps.Text(""), ps.Bool(true)}, Text: s}, nil
	}
	s, problem := text(raw, k.limit, false)
	if problem != nil {
		return nil, problem
	}
	odd := ""
	if _, problem := k.patternKind.Decode(raw); problem != nil {
		odd = problem.Message
		if len(s) <= mostSaid && !strings.ContainsFunc(s, deceptive) {
			odd += "; '" + s + "' was sent"
		}
	}
	return &Decoded{Values: []ps.Value{ps.Text(s), ps.Text(odd), ps.Bool(false)}, Text: s}, nil
}
