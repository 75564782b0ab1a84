package zones

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/miekg/dns"
)

// EncodeRecord returns a dnsRecord value for DecodeRecord. serial is the serial number of
// the zone. It fails for names that cannot be packed.
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

// packData returns the data in the form of a DNS message, for types without names.
func packData(rr dns.RR) ([]byte, error) {
	rr = dns.Copy(rr)
	rr.Header().Name = "."
	packed := make([]byte, dns.Len(rr)+16)
	end, err := dns.PackRR(rr, packed, 0, nil, false)
	if err != nil {
		return nil, err
	}
	return packed[11:end], nil // after the root name, type, class, time to live and length
}
