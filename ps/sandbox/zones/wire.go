package zones

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/miekg/dns"
)

// headerSize is that of a dnsRecord value before its data (MS-DNSP 2.3.2.2).
const headerSize = 24

// typeTombstone marks a node whose records are gone (DNS_TYPE_ZERO).
const typeTombstone = 0

// errRecord is what DecodeRecord says of values it cannot read.
var errRecord = errors.New("not a DNS record")

// DecodeRecord reads a value of the attribute dnsRecord: the data of one
// record, with its time to live, and its time stamp (zero: static). The owner is
// not in it and stays empty. A tombstone gives nil. Types without a known form
// are kept as octets.
func DecodeRecord(value []byte) (rr dns.RR, stamp time.Time, err error) {
	if len(value) < headerSize {
		return nil, stamp, fmt.Errorf("%w: %d octets are no header", errRecord, len(value))
	}
	size, kind := int(binary.LittleEndian.Uint16(value)), binary.LittleEndian.Uint16(value[2:])
	data := value[headerSize:]
	switch {
	case size != len(data):
		return nil, stamp, fmt.Errorf("%w: %d octets of data, its header says %d", errRecord, len(data), size)
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

// decoder takes data apart; a fault shows in failed.
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

// name reads a DNS_COUNT_NAME: its length, its number of labels, the labels
// each behind its length, and a NUL.
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
		return &dns.A{A: net.IP(append([]byte(nil), d.take(4)...))}
	case dns.TypeAAAA:
		return &dns.AAAA{AAAA: net.IP(append([]byte(nil), d.take(16)...))}
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
		return &dns.SOA{Serial: d.uint32(), Refresh: d.uint32(), Retry: d.uint32(), Expire: d.uint32(), Minttl: d.uint32(), Ns: d.name(), Mbox: d.name()}
	default:
		return &dns.RFC3597{Rdata: fmt.Sprintf("%x", d.take(len(d.rest)))}
	}
}

// EncodeRecord makes the value of the attribute dnsRecord that DecodeRecord
// reads; serial is the zone's. It fails for names that cannot be packed.
func EncodeRecord(rr dns.RR, stamp time.Time, serial uint32) ([]byte, error) {
	data, err := encodeData(rr)
	if err != nil || len(data) > 0xFFFF {
		return nil, fmt.Errorf("%w: %s cannot be packed", errRecord, rr)
	}
	value := make([]byte, headerSize, headerSize+len(data))
	binary.LittleEndian.PutUint16(value, uint16(len(data)))
	binary.LittleEndian.PutUint16(value[2:], rr.Header().Rrtype)
	value[4], value[5] = 5, 0xF0 // version, rank of authoritative zone data
	binary.LittleEndian.PutUint32(value[8:], serial)
	binary.BigEndian.PutUint32(value[12:], rr.Header().Ttl)
	if !stamp.IsZero() {
		binary.LittleEndian.PutUint32(value[20:], uint32((stamp.Unix()+epoch1601)/3600))
	}
	return append(value, data...), nil
}

func encodeData(rr dns.RR) ([]byte, error) {
	var data []byte
	switch rr := rr.(type) {
	case *dns.MX:
		data = binary.BigEndian.AppendUint16(nil, rr.Preference)
	case *dns.SRV:
		for _, n := range []uint16{rr.Priority, rr.Weight, rr.Port} {
			data = binary.BigEndian.AppendUint16(data, n)
		}
	case *dns.SOA:
		for _, n := range []uint32{rr.Serial, rr.Refresh, rr.Retry, rr.Expire, rr.Minttl} {
			data = binary.BigEndian.AppendUint32(data, n)
		}
	default:
		if len(targets(rr)) == 0 {
			return packData(rr)
		}
	}
	for _, name := range targets(rr) {
		packed := make([]byte, maxName)
		end, err := dns.PackDomainName(*name, packed, 0, nil, false)
		if err != nil {
			return nil, err
		}
		data = append(data, byte(end), byte(dns.CountLabel(*name)))
		data = append(data, packed[:end]...)
	}
	return data, nil
}

// packData is the data as in a message, for types without names in it.
func packData(rr dns.RR) ([]byte, error) {
	rr = dns.Copy(rr)
	rr.Header().Name = "."
	packed := make([]byte, dns.Len(rr)+16)
	end, err := dns.PackRR(rr, packed, 0, nil, false)
	if err != nil {
		return nil, err
	}
	return packed[11:end], nil // behind the root's name, type, class, time to live and length
}
