package schema

import (
	_ "embed" // names of countries
	"strings"
	"sync"
	"unicode"

	"github.com/biter777/countries"
	"golang.org/x/text/unicode/norm"

	"adgateway/ps"
)

// Country is an ISO 3166-1 country: its alpha-2 or alpha-3 code or its short, official or common
// English name, in any case. It becomes three arguments, Code2, Name and Number, for the attributes
// c, co and countryCode.
var Country Kind = countryKind{}

type countryKind struct{ base }

type country struct {
	code   string
	name   string
	number int64
}

var (
	//go:embed countries.txt
	countryFile string
	//go:embed regions.txt
	regionFile string
)

// namesIn returns the country names of a file by alpha-2 code. If a list starts with =, its first name is the
// one in answers.
func namesIn(file string) map[string][]string {
	names := map[string][]string{}
	for line := range strings.Lines(file) {
		code, list, _ := strings.Cut(strings.TrimSpace(line), " ")
		if code == "#" {
			continue
		}
		for name := range strings.SplitSeq(list, " | ") {
			names[code] = append(names[code], name)
		}
	}
	return names
}

// countryTable returns the ISO 3166-1 table, keyed by folded code and folded name.
var countryTable = sync.OnceValue(func() map[string]country {
	table := map[string]country{}
	others, unicodeNames := namesIn(countryFile), namesIn(regionFile)
	for _, code := range countries.All() {
		alpha2 := code.Alpha2()
		if unicodeNames[alpha2] == nil {
			continue // withdrawn, or not of ISO 3166-1
		}
		found := country{code: alpha2, name: code.String(), number: int64(code)}
		for i, name := range others[alpha2] {
			name, shown := strings.CutPrefix(name, "=")
			if shown {
				found.name = name
			}
			others[alpha2][i] = name
		}
		for _, name := range append(others[alpha2], found.name, code.String(), unicodeNames[alpha2][0], alpha2,
			code.Alpha3()) {
			table[foldCountry(name)] = found
		}
	}
	return table
})

// foldCountry folds a country name. It ignores case, accents, dots, the form of the apostrophe,
// articles, and the short forms of "and" and "Saint".
func foldCountry(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r) || r == '.':
			return -1
		case r == '’':
			return '\''
		}
		return r
	}, norm.NFD.String(strings.ToLower(name)))
	name = strings.TrimPrefix(strings.TrimSuffix(name, " (the)"), "the ")
	if rest, short := strings.CutPrefix(name, "st "); short {
		name = "saint " + rest
	}
	return strings.ReplaceAll(name, " & ", " and ")
}

func (countryKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, 0, false)
	if problem != nil {
		return nil, problem
	}
	found, known := countryTable()[foldCountry(s)]
	if !known {
		return nil, invalid("must be a country: its ISO 3166-1 code such as GR or GRC, or its name in English " +
			"such as Greece")
	}
	return &Decoded{Values: []ps.Value{ps.Text(found.code), ps.Text(found.name), ps.Int(found.number)},
		Text: found.code}, nil
}

func (countryKind) Parts() []Part {
	return []Part{{"Code2", "string"}, {"Name", "string"}, {"Number", "int"}}
}

func (countryKind) Clear() []ps.Value { return []ps.Value{ps.Text(""), ps.Text(""), ps.Int(0)} }

func (countryKind) Doc() Doc {
	return Doc{Type: "string", Text: "ISO 3166-1 alpha-2 or alpha-3 code, or short, official, or common " +
		"English name.", Example: "GR"}
}

// countryName returns the English name for a code, or the code if it is unknown.
func countryName(code string) string {
	if found, known := countryTable()[strings.ToLower(code)]; known {
		return found.name
	}
	return code
}
