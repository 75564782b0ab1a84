package schema

import (
	"encoding/json"
	"regexp"
	"strings"

	"adgateway/ps"
)

// ComputerName is a new computer's NetBIOS name, without the $ of its account (facts C24). It also
// becomes the CN and the first label of the DNS name, so it may contain only characters that a DNS
// server accepts.
var ComputerName Kind = patternKind{
	base: base{"string"}, limit: 15,
	pattern: regexp.MustCompile(`^(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?)$`),
	must: "must be a computer name: letters, digits, hyphens and underscores, no hyphen at either end, " +
		"and not only digits",
	refuses: regexp.MustCompile(`^[0-9]+$`),
	example: "PC042",
	meant:   []misuse{distinguished, downLevel, accountOfComputer, hostName},
}

// Wildcard is a pattern for names in which only * is special. A whole number in JSON is accepted as
// text.
var Wildcard Kind = wildcardKind{base{"string"}}

type wildcardKind struct{ base }

const wildcardLimit = 256

var wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)

func (wildcardKind) Decode(raw any) (*Decoded, *FieldError) {
	if number, isNumber := raw.(json.Number); isNumber && wholeNumber.MatchString(number.String()) {
		raw = number.String()
	}
	s, problem := text(raw, wildcardLimit, false)
	if problem != nil {
		return nil, problem
	}
	// Adjacent stars are equivalent to a single one.
	var pattern strings.Builder
	for i, piece := range strings.Split(s, "*") {
		switch {
		case i == 0:
			pattern.WriteString(piece)
		case piece != "" || i == strings.Count(s, "*"):
			pattern.WriteString("*" + piece)
		}
	}
	return &Decoded{Values: []ps.Value{ps.Text(pattern.String())}, Text: pattern.String()}, nil
}

func (wildcardKind) Doc() Doc {
	return Doc{Type: "string", MaxLength: wildcardLimit,
		Example: "WEB*",
		Text:    "Pattern for names, in which * matches any characters. A whole number counts as text."}
}
