package schema

import (
	"net/netip"
	"strings"

	"adgateway/ps"
)

// maxAddresses is the maximum number of addresses in a list.
const maxAddresses = 20

// Addresses is a list of up to 20 different IPv4 and IPv6 host addresses, separated by commas. The
// script receives them in their shortest form.
var Addresses Kind = addressesKind{base{"string[]"}}

type addressesKind struct{ base }

func (addressesKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := listText(raw, 0)
	if problem != nil {
		return nil, problem
	}
	if strings.Count(s, listSeparator) >= maxAddresses {
		return nil, invalid("must be at most %d addresses", maxAddresses)
	}
	var addresses []string
	known := map[netip.Addr]bool{}
	for item := range strings.SplitSeq(s, listSeparator) {
		address, problem := hostAddress(strings.Trim(item, " "))
		if problem != nil {
			return nil, problem
		}
		if known[address] {
			return nil, invalid("must not have an address twice")
		}
		known[address] = true
		addresses = append(addresses, address.String())
	}
	return &Decoded{Values: []ps.Value{ps.List(addresses)}, Text: strings.Join(addresses, listSeparator)}, nil
}

// hostAddress parses the address of a host.
func hostAddress(s string) (netip.Addr, *FieldError) {
	address, err := netip.ParseAddr(s)
	broadcast := netip.AddrFrom4([4]byte{255, 255, 255, 255})
	switch {
	case err != nil:
		return address, invalid("must be addresses such as 10.0.0.53 or 2001:db8::53")
	case address.Zone() != "":
		return address, invalid("must not have an address with a zone index")
	case address.Is4In6():
		return address, invalid("must not have an IPv4 address written as IPv6")
	case address.IsUnspecified() || address.IsMulticast() || address.IsLoopback() || address == broadcast:
		return address, unprocessable(
			"must be addresses of other hosts: not an unspecified, loopback, multicast or broadcast address")
	}
	return address, nil
}

func (addressesKind) Doc() Doc {
	return Doc{Type: "string", Text: "Up to 20 IPv4 and IPv6 addresses, separated by commas; in JSON, also an " +
		"array.", Example: "10.9.0.53"}
}

// TakesList reports whether the kind accepts a JSON array of strings.
func TakesList(k Kind) bool {
	if a := AttributeOf(k); a != nil {
		return a.Most > 0
	}
	switch k.(type) {
	case fieldListKind, addressesKind, wordListKind, namesKind, membersKind:
		return true
	default:
		return false
	}
}
