package schema

import (
	"slices"
	"strings"
)

// RecordForm determines how a field of a record's data is written and compared.
type RecordForm string

// The forms. Scripts use the same words.
const (
	// a domain name, compared regardless of case and of a trailing dot unless that is the only dot
	NameForm    RecordForm = "name"
	AddressForm RecordForm = "address" // compared by value
	NumberForm  RecordForm = "number"
	TextForm    RecordForm = "text"    // compared exactly
	DottedForm  RecordForm = "dotted"  // a domain name that keeps its dot; only read
	SecondsForm RecordForm = "seconds" // a time span; only read
	WordForm    RecordForm = "word"    // case is ignored
	HexForm     RecordForm = "hex"     // octets in hexadecimal, in lower case
)

// RecordWire is the wire format of a field of a type for which Windows has no class.
type RecordWire string

// The wire formats. Scripts use the same words.
const (
	OctetWire   RecordWire = "octet"   // an 8-bit number
	CountedWire RecordWire = "counted" // text, preceded by its length in one octet
	TextWire    RecordWire = "text"    // text up to the end of the data
	HexWire     RecordWire = "hex"     // all octets up to the end of the data
)

// RecordField is one field of a record's data.
type RecordField struct {
	// name of the parameter, such as "Preference"; a new value has the prefix New, as in "NewPreference"
	Name     string
	Property string // of RecordData, and parameter of Add-DnsServerResourceRecord
	Form     RecordForm
	Member   string // name in the answer's records; empty if only the member data shows it
	Kind     Kind   // kind of a value to search for
	NewKind  Kind   // kind of a value to write
	Default  string // default in a new record; empty if the parameter is required
	Doc      string
	Example  string // value of a record that exists in the sandbox
	Another  string // value of a new record
	Changed  string // new value in a change that succeeds; empty to leave Example

	Words []string   // names of the property's numeric values, if Windows has an enumeration
	Wire  RecordWire // wire format, for a type with a Number
}

// RecordType is a type of DNS records, and the only place where the type is described. Its routes,
// parameters and shapes, and the scripts' tables, derive from it.
type RecordType struct {
	Name     string        // in capitals, as in Windows: "MX"; also the switch of Add-DnsServerResourceRecord
	Fields   []RecordField // in the order of the text form and of -RecordData; the last is the target
	Resource string        // "mx", the prefix of operation ids; empty if the type is only read, in mixed lists
	Path     string        // "DnsMxRecord", after /api/
	Search   string        // word in the route that lists by target; empty if there is none
	Found    string        // verb of that operation's id: "listTarget"
	Example  string        // owner of a record that exists in the sandbox
	Another  string        // owner of a new record
	Zone     string        // zone of both
	Shape    *Shape        // of its own records; the fields are derived

	Alone   bool // whether its name can have only this one record, so that a new record replaces it (facts NA22)
	Brief   bool // whether its records lack ttl, fqdn and members for single fields
	Address bool // whether a PTR record can accompany it, and it can be found without its zone
	Apart   bool // whether lists of several types omit the members of its own records
	Tree    bool // no name below its owner may have records
	Reverse bool // whether its owner is an address's reverse name and its target is a full name

	// Number is the number of a type for which Windows has no class, so the server stores its data as
	// octets (RFC 3597).
	Number uint16
	// Refused explains how to write records of a type that this server's cmdlets cannot write, or that
	// other operations write.
	Refused string
}

// RecordTypes are all types, in documentation order. Types without a resource are only read.
var RecordTypes = []*RecordType{
	{
		Name: "CNAME", Shape: &Shape{Name: "CName"}, Resource: "cname", Path: "DnsCNameRecord", Search: "HostNameAlias", Found: "listAlias", Example: "www", Another: "handbook", Zone: "corp.example",
		Alone: true, Brief: true,
		Fields: []RecordField{{
			Name: "DNS_HostName_Alias", Property: "HostNameAlias", Form: NameForm, Kind: Target, NewKind: NewTarget,
			Doc:     "Target; without a dot, a name in the zone.",
			Example: "web1.corp.example", Another: "web1.corp.example", Changed: "web2.corp.example",
		}},
	},
	{
		Name: "A", Shape: &Shape{Name: "ARecord"}, Resource: "a", Path: "DnsARecord", Search: "IPAddress", Found: "listAddress", Example: "web1", Another: "handbook", Zone: "corp.example",
		Address: true,
		Fields: []RecordField{{
			Name: "IP_Address", Property: "IPv4Address", Form: AddressForm, Kind: IPv4, NewKind: IPv4,
			Doc:     "IPv4 address.",
			Example: "10.0.1.30", Another: "10.0.1.150", Changed: "10.0.1.130",
		}},
	},
	{
		Name: "AAAA", Shape: &Shape{Name: "AAAARecord"}, Resource: "aaaa", Path: "DnsAAAARecord", Search: "IPv6Address", Found: "listAddress", Example: "web1", Another: "handbook", Zone: "corp.example",
		Address: true,
		Fields: []RecordField{{
			Name: "IPv6_Address", Property: "IPv6Address", Form: AddressForm, Kind: anyIPv6, NewKind: IPv6,
			Doc:     "IPv6 address.",
			Example: "2001:db8:10:1::30", Another: "2001:db8:10:1::150", Changed: "2001:db8:10:1::130",
		}},
	},
	{
		Name: "PTR", Shape: &Shape{Name: "PtrRecord"}, Resource: "ptr", Path: "DnsPtrRecord", Search: "TargetName", Found: "listTarget", Example: "30.1.0", Another: "150.1.0", Zone: "10.in-addr.arpa",
		Reverse: true,
		Fields: []RecordField{{
			Name: "DNS_TargetName", Property: "PtrDomainName", Form: NameForm, Kind: Target, NewKind: NewTarget,
			Doc:     "Fully qualified name of the host.",
			Example: "web1.corp.example", Another: "handbook.corp.example", Changed: "web9.corp.example",
		}},
	},
	{
		Name: "TXT", Shape: &Shape{Name: "TxtRecord"}, Resource: "txt", Path: "DnsTxtRecord", Example: "@", Another: "handbook", Zone: "corp.example",
		Fields: []RecordField{{
			Name: "Text", Property: "DescriptiveText", Form: TextForm, Kind: anyText, NewKind: RecordText,
			Doc:     "Text of the record.",
			Example: "v=spf1 mx ip4:10.0.1.0/24 -all", Another: "site-verification=4711", Changed: "v=spf1 mx -all",
		}},
	},
	{
		Name: "SRV", Shape: &Shape{Name: "SrvRecord"}, Resource: "srv", Path: "DnsSrvRecord", Search: "TargetName", Found: "listTarget", Example: "_sip._tls", Another: "_sip._udp.handbook", Zone: "corp.example",
		Fields: []RecordField{
			{
				Name: "Priority", Property: "Priority", Form: NumberForm, Member: "priority",
				Kind: uint16Kind, NewKind: uint16Kind, Default: "0",
				Doc:     "Priority; the lowest value is preferred.",
				Example: "10", Another: "20", Changed: "20",
			},
			{
				Name: "Weight", Property: "Weight", Form: NumberForm, Member: "weight",
				Kind: uint16Kind, NewKind: uint16Kind, Default: "0",
				Doc:     "Weight among records with the same priority.",
				Example: "60", Another: "5", Changed: "50",
			},
			{
				Name: "Port", Property: "Port", Form: NumberForm, Member: "port", Kind: uint16Kind, NewKind: uint16Kind,
				Doc:     "Port of the service.",
				Example: "5061", Another: "5060", Changed: "5060",
			},
			{
				Name: "DNS_TargetName", Property: "DomainName", Form: NameForm, Member: "target",
				Kind: Target, NewKind: NewTarget,
				Doc:     "Host that provides the service; without a dot, a name in the zone.",
				Example: "app2.corp.example", Another: "web1.corp.example", Changed: "vpn2.corp.example",
			},
		},
	},
	{
		Name: "MX", Shape: &Shape{Name: "MxRecord"}, Resource: "mx", Path: "DnsMxRecord", Search: "TargetName", Found: "listTarget", Example: "@", Another: "handbook", Zone: "corp.example",
		Fields: []RecordField{
			{
				Name: "Preference", Property: "Preference", Form: NumberForm, Member: "preference",
				Kind: uint16Kind, NewKind: uint16Kind, Default: "10",
				Doc:     "Preference; the lowest value is preferred.",
				Example: "10", Another: "30", Changed: "15",
			},
			{
				Name: "DNS_TargetName", Property: "MailExchange", Form: NameForm, Member: "target",
				Kind: Target, NewKind: NewTarget,
				Doc:     "Mail server; without a dot, a name in the zone.",
				Example: "mail1.corp.example", Another: "mail2.corp.example", Changed: "mail3.corp.example",
			},
		},
	},
	{
		Name: "CAA", Shape: &Shape{Name: "CaaRecord"}, Resource: "caa", Path: "DnsCaaRecord", Example: "@", Another: "handbook", Zone: "shop.example",
		Number: 257, Apart: true,
		Fields: []RecordField{
			{
				Name: "Flags", Form: NumberForm, Wire: OctetWire, Member: "flags", Kind: octetKind, NewKind: octetKind, Default: "0",
				Doc:     "Flags; 128 marks the property as critical.",
				Example: "0", Another: "128",
			},
			{
				Name: "Tag", Form: WordForm, Wire: CountedWire, Member: "tag", Kind: caaTag, NewKind: caaTag,
				Doc:     "Property, such as issue, issuewild, or iodef.",
				Example: "issue", Another: "issuewild",
			},
			{
				Name: "Value", Form: TextForm, Wire: TextWire, Member: "value", Kind: caaValue, NewKind: caaValue,
				Doc:     "Value: the domain of a certificate authority, or ; for none.",
				Example: "letsencrypt.org", Another: ";", Changed: "pki.example",
			},
		},
	},
	{
		Name: "TLSA", Shape: &Shape{Name: "TlsaRecord"}, Resource: "tlsa", Path: "DnsTlsaRecord", Example: "_443._tcp.pay", Another: "_443._tcp.handbook", Zone: "shop.example",
		Apart: true,
		Fields: []RecordField{
			{
				Name: "CertificateUsage", Property: "CertificateUsage", Form: NumberForm, Member: "certificateUsage", Kind: octetKind, NewKind: Number(0, 3), Default: "3",
				Words:   []string{"CAConstraint", "ServiceCertificateConstraint", "TrustAnchorAssertion", "DomainIssuedCertificate"},
				Doc:     "Certificate usage (RFC 6698); 3 means the server's own certificate.",
				Example: "3", Another: "2",
			},
			{
				Name: "Selector", Property: "Selector", Form: NumberForm, Member: "selector", Kind: octetKind, NewKind: Number(0, 1), Default: "1",
				Words:   []string{"FullCertificate", "SubjectPublicKeyInfo"},
				Doc:     "Part of the certificate that is compared: 0 for the whole certificate, 1 for its public key.",
				Example: "1", Another: "0",
			},
			{
				Name: "MatchingType", Property: "MatchingType", Form: NumberForm, Member: "matchingType", Kind: octetKind, NewKind: Number(0, 2), Default: "1",
				Words:   []string{"ExactMatch", "Sha256Hash", "Sha512Hash"},
				Doc:     "Type of comparison: 0 for the exact data, 1 for its SHA-256 hash, 2 for its SHA-512 hash.",
				Example: "1", Another: "0",
			},
			{
				Name: "CertificateAssociationData", Property: "CertificateAssociationData", Form: HexForm, Member: "certificateAssociationData", Kind: hexOctets, NewKind: hexOctets,
				Doc:     "Data to compare the certificate with, in hexadecimal.",
				Example: exampleHash, Another: anotherHash, Changed: anotherHash,
			},
		},
	},
	{
		Name: "SSHFP", Shape: &Shape{Name: "SshfpRecord"}, Resource: "sshfp", Path: "DnsSshfpRecord", Example: "pay", Another: "handbook", Zone: "shop.example",
		Number: 44, Apart: true,
		Fields: []RecordField{
			{
				Name: "Algorithm", Form: NumberForm, Wire: OctetWire, Member: "algorithm", Kind: octetKind, NewKind: octetKind,
				Doc:     "Algorithm of the key: 1 for RSA, 3 for ECDSA, 4 for Ed25519.",
				Example: "4", Another: "3",
			},
			{
				Name: "FingerprintType", Form: NumberForm, Wire: OctetWire, Member: "fingerprintType", Kind: octetKind, NewKind: octetKind, Default: "2",
				Doc:     "Hash algorithm of the fingerprint: 1 for SHA-1, 2 for SHA-256.",
				Example: "2", Another: "2",
			},
			{
				Name: "Fingerprint", Form: HexForm, Wire: HexWire, Member: "fingerprint", Kind: hexOctets, NewKind: hexOctets,
				Doc:     "Fingerprint, in hexadecimal.",
				Example: exampleHash, Another: anotherHash, Changed: anotherHash,
			},
		},
	},
	{
		Name: "DNAME", Shape: &Shape{Name: "DNameRecord"}, Resource: "dname", Path: "DnsDNameRecord", Search: "TargetName", Found: "listTarget", Example: "old", Another: "handbook", Zone: "shop.example",
		Alone: true, Tree: true,
		Fields: []RecordField{{
			Name: "DNS_TargetName", Property: "DomainNameAlias", Form: NameForm, Kind: Target, NewKind: NewTarget,
			Doc:     "Domain to which all names below the owner name are redirected; without a dot, a name in the zone.",
			Example: "shop2.example", Another: "web1.corp.example", Changed: "shop3.example",
		}},
	},
	{Name: "NS", Fields: []RecordField{{Property: "NameServer", Form: NameForm}}, Refused: "use DnsDelegation for the name servers of a name below the zone; the zone's servers make the zone's own"},
	{Name: "HINFO", Fields: readOnly(TextForm, "Cpu", "OperatingSystem"), Refused: byCmdlet},
	{Name: "RP", Fields: readOnly(NameForm, "ResponsiblePerson", "Description"), Refused: byCmdlet},
	{Name: "AFSDB", Fields: []RecordField{{Property: "SubType", Form: NumberForm}, {Property: "ServerName", Form: NameForm}}, Refused: byCmdlet},
	{Name: "RT", Fields: []RecordField{{Property: "Preference", Form: NumberForm}, {Property: "IntermediateHost", Form: NameForm}}, Refused: byCmdlet},
	{Name: "X25", Fields: readOnly(TextForm, "PsdnAddress"), Refused: byCmdlet},
	{Name: "ISDN", Fields: readOnly(TextForm, "IsdnNumber", "IsdnSubAddress"), Refused: byCmdlet},
	{Name: "DHCID", Fields: readOnly(TextForm, "DhcpIdentifier"), Refused: "DHCP servers write it"},
	{Name: "DS", Fields: readOnly(TextForm, "KeyTag", "CryptoAlgorithm", "DigestType", "Digest"), Refused: "use Add-DnsServerResourceRecordDS on the server, or let it sign the zone"},
	{Name: "NAPTR", Refused: "no cmdlet of Windows adds one; use dnscmd /RecordAdd on the server"},
	{Name: "SOA", Refused: "the server writes it when the zone is created", Fields: []RecordField{
		{Property: "PrimaryServer", Form: DottedForm}, {Property: "ResponsiblePerson", Form: DottedForm}, {Property: "SerialNumber", Form: NumberForm},
		{Property: "RefreshInterval", Form: SecondsForm}, {Property: "RetryDelay", Form: SecondsForm}, {Property: "ExpireLimit", Form: SecondsForm}, {Property: "MinimumTimeToLive", Form: SecondsForm},
	}},
}

// byCmdlet is the advice for types that the cmdlets support and the gateway does not.
const byCmdlet = "use Add-DnsServerResourceRecord on the server"

const (
	exampleHash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	anotherHash = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
)

// readOnly returns the fields of a type that is only read.
func readOnly(form RecordForm, properties ...string) []RecordField {
	var fields []RecordField
	for _, name := range properties {
		fields = append(fields, RecordField{Property: name, Form: form})
	}
	return fields
}

var octetKind = Number(0, 255)

var uint16Kind = Number(0, 65535)

// TimeToLive is the time to live of a record in seconds (facts NA6).
var TimeToLive = Number(0, 2147483647)

// Record is the shape of mixed lists.
var Record = &Shape{Name: "DnsRecord"}

// writableTypes returns the names of the types that have operations.
func writableTypes() []string {
	var names []string
	for _, t := range RecordTypes {
		if t.Resource != "" {
			names = append(names, t.Name)
		}
	}
	return names
}

func recordTypes() []string {
	var names []string
	for _, t := range RecordTypes {
		names = append(names, t.Name)
	}
	return names
}

// HowToWrite explains how to write records of a type that the gateway does not write.
func HowToWrite(name string) string {
	if t := RecordTypeNamed(name); t != nil && t.Refused != "" {
		return t.Refused
	}
	return "use Add-DnsServerResourceRecord with -Type and -RecordData on the server"
}

// RecordTypeNamed returns the type with the given name in the table's spelling, or nil if there is none.
func RecordTypeNamed(name string) *RecordType {
	for _, t := range RecordTypes {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func init() {
	common := []Field{
		{Name: "name", Doc: "Owner name, relative to the zone."},
		{Name: "type"},
		{Name: "data"},
		{Name: "zone"},
		{Name: "timestamp", Doc: "Time stamp of a dynamic record; empty for a static record."},
	}
	full := append(common[:len(common):len(common)],
		Field{Name: "ttl", Type: NumberField, Doc: "Time to live, in seconds."},
		Field{Name: "fqdn", Doc: "Fully qualified owner name, without a trailing dot."},
	)
	Record.Fields = append(Record.Fields, full...)
	known := map[string]bool{}
	for _, t := range RecordTypes {
		var fields []Field
		for _, f := range t.members() {
			fields = append(fields, f)
			f.Null = true
			if !known[f.Name] && !t.Apart {
				Record.Fields, known[f.Name] = append(Record.Fields, f), true
			}
		}
		if t.Resource == "" {
			continue
		}
		t.Shape.Fields = slices.Concat(full, fields)
		t.Shape.Tag = &Tagging{Kind: "r1", Set: []string{"timestamp"}}
		if t.Brief {
			t.Shape.Fields, t.Shape.Tag.Beside = slices.Clone(common), []string{"ttl"}
		}
		t.Shape.Fields[1].Enum = []string{t.Name}
		if len(t.Fields) == 1 && t.Fields[0].Form == NameForm {
			t.Shape.Fields[2].Doc = "Target, without a trailing dot unless that is its only dot."
		}
	}
}

// members returns the answer fields for the fields of the data, first the target and then the numbers.
func (t *RecordType) members() []Field {
	var target, numbers []Field
	for _, f := range t.Fields {
		switch {
		case f.Member == "":
		case f.Form == NumberForm:
			numbers = append(numbers, Field{Name: f.Member, Type: NumberField})
		default:
			doc := ""
			if f.Form == NameForm {
				doc = "Target, without a trailing dot unless that is its only dot."
			}
			target = append(target, Field{Name: f.Member, Doc: doc})
		}
	}
	return append(target, numbers...)
}

// Parse returns the fields of a new value that is given as a single text, such as "10
// mail.corp.example". Names are unchanged, numbers and addresses are in their shortest form.
func (t *RecordType) Parse(text string) ([]string, *FieldError) {
	return t.fields(text, func(f *RecordField) Kind { return f.NewKind })
}

// Listed is like [RecordType.Parse], for an existing value, which may have a form that is not allowed in a
// new record.
func (t *RecordType) Listed(text string) ([]string, *FieldError) {
	return t.fields(text, func(f *RecordField) Kind { return f.Kind })
}

func (t *RecordType) fields(text string, kind func(*RecordField) Kind) ([]string, *FieldError) {
	parts := []string{text}
	if last := len(t.Fields) - 1; last > 0 {
		parts = parts[:0]
		for range last { // the last field may contain spaces
			var part string
			part, text, _ = strings.Cut(strings.TrimLeft(text, " \t"), " ")
			parts = append(parts, part)
		}
		text = strings.TrimLeft(text, " \t")
		if t.Fields[last].Form == HexForm {
			text = strings.ReplaceAll(text, " ", "") // RFC 6698 and 4255 allow spaces
		}
		if t.Fields[last].Form != TextForm {
			text = strings.TrimRight(text, " \t")
		}
		parts = append(parts, text)
	}
	if len(t.Fields) > 1 && slices.Contains(parts, "") || len(t.Fields) == 0 {
		return nil, invalid("must be %s for the type %s, separated by blanks", t.form(), t.Name)
	}
	for i := range parts {
		decoded, problem := kind(&t.Fields[i]).Decode(parts[i])
		if problem != nil {
			return nil, problem
		}
		parts[i] = decoded.Text
	}
	return parts, nil
}

// form returns a text that lists the fields of a value, such as "Preference and DNS_TargetName".
func (t *RecordType) form() string {
	var names []string
	for _, f := range t.Fields {
		names = append(names, f.Name)
	}
	last := len(names) - 1
	if last <= 0 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Key returns a text that two values share if the server considers them equal.
func (t *RecordType) Key(fields []string) string {
	key := slices.Clone(fields)
	for i, f := range t.Fields {
		switch f.Form {
		case NameForm:
			key[i] = strings.ToLower(strings.TrimSuffix(key[i], "."))
		case WordForm:
			key[i] = strings.ToLower(key[i])
		}
	}
	return strings.Join(key, " ")
}

// WritableType is the type of a record set to write. RecordTypeName is the type of any record set;
// a type without a name is TYPE followed by its number (RFC 3597).
var (
	WritableType   = OneOf("Record type.", writableTypes()...)
	RecordTypeName = numberedTypeKind{OneOf("Record type.", recordTypes()...).(oneOfKind)}
)

// RecordTypeList is a list of types, as in mixed lists.
var RecordTypeList Kind = wordListKind{
	base: base{"string[]"}, one: oneOfKind{base: base{"string"}, words: recordTypes()}, numbered: true,
	about: "Record types, separated by commas; in JSON, also an array.",
}
