package schema

import (
	"encoding/hex"
	"strings"
)

// Path is a distinguished name in a comparable form: its parts from the object to the root, folded
// and without escapes.
type Path []string

// ParsePath returns the path of a distinguished name. It returns false if the text is malformed, or
// in a form that [DN] does not accept.
func ParsePath(text string) (Path, bool) {
	if !dnPattern.MatchString(text) || !validPairs(text) {
		return nil, false
	}
	var path Path
	var part strings.Builder
	end := 0      // length of the stored text, without trailing spaces
	fresh := true // before a type or a value, where spaces are ignored
	flush := func() {
		path = append(path, part.String()[:end])
		part.Reset()
		end, fresh = 0, true
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == ',':
			flush()
			continue
		case c == ' ' && fresh:
			continue
		case c == '=' && !strings.Contains(part.String(), "="):
			kind := strings.ToLower(part.String()[:end])
			if name, known := attributeTypes[kind]; known {
				kind = name
			}
			part.Reset()
			part.WriteString(kind + "=")
			end, fresh = part.Len(), true
			continue
		case c == '\\':
			if octet, err := hex.DecodeString(text[i+1 : min(i+3, len(text))]); err == nil && len(octet) == 1 {
				part.WriteByte(octet[0])
				i += 2
			} else {
				i++
				part.WriteByte(text[i])
			}
			end, fresh = part.Len(), false
			continue
		}
		part.WriteByte(c)
		fresh = false
		if c != ' ' {
			end = part.Len()
		}
	}
	flush()
	for i := range path {
		path[i] = strings.ToLower(strings.ToUpper(path[i]))
	}
	return path, true
}

// attributeTypes are the attribute types that can also be written as numbers or in full.
var attributeTypes = map[string]string{
	"2.5.4.3": "cn", "2.5.4.11": "ou", "2.5.4.10": "o", "0.9.2342.19200300.100.1.25": "dc",
	"commonname": "cn", "organizationalunitname": "ou", "domaincomponent": "dc",
	"oid.2.5.4.3": "cn", "oid.2.5.4.11": "ou",
}

// Within reports whether the path is base or lies below it.
func (p Path) Within(base Path) bool {
	above := len(p) - len(base)
	if above < 0 {
		return false
	}
	for i := range base {
		if p[above+i] != base[i] {
			return false
		}
	}
	return true
}

// NamesPath returns the path that an accepted text of a kind contains, or false if the text contains none,
// for example because it is a GUID or an account name.
func NamesPath(kind Kind, text string) (Path, bool) {
	switch kind.(type) {
	case dnKind:
		return ParsePath(text)
	case identityKind:
		path, ok := ParsePath(text)
		return path, ok && len(path) > 1 // an account name may contain an equals sign
	}
	return nil, false
}

// NamesObjects reports whether values of a kind name objects of the directory by more than a GUID.
func NamesObjects(kind Kind) bool {
	switch kind.(type) {
	case dnKind, identityKind, membersKind:
		return true
	}
	return false
}

// NamesPaths returns the paths that an accepted text of a kind contains, see [NamesPath].
func NamesPaths(kind Kind, text string) (paths []Path) {
	if !NamesMembers(kind) {
		if path, ok := NamesPath(kind, text); ok {
			paths = append(paths, path)
		}
		return paths
	}
	names, _ := memberNames(text) // an accepted text is a valid list
	for _, name := range names {
		if path, ok := NamesPath(Identity, name); ok {
			paths = append(paths, path)
		}
	}
	return paths
}

// EscapeRDN escapes a name for use in a distinguished name (RFC 4514 2.4).
func EscapeRDN(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		first, last := i == 0, i == len(name)-1
		switch c := name[i]; {
		case strings.IndexByte(`,+"\\<>;=`, c) >= 0, first && (c == ' ' || c == '#'), last && c == ' ':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == 0:
			b.WriteString(`\00`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// CutDN splits a distinguished name into the value of its first part, still escaped, and the parts
// above it. It returns false if there are none.
func CutDN(dn string) (leaf, above string, found bool) {
	for i := 0; i < len(dn); i++ {
		switch dn[i] {
		case '\\':
			i++
		case ',':
			_, leaf, _ = strings.Cut(dn[:i], "=")
			return leaf, dn[i+1:], true
		}
	}
	_, leaf, _ = strings.Cut(dn, "=")
	return leaf, "", false
}
