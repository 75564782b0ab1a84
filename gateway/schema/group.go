package schema

import (
	"regexp"
	"strings"

	"adgateway/ps"
)

// GroupName is a group's new name. It becomes both sAMAccountName and CN. So the characters must be valid in
// a sAMAccountName, and the length is limited as in a CN (facts C24).
var GroupName Kind = patternKind{
	base: base{"string"}, limit: Range("cn"),
	pattern: regexp.MustCompile(UserName.Doc().Pattern),
	must:    `must be a group name without any of " / \ [ ] : ; | = , + * ? < >, not blank, and without a trailing dot`,
	example: "Sales Team",
	meant:   []misuse{distinguished, downLevel, mailAddress},
	plain:   true,
}

// GroupScope is a group's scope, in any case. The script receives the cmdlets' spelling:
// DomainLocal, Global or Universal.
var GroupScope Kind = scopeKind{base{"string"}}

type scopeKind struct{ base }

// scopes lists the spellings of each scope. The first is used in records, the last in the cmdlets.
var scopes = [][]string{{"Domain_Local", "DomainLocal"}, {"Global"}, {"Universal"}}

func (scopeKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, 0, false)
	if problem != nil {
		return nil, problem
	}
	for _, words := range scopes {
		for _, word := range words {
			if strings.EqualFold(s, word) {
				return &Decoded{Values: []ps.Value{ps.Text(words[len(words)-1])}, Text: words[0]}, nil
			}
		}
	}
	return nil, invalid("must be Domain_Local, Global or Universal")
}

func (scopeKind) Doc() Doc {
	doc := Doc{Type: "string", Text: "Not case-sensitive; DomainLocal also means Domain_Local.",
		Example: "Global"}
	for _, words := range scopes {
		doc.Enum = append(doc.Enum, words[0])
	}
	return doc
}
