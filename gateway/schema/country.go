package schema

import (
	"slices"
	"strings"
	"sync"

	"github.com/biter777/countries"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"adgateway/ps"
)

// Country is an ISO 3166-1 country: its alpha-2 code or its English short name, in
// any case. It becomes three arguments, Code2, Name and Number, for the attributes
// c, co and countryCode.
var Country Kind = countryKind{}

type countryKind struct{ base }

type country struct {
	code   string
	name   string
	number int64
}

// notAssigned are codes that the library and Unicode list in addition to
// ISO 3166-1: two withdrawn ones and one for private use.
var notAssigned = map[string]bool{"AN": true, "YU": true, "XK": true}

// shortNames are the names of ISO 3166-1 where the library has another one. The
// first is used in answers. Names of the library and of Unicode are accepted, too.
var shortNames = map[string][]string{
	"AX": {"Åland Islands"},
	"BL": {"Saint Barthélemy"},
	"BO": {"Bolivia", "Bolivia (Plurinational State of)"},
	"BQ": {"Bonaire, Sint Eustatius and Saba"},
	"CD": {"Democratic Republic of the Congo", "Congo (the Democratic Republic of the)"},
	"CI": {"Côte d'Ivoire"},
	"CV": {"Cabo Verde"},
	"CW": {"Curaçao"},
	"FK": {"Falkland Islands (Malvinas)", "Falkland Islands (the) [Malvinas]"},
	"GB": {"United Kingdom", "United Kingdom of Great Britain and Northern Ireland"},
	"HK": {"Hong Kong"},
	"KP": {"Democratic People's Republic of Korea", "Korea (the Democratic People's Republic of)"},
	"KR": {"Republic of Korea", "Korea (the Republic of)"},
	"LY": {"Libya"},
	"MD": {"Moldova", "Moldova (the Republic of)"},
	"MF": {"Saint Martin (French part)"},
	"MK": {"North Macedonia"},
	"MO": {"Macao"},
	"NL": {"Netherlands", "Netherlands (Kingdom of the)"},
	"PS": {"Palestine, State of", "Palestine"},
	"RE": {"Réunion"},
	"SH": {"Saint Helena, Ascension and Tristan da Cunha"},
	"SJ": {"Svalbard and Jan Mayen"},
	"SX": {"Sint Maarten (Dutch part)"},
	"SZ": {"Eswatini"},
	"TL": {"Timor-Leste"},
	"TR": {"Türkiye"},
	"TZ": {"Tanzania", "Tanzania, the United Republic of"},
	"US": {"United States", "United States of America"},
	"VA": {"Holy See"},
	"VE": {"Venezuela", "Venezuela (Bolivarian Republic of)"},
	"VG": {"Virgin Islands (British)"},
	"VI": {"Virgin Islands (U.S.)"},
	"VN": {"Vietnam", "Viet Nam"},
	"WF": {"Wallis and Futuna"},
}

// countryTable returns the ISO 3166-1 table by folded code and folded name.
var countryTable = sync.OnceValue(func() map[string]country {
	table := map[string]country{}
	unicodeNames := display.English.Regions()
	for _, code := range countries.All() {
		alpha2 := code.Alpha2()
		region, err := language.ParseRegion(alpha2)
		if err != nil || len(alpha2) != 2 || !region.IsCountry() || notAssigned[alpha2] {
			continue
		}
		found := country{code: alpha2, name: code.String(), number: int64(code)}
		names := append(slices.Clone(shortNames[alpha2]), found.name, unicodeNames.Name(region))
		found.name = names[0]
		for _, name := range append(names, alpha2) {
			table[foldCountry(name)] = found
		}
	}
	return table
})

// foldCountry ignores case, the form of the apostrophe, and the article that
// ISO 3166 appends to some names.
func foldCountry(name string) string {
	return strings.TrimSuffix(strings.ReplaceAll(strings.ToLower(name), "’", "'"), " (the)")
}

func (countryKind) Decode(raw any) (*Decoded, *Problem) {
	s, problem := text(raw, 0, false)
	if problem != nil {
		return nil, problem
	}
	found, known := countryTable()[foldCountry(s)]
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

// countryName returns the English name of a code, or the code if it is unknown.
func countryName(code string) string {
	if found, known := countryTable()[foldCountry(code)]; known {
		return found.name
	}
	return code
}
