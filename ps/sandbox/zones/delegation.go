package zones

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// deeper returns the zones of the server that lie below z, relative to it and folded.
// Store.mu is held.
func (s *Server) deeper(z *zone) []string {
	var cuts []string
	serverName, suffix := fold(s.server.Name), "."+fold(z.Name)
	for key := range s.store.zones {
		here := key.server == serverName || key.server == "" && s.server.DomainController
		if rel, below := strings.CutSuffix(key.name, suffix); here && below {
			cuts = append(cuts, rel)
		}
	}
	return cuts
}

// cutAbove returns the cut at or above a folded relative name, or "".
func cutAbove(cuts []string, key string) string {
	for _, cut := range cuts {
		if key == cut || strings.HasSuffix(key, "."+cut) {
			return cut
		}
	}
	return ""
}

// visible returns the nodes except those that deeper zones of the server hide. At and below the name of a
// deeper zone, z shows only a delegation (facts NC5). Store.mu is held.
func (s *Server) visible(z *zone, nodes []*node) []*node {
	cuts := s.deeper(z)
	if len(cuts) == 0 {
		return nodes
	}
	var shown []*node
	for _, n := range nodes {
		cut := cutAbove(cuts, n.key)
		if cut == "" {
			shown = append(shown, n)
			continue
		}
		copied := *n
		copied.records = slices.DeleteFunc(slices.Clone(n.records),
			func(r Record) bool { return !z.ofDelegation(cut, n.key, r) })
		if len(copied.records) > 0 {
			shown = append(shown, &copied)
		}
	}
	return shown
}

// hides reports whether a deeper zone of the server hides a record at a name. Store.mu is held.
func (s *Server) hides(z *zone, key string, r Record) bool {
	cut := cutAbove(s.deeper(z), key)
	return cut != "" && !z.ofDelegation(cut, key, r)
}

// ofDelegation reports whether a record at or below a name belongs to its delegation, as one
// of the name servers or as the address of one.
func (z *zone) ofDelegation(cut, key string, r Record) bool {
	switch r.Type() {
	case dns.TypeNS, dns.TypeDS:
		return key == cut
	case dns.TypeA, dns.TypeAAAA:
		at := z.nodes[cut]
		return at != nil && slices.ContainsFunc(at.records, func(r Record) bool {
			ns, is := r.RR.(*dns.NS)
			return is && fold(ns.Ns) == fold(z.absolute(key))
		})
	default:
		return false
	}
}

// Delegations returns the delegations of a zone in the order of the tree, one per name
// server. If child is set, it returns only the delegations of that name, which may be
// relative or absolute; the error is CodeNameDoesNotExist if it is not delegated.
func (s *Server) Delegations(zoneName, child string) ([]Delegation, error) {
	st := s.store
	st.mu.RLock()
	defer st.mu.RUnlock()
	z, err := s.openRecords(OpGetDelegation, zoneName, child)
	if err != nil {
		return nil, err
	}
	if child == "" {
		var all []Delegation
		for _, n := range z.order {
			all = append(all, z.delegationsOf(n)...)
		}
		return all, nil
	}
	found := z.delegationsOf(z.node(child, st.reading(OpGetDelegation)))
	if len(found) == 0 {
		return nil, s.fail(OpGetDelegation, CodeNameDoesNotExist, z.Name, child)
	}
	return found, nil
}

// delegationsOf returns the name servers to which a node is delegated, or none for the apex.
func (z *zone) delegationsOf(n *node) []Delegation {
	if n == nil || n.key == "@" {
		return nil
	}
	var found []Delegation
	for _, r := range n.records {
		if ns, is := r.RR.(*dns.NS); is {
			found = append(found, Delegation{Zone: z.Name, Child: n.name, NameServer: r,
				Addresses: z.addressesOf(ns.Ns)})
		}
	}
	return found
}

// addressesOf returns the A and AAAA records of a host in the zone.
func (z *zone) addressesOf(host string) []Record {
	if !strings.HasSuffix(fold(host), "."+fold(z.Name)) {
		return nil
	}
	n := z.node(strings.TrimSuffix(host, ".")+".", Strips)
	if n == nil {
		return nil
	}
	var found []Record
	for _, r := range n.records {
		if r.Type() == dns.TypeA || r.Type() == dns.TypeAAAA {
			found = append(found, r)
		}
	}
	return found
}

// AddDelegation adds a name server to the delegation of a name, with its addresses if its
// name is in the zone. The error is CodeInvalidIPAddress for an empty list of addresses, and
// CodeRecordAlreadyExists for a name server that the delegation already has. Other records
// at and below the name stay, but are no longer authoritative (facts NB2).
func (s *Server) AddDelegation(
	zoneName, child, nameServer string, addresses []netip.Addr,
) (Delegation, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, err := s.openWrite(OpCreateDelegation, zoneName, child)
	if err != nil {
		return Delegation{}, err
	}
	rel, code := z.owner(child, st.reading(OpCreateDelegation))
	host := strings.TrimSuffix(nameServer, ".")
	if code == 0 && rel == "@" {
		code = CodeInvalidName
	}
	if code == 0 {
		code = checkName(host)
	}
	if code == 0 && !usable(addresses) {
		code = CodeInvalidIPAddress
	}
	ns := Record{Name: rel, RR: &dns.NS{Hdr: dns.RR_Header{Rrtype: dns.TypeNS, Class: dns.ClassINET,
		Ttl: z.defaultTTL()}, Ns: host + "."}}
	if code == 0 {
		code = z.conflict(rel, ns.RR)
	}
	if code != 0 {
		return Delegation{}, s.fail(OpCreateDelegation, code, z.Name, child)
	}
	st.calls++
	ns = z.put(ns)
	st.noteMore(s, "add record", z, nil, &ns)
	for _, rr := range glue(z, host, addresses) {
		owner, _ := z.owner(host+".", Strips)
		if n := z.nodes[fold(owner)]; n != nil &&
			slices.ContainsFunc(n.records, func(r Record) bool { return same(r.RR, rr) }) {
			continue
		}
		added := z.put(Record{Name: owner, RR: rr})
		st.noteMore(s, "add record", z, nil, &added)
	}
	z.bump()
	return Delegation{Zone: z.Name, Child: rel, NameServer: ns, Addresses: z.addressesOf(host)}, nil
}

func usable(addresses []netip.Addr) bool {
	return len(addresses) > 0 && acceptForwarder(addresses, 0) == 0
}

// glue returns the address records of a name server, if its name is in the zone.
func glue(z *zone, host string, addresses []netip.Addr) []dns.RR {
	if !strings.HasSuffix(fold(host), "."+fold(z.Name)) {
		return nil
	}
	var records []dns.RR
	for _, address := range addresses {
		header := dns.RR_Header{Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: z.defaultTTL()}
		if address.Is4() {
			records = append(records, &dns.A{Hdr: header, A: net.IP(address.AsSlice())})
			continue
		}
		header.Rrtype = dns.TypeAAAA
		records = append(records, &dns.AAAA{Hdr: header, AAAA: net.IP(address.AsSlice())})
	}
	return records
}

// RemoveDelegation removes a name server from the delegation of a name, or the whole delegation if nameServer
// is empty, and returns what was removed. Addresses at and below the name are removed with the name server;
// those elsewhere in the zone stay. The error is CodeNameDoesNotExist if there is no such delegation, and
// CodeRecordDoesNotExist if the delegation has no such name server.
func (s *Server) RemoveDelegation(zoneName, child, nameServer string) ([]Delegation, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, err := s.openWrite(OpRemoveDelegation, zoneName, child)
	if err != nil {
		return nil, err
	}
	n := z.node(child, st.reading(OpRemoveDelegation))
	all := z.delegationsOf(n)
	if len(all) == 0 {
		return nil, s.fail(OpRemoveDelegation, CodeNameDoesNotExist, z.Name, child)
	}
	gone := slices.DeleteFunc(slices.Clone(all), func(d Delegation) bool {
		return nameServer != "" && fold(d.NameServer.RR.(*dns.NS).Ns) != fold(nameServer)
	})
	if len(gone) == 0 {
		return nil, s.fail(OpRemoveDelegation, CodeRecordDoesNotExist, z.Name, child)
	}
	st.calls++
	for _, d := range gone {
		takeOne(s, z, d.NameServer)
		for _, address := range d.Addresses {
			if key := fold(address.Name); key == n.key || strings.HasSuffix(key, "."+n.key) {
				takeOne(s, z, address)
			}
		}
	}
	z.bump()
	return gone, nil
}

func takeOne(s *Server, z *zone, r Record) {
	s.take(z, z.nodes[fold(r.Name)], func(old Record) bool { return old.RR == r.RR })
}

// take removes the matching records of a node, as part of the current call, and returns them. A nil node has
// no records. Store.mu is held.
func (s *Server) take(z *zone, n *node, match func(Record) bool) (gone []Record) {
	for i := 0; n != nil && i < len(n.records); i++ {
		if r := n.records[i]; match(r) {
			z.drop(n, i)
			i--
			gone = append(gone, r)
			s.store.noteMore(s, "remove record", z, &r, nil)
		}
	}
	return gone
}
