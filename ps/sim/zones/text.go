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
		return append([]string(nil), rr.Txt...)
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
