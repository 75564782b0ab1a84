package directory

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// A value of SyntaxDNBinary is shown as "B:32:<digits>:<DN>". The directory stores a reference to the object
// instead of its name, so a value follows an object that is renamed, moved or deleted. The stored form is
// "B:32:<digits>:<GUID=...>", or text if the object does not exist.

const heldPrefix = "<GUID="

// cutRef splits a value before the name of its object.
func cutRef(raw string) (octets, name string, ok bool) {
	parts := strings.SplitN(raw, ":", 4)
	if len(parts) < 4 || parts[0] != "B" {
		return "", raw, false
	}
	return raw[:len(raw)-len(parts[3])], parts[3], true
}

// isRef reports whether a text is a valid value of SyntaxDNBinary.
func isRef(raw string) bool {
	octets, name, ok := cutRef(raw)
	if !ok {
		return false
	}
	parts := strings.Split(octets, ":")
	digits, err := strconv.Atoi(parts[1])
	if _, bad := hex.DecodeString(parts[2]); err != nil || bad != nil || digits != len(parts[2]) {
		return false
	}
	if strings.HasPrefix(name, heldPrefix) {
		return true
	}
	_, err = ParseDN(name)
	return err == nil
}

// heldRef returns the stored form of a value.
func (r *replica) heldRef(raw string) string {
	octets, name, ok := cutRef(raw)
	if !ok {
		return raw
	}
	n, err := r.resolveDeleted(name)
	if err != nil {
		return raw
	}
	return octets + heldPrefix + n.guid.String() + ">"
}

// shownRef returns the value in the form in which it is read.
func (r *replica) shownRef(raw string) string {
	if octets, n := r.refTarget(raw); n != nil {
		return octets + n.dn()
	}
	return raw
}

// refTarget returns the octets and the object of a stored value. n is nil if the object does not exist.
func (r *replica) refTarget(raw string) (octets string, n *node) {
	octets, name, ok := cutRef(raw)
	if !ok || !strings.HasPrefix(name, heldPrefix) {
		return octets, nil
	}
	n, err := r.resolveDeleted(name)
	if err != nil {
		return octets, nil
	}
	return octets, n
}

// wellKnown reports whether the domain's root refers to the object as a well-known object.
func (r *replica) wellKnown(n *node) bool {
	return slices.ContainsFunc(r.root.get(r.sch.wellKnown), func(s stored) bool {
		_, target := r.refTarget(s.val)
		return target == n
	})
}

// holdRefs replaces the names in the values of a loaded object by references to the objects.
func (l *loader) holdRefs(n *node) {
	for i := range n.attrs {
		if n.attrs[i].def.Syntax == SyntaxDNBinary {
			n.attrs[i].val = l.t.rep.heldRef(n.attrs[i].val)
		}
	}
}
