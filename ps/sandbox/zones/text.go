package zones

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// Text returns the record in zone file form, with its time stamp.
func (r Record) Text() string {
	text := strings.ReplaceAll(r.RR.String(), "\t", " ")
	if !r.Stamp.IsZero() {
		text += " ; stamp=" + r.Stamp.Format("2006-01-02T15:04:05Z")
	}
	return text
}

// Strings returns the unescaped strings of a TXT record.
func Strings(rr *dns.TXT) []string {
	plain := make([]string, len(rr.Txt))
	for i, s := range rr.Txt {
		plain[i] = unescape(s)
	}
	return plain
}

// NewText returns a TXT record with unescaped strings. It splits strings longer than 255 octets.
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

// escapeText escapes a string in the same way as package dns.
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
