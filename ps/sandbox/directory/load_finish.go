package directory

import (
	"slices"
	"sort"
	"strings"
)

type pendingLocal struct {
	n     *node
	key   string
	dc    string
	value int64
}

type pendingPassword struct {
	n        *node
	password string
}

// standardContainers are the containers below the root that every domain has. Their RDN type is CN.
var standardContainers = []struct{ name, class, text string }{
	{"Users", "container", "Default container for upgraded user accounts"},
	{"Computers", "container", "Default container for upgraded computer accounts"},
	{binName, "container", "Default container for deleted objects"},
	{"LostAndFound", "lostAndFound", "Default container for orphaned objects"},
}

// takesStandardName reports whether an entry below the root has the name of a standard container, but another
// RDN type.
func takesStandardName(rdn RDN) bool {
	for _, c := range standardContainers {
		if rdn.Type != "CN" && strings.EqualFold(rdn.Value, c.name) {
			return true
		}
	}
	return false
}

// standard adds missing standard containers.
func (l *loader) standard() {
	r := l.t.rep
	for _, c := range standardContainers {
		rdn := RDN{"CN", c.name}
		n := r.root.child(rdn)
		if n == nil {
			n = &node{created: l.now.Unix(), changed: l.now.Unix()}
			n.class, _ = l.d.schema.Class(c.class)
			n.setName(rdn)
			r.seq++
			n.seq = r.seq
			n.put(r.sch.description, []string{c.text})
			n.put(r.sch.critical, []string{"TRUE"})
			r.root.attach(n)
		}
		if c.name == binName {
			r.bin, n.deleted = n, true
		}
	}
}

// identities generates missing GUIDs and SIDs and sets passwords.
func (l *loader) identities() {
	r := l.t.rep
	r.root.walk(func(n *node) {
		for n.guid.IsZero() || r.byGUID[n.guid] != nil {
			n.guid = l.d.freshGUID()
		}
		switch {
		case n == r.root:
			n.sid = l.d.sid
			l.d.rootGUID = n.guid
		case n.sid.IsZero() && n.isPrincipal() && !abroad(r, n):
			n.sid, _ = l.d.freshSID()
		}
		r.byGUID[n.guid] = n
	})
	for _, p := range l.passwords {
		p.n.secret = &secret{known: true, hash: p.n.hash(p.password)}
		if p.n.first(r.sch.pwdLastSet) == "" {
			p.n.put(r.sch.pwdLastSet, []string{itoa(ToFileTime(l.now))})
		}
	}
}

// accounts completes users, computers and groups, checks for duplicate names and
// adds all objects to the indexes.
func (l *loader) accounts() {
	r, k := l.t.rep, l.t.rep.sch
	for _, e := range l.entries {
		if e.node == nil {
			continue
		}
		n := e.node
		if n.isGroup() && n.first(k.groupType) == "" {
			n.put(k.groupType, []string{"-2147483646"})
		}
		if n.isAccount() {
			l.account(n)
		}
	}
	for _, e := range l.entries {
		if e.node != nil && !e.node.deleted {
			l.unique(e)
		}
	}
	r.root.walk(func(n *node) {
		switch {
		case n.usnCreated == 0 && n.usnChanged == 0:
			r.usn++
			n.usnCreated, n.usnChanged = r.usn, r.usn
		case n.usnCreated == 0:
			n.usnCreated = n.usnChanged
		case n.usnChanged == 0:
			n.usnChanged = n.usnCreated
		}
		n.attrs = slices.Clone(n.attrs) // without spare capacity
		r.enter(n)
	})
}

func (l *loader) account(n *node) {
	k := l.t.rep.sch
	uac := n.int(k.uac, -1)
	switch {
	case uac >= 0:
		uac = int64(uint32(uac)) &^ uacComputed
	case n.is("computer"):
		uac = uacWorkstation
	default:
		uac = uacNormal
	}
	n.put(k.uac, []string{itoa(int64(int32(uint32(uac))))})
	defaults := map[*Attribute]string{
		k.accountExpires: itoa(Never), k.codePage: "0", k.countryCode: "0", k.pwdLastSet: "0",
		k.primaryGroup: itoa(defaultPrimaryGroup(n, uac)),
	}
	for def, v := range defaults {
		if n.first(def) == "" {
			n.put(def, []string{v})
		}
	}
	// An account that is enabled, or whose password was set, has an unknown password, because
	// files do not contain passwords.
	if n.secret == nil && (uac&uacDisabled == 0 && uac&uacNotRequired == 0 || n.int(k.pwdLastSet, 0) != 0) {
		n.secret = unknownSecret
	}
}

// unique reports duplicate UPNs.
func (l *loader) unique(e *entry) {
	if upn := e.node.first(l.t.rep.sch.upn); upn != "" {
		if other := l.upns[fold(upn)]; other != nil {
			l.warn(e, "the same userPrincipalName as %s", other.rec.DN)
		}
		l.upns[fold(upn)] = e
	}
}

// referred returns the node of a reference, like resolveForest of the replica. Most
// references are spelled in the same way as the entry itself.
func referred(l *loader, text string) (*node, *Error) {
	if e := l.byText[text]; e != nil && e.node != nil && !e.node.deleted {
		return e.node, nil
	}
	return l.t.rep.resolveForest(text)
}

// resolveRefs links the objects. References to missing objects are kept as text.
func (l *loader) resolveRefs() {
	r := l.t.rep
	for _, p := range l.refs {
		target, err := referred(l, p.text)
		switch {
		case p.back && err != nil:
			if d, bad := ParseDN(p.text); bad != nil || !strings.HasSuffix(d.Key(), fold(l.d.configNC)) {
				l.warn(p.e, "%s refers to %s, which does not exist", p.def.other.Name, p.text)
			}
		case p.back && catalogLacks(r, target, p.def), !p.back && catalogLacks(r, p.e.node, p.def):
		case p.back:
			l.t.link(target, p.def, linkVal{n: p.e.node})
		case err == nil:
			l.t.link(p.e.node, p.def, linkVal{n: target})
		default:
			d, bad := ParseDN(p.text)
			if bad != nil {
				l.warn(p.e, "the value %q of %s is not a DN and is left out", short(p.text), p.def.Name)
				continue
			}
			if !strings.HasSuffix(d.Key(), fold(l.d.configNC)) {
				l.warn(p.e, "%s refers to %s, which does not exist", p.def.Name, p.text)
			}
			l.t.link(p.e.node, p.def, linkVal{text: d.String()})
		}
	}
	for _, e := range l.entries {
		if e.node == nil {
			continue
		}
		l.holdRefs(e.node)
		for _, s := range slices.Clone(e.node.links) {
			if n := len(s.list); s.def.SingleValued && n > 1 {
				l.warn(e, "%s is single-valued but has %d values: the first is kept", s.def.Name, n)
				for _, v := range slices.Clone(s.list[1:]) {
					l.t.unlink(e.node, s.def, v)
				}
			}
		}
	}
}

// controllers creates the DCs and sets the values that are not replicated. A computer is a DC if it has the
// account type of a DC and a server object, to which serverReferenceBL points. Other computers with that
// account type only look like a DC. If no entry has a server object, as in hand-written files, the accounts
// alone decide.
func (l *loader) controllers() {
	r, k := l.t.rep, l.t.rep.sch
	var hosts, registered []*node
	for _, e := range l.entries {
		isController := func(n *node) bool { return n.int(k.uac, 0)&(uacServer|uacPartialSecrets) != 0 }
		if n := e.node; n != nil && n.is("computer") && !abroad(r, n) && isController(n) {
			hosts = append(hosts, n)
			if len(e.rec.Get("serverReferenceBL")) > 0 {
				registered = append(registered, n)
			}
		}
	}
	if len(registered) > 0 {
		hosts = registered
	}
	sort.Slice(hosts, func(i, j int) bool { return fold(hosts[i].rdn) < fold(hosts[j].rdn) })
	add := func(name, host string, account GUID, readOnly bool) {
		name = strings.ToLower(name)
		if host == "" {
			host = name + "." + l.d.dnsName
		}
		l.d.addDC(name, strings.ToLower(host), account, readOnly)
	}
	for _, n := range hosts {
		add(n.rdn, n.first(k.dnsHost), n.guid, n.int(k.uac, 0)&uacPartialSecrets != 0)
	}
	if len(hosts) == 0 {
		add("dc1", "", GUID{}, false)
		add("dc2", "", GUID{}, false)
	}
	for _, p := range l.locals {
		l.setLocal(p)
	}
}

func (l *loader) setLocal(p pendingLocal) {
	dc := 0
	for i, c := range l.d.dcs {
		if p.dc == c.name {
			dc = i
		}
	}
	s := p.n.localFor(dc, len(l.d.dcs))
	switch p.key {
	case "lastlogon":
		s.lastLogon = p.value
	case "badpasswordtime":
		s.badPasswordTime = p.value
	case "badpwdcount":
		s.badPwdCount = int32(p.value)
	case "logoncount":
		s.logonCount = int32(p.value)
	}
}
