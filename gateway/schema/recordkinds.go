package schema

import (
	"encoding/json"
	"net/netip"

	"adgateway/ps"
)

// IPv4 and IPv6 are the addresses of A and AAAA records. The scripts receive them in
// their shortest form.
var (
	IPv4 Kind = addressKind{base: base{"string"}, four: true}
	IPv6 Kind = addressKind{base: base{"string"}, six: true}
	// Address is an address of either family.
	Address Kind = addressKind{base: base{"string"}, four: true, six: true}
)

type addressKind struct {
	base
	four, six bool
}

func (k addressKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, 0, false)
	if problem != nil {
		return nil, problem
	}
	address, err := netip.ParseAddr(s)
	switch {
	case err != nil || address.Is4() && !k.four || !address.Is4() && !k.six:
		return nil, invalid("must be %s", k.what())
	case address.Zone() != "":
		return nil, invalid("must not have a zone index")
	case address.Is4In6():
		return nil, invalid("must not be an IPv4 address written as IPv6")
	}
	return textValue(address.String()), nil
}

func (k addressKind) what() string {
	switch {
	case k.four && k.six:
		return "an address such as 10.0.0.53 or 2001:db8::53"
	case k.four:
		return "an IPv4 address such as 10.0.0.53"
	default:
		return "an IPv6 address such as 2001:db8::53"
	}
}

func (k addressKind) Doc() Doc {
	doc := Doc{Type: "string", Format: "ipv6", Text: "Must be " + k.what() + ".", Example: "2001:db8:1::11"}
	if k.four {
		doc.Format, doc.Example = "ipv4", "10.0.1.11"
	}
	if k.four && k.six {
		doc.Format = ""
	}
	return doc
}

// textLimit is the most octets that the cmdlets write as the text of a record (facts NA9).
const textLimit = 254

// RecordText is the text of a TXT record: 1 to 254 octets of UTF-8 without control
// characters.
var RecordText Kind = recordTextKind{base{"string"}}

type recordTextKind struct{ base }

func (recordTextKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, 0, false)
	if problem != nil {
		return nil, problem
	}
	if s == "" {
		return nil, invalid("must not be empty: the next text of that name would replace it")
	}
	if len(s) > textLimit {
		return nil, unprocessable("must be at most %d octets long: Windows PowerShell cannot write a longer text", textLimit)
	}
	return textValue(s), nil
}

func (recordTextKind) Doc() Doc {
	return Doc{Type: "string", MaxLength: textLimit, Text: "1 to 254 octets of UTF-8, compared exactly.", Example: "v=spf1 -all"}
}

// Texts stands for a parameter that is repeated, or for a JSON array of texts, in which
// commas do not separate. It is the array as JSON, so that values can be compared.
type Texts string

// TextsOf returns several texts as one value.
func TextsOf(texts []string) Texts {
	encoded, _ := json.Marshal(texts) // texts always encode
	return Texts(encoded)
}

// List returns the texts.
func (t Texts) List() []string {
	var texts []string
	_ = json.Unmarshal([]byte(t), &texts) // was encoded by TextsOf
	return texts
}

// maxValues is the most values of a set of records.
const maxValues = 100

// RecordValues are the values of a set of records. Their form follows from its type, see
// [RecordType.Parse]; Text of [Decoded] is their list as [Texts].
var RecordValues Kind = recordValuesKind{base{"string[]"}}

type recordValuesKind struct{ base }

func (recordValuesKind) Decode(raw any) (*Decoded, *FieldError) {
	var values []string
	switch raw := raw.(type) {
	case string:
		values = []string{raw}
	case Texts:
		values = raw.List()
	default:
		return nil, invalid("must be text or an array of texts, not %s", jsonType(raw))
	}
	if len(values) == 0 || len(values) > maxValues {
		return nil, invalid("must be 1 to %d values", maxValues)
	}
	for _, value := range values {
		if _, problem := text(value, 0, false); problem != nil {
			return nil, problem
		}
	}
	return &Decoded{Values: []ps.Value{ps.List(values)}, Text: string(TextsOf(values))}, nil
}

func (recordValuesKind) Doc() Doc {
	return Doc{Type: "string", Text: "One value, or up to 100 of them: repeated, or in JSON an array.", Example: "10.0.1.11"}
}

// Repeats reports whether a parameter of the kind may be repeated with different values.
func Repeats(k Kind) bool { return k == RecordValues }
