package schema

import (
	"strings"

	"adgateway/ps"
)

// mostSaid is the maximum length of a value that a reason repeats, in bytes.
const mostSaid = 100

// Kept returns a kind that also accepts values which k refuses, because an update may leave such a value
// unchanged. The script gets the reason for the refusal, or "", as a second argument with the suffix Odd. It
// refuses the value unless it is the stored one. A third argument, with the suffix Back, reports whether the
// undo of a change restores the value.
func Kept(k Kind) Kind { return keptKind{k.(patternKind)} }

// Strict returns the kind that was passed to [Kept], or k itself if it is another kind.
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
