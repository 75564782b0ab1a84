package schema

// Attribute returns the LDAP name of the attribute that a kind is for, or "" if the kind is for
// none, or for one that other kinds share.
func Attribute(k Kind) string {
	switch k := k.(type) {
	case textKind:
		return k.attribute
	case expiryKind:
		return "accountExpires"
	case countryKind:
		return "c"
	case passwordKind:
		return "unicodePwd"
	}
	return ""
}
