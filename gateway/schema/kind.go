// Package schema defines the values of the API: the values that a parameter accepts, the arguments that a
// script receives for them, and the fields of a record.
//
// A [Kind] is one of a closed set of value types. It decodes strictly (without trimming or coercion),
// describes itself for the API document, and declares the PowerShell types of its values. A [Shape] is the
// schema of a record: its fields in declared order, with types and nullability. [Selection.Render] checks the
// records that a script emitted and writes them in that order.
//
// A rejected value is a [FieldError]: a field, a sentence and a [Code]. No sentence repeats the
// value, so a secret is never echoed.
package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"adgateway/ps"
)

// Kind is one of a closed set of value types. Kinds are immutable and safe for
// concurrent use.
type Kind interface {
	// Decode checks a value of a request: a string or, in a JSON body, a bool, a json.Number, nil
	// (null), a [List] or a [Composite]. Exactly one of the results is nil. The returned problem does
	// not name a field.
	Decode(raw any) (*Decoded, *FieldError)

	// Parts returns the arguments that a value becomes, in the order of
	// Decoded.Values. Most kinds have one part without a suffix.
	Parts() []Part

	// Clear returns the values that clear an attribute, or nil if the kind cannot clear one.
	Clear() []ps.Value

	// Doc describes the kind for people and for the API document.
	Doc() Doc

	// Secret reports whether values must stay out of logs, queries and answers.
	Secret() bool
}

// Part is one argument that a value becomes. The script's parameter has the name that the operation
// gives plus Suffix, and the PowerShell type Type, as in [ps.Param].
type Part struct {
	Suffix string
	Type   string
}

// Decoded is an accepted value.
type Decoded struct {
	Values []ps.Value // one for each part
	Text   string     // for sentences and rules; empty for a secret
	Fields *Selection // field lists only
	Links  bool       // filters only: whether it tests memberships
}

// Composite stands for a JSON object or array that was sent in place of a single value.
type Composite struct{}

// List stands for a JSON array of strings. Only kinds of lists accept it.
type List string

const listSeparator = ","

// ListOf returns a list of strings.
func ListOf(texts []string) List { return List(strings.Join(texts, listSeparator)) }

// Doc describes a kind.
type Doc struct {
	Type      string   // JSON type: "string", "boolean", "integer"
	Format    string   // OpenAPI format: "uuid", "password"
	Pattern   string   // regular expression; empty if none describes it fully
	MaxLength int      // in UTF-16 code units; zero for no limit
	Min, Max  int64    // of an "integer"
	Enum      []string // the allowed words
	Text      string   // one sentence
	Lines     bool     // whether line breaks are allowed
	Example   string
}

// base implements the common methods of most kinds with a single part.
type base struct{ typ string }

func (b base) Parts() []Part     { return []Part{{Type: b.typ}} }
func (b base) Clear() []ps.Value { return nil }
func (b base) Secret() bool      { return false }

// checkedKind is text that a function checks.
type checkedKind struct {
	base
	limit int  // in UTF-16 code units; zero for no limit
	lines bool // whether tab, CR and LF are allowed
	// check returns the text that the script receives, or a problem. Nil means that every text is accepted.
	check func(s string) (string, *FieldError)
	doc   Doc
}

func (k *checkedKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, k.limit, k.lines)
	if problem == nil && k.check != nil {
		s, problem = k.check(s)
	}
	if problem != nil {
		return nil, problem
	}
	return textValue(s), nil
}

func (k *checkedKind) Doc() Doc { return k.doc }

// textValue returns the decoded form of a kind with a single text part.
func textValue(text string) *Decoded {
	return &Decoded{Values: []ps.Value{ps.Text(text)}, Text: text}
}

// invalid returns a problem with code [InvalidRequest].
func invalid(format string, args ...any) *FieldError {
	return &FieldError{Code: InvalidRequest, Message: fmt.Sprintf(format, args...)}
}

// unprocessable returns a problem with code [Unprocessable].
func unprocessable(format string, args ...any) *FieldError {
	return &FieldError{Code: Unprocessable, Message: fmt.Sprintf(format, args...)}
}

// text decodes a raw value as text: valid UTF-8 without control characters, at most
// limit UTF-16 code units; limit 0 means unlimited. If lines is true, tab, CR and
// LF are allowed.
func text(raw any, limit int, lines bool) (string, *FieldError) {
	s, ok := raw.(string)
	if !ok {
		return "", invalid("must be text, not %s", jsonType(raw))
	}
	if !utf8.ValidString(s) {
		return "", invalid("must be valid UTF-8")
	}
	for _, r := range s {
		if !isControl(r) || lines && (r == '\t' || r == '\r' || r == '\n') {
			continue
		}
		if r == 0 {
			return "", invalid("must not contain a NUL character")
		}
		return "", invalid("must not contain control characters")
	}
	if limit > 0 && utf16Length(s) > limit {
		return "", invalid("must be at most %d characters long", limit)
	}
	return s, nil
}

// listText decodes a raw value as text, like [text]. It also accepts a [List].
func listText(raw any, limit int) (string, *FieldError) {
	if list, isList := raw.(List); isList {
		raw = string(list)
	}
	return text(raw, limit, false)
}

// isControl reports whether a character is not allowed in text. XML, which the directory's web
// service uses, does not allow the last two.
func isControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff
}

// utf16Length returns the length in UTF-16 code units, as Windows counts.
func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

func jsonType(raw any) string {
	switch raw.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "text"
	default:
		return "an object or array"
	}
}

// Bool is true or false, in any case, as a string or as a JSON boolean.
var Bool Kind = boolKind{base{"bool"}}

type boolKind struct{ base }

func (boolKind) Decode(raw any) (*Decoded, *FieldError) {
	value, ok := raw.(bool)
	if s, isText := raw.(string); isText {
		value, ok = strings.EqualFold(s, "true"), strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
	}
	if !ok {
		return nil, invalid("must be true or false")
	}
	word := "false"
	if value {
		word = "true"
	}
	return &Decoded{Values: []ps.Value{ps.Bool(value)}, Text: word}, nil
}

func (boolKind) Doc() Doc {
	return Doc{Type: "boolean", Text: "Either true or false; not case-sensitive."}
}

// Flag is a Bool that the gateway itself acts on. It does not become an argument.
var Flag Kind = flagKind{boolKind{base{"bool"}}}

type flagKind struct{ boolKind }

func (flagKind) Parts() []Part { return nil }

// GUID is an objectGUID, with or without braces. The script gets it in lower
// case without braces.
var GUID Kind = &checkedKind{
	base: base{"string"},
	check: func(s string) (string, *FieldError) {
		if !isGUID([]byte(s)) {
			return "", invalid("must be a GUID such as 9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10")
		}
		return strings.ToLower(strings.Trim(s, "{}")), nil
	},
	doc: Doc{Type: "string", Pattern: guidPattern, Text: "GUID, with or without braces.", Example: guidExample},
}

// GUIDOrSID is a GUID or an objectSid, for an object that has both.
var GUIDOrSID Kind = &checkedKind{
	base: base{"string"},
	check: func(s string) (string, *FieldError) {
		switch {
		case isGUID([]byte(s)):
			return strings.ToLower(strings.Trim(s, "{}")), nil
		case sidText.MatchString(s):
			return strings.ToUpper(s), nil
		}
		return "", invalid("must be a GUID such as 9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10, or a SID")
	},
	doc: Doc{Type: "string", Pattern: strings.TrimSuffix(guidPattern, ")$") + "|" + sidPattern + ")$",
		Text: "GUID, with or without braces, or SID.", Example: guidExample},
}

const guidExample = "897be383-0d4f-5fd1-b27f-461bf3bb4b03"

// sidPattern matches the SIDs of accounts and groups: a revision, an authority and numbers.
const sidPattern = `[Ss]-1-[0-9]{1,15}(?:-[0-9]{1,10}){1,15}`

var sidText = regexp.MustCompile(`^` + sidPattern + `$`)

// guidPattern matches the values that [isGUID] accepts, for the API document.
const guidPattern = `^(?:[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}|\{[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\})$`

// isGUID reports whether a text is a GUID, with or without braces. It runs for each record of a
// list, where a regular expression would be too slow.
func isGUID(text []byte) bool {
	const size = 36
	if len(text) == size+2 && text[0] == '{' && text[size+1] == '}' {
		text = text[1 : size+1]
	}
	if len(text) != size {
		return false
	}
	for i, c := range text {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if !isHex(c) {
			return false
		}
	}
	return true
}
