package ops

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"adgateway/gateway/schema"
)

const (
	domainOfIPv4 = ".in-addr.arpa"
	domainOfIPv6 = ".ip6.arpa"

	labelsOfIPv4 = 4
	labelsOfIPv6 = 32
)

// ownerIsMeant refuses owner names of new records that a server takes, although nobody can mean them: an
// address, and a name in a reverse zone that no address has.
var ownerIsMeant = Rule{
	Doc: "DNS_HostName is no address; in a reverse zone it is one that an address can have",
	Apply: func(b *Bound) []schema.FieldError {
		owner, zone := b.Text(ownerParam), b.Text(zoneParam)
		if owner == "" || zone == "" {
			return nil
		}
		message := unmeantOwner(owner, zone)
		if message == "" {
			return nil
		}
		return []schema.FieldError{{Field: ownerParam, Code: schema.Unprocessable, Message: message}}
	},
}

// unmeantOwner returns why an owner name cannot be meant, "" if it can.
func unmeantOwner(owner, zone string) string {
	address, err := netip.ParseAddr(strings.TrimSuffix(owner, "."))
	switch reverse := schema.IsReverse(zone); {
	case err == nil && !reverse:
		return "must be the name of a host, not an address"
	case err == nil:
		name := schema.ReverseName(address.Unmap())
		inside := strings.HasSuffix(name, "."+Fold(zone))
		if !inside {
			return fmt.Sprintf("must be a name, not an address, and %s does not lie in the zone: its name is %s", address, name)
		}
		return fmt.Sprintf("must be a name, not an address: the name of %s in this zone is %q", address,
			strings.TrimSuffix(name, "."+Fold(zone)))
	case !reverse:
		return ""
	}
	full := Fold(FullName(owner, zone))
	if labels, ok := strings.CutSuffix(full, domainOfIPv4); ok {
		return unmeantOctets(strings.Split(labels, "."))
	}
	if labels, ok := strings.CutSuffix(full, domainOfIPv6); ok {
		return unmeantNibbles(strings.Split(labels, "."))
	}
	return ""
}

// unmeantOctets judges names of numbers only: others are those of hosts or of RFC 2317.
func unmeantOctets(labels []string) string {
	for _, label := range labels {
		if strings.Trim(label, "0123456789") != "" {
			return ""
		}
	}
	if len(labels) > labelsOfIPv4 {
		return fmt.Sprintf("has more labels than the zone has room for: with the zone it has %d numbers, and an address has %d",
			len(labels), labelsOfIPv4)
	}
	for _, label := range labels {
		if n, err := strconv.Atoi(label); err != nil || n > 255 {
			return fmt.Sprintf("has the number %s, and an octet of an address is at most 255", label)
		}
		if len(label) > 1 && label[0] == '0' {
			return fmt.Sprintf("has the number %s, and the name of an address has no leading zeros", label)
		}
	}
	return ""
}

var nibbles = regexp.MustCompile(`^[0-9a-f]+$`)

// unmeantNibbles judges names of hexadecimal digits only: a label such as "cafe" may be a host.
func unmeantNibbles(labels []string) string {
	long := ""
	for _, label := range labels {
		if !nibbles.MatchString(label) {
			return ""
		}
		if len(label) > 1 && long == "" {
			long = label
		}
	}
	if strings.ContainsAny(long, "0123456789") {
		return fmt.Sprintf("has the label %q, and each label of the name of an IPv6 address is one hexadecimal digit", long)
	}
	if len(labels) > labelsOfIPv6 {
		return fmt.Sprintf("has more labels than the zone has room for: with the zone it has %d digits, and an address has %d",
			len(labels), labelsOfIPv6)
	}
	return ""
}
