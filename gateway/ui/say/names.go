package say

import (
	"cmp"
	"fmt"
	"strings"

	"adgateway/gateway/schema"
)

// MostNamed limits the objects that a row names.
const MostNamed = 3

// pathSign stands between the parts of the path of an organizational unit.
const pathSign = " › "

// PathText returns a distinguished name as the path to its object, from the top of the domain.
func PathText(dn string) string {
	if parts := PathOf(dn); len(parts) > 0 {
		return strings.Join(parts, pathSign)
	}
	return dn
}

// LastOf returns the last part of a path.
func LastOf(path string) string {
	if i := strings.LastIndex(path, pathSign); i >= 0 {
		return path[i+len(pathSign):]
	}
	return path
}

// CutDN cuts a distinguished name behind its first part.
func CutDN(dn string) (first, rest string) {
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

// IsGUID reports whether a text is a GUID.
func IsGUID(text string) bool {
	_, problem := schema.GUID.Decode(text)
	return problem == nil
}

// NameIn returns the name of an object in sentences: that in the directory, which unlike a
// display name no other object of its unit has.
func NameIn(r Record) string { return r.First("name", "computerName", "displayName") }

// PathOf returns the names of an organizational unit and those above it, from the top. The domain is
// left out: all have it.
func PathOf(dn string) []string {
	var parts []string
	for _, part := range SplitDN(dn) {
		kind, name, has := strings.Cut(part, "=")
		if !has || strings.EqualFold(kind, "DC") {
			break
		}
		parts = append([]string{unescaped(name)}, parts...)
	}
	return parts
}

// NameOfDN returns the name of an object of a distinguished name; of other texts themselves.
func NameOfDN(text string) string {
	first, rest := CutDN(text)
	_, name, has := strings.Cut(first, "=")
	if !has || rest == "" || !strings.Contains(strings.ToUpper(text), "DC=") {
		return text
	}
	return unescaped(name)
}

// SplitDN returns the parts of a distinguished name as they are written.
func SplitDN(dn string) (parts []string) {
	for dn != "" {
		var first string
		first, dn = CutDN(dn)
		parts = append(parts, first)
	}
	return parts
}

// CompareTexts compares as people sort, small and capital letters alike; what is empty comes last.
func CompareTexts(x, y string) int {
	if (x == "") != (y == "") {
		return cmp.Compare(y, x)
	}
	return cmp.Or(cmp.Compare(strings.ToLower(x), strings.ToLower(y)), cmp.Compare(x, y))
}

// Rdn shows the name of an object instead of its whole distinguished name.
func Rdn(text string) string { return NameOfDN(text) }
