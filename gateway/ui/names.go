package ui

import (
	"adgateway/gateway/schema"
	"cmp"
	"fmt"
	"strings"
)

// mostNamed limits the objects that a row names.
const mostNamed = 3

// pathSign stands between the parts of the path of an organizational unit.
const pathSign = " › "

// pathText returns a distinguished name as the path to its object, from the top of the domain.
func pathText(dn string) string {
	if parts := pathOf(dn); len(parts) > 0 {
		return strings.Join(parts, pathSign)
	}
	return dn
}

// lastOf returns the last part of a path.
func lastOf(path string) string {
	if i := strings.LastIndex(path, pathSign); i >= 0 {
		return path[i+len(pathSign):]
	}
	return path
}

// cutDN cuts a distinguished name behind its first part.
func cutDN(dn string) (first, rest string) {
	for i := 0; i < len(dn); i++ {
		switch dn[i] {
		case '\\':
			i++
		case ',':
			return dn[:i], dn[i+1:]
		}
	}
	return dn, ""
}

// unescaped returns the value of a part of a distinguished name as people read it.
func unescaped(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '\\' && i+1 < len(value) {
			i++
			if i+1 < len(value) && strings.ContainsRune("0123456789abcdefABCDEF", rune(value[i])) {
				var octet byte
				if _, err := fmt.Sscanf(value[i:i+2], "%02x", &octet); err == nil {
					b.WriteByte(octet)
					i++
					continue
				}
			}
		}
		b.WriteByte(value[i])
	}
	return b.String()
}

// isGUID reports whether a text is a GUID.
func isGUID(text string) bool {
	_, problem := schema.GUID.Decode(text)
	return problem == nil
}

// nameIn returns the name of an object in sentences: that in the directory, which unlike a
// display name no other object of its unit has.
func nameIn(r record) string { return r.first("name", "computerName", "displayName") }

// pathOf returns the names of an organizational unit and those above it, from the top. The domain is
// left out: all have it.
func pathOf(dn string) []string {
	var parts []string
	for _, part := range splitDN(dn) {
		kind, name, has := strings.Cut(part, "=")
		if !has || strings.EqualFold(kind, "DC") {
			break
		}
		parts = append([]string{unescaped(name)}, parts...)
	}
	return parts
}

// nameOfDN returns the name of an object of a distinguished name; of other texts themselves.
func nameOfDN(text string) string {
	first, rest := cutDN(text)
	_, name, has := strings.Cut(first, "=")
	if !has || rest == "" || !strings.Contains(strings.ToUpper(text), "DC=") {
		return text
	}
	return unescaped(name)
}

// splitDN returns the parts of a distinguished name as they are written.
func splitDN(dn string) (parts []string) {
	for dn != "" {
		var first string
		first, dn = cutDN(dn)
		parts = append(parts, first)
	}
	return parts
}

// compareTexts compares as people sort, small and capital letters alike; what is empty comes last.
func compareTexts(x, y string) int {
	if (x == "") != (y == "") {
		return cmp.Compare(y, x)
	}
	return cmp.Or(cmp.Compare(strings.ToLower(x), strings.ToLower(y)), cmp.Compare(x, y))
}

// rdn shows the name of an object instead of its whole distinguished name.
func rdn(text string) string { return nameOfDN(text) }
