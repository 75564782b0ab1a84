package ps

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Value is one argument of a script. The zero Value is null. A Value is
// immutable; a secret prints as "***".
type Value struct {
	kind valueKind
	text string
	num  int64
	list []string
}

type valueKind uint8

const (
	kindNull valueKind = iota
	kindText
	kindBool
	kindInt
	kindList
	kindSecret
)

// Args contains the arguments of a script by parameter name. A null argument is bound to its parameter, and
// an absent argument is not.
type Args map[string]Value

// Null is $null.
func Null() Value { return Value{} }

// Text is a string, passed on verbatim.
func Text(s string) Value { return Value{kind: kindText, text: s} }

// Bool is $true or $false.
func Bool(b bool) Value {
	v := Value{kind: kindBool}
	if b {
		v.num = 1
	}
	return v
}

// Int is a whole number.
func Int(n int64) Value { return Value{kind: kindInt, num: n} }

// List is an array of strings. It copies items.
func List(items []string) Value {
	return Value{kind: kindList, list: append([]string(nil), items...)}
}

// Secret returns a string that the script receives as a SecureString and that never appears in a log.
func Secret(s string) Value { return Value{kind: kindSecret, text: s} }

// Items returns a copy of the items of a list, or nil for any other value.
func (v Value) Items() []string { return append([]string(nil), v.list...) }

// IsSecret reports whether v is a secret.
func (v Value) IsSecret() bool { return v.kind == kindSecret }

// Reveal returns the plain text of a secret, for checks that do not store it.
func (v Value) Reveal() string {
	if v.kind != kindSecret {
		return ""
	}
	return v.text
}

// Type returns the PowerShell type of a parameter for v, as in [Param], or "" for
// null, which fits any type.
func (v Value) Type() string {
	return [...]string{"", "string", "bool", "int", "string[]", "securestring"}[v.kind]
}

// String formats the value for people. It returns "***" for a secret.
func (v Value) String() string {
	switch v.kind {
	case kindText:
		return strconv.Quote(v.text)
	case kindBool:
		return strconv.FormatBool(v.num == 1)
	case kindInt:
		return strconv.FormatInt(v.num, 10)
	case kindList:
		return fmt.Sprintf("%q", v.list)
	case kindSecret:
		return "***"
	default:
		return "null"
	}
}

// GoString keeps secrets out of %#v.
func (v Value) GoString() string { return v.String() }

// MarshalJSON encodes the plain value for logs and the audit. It encodes a secret as "***".
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.kind {
	case kindText:
		return json.Marshal(v.text)
	case kindBool, kindInt:
		return []byte(v.String()), nil
	case kindList:
		return json.Marshal(v.list)
	case kindSecret:
		return []byte(`"***"`), nil
	default:
		return []byte("null"), nil
	}
}

// EncodeRequest returns the data line of one run, without its line ending. It consists of '#', base64 of the
// JSON object {"id","script","arguments"}, and a space and base64 for each secret. Strings in the JSON have a
// prefix, so that none is ever parsed as a date (facts B31): '=' precedes a text, '!' the index of a secret,
// and ',' with a separator the items of a list. An empty list is an empty array. A list whose items contain
// all possible separators is encoded as an array of prefixed strings.
func EncodeRequest(id, script string, args Args) string {
	return EncodeRequestFor(id, script, args, nil)
}

// EncodeRequestFor is like [EncodeRequest], for a run whose announcement includes a state. The JSON then has
// the member "state" with the members identity, script and arguments. If state is nil, it returns the result
// of EncodeRequest.
func EncodeRequestFor(id, script string, args Args, state *State) string {
	var secrets []string
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	// Encoding one member at a time takes a third of the time of encoding a map.
	member := func(separator, name string, value any) {
		body.WriteString(separator)
		for _, part := range [2]any{name, value} {
			if err := encoder.Encode(part); err != nil {
				panic(err) // cannot happen, because values are strings, numbers, booleans and lists of strings
			}
			body.Bytes()[body.Len()-1] = ':' // replaces the encoder's line feed
		}
		body.Truncate(body.Len() - 1)
	}
	arguments := func(args Args) {
		separator := ""
		body.WriteString(`"arguments":{`)
		for _, name := range slices.Sorted(maps.Keys(args)) {
			member(separator, name, args[name].wire(&secrets))
			separator = ","
		}
		body.WriteByte('}')
	}
	body.WriteByte('{')
	arguments(args)
	member(",", "id", "="+id)
	member(",", "script", "="+script)
	if state != nil {
		body.WriteString(`,"state":{`)
		arguments(state.Args)
		member(",", "identity", "="+state.Identity)
		member(",", "script", "="+state.Script)
		body.WriteByte('}')
	}
	body.WriteByte('}')
	size := 1 + base64.StdEncoding.EncodedLen(body.Len())
	for _, secret := range secrets {
		size += 1 + base64.StdEncoding.EncodedLen(len(secret))
	}
	line := append(make([]byte, 0, size), '#')
	line = base64.StdEncoding.AppendEncode(line, body.Bytes())
	for _, secret := range secrets {
		line = base64.StdEncoding.AppendEncode(append(line, ' '), []byte(secret))
	}
	return string(line)
}

func (v Value) wire(secrets *[]string) any {
	switch v.kind {
	case kindText:
		return "=" + v.text
	case kindBool:
		return v.num == 1
	case kindInt:
		return v.num
	case kindList:
		return wireList(v.list)
	case kindSecret:
		*secrets = append(*secrets, v.text)
		return "!" + strconv.Itoa(len(*secrets)-1)
	default:
		return nil
	}
}

// wireList joins the items into one string if possible. PowerShell splits the string in one call, whereas a
// loop over the items would take more time than the rest of a request.
func wireList(items []string) any {
	if separator := separatorFor(items); separator != 0 {
		return "," + string(separator) + strings.Join(items, string(separator))
	}
	prefixed := make([]string, len(items))
	for i, item := range items {
		prefixed[i] = "=" + item
	}
	return prefixed
}

// separatorFor returns a character that no item contains, if possible a control character and otherwise a
// private-use one. It returns 0 if there is no such character, or if there are no items.
func separatorFor(items []string) rune {
	if len(items) == 0 {
		return 0
	}
	free := func(r rune) bool {
		return !slices.ContainsFunc(items, func(item string) bool { return strings.ContainsRune(item, r) })
	}
	for _, candidates := range [][2]rune{{0x10, 0x1F}, {0xE000, 0xF8FF}} {
		for r := candidates[1]; r >= candidates[0]; r-- {
			if free(r) {
				return r
			}
		}
	}
	return 0
}
