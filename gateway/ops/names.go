package ops

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Parameters that determine the names that a DNS change affects.
const (
	ownerParam = "DNS_HostName"
	childParam = "ChildName"
)

var (
	zoneParams    = []string{zoneParam, "NetworkID", "NetworkIDOrZoneName"}
	addressParams = []string{addressParam, "IPv6_Address"}
	ptrParams     = []string{"CreatePtr", "RemovePtr"}

	newAddressParams = []string{"NewIP_Address", "NewIPv6_Address"}
)

// ChallengeLabel is the first label of records that answer challenges of certificate authorities.
const ChallengeLabel = "_acme-challenge"

// NamesChanged returns the full names whose records a DNS change affects, to which the caller's limit to
// names applies. It returns nil for all other calls.
func (b *Bound) NamesChanged() []string {
	if b.Op.Lane != ps.DNS || !b.Op.Effect.Writes() {
		return nil
	}
	if b.Op.Protocol != nil {
		return b.document.names
	}
	zone, address := b.first(zoneParams), b.first(addressParams)
	var names []string
	switch owner, child := b.Text(ownerParam), b.Text(childParam); {
	case owner != "":
		names = append(names, FullName(owner, zone))
	case child != "":
		names = append(names, FullName(child, zone))
	case address != "":
		names = append(names, reverseName(address))
	case b.Text(hostParam) != "": // the script refuses records whose names are out of bounds
		names = append(names, strings.TrimSuffix(b.Text(hostParam), "."))
	default:
		names = append(names, zone)
	}
	address = cmp.Or(b.first(newAddressParams), address)
	if address != "" && slices.ContainsFunc(ptrParams,
		func(name string) bool { return b.Text(name) == "true" }) {
		names = append(names, reverseName(address))
	}
	return names
}

// ZoneIn returns the zone named by the parameters of a DNS call, or "" if they name none.
func ZoneIn(parameters map[string]string) string {
	for _, name := range zoneParams {
		if text := parameters[name]; text != "" {
			return text
		}
	}
	return ""
}

// first returns the value of the first of some parameters that was given.
func (b *Bound) first(params []string) string {
	for _, name := range params {
		if text := b.Text(name); text != "" {
			return text
		}
	}
	return ""
}

// FullName completes an owner name from its zone, as the scripts do, and removes a trailing dot.
func FullName(name, zone string) string {
	plain := strings.TrimSuffix(name, ".")
	switch {
	case plain == "@":
		return zone
	case insideZone(name, zone):
		return plain
	default:
		return plain + "." + zone
	}
}

// reverseName returns the name of the PTR record for an address.
func reverseName(text string) string {
	address, err := netip.ParseAddr(text)
	if err != nil {
		return ""
	}
	return schema.ReverseName(address)
}

// NameWithin reports whether a name is one of the names of a limit or lies below one. A leading
// _acme-challenge is ignored, so that a caller that is limited to a host can answer the challenges for that
// host.
func NameWithin(name string, limit []string) bool {
	name = strings.TrimPrefix(Fold(strings.TrimSuffix(name, ".")), ChallengeLabel+".")
	return slices.ContainsFunc(limit, func(allowed string) bool {
		allowed = Fold(strings.TrimSuffix(allowed, "."))
		return name == allowed || strings.HasSuffix(name, "."+allowed)
	})
}

// names checks that the parameters determine the names that a DNS change affects.
func (c *checker) names(op *Operation, fault func(string, ...any)) {
	if op.Lane != ps.DNS || !op.Effect.Writes() || op.Protocol != nil {
		return
	}
	for _, name := range slices.Concat([]string{ownerParam, childParam, hostParam}, zoneParams, addressParams) {
		if p := op.Param(name); p != nil && p.Name == name {
			return
		}
	}
	fault("changes DNS, but no parameter says which name")
}
