package directory

import (
	"strconv"

	"adgateway/ps/sandbox/internal/ldif"
)

// value converts a value in the forms that export tools write.
func (l *loader) value(def *Attribute, v string) (string, bool) {
	if def.Syntax == SyntaxSID || def.Syntax == SyntaxGUID {
		return def.octetsFromText(v)
	}
	raw, err := def.encodeText(v)
	if err != nil && def.Syntax == SyntaxInteger {
		// Some tools write flags as unsigned numbers.
		if n, bad := strconv.ParseUint(v, 10, 32); bad == nil {
			return itoa(int64(int32(n))), true
		}
	}
	return raw, err == nil
}

// loadTimes sets the times and USNs of a node.
var loadTimes = map[string]func(n *node, v int64){
	"whencreated": func(n *node, v int64) { n.created = v },
	"whenchanged": func(n *node, v int64) { n.changed = v },
	"usncreated":  func(n *node, v int64) { n.usnCreated = v },
	"usnchanged":  func(n *node, v int64) { n.usnChanged = v },
}

func (l *loader) time(e *entry, def *Attribute, a *ldif.Attribute) {
	vals := a.Values
	if def.Syntax == SyntaxLarge {
		n, err := strconv.ParseInt(vals[0], 10, 64)
		if err != nil {
			l.skipValue(e, a, 0)
			return
		}
		loadTimes[def.key](e.node, n)
		l.t.rep.usn = max(l.t.rep.usn, n)
		return
	}
	t, ok := parseTime(vals[0])
	if !ok {
		l.skipValue(e, a, 0)
		return
	}
	loadTimes[def.key](e.node, t.Unix())
}

// local collects a value that is not replicated. It belongs to the DC in its option, or to
// the first DC without one.
func (l *loader) local(e *entry, def *Attribute, a *ldif.Attribute) {
	v, err := strconv.ParseInt(a.Values[0], 10, 64)
	if err != nil {
		l.skipValue(e, a, 0)
		return
	}
	l.locals = append(l.locals, pendingLocal{e.node, def.key, a.DC, v})
}

func (l *loader) category(e *entry, v string) {
	key := l.t.rep.sch.category.matchKey
	if name := l.d.categoryDN(e.node.class); key(v) != key(name) {
		e.node.put(l.t.rep.sch.category, []string{v})
	}
}

func (l *loader) password(e *entry, v string) {
	p, ok := quotedPassword(v)
	if !ok {
		l.skip(e, "unicodePwd is not UTF-16LE text in double quotes")
		return
	}
	l.passwords = append(l.passwords, pendingPassword{e.node, p})
}
