package schema

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// DomainLimit is the maximum length of a DNS name without a trailing dot.
const DomainLimit = 253

const labelLimit = 63

// Slashes occur in the names of RFC 2317, which delegate part of a network. An existing name may contain any
// other character as well, because the server accepts letters outside ASCII, and zone files and other
// programs write more. In such a name, a backslash precedes exactly those characters that must be escaped.
var (
	listedPattern = regexp.MustCompile(`^(?:@|` + listedLabel + `(?:\.` + listedLabel + `)*)$`)
	servedPattern = regexp.MustCompile(`^[A-Za-z0-9_/\x{a0}-\x{10ffff}-]+(?:\.[A-Za-z0-9_/\x{a0}-\x{10ffff}-]+)*$`)
	zonePattern   = regexp.MustCompile(`^[A-Za-z0-9_/-]+(?:\.[A-Za-z0-9_/-]+)*$`)
	ownerPattern  = regexp.MustCompile(`^(?:@|\*|(?:\*\.)?[A-Za-z0-9_/-]+(?:\.[A-Za-z0-9_/-]+)*)$`)
	targetPattern = zonePattern
)

const listedLabel = `(?:[^\x00-\x1f\x7f.\\@]|\\[.\\"();@$]|\\(?:0[0-2][0-9]|03[0-2]|12[7-9]|1[3-9][0-9]|2[0-4][0-9]|25[0-5]))+`

// Zone is the name of a DNS zone (facts C26-C29). NewZone is the name of a zone to create. The
// script receives both without a trailing dot.
var (
	Zone Kind = domainKind{base: base{"string"}, pattern: servedPattern, what: "zone name",
		example: "corp.example"}
	NewZone Kind = domainKind{base: base{"string"}, pattern: zonePattern, what: "zone name",
		example: "corp.example"}
)

// ForwardZone and NewForwardZone are names of forward lookup zones, like [Zone]. ChildZone is a
// name that a zone delegates, relative to the zone or fully qualified. Its trailing dot is kept.
var (
	ForwardZone    Kind = forwardZoneKind{Zone}
	NewForwardZone Kind = forwardZoneKind{NewZone}
	ChildZone      Kind = domainKind{base: base{"string"}, pattern: zonePattern, what: "name",
		example: "branch", dot: true}
)

type forwardZoneKind struct{ Kind }

func (k forwardZoneKind) Decode(raw any) (*Decoded, *FieldError) {
	decoded, problem := k.Kind.Decode(raw)
	if problem == nil {
		if _, err := netip.ParsePrefix(decoded.Text); err == nil || isAddress(decoded.Text) {
			return nil, invalid("must be the name of a forward lookup zone, not an address: a network has a " +
				"reverse lookup zone")
		}
	}
	if problem == nil && (strings.EqualFold(decoded.Text, "arpa") ||
		strings.HasSuffix(strings.ToLower(decoded.Text), ".arpa")) {
		return nil, invalid("must be a forward lookup zone: names under arpa are reverse lookup zones")
	}
	return decoded, problem
}

// Owner and Target are the two names in a record, relative to the zone or fully qualified. A
// trailing dot is kept because it marks an absolute name.
var (
	Owner Kind = domainKind{base: base{"string"}, pattern: listedPattern, what: "record name",
		example: "www", dot: true}
	Target Kind = domainKind{base: base{"string"}, pattern: listedPattern, what: "host name",
		example: "web1.corp.example", dot: true, root: true}
)

// NewOwner and NewTarget are these two names in a new record. A bad character or length is then reported as a
// value that DNS rejects, not as a malformed request.
var (
	NewOwner Kind = domainKind{base: base{"string"}, pattern: ownerPattern, what: "record name",
		example: "handbook", dot: true, code: Unprocessable}
	NewTarget Kind = domainKind{base: base{"string"}, pattern: targetPattern,
		what: "host name", dot: true, host: true,
		example: "web1.corp.example", code: Unprocessable}
)

type domainKind struct {
	base
	pattern *regexp.Regexp
	what    string
	example string
	dot     bool // keeps a trailing dot
	host    bool // whether it is the name of a host to which a new record points
	root    bool // whether it may be a single dot, which is the target for services that are not offered
	code    Code // error code for a bad name; empty means InvalidRequest
}

func (k domainKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, 0, false)
	if problem != nil {
		return nil, problem
	}
	if k.root && s == "." {
		return textValue(s), nil
	}
	name := strings.TrimSuffix(s, ".")
	if strings.HasSuffix(name, `\`) { // the dot belongs to the last label
		name = s
	}
	if problem := k.check(name); problem != nil {
		if k.code != "" {
			problem.Code = k.code
		}
		return nil, problem
	}
	if _, err := netip.ParseAddr(name); err == nil && k.host {
		return nil, unprocessable("must be the name of a host, not an address")
	}
	if k.dot {
		name = s
	}
	return textValue(name), nil
}

func (k domainKind) check(name string) *FieldError {
	if !k.pattern.MatchString(name) {
		if k.pattern == listedPattern {
			return invalid("must be a DNS %s: labels with dots between them, as lists show it", k.what)
		}
		return invalid("must be a DNS %s of letters, digits, hyphens, underscores and slashes (other letters as "+
			"punycode)", k.what)
	}
	if octets(name) > DomainLimit {
		return invalid("must be at most %d characters long", DomainLimit)
	}
	for label := range strings.SplitSeq(strings.ReplaceAll(name, `\.`, `\046`), ".") {
		if octets(label) > labelLimit {
			return invalid("must not have a label of more than %d characters", labelLimit)
		}
	}
	return nil
}

// octets returns the length of a name on the wire, without the length octets of its labels. An
// escape is one octet.
func octets(name string) int {
	n := len(name)
	for i := 0; i < len(name); i++ {
		if name[i] != '\\' {
			continue
		}
		width := 2
		if i+3 < len(name) {
			if _, err := strconv.ParseUint(name[i+1:i+4], 10, 8); err == nil {
				width = 4
			}
		}
		n -= width - 1
		i += width - 1
	}
	return n
}

func (k domainKind) Doc() Doc {
	return Doc{Type: "string", MaxLength: DomainLimit + 1,
		Pattern: strings.TrimSuffix(k.pattern.String(), "$") + `\.?$`,
		Text:    "DNS " + k.what + ".", Example: k.example}
}

// Network is a network in CIDR form. The script receives the name of its reverse
// zone, which is also the text of [Decoded].
var Network Kind = networkKind{base: base{"string"}}

// NetworkOrZone is a network in CIDR form or the name of a reverse zone.
var NetworkOrZone Kind = networkKind{base: base{"string"}, orZone: true}

type networkKind struct {
	base
	orZone bool
}

// trustAnchors is a built-in zone of the server that does not end with arpa (facts C28).
const trustAnchors = "TrustAnchors"

func (k networkKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := text(raw, DomainLimit+1, false)
	if problem != nil {
		return nil, problem
	}
	if strings.Contains(s, "/") && !(k.orZone && IsReverse(strings.TrimSuffix(s, "."))) {
		name, problem := reverseZone(s)
		if problem != nil {
			return nil, problem
		}
		return textValue(name), nil
	}
	if !k.orZone {
		return nil, invalid("must be a network in CIDR form such as 10.0.0.0/8 or 2001:db8::/32")
	}
	decoded, problem := Zone.Decode(s)
	if problem != nil || !IsReverse(decoded.Text) && !strings.EqualFold(decoded.Text, trustAnchors) {
		return nil, invalid("must be a network in CIDR form such as 10.0.0.0/8, or a reverse zone such as " +
			"10.in-addr.arpa")
	}
	return decoded, nil
}

// ReverseName returns the name of the PTR record for an address, without a trailing dot.
func ReverseName(address netip.Addr) string {
	if address.Is4() {
		return reverseLabels(address, 4)
	}
	return reverseLabels(address, 32)
}

// isAddress reports whether a name has the form of an IPv4 or IPv6 address.
func isAddress(name string) bool {
	_, err := netip.ParseAddr(strings.TrimSuffix(name, "."))
	return err == nil
}

// IsReverse reports whether a zone is a reverse lookup zone.
func IsReverse(zone string) bool {
	zone = "." + strings.ToLower(zone)
	return strings.HasSuffix(zone, ".in-addr.arpa") || strings.HasSuffix(zone, ".ip6.arpa")
}

// reverseZone returns the name of the zone for exactly this network. A network without a zone is
// rejected, never rounded (facts E70, E71).
func reverseZone(cidr string) (string, *FieldError) {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil {
		return "", invalid("must be a network in CIDR form such as 10.0.0.0/8 or 2001:db8::/32")
	}
	bits, addr := prefix.Bits(), prefix.Addr()
	switch {
	case addr.Is4In6():
		return "", unprocessable("must not be an IPv4 network written as IPv6")
	case addr.Is4() && bits != 8 && bits != 16 && bits != 24:
		return "", unprocessable("must have the prefix /8, /16 or /24: a reverse zone for IPv4 ends at a whole " +
			"octet")
	case addr.Is6() && (bits < 16 || bits%4 != 0):
		return "", unprocessable("must have a prefix from /16 to /128 that is a multiple of 4: a reverse zone " +
			"for IPv6 ends at a whole nibble")
	case prefix.Masked() != prefix:
		return "", unprocessable("must not have host bits set: the network of that prefix is %s", prefix.Masked())
	}
	size := bits / 4
	if addr.Is4() {
		size = bits / 8
	}
	return reverseLabels(addr, size), nil
}

// reverseLabels returns the reverse name of the first octets of an IPv4 address, or of
// the first nibbles of an IPv6 address.
func reverseLabels(addr netip.Addr, size int) string {
	suffix := "ip6.arpa"
	if addr.Is4() {
		suffix = "in-addr.arpa"
	}
	var name strings.Builder
	for i := size - 1; i >= 0; i-- {
		if addr.Is4() {
			name.WriteString(strconv.Itoa(int(addr.AsSlice()[i])) + ".")
			continue
		}
		nibble := addr.AsSlice()[i/2] >> (4 * (1 - i%2)) & 15
		name.WriteString(strconv.FormatInt(int64(nibble), 16) + ".")
	}
	return name.String() + suffix
}

func (k networkKind) Doc() Doc {
	doc := Doc{Type: "string", MaxLength: DomainLimit + 1,
		Example: "10.0.0.0/8",
		Text:    "Network in CIDR notation: IPv4 with /8, /16, or /24; IPv6 with /16 to /128 in steps of 4."}
	if k.orZone {
		doc.Text = "Network in CIDR notation, or the name of its reverse zone."
	}
	return doc
}

// SpansSlash reports whether values of the kind may contain a slash and so span two segments of a
// path.
func SpansSlash(k Kind) bool {
	_, network := k.(networkKind)
	return network
}
