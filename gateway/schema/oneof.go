package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adgateway/ps"
)

// OneOf returns the kind of a value that is one of the given words, in any case. The script receives
// the word in the spelling given here. about is a sentence for people.
func OneOf(about string, words ...string) Kind {
	return oneOfKind{base: base{"string"}, about: about, words: words}
}

type oneOfKind struct {
	base
	about string
	words []string
}

func (k oneOfKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, 0, false)
	if problem != nil {
		return nil, problem
	}
	for _, word := range k.words {
		if strings.EqualFold(s, word) {
			return textValue(word), nil
		}
	}
	last := len(k.words) - 1
	return nil, invalid("must be %s or %s", strings.Join(k.words[:last], ", "), k.words[last])
}

func (k oneOfKind) Doc() Doc {
	return Doc{Type: "string", Enum: k.words, Text: k.about, Example: k.words[0]}
}

// WordList returns the kind of a list of the given words, separated by commas.
func WordList(about string, words ...string) Kind {
	return wordListKind{base: base{"string[]"}, one: oneOfKind{base: base{"string"}, words: words}, about: about}
}

type wordListKind struct {
	base
	one   oneOfKind
	about string

	numbered bool // also accepts types of records without a name
}

func (k wordListKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := listText(raw, 0)
	if problem != nil {
		return nil, problem
	}
	var words []string
	for item := range strings.SplitSeq(s, listSeparator) {
		one := Kind(k.one)
		if k.numbered {
			one = numberedTypeKind{k.one}
		}
		decoded, problem := one.Decode(strings.Trim(item, " "))
		if problem != nil {
			return nil, problem
		}
		if !slices.Contains(words, decoded.Text) {
			words = append(words, decoded.Text)
		}
	}
	return &Decoded{Values: []ps.Value{ps.List(words)}, Text: strings.Join(words, listSeparator)}, nil
}

func (k wordListKind) Doc() Doc {
	return Doc{Type: "string", Text: k.about, Example: k.one.words[0]}
}

// Number returns the kind of a whole number from min to max, as digits or as a JSON number. The
// script receives an int, so max must fit into 32 bits.
func Number(min, max int64) Kind {
	return numberKind{base: base{"int"}, min: min, max: max}
}

type numberKind struct {
	base
	min, max int64
}

func (k numberKind) Decode(raw any) (*Decoded, *FieldError) {
	digits, isText := raw.(string)
	if number, isNumber := raw.(json.Number); isNumber {
		digits, isText = number.String(), true
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if !isText || err != nil || strconv.FormatInt(n, 10) != digits || n < k.min || n > k.max {
		return nil, invalid("must be a whole number from %d to %d", k.min, k.max)
	}
	return &Decoded{Values: []ps.Value{ps.Int(n)}, Text: digits}, nil
}

func (k numberKind) Doc() Doc {
	return Doc{Type: "integer", Min: k.min, Max: k.max, Example: strconv.FormatInt(k.min, 10),
		Text: fmt.Sprintf("Whole number from %d to %d.", k.min, k.max)}
}
