package zones

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// headerSize is the size of the header of a dnsRecord value (MS-DNSP 2.3.2.2).
const headerSize = 24

// typeTombstone marks a node whose records were removed (DNS_TYPE_ZERO).
const typeTombstone = 0

// errRecord is the error of DecodeRecord for malformed values.
var errRecord = errors.New("not a DNS record")

// DecodeRecord decodes a dnsRecord value. rr has the data and the time to live of the record, but an empty
// owner, because the value does not contain the owner. For a tombstone, rr is nil. stamp is zero if the
// record is static. Data of unknown types is kept as octets.
func DecodeRecord(value []byte) (rr dns.RR, stamp time.Time, err error) {
	if len(value) < headerSize {
		return nil, stamp, fmt.Errorf("%w: %d octets, shorter than the header", errRecord, len(value))
	}
	size, kind := int(binary.LittleEndian.Uint16(value)), binary.LittleEndian.Uint16(value[2:])
	data := value[headerSize:]
	switch {
	case size != len(data):
		return nil, stamp, fmt.Errorf("%w: %d octets of data, but the header says %d", errRecord, len(data), size)
	case value[4] != 5:
		return nil, stamp, fmt.Errorf("%w: version %d, not 5", errRecord, value[4])
	case kind == typeTombstone:
		return nil, stamp, nil
	}
	if hours := binary.LittleEndian.Uint32(value[20:]); hours != 0 {
		stamp = ageTime(int64(hours))
	}
	d := decoder{rest: data}
	if rr = d.data(kind); d.failed || len(d.rest) > 0 {
		return nil, stamp, fmt.Errorf("%w: malformed data of type %s", errRecord, dns.Type(kind))
	}
	*rr.Header() = dns.RR_Header{Rrtype: kind, Class: dns.ClassINET, Ttl: binary.BigEndian.Uint32(value[12:])}
	return rr, stamp, nil
}

// decoder reads data. failed is set after the first error.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) take(n int) []byte {
	if n > len(d.rest) {
		d.failed = true
		return make([]byte, n)
	}
	part := d.rest[:n]
	d.rest = d.rest[n:]
	return part
}

func (d *decoder) uint16() uint16 { return binary.BigEndian.Uint16(d.take(2)) }
func (d *decoder) uint32() uint32 { return binary.BigEndian.Uint32(d.take(4)) }

// name reads a DNS_COUNT_NAME: its length, the number of labels, the labels with
// their lengths, and a NUL.
func (d *decoder) name() string {
	head := d.take(2)
	rest := d.take(int(head[0]))
	if d.failed {
		return "."
	}
	name, off, err := dns.UnpackDomainName(rest, 0)
	if err != nil || off != len(rest) || dns.CountLabel(name) != int(head[1]) {
		d.failed = true
		return "."
	}
	return plain(name)
}

func (d *decoder) text() []string {
	var parts []string
	for len(d.rest) > 0 && !d.failed {
		part := d.take(int(d.take(1)[0]))
		parts = append(parts, escapeText(string(part)))
	}
	d.failed = d.failed || len(parts) == 0
	return parts
}

func (d *decoder) data(kind uint16) dns.RR {
	switch kind {
	case dns.TypeA:
		return &dns.A{A: net.IP(slices.Clone(d.take(4)))}
	case dns.TypeAAAA:
		return &dns.AAAA{AAAA: net.IP(slices.Clone(d.take(16)))}
	case dns.TypeCNAME:
		return &dns.CNAME{Target: d.name()}
	case dns.TypeDNAME:
		return &dns.DNAME{Target: d.name()}
	case dns.TypeNS:
		return &dns.NS{Ns: d.name()}
	case dns.TypePTR:
		return &dns.PTR{Ptr: d.name()}
	case dns.TypeMX:
		return &dns.MX{Preference: d.uint16(), Mx: d.name()}
	case dns.TypeSRV:
		return &dns.SRV{Priority: d.uint16(), Weight: d.uint16(), Port: d.uint16(), Target: d.name()}
	case dns.TypeTXT:
		return &dns.TXT{Txt: d.text()}
	case dns.TypeSOA:
		return &dns.SOA{Serial: d.uint32(), Refresh: d.uint32(), Retry: d.uint32(), Expire: d.uint32(),
			Minttl: d.uint32(), Ns: d.name(), Mbox: d.name()}
	default:
		return &dns.RFC3597{Rdata: fmt.Sprintf("%x", d.take(len(d.rest)))}
	}
}
