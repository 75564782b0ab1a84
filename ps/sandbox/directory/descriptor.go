package directory

import (
	"encoding/binary"
	"slices"
)

// keyDescriptor is the attribute with the access list. It is returned only when named, and matches
// no filter.
const keyDescriptor = "ntsecuritydescriptor"

// Parts of a self-relative SECURITY_DESCRIPTOR ([MS-DTYP] 2.4.6, 2.4.5, 2.4.4).
const (
	headerSize  = 20
	listSize    = 8
	aceSize     = 8 // header and access mask
	controlBits = 0x8000 | 0x0004
	revision    = 4 // of an access list with object entries

	aceDenied       = 1
	aceDeniedObject = 6
	aceInherit      = 0x02 // CONTAINER_INHERIT_ACE
	hasObjectType   = 1
)

// descriptor returns an access list as a security descriptor without owner and group. It
// contains the Deny entries; the sandbox knows no others.
func descriptor(acl []ACE) []byte {
	var entries []byte
	for _, a := range acl {
		entry := []byte{aceDenied, 0, 0, 0}
		if a.Inherit {
			entry[1] = aceInherit
		}
		entry = binary.LittleEndian.AppendUint32(entry, uint32(a.Rights))
		if !a.ObjectType.IsZero() {
			entry[0] = aceDeniedObject
			entry = binary.LittleEndian.AppendUint32(entry, hasObjectType)
			entry = append(entry, a.ObjectType[:]...)
		}
		entry = append(entry, a.Trustee.Bytes()...)
		binary.LittleEndian.PutUint16(entry[2:], uint16(len(entry)))
		entries = append(entries, entry...)
	}
	b := make([]byte, headerSize+listSize, headerSize+listSize+len(entries))
	b[0] = 1
	binary.LittleEndian.PutUint16(b[2:], controlBits)
	binary.LittleEndian.PutUint32(b[16:], headerSize)
	list := b[headerSize:]
	list[0] = revision
	binary.LittleEndian.PutUint16(list[2:], uint16(listSize+len(entries)))
	binary.LittleEndian.PutUint16(list[4:], uint16(len(acl)))
	return append(b, entries...)
}

// accessList returns the entries of a security descriptor in the form that descriptor
// writes. ok is false for any other form.
func accessList(b []byte) (acl []ACE, ok bool) {
	if len(b) < headerSize+listSize {
		return nil, false
	}
	rest := b[headerSize+listSize:]
	for len(rest) > 0 {
		if len(rest) < aceSize {
			return nil, false
		}
		size := int(binary.LittleEndian.Uint16(rest[2:]))
		if size < aceSize || size > len(rest) {
			return nil, false
		}
		a := ACE{Rights: Rights(binary.LittleEndian.Uint32(rest[4:])), Inherit: rest[1] == aceInherit}
		trustee := rest[aceSize:size]
		if rest[0] == aceDeniedObject {
			const typed = 4 + len(a.ObjectType)
			if len(trustee) < typed {
				return nil, false
			}
			copy(a.ObjectType[:], trustee[4:])
			trustee = trustee[typed:]
		}
		var valid bool
		if a.Trustee, valid = SIDFromBytes(trustee); !valid {
			return nil, false
		}
		acl, rest = append(acl, a), rest[size:]
	}
	return acl, slices.Equal(descriptor(acl), b)
}

func getDescriptor(_ *view, n *node, b []string) []string {
	if n.denied(RightReadControl) {
		return b
	}
	return append(b, string(descriptor(n.acl)))
}

// changeDescriptor replaces an access list.
func changeDescriptor(m *modifier, def *Attribute, c Change) (bool, *Error) {
	raw, given, err := m.only(def, c)
	if err != nil {
		return true, err
	}
	acl, valid := accessList([]byte(raw))
	switch {
	case c.Op != OpReplace || !given || !valid || m.adding:
		return true, failAttr(CodeUnwilling, KindUnwilling, m.n.dn(), def.Name,
			"the value is no security descriptor of the sandbox")
	case m.n.denied(RightWriteDacl):
		return true, failAttr(CodeInsufficientRights, KindDenied, m.n.dn(), def.Name,
			"no right to change the access list")
	}
	if !slices.Equal(acl, m.n.acl) {
		m.setACL(m.n, acl)
	}
	return true, nil
}
