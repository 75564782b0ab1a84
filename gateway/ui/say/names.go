package say

import (
	"cmp"
	"fmt"
	"strings"

	"adgateway/gateway/schema"
)

// MostNamed is the maximum number of objects that a row names.
const MostNamed = 3

// pathSign separates the parts of the path of an organizational unit.
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

// CutDN splits a distinguished name after its first part.
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

// unescaped returns the value of a part of a distinguished name without its escapes.
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

// NameIn returns an object's name for sentences. This is the name in the directory, because, unlike a display
// name, it is unique in its unit.
func NameIn(r Record) string { return r.First("name", "computerName", "displayName") }

// PathOf returns the names of an organizational unit and its parents, topmost first. It
// omits the domain, which is the same for all units.
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

// NameOfDN returns the object name in a distinguished name. It returns any other text unchanged.
func NameOfDN(text string) string {
	first, rest := CutDN(text)
	_, name, has := strings.Cut(first, "=")
	if !has || rest == "" || !strings.Contains(strings.ToUpper(text), "DC=") {
		return text
	}
	return unescaped(name)
}

// SplitDN returns the parts of a distinguished name with their escapes.
func SplitDN(dn string) (parts []string) {
	for dn != "" {
		var first string
		first, dn = CutDN(dn)
		parts = append(parts, first)
	}
	return parts
}

// CompareTexts compares texts in the order that people expect, regardless of case. Empty texts come last.
func CompareTexts(x, y string) int {
	if (x == "") != (y == "") {
		return cmp.Compare(y, x)
	}
	return cmp.Or(cmp.Compare(strings.ToLower(x), strings.ToLower(y)), cmp.Compare(x, y))
}

// Rdn shows an object by its name instead of its whole distinguished name.
func Rdn(text string) string { return NameOfDN(text) }
