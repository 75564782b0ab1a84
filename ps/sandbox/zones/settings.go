package zones

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// SetZone changes the settings of a primary zone. It fails with CodeInvalidZoneType for another type of zone.
// A zone cannot move between a file and the directory, so a scope for a file-backed zone and a file for a
// zone in the directory are CodeInvalidZoneOperation.
func (s *Server) SetZone(name string, c ZoneChange) (Zone, error) {
	return s.change(OpSetZone, name, Primary, func(z *zone) int {
		switch {
		case c.Scope != "" && !z.DsIntegrated || c.File != "" && z.DsIntegrated:
			return CodeInvalidZoneOperation
		case c.Update == UpdateSecure && !z.DsIntegrated:
			return CodeInvalidZoneOperation
		case c.File != "" && !isDatafile(c.File):
			return CodeInvalidDatafile
		}
		if c.Update != "" {
			z.DynamicUpdate = c.Update
		}
		if c.File != "" {
			z.File = c.File
		}
		return s.rescope(z, c.Scope, c.Partition)
	})
}

// change changes the properties of a zone of type kind with apply, which returns an error code or
// 0. It fails if the zone has another type, is automatic, or cannot be written on this server.
func (s *Server) change(op Op, name string, kind ZoneType, apply func(*zone) int) (Zone, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	z, err := s.open(op, name)
	if err != nil {
		return Zone{}, err
	}
	code := 0
	switch {
	case z.Type != kind:
		code = CodeInvalidZoneType
	case z.AutoCreated:
		code = CodeInvalidZoneOperation
	case z.DsIntegrated && s.server.ReadOnly:
		code = CodeNotOnRODC
	default:
		code = apply(z)
	}
	if code != 0 {
		return Zone{}, s.fail(op, code, z.Name, "")
	}
	what := "set zone"
	if op == OpSetAging {
		what = "set aging"
	}
	st.note(s, what, z, nil, nil)
	return s.view(z), nil
}

// rescope moves a zone of the directory to the partition of a scope, if one is given.
func (s *Server) rescope(z *zone, scope Scope, partition string) int {
	if scope == "" {
		return 0
	}
	if code := s.acceptScope(scope, partition); code != 0 {
		return code
	}
	z.Scope = scope
	s.store.place(&z.Zone, "", partition, "")
	for _, n := range z.order {
		n.records = slices.Clone(n.records)
		for i := range n.records {
			n.records[i].DN = z.nodeDN(n.name)
		}
	}
	return 0
}

const (
	maxForwarderTimeout = 15               // seconds (facts NC2)
	maxInterval         = 8760 * time.Hour // facts NC7
)

// CreateForwarder creates a conditional forwarder. A timeout above 15 s is
// CodeValueTooLarge, an empty list of masters CodeNeedsMasters.
func (s *Server) CreateForwarder(f NewForwarder) (Zone, error) {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	name := strings.TrimSuffix(f.Name, ".")
	fail := func(code int) (Zone, error) { return Zone{}, s.fail(OpCreateZone, code, name, "") }
	if err := s.reach(OpCreateZone); err != nil {
		return Zone{}, err
	}
	code := acceptForwarder(f.Masters, f.Timeout)
	if code == 0 && len(f.Masters) == 0 {
		code = CodeNeedsMasters
	}
	if code == 0 {
		code = checkZoneName(name)
	}
	if code == 0 && f.Scope != "" && f.Scope != ScopeNone {
		code = s.acceptScope(f.Scope, f.Partition)
	}
	if code != 0 {
		return fail(code)
	}
	if old := s.lookup(name); old != nil {
		return fail(taken(old))
	}
	props := Zone{Name: name, Type: Forwarder, Scope: f.Scope, DynamicUpdate: UpdateNone,
		SecureSecondaries: "NoTransfer", Notify: "NoNotify", Masters: slices.Clone(f.Masters)}
	z := newZone(props)
	st.place(&z.Zone, s.server.Name, f.Partition, "")
	z.ForwarderTimeout, z.UseRecursion = f.Timeout, f.UseRecursion
	st.zones[z.key()] = z
	st.note(s, "create zone", z, nil, nil)
	return s.view(z), nil
}

// acceptForwarder returns the error code for an invalid property of a forwarder, or 0.
func acceptForwarder(masters []netip.Addr, timeout uint32) int {
	for _, master := range masters {
		if !master.IsValid() || master.IsUnspecified() || master.IsMulticast() {
			return CodeInvalidIPAddress
		}
	}
	if timeout > maxForwarderTimeout {
		return CodeValueTooLarge
	}
	return 0
}

// SetForwarder changes a conditional forwarder. It fails with CodeInvalidZoneOperation if a file-backed
// forwarder is to move to the directory.
func (s *Server) SetForwarder(name string, c ForwarderChange) (Zone, error) {
	return s.change(OpSetZone, name, Forwarder, func(z *zone) int {
		timeout := z.ForwarderTimeout
		if c.Timeout != nil {
			timeout = *c.Timeout
		}
		code := acceptForwarder(c.Masters, timeout)
		if code == 0 && c.Scope != "" && !z.DsIntegrated {
			code = CodeInvalidZoneOperation
		}
		if code == 0 {
			code = s.rescope(z, c.Scope, c.Partition)
		}
		if code != 0 {
			return code
		}
		z.ForwarderTimeout = timeout
		if len(c.Masters) > 0 {
			z.Masters = slices.Clone(c.Masters)
		}
		if c.UseRecursion != nil {
			z.UseRecursion = *c.UseRecursion
		}
		return 0
	})
}

// Aging returns a primary zone with its aging settings. It fails with CodeInvalidZoneType for another type of
// zone.
func (s *Server) Aging(name string) (Zone, error) {
	st := s.store
	st.mu.RLock()
	defer st.mu.RUnlock()
	z, err := s.open(OpGetAging, name)
	switch {
	case err != nil:
		return Zone{}, err
	case z.Type != Primary:
		return Zone{}, s.fail(OpGetAging, CodeInvalidZoneType, z.Name, "")
	}
	return s.view(z), nil
}

// SetAging changes the aging settings of a primary zone. When aging is enabled, the zone may
// be scavenged after one refresh interval. An interval of 0 means the server's default; one
// above 8760 hours is CodeValueTooLarge (facts NC7).
func (s *Server) SetAging(name string, c AgingChange) (Zone, error) {
	return s.change(OpSetAging, name, Primary, func(z *zone) int {
		for _, interval := range []*time.Duration{c.Refresh, c.NoRefresh} {
			if interval != nil && (*interval < 0 || *interval > maxInterval) {
				return CodeValueTooLarge
			}
		}
		set := func(property, value *time.Duration) {
			if value == nil {
				return
			}
			if *property = *value; *value == 0 {
				*property = defaultInterval
			}
		}
		set(&z.Refresh, c.Refresh)
		set(&z.NoRefresh, c.NoRefresh)
		if c.ScavengeServers != nil {
			z.ScavengeServers = slices.Clone(c.ScavengeServers)
		}
		if c.Enabled != nil && *c.Enabled != z.Aging {
			z.Aging, z.AvailableAt = *c.Enabled, time.Time{}
			if z.Aging {
				z.AvailableAt = s.store.hour().Add(z.Refresh)
			}
		}
		return 0
	})
}
