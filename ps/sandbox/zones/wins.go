package zones

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// Types of records that only Microsoft's server supports (MS-DNSP 2.2.2.1.1). If the zone does not contain a
// name, the server asks WINS servers. If it does not contain an address, the server asks the NetBIOS node
// with that address.
const (
	typeWins        = 0xFF01
	typeWinsReverse = 0xFF02
)

// winsLine matches a WINS or WINS-R record in the form in which the server writes it to a zone file:
//
//	@  WINS  LOCAL L2 C900 ( 10.0.0.5 10.0.0.6 )
//	@  WINSR       L2 C900 ( corp.example. )
var winsLine = regexp.MustCompile(`(?i)^(\S+)?\s+((?:\d+\s+)?(?:IN\s+)?)(WINS|WINSR|WINS-R|NBSTAT)\s+([^;"]*)(;.*)?$`)

// takeWins writes a WINS record in the form for unknown types (RFC 3597), which is the only
// form that the parser knows. The record may span several lines, up to a closing parenthesis.
func (r *reader) takeWins(at int) {
	m := winsLine.FindStringSubmatch(r.lines[at])
	if m == nil || strings.HasPrefix(m[1], ";") {
		return
	}
	kind, words := typeWins, m[4]
	if !strings.EqualFold(m[3], "WINS") {
		kind = typeWinsReverse
	}
	end := at
	for strings.Contains(words, "(") && !strings.Contains(words, ")") && end+1 < len(r.lines) {
		end++
		more, _, _ := strings.Cut(r.lines[end], ";")
		words += " " + more
	}
	data, bad := winsData(kind, strings.Fields(strings.NewReplacer("(", " ", ")", " ").Replace(words)))
	if bad != "" {
		r.fault(at+1, "%s %s", strings.ToUpper(m[3]), bad)
		data = make([]byte, 16)
	}
	r.lines[at] = fmt.Sprintf(`%s %sTYPE%d \# %d %x`, m[1], m[2], kind, len(data), data)
	for i := at + 1; i <= end; i++ {
		r.lines[i] = ""
	}
}

// winsData encodes a record (MS-DNSP 2.2.2.2.4): flags, the look-up and cache timeouts, and
// then the servers, or the domain that is appended to NetBIOS names.
func winsData(kind int, words []string) (data []byte, bad string) {
	const local = 0x00010000 // not given to other servers
	fields, rest := [3]uint32{0, 2, 900}, []string{}
	for _, word := range words {
		upper := strings.ToUpper(word)
		seconds, err := strconv.ParseUint(upper[1:], 10, 32)
		switch {
		case upper == "LOCAL":
			fields[0] = local
		case err == nil && upper[0] == 'L':
			fields[1] = uint32(seconds)
		case err == nil && upper[0] == 'C':
			fields[2] = uint32(seconds)
		default:
			rest = append(rest, word)
		}
	}
	for _, field := range fields {
		data = binary.LittleEndian.AppendUint32(data, field)
	}
	if kind == typeWinsReverse {
		if len(rest) != 1 {
			return data, "has one domain"
		}
		name := make([]byte, 256)
		n, err := dns.PackDomainName(dns.Fqdn(rest[0]), name, 0, nil, false)
		if err != nil {
			return data, "has the domain " + strconv.Quote(rest[0]) + ", which is no name"
		}
		return append(data, name[:n]...), ""
	}
	if len(rest) == 0 {
		return data, "has no server"
	}
	data = binary.LittleEndian.AppendUint32(data, uint32(len(rest)))
	for _, text := range rest {
		address, err := netip.ParseAddr(text)
		if err != nil || !address.Is4() {
			return data, "has the server " + strconv.Quote(text) + ", which is no IPv4 address"
		}
		data = append(data, address.AsSlice()...)
	}
	return data, ""
}
