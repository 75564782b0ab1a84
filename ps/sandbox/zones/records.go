package zones

import (
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Records tells the records of a zone that match the query, in the order of
// the tree: the apex first, each name before what lies below it. An absent name
// is CodeNameDoesNotExist; a name without records of the type is none (facts
// E55). The records of a forwarder (it has none) are CodeInvalidZoneType, those
// of a zone that is paused or expired CodeZoneShutdown (facts E62).
func (s *Server) Records(zoneName string, q Query) ([]Record, error) {
	st := s.store
	st.mu.RLock()
	defer st.mu.RUnlock()
	op := OpListRecords
	if q.Name != "" {
		op = OpGetRecord
	}
	z, err := s.openRecords(op, zoneName, q.Name)
	if err != nil {
		return nil, err
	}
	nodes := z.order
	if q.Name != "" {
		rel, code := z.owner(q.Name)
		if code == 0 {
			nodes = z.below(fold(rel))
		}
		if code != 0 || len(nodes) == 0 { // what could not be stored is not there
			return nil, s.fail(op, CodeNameDoesNotExist, z.Name, q.Name)
		}
		if q.Node {
			nodes = nodes[:1]
			if nodes[0].key != fold(rel) { // a name only by what lies below it
				nodes = nil
			}
		}
	}
	var found []Record
	if len(nodes) == len(z.order) {
		found = make([]Record, 0, z.count)
	}
	for _, n := range nodes {
		for _, r := range n.records {
			if q.Type == 0 || r.Type() == q.Type {
				found = append(found, r)
			}
		}
	}
	return found, nil
}

// openRecords finds a zone whose records can be read. Store.mu is held.
func (s *Server) openRecords(op Op, zoneName, name string) (*zone, error) {
	z, err := s.open(op, zoneName)
	switch {
	case err != nil:
		return nil, err
	case z.Paused || z.Shutdown:
		return nil, s.fail(op, CodeZoneShutdown, z.Name, name)
	case z.Type == Forwarder:
		return nil, s.fail(op, CodeInvalidZoneType, z.Name, name)
	}
	return z, nil
}

// openWrite finds a zone whose records can be changed. Store.mu is held.
func (s *Server) openWrite(op Op, zoneName, name string) (*zone, error) {
	z, err := s.openRecords(op, zoneName, name)
	if err != nil {
		return nil, err
	}
	switch {
	case z.Type != Primary:
		return nil, s.fail(op, CodeInvalidZoneType, z.Name, name)
	case z.AutoCreated:
		return nil, s.fail(op, CodeInvalidZoneOperation, z.Name, name)
	case z.DsIntegrated && s.server.ReadOnly:
		return nil, s.fail(op, CodeNotOnRODC, z.Name, name)
	}
	return z, nil
}

// AddRecord adds a record and returns it as stored. What it refuses: see
// conflict, and the faults of a name or a target (facts D.3, E57, E58).
func (s *Server) AddRecord(n NewRecord) (Record, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, err := s.openWrite(OpCreateRecord, n.Zone, n.Name)
	if err != nil {
		return Record{}, err
	}
	rel, code := z.owner(n.Name)
	if code == 0 && (n.RR == nil || n.RR.Header().Rrtype == 0) {
		code = CodeInvalidType
	}
	if code != 0 {
		return Record{}, s.fail(OpCreateRecord, code, z.Name, n.Name)
	}
	r := Record{Name: rel, RR: prepare(n.RR)}
	if n.DefaultTTL {
		r.RR.Header().Ttl = z.defaultTTL()
	}
	if n.Age {
		r.Stamp = st.hour()
	}
	if code = z.conflict(rel, r.RR, -1); code != 0 {
		return Record{}, s.fail(OpCreateRecord, code, z.Name, n.Name)
	}
	r = z.put(r)
	z.bump()
	st.note(s, "add record", z, nil, &r)
	return r, nil
}

// prepare copies a record and makes its names absolute and plain.
func prepare(rr dns.RR) dns.RR {
	rr = dns.Copy(rr)
	h := rr.Header()
	h.Class = dns.ClassINET
	for _, name := range targets(rr) {
		*name = plain(*name)
		if *name != "" && !strings.HasSuffix(*name, ".") {
			*name += "."
		}
	}
	return rr
}

// targets are the domain names in a record's data.
func targets(rr dns.RR) []*string {
	switch rr := rr.(type) {
	case *dns.CNAME:
		return []*string{&rr.Target}
	case *dns.DNAME:
		return []*string{&rr.Target}
	case *dns.NS:
		return []*string{&rr.Ns}
	case *dns.PTR:
		return []*string{&rr.Ptr}
	case *dns.MX:
		return []*string{&rr.Mx}
	case *dns.SRV:
		return []*string{&rr.Target}
	case *dns.SOA:
		return []*string{&rr.Ns, &rr.Mbox}
	default:
		return nil
	}
}

func (z *zone) defaultTTL() uint32 {
	if soa := z.soa(); soa != nil {
		return soa.Minttl
	}
	return 3600
}

// hour is the present in whole hours since 1601, the unit of time stamps.
func (st *Store) hour() time.Time { return st.now().UTC().Truncate(time.Hour) }

// conflict tells why a record may not be at the relative name, or 0. The record
// at index except of the node is left out of account: it is being replaced.
func (z *zone) conflict(rel string, rr dns.RR, except int) int {
	key, rrtype := fold(rel), rr.Header().Rrtype
	for _, name := range targets(rr) {
		if *name == "." && rrtype != dns.TypeCNAME { // no service (RFC 2782, 7505)
			continue
		}
		if code := checkName(strings.TrimSuffix(*name, ".")); code != 0 {
			return code
		}
	}
	if c, ok := rr.(*dns.CNAME); ok && fold(c.Target) == fold(z.absolute(rel)) {
		return CodeCNameLoop
	}
	if rrtype == dns.TypeSOA && rel != "@" {
		return CodeRecordOnlyAtRoot
	}
	if d := z.delegation(key); d != nil && !belongsToDelegation(d.key == key, rrtype) {
		return CodeUnderDelegation
	}
	n := z.nodes[key]
	if n == nil {
		return 0
	}
	for i, old := range n.records {
		if i == except {
			continue
		}
		switch {
		case same(old.RR, rr):
			return CodeRecordAlreadyExists
		case rrtype == dns.TypeCNAME && !besideCName(old.Type()):
			return CodeCNameCollision
		case old.Type() == dns.TypeCNAME && !besideCName(rrtype):
			return CodeNodeIsCName
		case rrtype == dns.TypeSOA && old.Type() == dns.TypeSOA:
			return CodeRecordAlreadyExists
		}
	}
	return 0
}

// belongsToDelegation: name servers and their signatures at the cut, glue there
// and below.
func belongsToDelegation(atCut bool, rrtype uint16) bool {
	switch rrtype {
	case dns.TypeA, dns.TypeAAAA:
		return true
	case dns.TypeNS, dns.TypeDS, dns.TypeNSEC, dns.TypeRRSIG:
		return atCut
	case dns.TypeCNAME:
		return atCut // then it collides with the name servers
	default:
		return false
	}
}

// besideCName: DNSSEC's own records are the only ones an alias tolerates.
func besideCName(rrtype uint16) bool {
	return rrtype == dns.TypeRRSIG || rrtype == dns.TypeNSEC || rrtype == dns.TypeKEY
}

// same tells whether two records of one node have the same type and data; the
// time to live does not matter, nor the case of names.
func same(a, b dns.RR) bool {
	ha, hb := a.Header(), b.Header()
	if ha.Rrtype != hb.Rrtype {
		return false
	}
	ta, tb := targets(a), targets(b)
	if len(ta) > 0 && len(ta) == len(tb) {
		for i := range ta {
			if fold(*ta[i]) != fold(*tb[i]) {
				return false
			}
		}
		if ha.Rrtype != dns.TypeMX && ha.Rrtype != dns.TypeSRV && ha.Rrtype != dns.TypeSOA {
			return true
		}
	}
	b = dns.Copy(b)
	b.Header().Name, b.Header().Class = ha.Name, ha.Class
	return dns.IsDuplicate(a, b)
}

// RemoveRecord removes exactly the record with r's owner, type and data (facts
// E60). An absent owner is CodeNameDoesNotExist, absent data
// CodeRecordDoesNotExist.
func (s *Server) RemoveRecord(r Record) (Record, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, n, i, err := s.locate(OpRemoveRecord, r)
	if err != nil {
		return Record{}, err
	}
	old := n.records[i]
	if code := z.removable(n, old); code != 0 {
		return Record{}, s.fail(OpRemoveRecord, code, z.Name, r.Name)
	}
	z.drop(n, i)
	z.bump()
	st.note(s, "remove record", z, &old, nil)
	return old, nil
}

// removable: a zone keeps its SOA.
func (z *zone) removable(n *node, r Record) int {
	if r.Type() == dns.TypeSOA && n.key == "@" {
		return CodeSoaDelete
	}
	return 0
}

// locate finds a record object for a write. Store.mu is held.
func (s *Server) locate(op Op, r Record) (*zone, *node, int, error) {
	z, err := s.openWrite(op, r.Zone, r.Name)
	if err != nil {
		return nil, nil, 0, err
	}
	if r.RR == nil {
		return nil, nil, 0, s.fail(op, CodeInvalidParameter, z.Name, r.Name)
	}
	n := z.node(r.Name)
	if n == nil {
		return nil, nil, 0, s.fail(op, CodeNameDoesNotExist, z.Name, r.Name)
	}
	i := slices.IndexFunc(n.records, func(old Record) bool { return same(old.RR, r.RR) })
	if i < 0 {
		return nil, nil, 0, s.fail(op, CodeRecordDoesNotExist, z.Name, r.Name)
	}
	return z, n, i, nil
}

// node finds the node of a name as a caller writes it, or nil: what could not be
// stored is not there.
func (z *zone) node(name string) *node {
	rel, code := z.owner(name)
	if code != 0 {
		return nil
	}
	return z.nodes[fold(rel)]
}

// RemoveRecords removes every record of that owner and type whose data is data,
// as [DataText] tells it field by field; without data it removes all of them
// (facts E60, E61). None: as [Server.RemoveRecord].
func (s *Server) RemoveRecords(zoneName, name string, rrtype uint16, data ...string) ([]Record, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, err := s.openWrite(OpRemoveRecord, zoneName, name)
	if err != nil {
		return nil, err
	}
	n := z.node(name)
	if n == nil {
		return nil, s.fail(OpRemoveRecord, CodeNameDoesNotExist, z.Name, name)
	}
	var gone []Record
	st.journal.call++
	for i := 0; i < len(n.records); i++ {
		r := n.records[i]
		if r.Type() != rrtype || len(data) > 0 && !slices.Equal(DataText(r.RR), data) {
			continue
		}
		if code := z.removable(n, r); code != 0 {
			return gone, s.fail(OpRemoveRecord, code, z.Name, name)
		}
		z.drop(n, i)
		i--
		gone = append(gone, r)
		st.noteMore(s, "remove record", z, &r, nil)
	}
	if len(gone) == 0 {
		return nil, s.fail(OpRemoveRecord, CodeRecordDoesNotExist, z.Name, name)
	}
	z.bump()
	return gone, nil
}

// ReplaceRecord puts data and time to live of next in the place of old, which
// must be there. The owner and the type cannot be changed:
// CodeInvalidParameter.
func (s *Server) ReplaceRecord(old Record, next dns.RR) (Record, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, n, i, err := s.locate(OpUpdateRecord, old)
	if err != nil {
		return Record{}, err
	}
	if next == nil || next.Header().Rrtype != old.Type() {
		return Record{}, s.fail(OpUpdateRecord, CodeInvalidParameter, z.Name, old.Name)
	}
	before := n.records[i]
	after := before
	after.RR = prepare(next)
	after.RR.Header().Name = before.RR.Header().Name
	if code := z.conflict(n.name, after.RR, i); code != 0 {
		return Record{}, s.fail(OpUpdateRecord, code, z.Name, old.Name)
	}
	n.records = slices.Clone(n.records)
	n.records[i] = after
	z.bump()
	after = n.records[i] // of an SOA, the serial number has moved
	st.note(s, "replace record", z, &before, &after)
	return after, nil
}
