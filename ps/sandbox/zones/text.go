package zones

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// DataText tells a record's data field by field, as a zone file writes it:
// names absolute with their dot, text without quotes, data of an unknown type
// in hexadecimal.
func DataText(rr dns.RR) []string {
	switch rr := rr.(type) {
	case *dns.MX:
		return []string{strconv.Itoa(int(rr.Preference)), rr.Mx}
	case *dns.SRV:
		return []string{strconv.Itoa(int(rr.Priority)), strconv.Itoa(int(rr.Weight)), strconv.Itoa(int(rr.Port)), rr.Target}
	case *dns.TXT:
		return Strings(rr)
	case *dns.RFC3597:
		return []string{rr.Rdata}
	}
	if names := targets(rr); len(names) == 1 {
		return []string{*names[0]}
	}
	return strings.Fields(strings.TrimPrefix(rr.String(), rr.Header().String()))
}

// Text tells the record in zone file form, with its time stamp.
func (r Record) Text() string {
	text := strings.ReplaceAll(r.RR.String(), "\t", " ")
	if !r.Stamp.IsZero() {
		text += " ; stamp=" + r.Stamp.Format("2006-01-02T15:04:05Z")
	}
	return text
}

func (r Record) textWithoutSerial() string {
	soa, ok := r.RR.(*dns.SOA)
	if !ok {
		return r.Text()
	}
	return fmt.Sprintf("%s %d IN SOA %s %s %d %d %d %d", soa.Hdr.Name, soa.Hdr.Ttl, soa.Ns, soa.Mbox, soa.Refresh, soa.Retry, soa.Expire, soa.Minttl)
}

// Strings are the strings of a text record as they are; package dns keeps them
// with escapes.
func Strings(rr *dns.TXT) []string {
	plain := make([]string, len(rr.Txt))
	for i, s := range rr.Txt {
		plain[i] = unescape(s)
	}
	return plain
}

// NewText makes the data of a text record of plain strings; those above 255
// octets are cut.
func NewText(parts ...string) *dns.TXT {
	rr := &dns.TXT{}
	for _, part := range parts {
		for len(part) > 255 {
			rr.Txt = append(rr.Txt, escapeText(part[:255]))
			part = part[255:]
		}
		rr.Txt = append(rr.Txt, escapeText(part))
	}
	return rr
}

// escapeText gives a string the form package dns keeps it in.
func escapeText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03d`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 10, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		i++
		b.WriteByte(s[i])
	}
	return b.String()
}
