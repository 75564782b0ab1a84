package zones

import (
	"net/netip"
	"strconv"
	"strings"
)

// ReverseZoneName returns the zone name that Add-DnsServerPrimaryZone derives from -NetworkId: "10.0.0.0/8",
// "2001:db8::/32" or an address. IPv4 prefixes are rounded up to a whole octet (prefixes above /24 to /32),
// and IPv6 prefixes to a nibble (facts E70). Host bits are dropped. The second result is CodeInvalidParameter
// if the text is not a network or the prefix is not within /8-/32 or /16-/128, otherwise 0.
func ReverseZoneName(network string) (string, int) {
	text, bitsText, given := strings.Cut(network, "/")
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Zone() != "" || addr.Is4In6() {
		return "", CodeInvalidParameter
	}
	bits := addr.BitLen()
	if given {
		if bits, err = strconv.Atoi(bitsText); err != nil || strconv.Itoa(bits) != bitsText {
			return "", CodeInvalidParameter
		}
	}
	if addr.Is4() {
		return reverse4(addr, bits)
	}
	return reverse6(addr, bits)
}

func reverse4(addr netip.Addr, bits int) (string, int) {
	switch {
	case bits < 8 || bits > 32:
		return "", CodeInvalidParameter
	case bits > 24:
		bits = 32
	}
	octets := addr.As4()
	name := "in-addr.arpa"
	for i := 0; i < (bits+7)/8; i++ {
		name = strconv.Itoa(int(octets[i])) + "." + name
	}
	return name, 0
}

func reverse6(addr netip.Addr, bits int) (string, int) {
	if bits < 16 || bits > 128 {
		return "", CodeInvalidParameter
	}
	const hex = "0123456789abcdef"
	bytes := addr.As16()
	name := "ip6.arpa"
	for i := 0; i < (bits+3)/4; i++ {
		nibble := bytes[i/2] >> 4
		if i%2 == 1 {
			nibble = bytes[i/2] & 15
		}
		name = string(hex[nibble]) + "." + name
	}
	return name, 0
}
