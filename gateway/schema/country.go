package schema

import (
	"strings"
	"sync"

	"github.com/biter777/countries"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"adgateway/ps"
)

// Country is an ISO 3166-1 country: its alpha-2 code or its English short name,
// in any case. It makes three arguments: Code2, Name and Number, for the
// attributes c, co and countryCode.
var Country Kind = countryKind{}

type countryKind struct{ base }

type country struct {
	code   string
	name   string
	number int64
}

// countryTable is the ISO 3166-1 table by code and by each name, in lower case.
var countryTable = sync.OnceValue(func() map[string]country {
	table := map[string]country{}
	names := display.English.Regions()
	for _, code := range countries.All() {
		alpha2 := code.Alpha2()
		region, err := language.ParseRegion(alpha2)
		// The library also lists parts of the United Kingdom and states that are
		// gone: what Unicode does not take for a country is none.
		if err != nil || len(alpha2) != 2 || region.Canonicalize() != region || !region.IsCountry() || alpha2[0] == 'X' && alpha2 != "XK" {
			continue
		}
		found := country{code: alpha2, name: code.String(), number: int64(code)}
		for _, name := range []string{alpha2, found.name, names.Name(region)} {
			table[strings.ToLower(name)] = found
		}
	}
	return table
})

func (countryKind) Decode(raw any) (*Decoded, *Problem) {
	s, problem := text(raw, 0, false)
	if problem != nil {
		return nil, problem
	}
	found, known := countryTable()[strings.ToLower(s)]
	if !known {
		return nil, invalid("must be a country: its ISO 3166-1 alpha-2 code such as GR, or its English short name such as Greece")
	}
	return &Decoded{Values: []ps.Value{ps.Text(found.code), ps.Text(found.name), ps.Int(found.number)}, Text: found.code}, nil
}

func (countryKind) Parts() []Part {
	return []Part{{"Code2", "string"}, {"Name", "string"}, {"Number", "int"}}
}

func (countryKind) Clear() []ps.Value { return []ps.Value{ps.Text(""), ps.Text(""), ps.Int(0)} }

func (countryKind) Doc() Doc {
	return Doc{Type: "string", Text: "ISO 3166-1 alpha-2 code or English short name.", Example: "GR"}
}

// countryName is the English name of a code, or the code itself.
func countryName(code string) string {
	if found, known := countryTable()[strings.ToLower(code)]; known {
		return found.name
	}
	return code
}
