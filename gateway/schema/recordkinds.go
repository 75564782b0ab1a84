package schema

import (
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"adgateway/ps"
)

// IPv4 and IPv6 are the addresses in A and AAAA records. The scripts receive them in their shortest
// form.
var (
	IPv4 = addressKind(Doc{Format: "ipv4", Example: "10.0.1.11"}, "an IPv4 address such as 10.0.0.53",
		func(a netip.Addr) bool { return a.Is4() }, false)
	IPv6 = addressKind(Doc{Format: "ipv6", Example: "2001:db8:1::11"}, anyOfIPv6, isIPv6, false)
	// anyIPv6 is the address in an existing AAAA record, which may be an IPv4 address written as IPv6.
	anyIPv6 = addressKind(Doc{Format: "ipv6", Example: "2001:db8:1::11"}, anyOfIPv6, isIPv6, true)
	// Address is an address of either family.
	Address = addressKind(Doc{Example: "10.0.1.11"}, "an address such as 10.0.0.53 or 2001:db8::53",
		netip.Addr.IsValid, false)
)

const anyOfIPv6 = "an IPv6 address such as 2001:db8::53"

func isIPv6(a netip.Addr) bool { return !a.Is4() }

// addressKind is the kind of addresses of a family. mapped allows an IPv4 address written as IPv6.
func addressKind(doc Doc, what string, family func(netip.Addr) bool, mapped bool) Kind {
	doc.Type, doc.Text = "string", described(what)
	return &checkedKind{base: base{"string"}, doc: doc, check: func(s string) (string, *FieldError) {
		address, err := netip.ParseAddr(s)
		switch {
		case err != nil || !family(address):
			return "", invalid("must be %s", what)
		case address.Zone() != "":
			return "", invalid("must not have a zone index")
		case address.Is4In6() && !mapped:
			return "", invalid("must not be an IPv4 address written as IPv6")
		}
		return address.String(), nil
	}}
}

// textLimit is the maximum length of a record's text that the cmdlets write, in octets (facts NA9).
const textLimit = 254

// RecordText is the text of a TXT record: 1 to 254 octets of UTF-8 without control
// characters.
var RecordText Kind = &checkedKind{
	base: base{"string"},
	check: func(s string) (string, *FieldError) {
		switch {
		case s == "":
			return "", invalid("must not be empty: the next text of that name would replace it")
		case len(s) > textLimit:
			return "", unprocessable("must be at most %d octets long: Windows PowerShell cannot write a longer text",
				textLimit)
		}
		return s, nil
	},
	doc: Doc{Type: "string", MaxLength: textLimit, Text: "1 to 254 octets of UTF-8, compared exactly.",
		Example: "v=spf1 -all"},
}

// anyText is the text of an existing TXT record.
var anyText Kind = &checkedKind{
	base: base{"string"}, lines: true, doc: Doc{Type: "string", Text: "Text, compared exactly."},
}

// hexOctets are octets in hexadecimal. The script receives them in lower case.
var hexOctets Kind = &checkedKind{
	base: base{"string"},
	check: func(s string) (string, *FieldError) {
		octets, err := hex.DecodeString(s)
		switch {
		case err != nil || len(octets) == 0:
			return "", invalid("must be octets in hexadecimal: an even number of the digits 0 to 9 and a to f")
		case len(octets) > maxOctets:
			return "", unprocessable("must be at most %d octets", maxOctets)
		}
		return strings.ToLower(s), nil
	},
	doc: Doc{Type: "string", MaxLength: 2 * maxOctets, Pattern: "^(?:[0-9A-Fa-f]{2})+$",
		Text: "Octets in hexadecimal.", Example: "0123456789abcdef"},
}

// maxOctets limits the data of a record. The largest data is a certificate.
const maxOctets = 4096

// caaTag and caaValue are a CAA record's property and its value (RFC 8659).
var (
	caaTag = caaKind(`^[0-9A-Za-z]{1,15}$`,
		"a property of letters and digits such as issue, issuewild, or iodef", "issue", false)
	caaValue = caaKind(`^[!#-\[\]-~](?:[ !#-\[\]-~]{0,253}[!#-\[\]-~])?$`,
		"1 to 255 ASCII characters without quotes or backslashes, such as letsencrypt.org, or ; for none",
		"letsencrypt.org", true)
)

// caaKind is the kind of texts that match a pattern. If quoted, they may be in quotes, as in zone files, and
// case matters.
func caaKind(pattern, what, example string, quoted bool) Kind {
	matches := regexp.MustCompile(pattern).MatchString
	check := func(s string) (string, *FieldError) {
		if inside, inQuotes := strings.CutPrefix(s, `"`); quoted && inQuotes {
			s = strings.TrimSuffix(inside, `"`)
		}
		if !matches(s) {
			return "", invalid("must be %s", what)
		}
		if !quoted {
			s = strings.ToLower(s)
		}
		return s, nil
	}
	doc := Doc{Type: "string", Pattern: pattern, Text: described(what), Example: example}
	return &checkedKind{base: base{"string"}, check: check, doc: doc}
}

// numberedTypeKind is the name of a record type, or TYPE followed by its number.
type numberedTypeKind struct{ oneOfKind }

var numberedType = regexp.MustCompile(`^(?i:TYPE)([1-9][0-9]{0,4})$`)

func (k numberedTypeKind) Decode(raw any) (*Decoded, *FieldError) {
	if s, isText := raw.(string); isText {
		if m := numberedType.FindStringSubmatch(s); m != nil {
			if n, _ := strconv.Atoi(m[1]); n <= 0xFFFF && !namedNumber(n) {
				return textValue("TYPE" + m[1]), nil
			}
		}
	}
	if s, isText := raw.(string); isText && slices.Contains(plainTypes, strings.ToUpper(s)) {
		return textValue(strings.ToUpper(s)), nil
	}
	return k.oneOfKind.Decode(raw)
}

// plainTypes lists the types that have a name in the PowerShell module but are not in the table.
var plainTypes = strings.Fields("ATMA DNSKEY GPOS KEY LOC MB MD MF MG MINFO MR NSEC NSEC3 " +
	"NSEC3PARAM NXT RRSIG SIG WINS WINSR WKS")

// namedNumber reports whether a numeric type has a name in the table.
func namedNumber(n int) bool {
	for _, t := range RecordTypes {
		if int(t.Number) == n {
			return n != 0
		}
	}
	return false
}

func (k numberedTypeKind) Doc() Doc {
	doc := k.oneOfKind.Doc()
	doc.Text, doc.Enum = "Name of a record type, or TYPE followed by its number.", nil
	return doc
}

// Texts stands for a repeated parameter, or for a JSON array of strings whose commas are not
// separators. It is the array as JSON, to be comparable.
type Texts string

// TextsOf returns several strings as one value.
func TextsOf(texts []string) Texts {
	encoded, _ := json.Marshal(texts) // strings always encode
	return Texts(encoded)
}

// List returns the strings.
func (t Texts) List() []string {
	var texts []string
	_ = json.Unmarshal([]byte(t), &texts) // t was encoded by TextsOf
	return texts
}

// maxValues is the maximum number of values in a record set.
const maxValues = 100

// RecordValues are the values of a record set. The record type determines their form, see
// [RecordType.Parse]. Text of [Decoded] is their list as [Texts].
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
		if _, problem := anyText.Decode(value); problem != nil {
			return nil, problem
		}
	}
	return &Decoded{Values: []ps.Value{ps.List(values)}, Text: string(TextsOf(values))}, nil
}

func (recordValuesKind) Doc() Doc {
	return Doc{Type: "string",
		Text: "1 to 100 values, as a repeated parameter or, in JSON, an array.", Example: "10.0.1.11"}
}

// Repeats reports whether a parameter of the kind may be repeated with different values.
func Repeats(k Kind) bool { return k == RecordValues }
