package transport

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the networks whose X-Forwarded-For is trusted.
type Proxies []netip.Prefix

// ParseProxies parses addresses and networks.
func ParseProxies(texts []string) (Proxies, error) {
	var all Proxies
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if address, addressErr := netip.ParseAddr(text); addressErr == nil {
			network, err = netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("gateway: trusted proxies: %q is neither an address nor a network", text)
		}
		all = append(all, network.Masked())
	}
	return all, nil
}

// Trust reports whether an address is in one of the networks.
func (p Proxies) Trust(address netip.Addr) bool {
	for _, network := range p {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// Client returns the address of the client. Each proxy appends its peer's address to X-Forwarded-For, or adds
// another such line. So the list is read from its end as long as the writer of each entry is trusted; earlier
// entries may be forged. An entry that is not an address also ends the list.
func (p Proxies) Client(r *http.Request) netip.Addr {
	address := Peer(r)
	if len(r.Header["X-Forwarded-For"]) == 0 {
		return address
	}
	entries := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(entries) - 1; i >= 0 && p.Trust(address); i-- {
		entry, ok := parseForwarded(strings.TrimSpace(entries[i]))
		if !ok {
			break
		}
		address = entry
	}
	return address
}

// Peer returns the address of the TCP peer of a request, or the zero Addr.
func Peer(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr().Unmap().WithZone("")
}

// parseForwarded parses an address, with or without a port, because some proxies add one.
func parseForwarded(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		withPort, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}, false
		}
		address = withPort.Addr()
	}
	return address.Unmap().WithZone(""), true
}

// ClientOf returns the address of a request's client according to the rules for trusted proxies. For a
// request to which the rules have not been applied, it is the TCP peer, or the zero Addr if that is
// unknown.
func ClientOf(r *http.Request) netip.Addr {
	if a := arrivalOf(r); a != nil {
		return a.client
	}
	return Peer(r)
}
