package zones

import (
	"cmp"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Load reads zone files into the store, either all or none. It replaces existing zones. It fails if two files
// contain the same zone. The error is a [*LoadError] with the first syntax error of each file and all
// semantic errors.
func (st *Store) Load(sources ...Source) error {
	var faults []Fault
	var created []*zone
	from := map[zoneKey]string{}
	for _, src := range sources {
		r := newReader(src)
		r.parse()
		z := r.build(st)
		if other, twice := from[z.key()]; twice {
			r.fault(0, "the zone %s is already in %s", z.Name, other)
		}
		from[z.key()] = src.Name
		slices.SortStableFunc(r.faults, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
		faults = append(faults, r.faults...)
		created = append(created, z)
	}
	if len(faults) > 0 {
		return &LoadError{Faults: faults}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, z := range created {
		st.clear(z)
		st.zones[z.key()] = z
	}
	return nil
}

// clear removes the zones that would shadow a new zone.
func (st *Store) clear(z *zone) {
	for key := range st.zones {
		if key.name == fold(z.Name) && (key.server == "" || z.Server == "" || key.server == fold(z.Server)) {
			delete(st.zones, key)
		}
	}
}

// build returns the zone in a file and reports semantic errors.
func (r *reader) build(st *Store) *zone {
	z := newZone(Zone{Name: r.zoneName(), Type: Primary, Scope: ScopeNone, DynamicUpdate: UpdateNone,
		SecureSecondaries: "NoTransfer", Notify: "NotifyServers"})
	server := r.applyDirectives(st, z)
	switch z.Type {
	case Forwarder, Stub:
		z.Notify = "NoNotify"
	case Secondary:
		z.ReadOnly = true
	}
	file := r.directives["file"].value
	if file == "" && z.Type != Forwarder {
		file = fold(z.Name) + ".dns"
	}
	st.place(&z.Zone, server, r.directives["partition"].value, file)
	r.checkKeys(st, z)
	r.fill(z)
	return z
}

// zoneName determines and checks the name of the zone, see [Source].
func (r *reader) zoneName() string {
	name, line := r.directives["zone"].value, r.directives["zone"].line
	for i := 0; name == "" && i < len(r.records); i++ {
		if h := r.records[i].rr.Header(); h.Rrtype == dns.TypeSOA {
			name, line = plain(h.Name), r.records[i].line
		}
	}
	for i := 0; name == "" && i < len(r.lines); i++ {
		if m := originName.FindStringSubmatch(r.lines[i]); m != nil {
			name, line = m[1], i+1
		}
	}
	if name == "" {
		name = r.origin()
	}
	name = strings.TrimSuffix(name, ".")
	if checkName(name) != 0 || strings.Contains(name, "*") {
		r.fault(line, "%q is not a zone name", name)
	}
	return name
}

// applyDirectives applies the directives in comments and returns the name of the server.
func (r *reader) applyDirectives(st *Store, z *zone) string {
	z.Type = ZoneType(r.word("type", string(Primary), string(Secondary), string(Stub), string(Forwarder)))
	z.Scope = Scope(r.word("scope", string(ScopeNone), string(ScopeDomain), string(ScopeForest),
		string(ScopeLegacy), string(ScopeCustom)))
	z.DynamicUpdate = Update(r.word("dynamic", string(UpdateNone), string(UpdateSecure), string(UpdateAll)))
	z.Paused = r.flag("paused")
	z.Shutdown = r.flag("shutdown")
	z.Signed = r.flag("signed")
	z.Aging = r.flag("aging")
	r.applyLimits(z)
	for _, text := range strings.FieldsFunc(r.directives["masters"].value,
		func(c rune) bool { return c == ',' }) {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			r.fault(r.directives["masters"].line, "%q is not an address", text)
			continue
		}
		z.Masters = append(z.Masters, addr)
	}
	server := st.servers[0]
	if d, ok := r.directives["server"]; ok {
		if found := st.find(d.value); found != nil {
			server = found
		} else {
			r.fault(d.line, "there is no server %q", d.value)
		}
	}
	return server.Name
}

// applyLimits applies the directives that only some types of zones support, and sets the
// defaults of the others.
func (r *reader) applyLimits(z *zone) {
	z.UseRecursion = r.flag("recursion")
	z.ForwarderTimeout, z.Refresh, z.NoRefresh = 0, 0, 0
	if z.Type == Forwarder {
		z.ForwarderTimeout = uint32(r.number("timeout", defaultTimeout, maxForwarderTimeout))
	}
	if z.Type == Primary {
		z.Refresh = time.Duration(r.number("refresh", int(defaultInterval/time.Hour),
			int(maxInterval/time.Hour))) * time.Hour
		z.NoRefresh = time.Duration(r.number("norefresh", int(defaultInterval/time.Hour),
			int(maxInterval/time.Hour))) * time.Hour
	}
	for _, key := range []string{"timeout", "recursion"} {
		if d, has := r.directives[key]; has && z.Type != Forwarder {
			r.fault(d.line, "only a forwarder has %s", key)
		}
	}
	for _, key := range []string{"refresh", "norefresh"} {
		if d, has := r.directives[key]; has && z.Type != Primary {
			r.fault(d.line, "only a primary zone has %s", key)
		}
	}
}

// number returns the value of a directive from 0 to max.
func (r *reader) number(key string, byDefault, max int) int {
	d, has := r.directives[key]
	if !has {
		return byDefault
	}
	n, err := strconv.Atoi(d.value)
	if err != nil || n < 0 || n > max {
		r.fault(d.line, "%s must be a whole number from 0 to %d, not %q", key, max, d.value)
		return byDefault
	}
	return n
}

// word returns the value of a directive with fixed values. The first one is the default.
func (r *reader) word(key string, values ...string) string {
	d, ok := r.directives[key]
	if !ok {
		return values[0]
	}
	for _, v := range values {
		if strings.EqualFold(v, d.value) {
			return v
		}
	}
	r.fault(d.line, "%s must be one of %s, not %q", key, strings.Join(values, ", "), d.value)
	return values[0]
}

func (r *reader) flag(key string) bool { return r.word(key, "false", "true") == "true" }

// checkKeys reports directives that contradict each other.
func (r *reader) checkKeys(st *Store, z *zone) {
	at := func(key string) int { return r.directives[key].line }
	if z.DsIntegrated && !st.hasDirectory() {
		r.fault(at("scope"), "no server is a domain controller, so the zone cannot be in the directory")
	}
	if d, ok := r.directives["file"]; ok {
		if z.DsIntegrated {
			r.fault(d.line, "a zone in the directory has no file")
		} else if d.value != path.Base(d.value) || strings.ContainsAny(d.value, `\:`) {
			r.fault(d.line, "file must be a name without folders")
		}
	}
	if _, ok := r.directives["server"]; ok && z.DsIntegrated {
		r.fault(at("server"), "a zone in the directory is on every domain controller")
	}
	_, partition := r.directives["partition"]
	switch {
	case z.Scope == ScopeCustom && !partition:
		r.fault(at("scope"), "scope=Custom needs a partition")
	case z.Scope != ScopeCustom && partition:
		r.fault(at("partition"), "partition needs scope=Custom")
	}
	if z.DynamicUpdate == UpdateSecure && !z.DsIntegrated {
		r.fault(at("dynamic"), "secure updates need a zone in the directory")
	}
	if z.DynamicUpdate != UpdateNone && z.Type != Primary {
		r.fault(at("dynamic"), "only a primary zone accepts updates")
	}
	if z.Shutdown && z.Type != Secondary {
		r.fault(at("shutdown"), "only a secondary zone can expire")
	}
	if z.Type == Secondary && z.DsIntegrated {
		r.fault(at("scope"), "a secondary zone must be in a file")
	}
	if needs := z.Type != Primary; needs != (len(z.Masters) > 0) && (needs || at("masters") > 0) {
		if needs {
			r.fault(at("type"), "a zone of type %s needs masters", z.Type)
		} else {
			r.fault(at("masters"), "a primary zone has no masters")
		}
	}
}

func (st *Store) hasDirectory() bool {
	return slices.ContainsFunc(st.servers, func(sv *server) bool { return sv.DomainController })
}

// fill adds valid records to the zone.
func (r *reader) fill(z *zone) {
	lines := map[dns.RR]int{}
	for _, rec := range r.records {
		rel, ok := r.relative(z, rec)
		if !ok {
			continue
		}
		rr := prepare(rec.rr)
		if !r.accept(z, rel, rr, rec.line, lines) {
			continue
		}
		lines[z.put(Record{Name: rel, Stamp: rec.stamp, RR: rr}).RR] = rec.line
	}
	r.checkDelegations(z, lines)
	if r.broken || z.Type == Forwarder || z.Type == Stub || z.Type == Secondary && z.Shutdown {
		return
	}
	if z.soa() == nil {
		r.fault(0, "the zone %s has no SOA record", z.Name)
	}
	if apex := z.nodes["@"]; apex == nil || !apex.has(dns.TypeNS) {
		r.fault(0, "the zone %s has no NS record", z.Name)
	}
}

// relative returns the owner of a record relative to the zone. ok is false if the owner is
// not in the zone, which is reported as a fault.
func (r *reader) relative(z *zone, rec fileRecord) (string, bool) {
	name := plain(strings.TrimSuffix(rec.rr.Header().Name, "."))
	if rec.rr.Header().Class != dns.ClassINET {
		r.fault(rec.line, "%s is of class %s, not IN", name, dns.Class(rec.rr.Header().Class))
		return "", false
	}
	if fold(name) == fold(z.Name) {
		return "@", true
	}
	if !strings.HasSuffix(strings.ToLower(name), "."+fold(z.Name)) {
		r.fault(rec.line, "%s is not in the zone %s", name, z.Name)
		return "", false
	}
	return cutLabels(name, strings.Count(z.Name, ".")+1), true
}

// accept reports the faults of a record, and whether it can be added.
func (r *reader) accept(z *zone, rel string, rr dns.RR, line int, lines map[dns.RR]int) bool {
	kind := dns.Type(rr.Header().Rrtype).String()
	at := func(n *node) int { return lines[n.records[0].RR] }
	switch t := rr.Header().Rrtype; {
	case len(strings.TrimSpace(strings.TrimPrefix(rr.String(), rr.Header().String()))) == 0 || emptyTarget(rr):
		r.fault(line, "%s %s has no data", z.absolute(rel), kind)
		return false
	case t == dns.TypeSOA && rel != "@":
		r.fault(line, "SOA of %s, but the zone is %s", z.absolute(rel), z.Name)
		return false
	case z.Type == Forwarder:
		r.fault(line, "a forwarder has no records")
		return false
	case z.Type == Stub && t != dns.TypeSOA && t != dns.TypeNS && t != dns.TypeA && t != dns.TypeAAAA:
		r.fault(line, "a stub zone has SOA, NS and glue records, not %s", kind)
		return false
	}
	n := z.nodes[fold(rel)]
	if c, ok := rr.(*dns.CNAME); ok && fold(c.Target) == fold(z.absolute(rel)) {
		r.fault(line, "%s CNAME points to itself", z.absolute(rel))
		return false
	}
	if n == nil {
		return true
	}
	for _, old := range n.records {
		switch {
		case same(old.RR, rr):
			r.fault(line, "%s %s is already on line %d", z.absolute(rel), kind, lines[old.RR])
			return false
		case rr.Header().Rrtype == dns.TypeSOA && old.Type() == dns.TypeSOA:
			r.fault(line, "a second SOA; the first is on line %d", lines[old.RR])
			return false
		case rr.Header().Rrtype == dns.TypeCNAME && old.Type() == dns.TypeCNAME:
			r.fault(line, "%s has a second CNAME; the first is on line %d", z.absolute(rel), lines[old.RR])
			return false
		case rr.Header().Rrtype == dns.TypeCNAME && !allowedWithCName(old.Type()),
			old.Type() == dns.TypeCNAME && !allowedWithCName(rr.Header().Rrtype):
			r.fault(line, "%s has a CNAME and other data, see line %d", z.absolute(rel), at(n))
			return false
		}
	}
	return true
}

// emptyTarget reports whether the parser accepted a record without data, a form that only
// dynamic updates use.
func emptyTarget(rr dns.RR) bool {
	return slices.ContainsFunc(targets(rr), func(name *string) bool { return *name == "" })
}

// checkDelegations reports records that are hidden by a delegation.
func (r *reader) checkDelegations(z *zone, lines map[dns.RR]int) {
	for _, n := range z.order {
		d := z.delegation(n.key)
		if d == nil {
			continue
		}
		for _, rec := range n.records {
			if !belongsToDelegation(d == n, rec.Type()) {
				r.fault(lines[rec.RR], "%s %s is below the delegation of %s", z.absolute(n.name), dns.Type(rec.Type()),
					z.absolute(d.name))
			}
		}
	}
}
