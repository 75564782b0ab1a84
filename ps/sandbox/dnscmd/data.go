package dnscmd

import (
	"encoding/hex"
	"net"
	"net/netip"
	"reflect"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
)

// dataRow describes a record type and converts its data to and from the
// properties of RecordData.
type dataRow struct {
	kind uint16
	// switch of Add-DnsServerResourceRecord; empty if such records cannot be added
	param string
	class string                            // CIM class of RecordData
	show  func(rr dns.RR) []any             // pairs of property name and value
	read  func(get func(string) any) dns.RR // returns nil if the properties are invalid
}

var dataRows = []dataRow{
	{dns.TypeA, "A", "DnsServerResourceRecordA",
		func(rr dns.RR) []any { return []any{"IPv4Address", dotnet.NewIPAddress(rr.(*dns.A).A.String())} },
		func(get func(string) any) dns.RR {
			if ip := addressOf(get("IPv4Address")); ip.Is4() {
				return &dns.A{A: net.IP(ip.AsSlice())}
			}
			return nil
		}},
	{dns.TypeAAAA, "AAAA", "DnsServerResourceRecordAAAA",
		func(rr dns.RR) []any { return []any{"IPv6Address", dotnet.NewIPAddress(address6(rr.(*dns.AAAA).AAAA))} },
		func(get func(string) any) dns.RR {
			if ip := addressOf(get("IPv6Address")); ip.Is6() {
				return &dns.AAAA{AAAA: net.IP(ip.AsSlice())}
			}
			return nil
		}},
	plainRow(dns.TypeCNAME, "CName", "CName", "HostNameAlias=Target"),
	{dns.TypeTLSA, "TLSA", "DnsServerResourceRecordTLSA",
		func(rr dns.RR) []any {
			tlsa := rr.(*dns.TLSA)
			return []any{"CertificateAssociationData", tlsa.Certificate,
				"CertificateUsage", wordOf(tlsaUsages, tlsa.Usage),
				"MatchingType", wordOf(tlsaMatches, tlsa.MatchingType), "Selector", wordOf(tlsaSelectors, tlsa.Selector)}
		},
		func(get func(string) any) dns.RR {
			data := strings.ToLower(dotnet.ToText(get("CertificateAssociationData")))
			if raw, err := hex.DecodeString(data); err != nil || len(raw) == 0 {
				return nil
			}
			return &dns.TLSA{Usage: numberOf(tlsaUsages, get("CertificateUsage")),
				Selector:     numberOf(tlsaSelectors, get("Selector")),
				MatchingType: numberOf(tlsaMatches, get("MatchingType")), Certificate: data}
		}},
	plainRow(dns.TypeHINFO, "", "HInfo", "Cpu=Cpu OperatingSystem=Os"),
	plainRow(dns.TypeRP, "", "RP", "Description=Txt ResponsiblePerson=Mbox"),
	plainRow(dns.TypeAFSDB, "", "Afsdb", "ServerName=Hostname SubType=Subtype"),
	plainRow(dns.TypeRT, "", "RT", "IntermediateHost=Host Preference=Preference"),
	{dns.TypeDS, "", "DnsServerResourceRecordDS",
		func(rr dns.RR) []any {
			ds := rr.(*dns.DS)
			return []any{"CryptoAlgorithm", wordOf(dsAlgorithms, ds.Algorithm), "Digest", strings.ToUpper(ds.Digest),
				"DigestType", wordOf(dsDigests, ds.DigestType), "KeyTag", ds.KeyTag}
		},
		func(get func(string) any) dns.RR {
			return &dns.DS{Algorithm: numberOf(dsAlgorithms, get("CryptoAlgorithm")),
				Digest:     strings.ToLower(dotnet.ToText(get("Digest"))),
				DigestType: numberOf(dsDigests, get("DigestType")), KeyTag: uint16(number(get("KeyTag")))}
		}},
	plainRow(dns.TypeDNAME, "DName", "DName", "DomainNameAlias=Target"),
	plainRow(dns.TypeNS, "NS", "NS", "NameServer=Ns"),
	plainRow(dns.TypePTR, "Ptr", "Ptr", "PtrDomainName=Ptr"),
	plainRow(dns.TypeMX, "MX", "MX", "MailExchange=Mx Preference=Preference"),
	{dns.TypeTXT, "Txt", "DnsServerResourceRecordTxt",
		func(rr dns.RR) []any {
			// only the first of several strings (facts NA10)
			return []any{"DescriptiveText", zones.Strings(rr.(*dns.TXT))[0]}
		},
		func(get func(string) any) dns.RR {
			text := dotnet.ToText(get("DescriptiveText"))
			if len(text) > maxText {
				return nil
			}
			return zones.NewText(text)
		}},
	plainRow(dns.TypeSRV, "Srv", "Srv", "DomainName=Target Port=Port Priority=Priority Weight=Weight"),
	plainRow(dns.TypeSOA, "", "Soa", "ExpireLimit=Expire:s MinimumTimeToLive=Minttl:s PrimaryServer=Ns "+
		"RefreshInterval=Refresh:s ResponsiblePerson=Mbox RetryDelay=Retry:s SerialNumber=Serial"),
	{0, "", "DnsServerResourceRecordUnknown", // any other type, in hexadecimal
		func(rr dns.RR) []any { return []any{"Data", rawData(rr)} },
		func(get func(string) any) dns.RR {
			data := strings.ToLower(strings.TrimSpace(dotnet.ToText(get("Data"))))
			if raw, err := hex.DecodeString(data); err != nil || len(raw) == 0 || len(raw) > 0xFFFF {
				return nil
			}
			return &dns.RFC3597{Rdata: data}
		}},
}

// plainRow returns a row whose properties are fields of the record. fields are pairs PROPERTY=FIELD; the
// suffix ":s" means that the property is a time span and the field its seconds.
func plainRow(kind uint16, param, class, fields string) dataRow {
	each := func(rr dns.RR, f func(property string, field reflect.Value, span bool)) {
		for pair := range strings.FieldsSeq(fields) {
			property, name, _ := strings.Cut(pair, "=")
			name, span := strings.CutSuffix(name, ":s")
			f(property, reflect.ValueOf(rr).Elem().FieldByName(name), span)
		}
	}
	show := func(rr dns.RR) (pairs []any) {
		each(rr, func(property string, field reflect.Value, span bool) {
			value := field.Interface()
			if span {
				value = seconds(value.(uint32))
			}
			pairs = append(pairs, property, value)
		})
		return pairs
	}
	read := func(get func(string) any) dns.RR {
		rr := dns.TypeToRR[kind]()
		each(rr, func(property string, field reflect.Value, span bool) {
			switch v := get(property); {
			case span:
				field.SetUint(uint64(inSeconds(v)))
			case field.Kind() == reflect.String:
				field.SetString(dotnet.ToText(v))
			default:
				field.SetUint(uint64(number(v)))
			}
		})
		return rr
	}
	return dataRow{kind, param, "DnsServerResourceRecord" + class, show, read}
}

// The words of enumerations, by number. A number without a word is shown as it is.
var (
	tlsaUsages = []string{"CAConstraint", "ServiceCertificateConstraint", "TrustAnchorAssertion",
		"DomainIssuedCertificate"}
	tlsaSelectors = []string{"FullCertificate", "SubjectPublicKeyInfo"}
	tlsaMatches   = []string{"ExactMatch", "Sha256Hash", "Sha512Hash"}
	dsAlgorithms  = []string{5: "RsaSha1", 7: "RsaSha1NSec3", 8: "RsaSha256",
		10: "RsaSha512", 13: "ECDsaP256Sha256", 14: "ECDsaP384Sha384"}
	dsDigests = []string{1: "Sha1", 2: "Sha256", 4: "Sha384"}
)

func wordOf(words []string, n uint8) any {
	if int(n) < len(words) && words[n] != "" {
		return words[n]
	}
	return strconv.Itoa(int(n))
}

func numberOf(words []string, v any) uint8 {
	text := dotnet.ToText(v)
	for n, word := range words {
		if word != "" && strings.EqualFold(word, text) {
			return uint8(n)
		}
	}
	return uint8(number(v))
}

// rowOf returns the row of a record type. The last row is used for all other types.
func rowOf(kind uint16) *dataRow {
	for i := range dataRows {
		if dataRows[i].kind == kind {
			return &dataRows[i]
		}
	}
	return &dataRows[len(dataRows)-1]
}

// typeNames are the values of -RRType that package dns spells differently or does not know.
var typeNames = map[string]uint16{
	"key": dns.TypeKEY, "wks": 11, "nsnxt": dns.TypeNXT, "atma": dns.TypeATMA, "wins": 0xFF01, "winsr": 0xFF02,
	"nasp": 22, "nasptr": dns.TypeNSAPPTR, "a6": 38,
}

// typeOf returns the type number for a value of -RRType, or 0 if there is none.
func typeOf(rrType string) uint16 {
	if kind, ok := typeNames[strings.ToLower(rrType)]; ok {
		return kind
	}
	return dns.StringToType[strings.ToUpper(rrType)]
}

// nameOfServer are the types that the server knows by name, as listed for -RRType. It stores
// other types as octets.
var nameOfServer = map[string]bool{
	"A": true, "NS": true, "MD": true, "MF": true, "CNAME": true, "SOA": true, "MB": true, "MG": true, "MR": true, "PTR": true, "HINFO": true,
	"MINFO": true, "MX": true, "TXT": true, "RP": true, "AFSDB": true, "X25": true, "ISDN": true, "RT": true, "KEY": true, "AAAA": true, "LOC": true,
	"NXT": true, "SRV": true, "ATMA": true, "NAPTR": true, "DNAME": true, "DS": true, "RRSIG": true, "NSEC": true, "DNSKEY": true, "DHCID": true,
	"NSEC3": true, "NSEC3PARAM": true, "TLSA": true, "GPOS": true,
}

// typeName returns the RecordType of a record.
func typeName(kind uint16) string {
	if kind == 0xFF01 || kind == 0xFF02 {
		return map[uint16]string{0xFF01: "WINS", 0xFF02: "WINSR"}[kind]
	}
	if name := dns.TypeToString[kind]; nameOfServer[name] {
		return name
	}
	return "UNKNOWN"
}

// rawData returns the data of a record in hexadecimal.
func rawData(rr dns.RR) string {
	if raw, ok := rr.(*dns.RFC3597); ok {
		return strings.ToUpper(raw.Rdata)
	}
	var raw dns.RFC3597
	if err := raw.ToRFC3597(rr); err != nil {
		return ""
	}
	return strings.ToUpper(raw.Rdata)
}

// address6 formats an IPv6 address, IPv4-mapped ones included.
func address6(ip net.IP) string {
	a, ok := netip.AddrFromSlice(ip.To16())
	if !ok {
		return ""
	}
	return a.String()
}

func addressOf(v any) netip.Addr {
	if o, ok := v.(*dotnet.Array); ok && len(o.Items) == 1 {
		v = o.Items[0]
	}
	a, err := netip.ParseAddr(dotnet.ToText(v))
	if err != nil || a.Zone() != "" {
		return netip.Addr{}
	}
	return a
}

func number(v any) int64 {
	n, err := dotnet.Convert(v, dotnet.TInt64)
	if err != nil {
		return 0
	}
	i, _ := n.(int64)
	return i
}

const ticksPerSecond = 10_000_000

func seconds(n uint32) dotnet.TimeSpan { return dotnet.TimeSpan(int64(n) * ticksPerSecond) }

func inSeconds(v any) uint32 {
	span, ok := v.(dotnet.TimeSpan)
	if !ok || span < 0 {
		return 0
	}
	return uint32(int64(span) / ticksPerSecond)
}

// maxText is the maximum length of DescriptiveText in octets (facts NA9).
const maxText = 254
