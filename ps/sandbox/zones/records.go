package zones

import (
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Records returns the records of a zone that match the query. The apex comes first, and each
// name before the names below it. If the name exists but has no records of the type, the result
// is empty (facts E55). Errors: CodeNameDoesNotExist for an absent name, CodeInvalidZoneType
// for a forwarder, and CodeZoneShutdown for a paused or expired zone (facts E62).
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
	if q.Name == "" {
		nodes = s.visible(z, nodes)
	} else {
		rel, code := z.owner(q.Name, st.reading(op))
		if code == 0 {
			nodes = s.visible(z, z.below(fold(rel)))
		}
		if code != 0 || len(nodes) == 0 { // a name that cannot be stored does not exist
			return nil, s.fail(op, CodeNameDoesNotExist, z.Name, q.Name)
		}
		if q.Node {
			nodes = nodes[:1]
			if nodes[0].key != fold(rel) { // only names below it have records
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

// openRecords returns a zone whose records can be read. Store.mu is held.
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

// openWrite returns a zone whose records can be changed. Store.mu is held.
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

// AddRecord adds a record and returns it as stored. Its errors concern the zone, the name, a
// target, or a conflict with other records (facts D.3, E57, E58).
func (s *Server) AddRecord(n NewRecord) (Record, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, err := s.openWrite(OpCreateRecord, n.Zone, n.Name)
	if err != nil {
		return Record{}, err
	}
	rel, code := z.owner(n.Name, st.reading(OpCreateRecord))
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
	if n.Age && !z.hasStatic(rel) {
		r.Stamp = st.hour()
	}
	if code = z.conflict(rel, r.RR); code == 0 && s.hides(z, fold(rel), r) {
		code = CodeUnderDelegation
	}
	if code != 0 {
		return Record{}, s.fail(OpCreateRecord, code, z.Name, n.Name)
	}
	st.calls++
	displace(s, z, rel, r.Type())
	r = z.put(r)
	z.bump()
	st.noteMore(s, "add record", z, nil, &r)
	return r, nil
}

// hasStatic reports whether a name has a static record. A new record with the same name is
// then static as well (facts NA5).
func (z *zone) hasStatic(rel string) bool {
	n := z.nodes[fold(rel)]
	return n != nil && slices.ContainsFunc(n.records, func(r Record) bool { return r.Stamp.IsZero() })
}

// displace removes the records of a name that a new record of a type replaces: an older
// CNAME (facts NA22), and an empty text (facts NA12).
func displace(s *Server, z *zone, rel string, rrtype uint16) {
	s.take(z, z.nodes[fold(rel)], func(old Record) bool {
		text, isText := old.RR.(*dns.TXT)
		empty := isText && strings.Join(text.Txt, "") == ""
		return old.Type() == rrtype && (rrtype == dns.TypeCNAME || empty)
	})
}

// SetRecord replaces a record with one of the same name and type, and returns the new record as stored. The
// time stamp is lost (facts NA20). Unless [Config.SetKeepsPTR] is set, the PTR records of an address that
// lead to the name are removed (facts NA21).
func (s *Server) SetRecord(old Record, now dns.RR) (Record, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, n, i, err := s.locate(OpSetRecord, old)
	if err != nil {
		return Record{}, err
	}
	before := n.records[i]
	if now == nil || now.Header().Rrtype != before.Type() {
		return Record{}, s.fail(OpSetRecord, CodeInvalidParameter, z.Name, old.Name)
	}
	after := Record{Zone: z.Name, Name: before.Name, DN: before.DN, RR: prepare(now)}
	after.RR.Header().Name = before.RR.Header().Name
	for at, other := range n.records {
		if at != i && same(other.RR, after.RR) {
			return Record{}, s.fail(OpSetRecord, CodeRecordAlreadyExists, z.Name, old.Name)
		}
	}
	n.records = slices.Clone(n.records)
	n.records[i] = after
	z.bump()
	st.note(s, "change record", z, &before, &after)
	if !st.keepPtr {
		dropPointers(s, before)
	}
	return after, nil
}

// dropPointers removes the PTR records of an address that lead to its name.
func dropPointers(s *Server, r Record) {
	reverse := ""
	switch rr := r.RR.(type) {
	case *dns.A:
		reverse, _ = dns.ReverseAddr(rr.A.String())
	case *dns.AAAA:
		reverse, _ = dns.ReverseAddr(rr.AAAA.String())
	}
	if reverse == "" {
		return
	}
	for name := strings.TrimSuffix(reverse, "."); name != ""; {
		if z := s.lookup(name); z != nil && z.Type == Primary {
			for range s.take(z, z.node(reverse, Strips), func(old Record) bool {
				ptr, is := old.RR.(*dns.PTR)
				return is && fold(ptr.Ptr) == fold(r.RR.Header().Name)
			}) {
				z.bump()
			}
			return
		}
		_, name, _ = strings.Cut(name, ".")
	}
}

// prepare returns a copy whose data contains absolute, unescaped names, and octets in a single form.
func prepare(rr dns.RR) dns.RR {
	rr = dns.Copy(rr)
	switch rr := rr.(type) {
	case *dns.TXT:
		for i, text := range Strings(rr) {
			rr.Txt[i] = NewText(text).Txt[0]
		}
	case *dns.DS:
		rr.Digest = strings.ToLower(rr.Digest)
	case *dns.TLSA:
		rr.Certificate = strings.ToLower(rr.Certificate)
	case *dns.SSHFP:
		rr.FingerPrint = strings.ToLower(rr.FingerPrint)
	case *dns.RFC3597:
		rr.Rdata = strings.ToLower(rr.Rdata)
	}
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

// targets returns the domain names in the data of a record.
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

// hour returns the current hour, the unit of time stamps.
func (st *Store) hour() time.Time { return st.now().UTC().Truncate(time.Hour) }

// conflict returns the code of the rule that forbids adding a record, or 0.
func (z *zone) conflict(rel string, rr dns.RR) int {
	key, rrtype := fold(rel), rr.Header().Rrtype
	for _, name := range targets(rr) {
		if *name == "." && rrtype != dns.TypeCNAME { // means "no service" (RFC 2782, RFC 7505)
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
	if z.redirected(key) {
		return CodeUnderDName
	}
	below := z.below(key)
	if rrtype == dns.TypeDNAME && len(below) > 0 && (rel == "@" || below[len(below)-1].key != key) {
		return CodeDNameCollision
	}
	n := z.nodes[key]
	if n == nil {
		return 0
	}
	for _, old := range n.records {
		switch {
		case same(old.RR, rr):
			return CodeRecordAlreadyExists
		case rrtype == dns.TypeDNAME && old.Type() == dns.TypeDNAME:
			return CodeDNameCollision
		case rrtype == dns.TypeCNAME && old.Type() == dns.TypeCNAME: // is replaced
		case rrtype == dns.TypeCNAME && !allowedWithCName(old.Type()):
			return CodeCNameCollision
		case old.Type() == dns.TypeCNAME && !allowedWithCName(rrtype):
			return CodeNodeIsCName
		case rrtype == dns.TypeSOA && old.Type() == dns.TypeSOA:
			return CodeRecordAlreadyExists
		}
	}
	return 0
}

// redirected reports whether an ancestor of a name has a DNAME. No names can exist below one.
func (z *zone) redirected(key string) bool {
	for {
		_, above, inside := strings.Cut(key, ".")
		if !inside {
			return false
		}
		if n := z.nodes[above]; n != nil && n.has(dns.TypeDNAME) {
			return true
		}
		key = above
	}
}

// belongsToDelegation reports whether a delegation allows the record: name servers
// and their DNSSEC records at the zone cut, glue at the cut and below.
func belongsToDelegation(atCut bool, rrtype uint16) bool {
	switch rrtype {
	case dns.TypeA, dns.TypeAAAA:
		return true
	case dns.TypeNS, dns.TypeDS, dns.TypeNSEC, dns.TypeRRSIG:
		return atCut
	case dns.TypeCNAME:
		return atCut // where it collides with the name servers
	default:
		return false
	}
}

// allowedWithCName reports whether a record may have the same owner as a CNAME, which is
// allowed only for DNSSEC records.
func allowedWithCName(rrtype uint16) bool {
	return rrtype == dns.TypeRRSIG || rrtype == dns.TypeNSEC || rrtype == dns.TypeKEY
}

// same reports whether two records of one node have the same type and data. It ignores the
// time to live and the case of names.
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

// RemoveRecord removes the record with the owner, type and data of r (facts E60).
// The error is CodeNameDoesNotExist if there is no such owner and
// CodeRecordDoesNotExist if the owner has no such record.
func (s *Server) RemoveRecord(r Record) (Record, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, n, i, err := s.locate(OpRemoveRecord, r)
	if err != nil {
		return Record{}, err
	}
	old := n.records[i]
	if old.Type() == dns.TypeSOA && n.key == "@" {
		return Record{}, s.fail(OpRemoveRecord, CodeSoaDelete, z.Name, r.Name)
	}
	z.drop(n, i)
	z.bump()
	st.note(s, "remove record", z, &old, nil)
	return old, nil
}

// locate finds a record to be removed or changed. Store.mu is held.
func (s *Server) locate(op Op, r Record) (*zone, *node, int, error) {
	z, err := s.openWrite(op, r.Zone, r.Name)
	if err != nil {
		return nil, nil, 0, err
	}
	if r.RR == nil {
		return nil, nil, 0, s.fail(op, CodeInvalidParameter, z.Name, r.Name)
	}
	n := z.node(r.Name, s.store.reading(op))
	if n == nil {
		return nil, nil, 0, s.fail(op, CodeNameDoesNotExist, z.Name, r.Name)
	}
	i := slices.IndexFunc(n.records, func(old Record) bool { return same(old.RR, r.RR) })
	if i < 0 {
		return nil, nil, 0, s.fail(op, CodeRecordDoesNotExist, z.Name, r.Name)
	}
	return z, n, i, nil
}

// node returns the node of a name in any form that owner accepts, or nil.
func (z *zone) node(name string, way Reading) *node {
	rel, code := z.owner(name, way)
	if code != 0 {
		return nil
	}
	return z.nodes[fold(rel)]
}

// RemoveRecords removes all records of an owner and type (facts E60, E61) and returns them. It fails
// like [Server.RemoveRecord].
func (s *Server) RemoveRecords(zoneName, name string, rrtype uint16) ([]Record, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, err := s.openWrite(OpRemoveRecord, zoneName, name)
	if err != nil {
		return nil, err
	}
	n := z.node(name, st.reading(OpRemoveRecord))
	if n == nil {
		return nil, s.fail(OpRemoveRecord, CodeNameDoesNotExist, z.Name, name)
	}
	st.calls++
	if rrtype == dns.TypeSOA && n.key == "@" && n.has(dns.TypeSOA) {
		return nil, s.fail(OpRemoveRecord, CodeSoaDelete, z.Name, name)
	}
	gone := s.take(z, n, func(r Record) bool { return r.Type() == rrtype })
	if len(gone) == 0 {
		return nil, s.fail(OpRemoveRecord, CodeRecordDoesNotExist, z.Name, name)
	}
	z.bump()
	return gone, nil
}
