package schema

// Attribute returns the LDAP name of the attribute for which a kind is meant. It returns "" if there is none,
// or if other kinds are meant for the same attribute.
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
