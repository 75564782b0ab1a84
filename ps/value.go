package ps

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Value is one argument on its way into a script. The zero Value is null.
// A Value is immutable and prints without its content when it is a secret.
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

// Args are the arguments of a script by parameter name. An absent argument and
// a null one differ: an absent one is not bound.
type Args map[string]Value

// Null is $null.
func Null() Value { return Value{} }

// Text is a string, taken character by character.
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

// List is an array of strings; the slice is not kept.
func List(items []string) Value {
	return Value{kind: kindList, list: append([]string(nil), items...)}
}

// Secret is a string that arrives as a SecureString and is in no log.
func Secret(s string) Value { return Value{kind: kindSecret, text: s} }

// IsSecret tells whether the value is a secret.
func (v Value) IsSecret() bool { return v.kind == kindSecret }

// Type is the PowerShell type a parameter that takes v has, as in [Param].
// Of null it is the empty string: null fits any.
func (v Value) Type() string {
	return [...]string{"", "string", "bool", "int", "string[]", "securestring"}[v.kind]
}

// String shows the value for people: a secret as "***".
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

// MarshalJSON gives the plain value, a secret as "***": for logs and the audit.
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

// EncodeRequest makes the data line for one run, without its line end:
// '#', base64 of the JSON {"id","script","arguments"}, then a blank and base64
// for each secret. Strings inside carry a prefix, so that no text is
// ever taken for a date (facts B31): '=' before text, '!' before the number of
// a secret, ',' and a separator before the items of a list. A list without
// items is an empty array, and an array of prefixed strings is one that has all
// the characters that could separate it.
func EncodeRequest(id, script string, args Args) string {
	var secrets []string
	arguments := make(map[string]any, len(args))
	names := make([]string, 0, len(args))
	for name := range args {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		arguments[name] = args[name].wire(&secrets)
	}
	body, err := json.Marshal(map[string]any{"id": "=" + id, "script": "=" + script, "arguments": arguments})
	if err != nil {
		panic(err) // strings, numbers, booleans and lists of strings only
	}
	var line strings.Builder
	line.WriteByte('#')
	line.WriteString(base64.StdEncoding.EncodeToString(body))
	for _, secret := range secrets {
		line.WriteByte(' ')
		line.WriteString(base64.StdEncoding.EncodeToString([]byte(secret)))
	}
	return line.String()
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

// wireList puts the items into one text where it can: to take that apart is one
// call for PowerShell, and a round of a loop for each item costs more than all
// the rest of a request.
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

// separatorFor is a character that no item has: a control character, which
// hardly any text has, else one of those left to private use. 0: there is none,
// or there are no items.
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
