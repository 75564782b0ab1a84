package zones

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of RFC 1035, in octets.
const (
	maxLabel = 63
	maxName  = 255
)

// Reading determines how a server reads a name without a final dot that ends with the name
// of the zone. Reports about Windows disagree.
type Reading uint8

// The ways of reading such a name.
const (
	Strips  Reading = iota // as a full name
	Nests                  // relative to the zone, like any other
	Refuses                // not at all: the error is CodeInvalidName
	Repeats                // after removing every trailing copy of the zone's name, even before a final dot
)

// reading returns how the operation reads names.
func (st *Store) reading(op Op) Reading {
	if st.reads == nil {
		return Strips
	}
	return st.reads(op)
}

// owner returns a name relative to the zone. "@", "" and "." mean the apex. An absolute name must be in the
// zone. way determines how a name without a final dot that ends with the zone's name is read (facts E52). The
// second result is an error code, or 0.
func (z *zone) owner(name string, way Reading) (string, int) {
	absolute := strings.HasSuffix(name, ".")
	bare := strings.TrimSuffix(name, ".")
	if bare == "" || bare == "@" {
		return "@", 0
	}
	for cuts := 0; ; cuts++ {
		lower := strings.ToLower(bare)
		inside := lower == fold(z.Name) || strings.HasSuffix(lower, "."+fold(z.Name))
		switch {
		case absolute && cuts == 0 && !inside:
			return "", CodeNameNotInZone
		case inside && !absolute && way == Refuses:
			return "", CodeInvalidName
		case !inside, cuts > 0 && way != Repeats, !absolute && way == Nests:
			return z.accept(bare)
		case lower == fold(z.Name):
			return "@", 0
		}
		bare = cutLabels(bare, strings.Count(fold(z.Name), ".")+1)
	}
}

// accept returns a relative name that can be stored in the zone.
func (z *zone) accept(rel string) (string, int) {
	if code := checkName(rel); code != 0 && !z.odd[fold(rel)] {
		return "", code
	}
	if len(rel)+len(z.Name)+3 > maxName { // plus two dots and the root label
		return "", CodeInvalidName
	}
	return rel, 0
}

// cutLabels removes the last n labels. It counts labels instead of bytes, because folding
// may change the length.
func cutLabels(name string, n int) string {
	for ; n > 0; n-- {
		name = name[:strings.LastIndexByte(name, '.')]
	}
	return name
}

// checkName returns 0 if a name can be stored, CodeInvalidName if a label or the name is empty or too long,
// and CodeInvalidNameChar if it contains characters other than letters, digits, '-', '_', '/' (RFC 2317),
// non-ASCII characters (the server's default name check is multibyte) and '*' as the whole first label.
func checkName(name string) int {
	if len(name) > maxName-2 {
		return CodeInvalidName
	}
	if !utf8.ValidString(name) {
		return CodeInvalidNameChar
	}
	for i, label := range strings.Split(name, ".") {
		if label == "" || len(label) > maxLabel {
			return CodeInvalidName
		}
		if label == "*" && i == 0 {
			continue
		}
		for j := 0; j < len(label); j++ {
			if !nameByte(label[j]) {
				return CodeInvalidNameChar
			}
		}
	}
	return 0
}

func nameByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c >= utf8.RuneSelf:
		return true
	default:
		return c == '-' || c == '_' || c == '/'
	}
}

// specials are the characters that are preceded by a backslash in the text of a name.
const specials = `.\"();@$`

// plain returns a name as the server shows it, with the octets themselves instead of the
// escapes \DDD of non-ASCII octets and of characters that need no escape. If the result is
// not valid UTF-8, all non-ASCII octets are escaped instead.
func plain(name string) string {
	if !strings.Contains(name, `\`) && utf8.ValidString(name) {
		return name
	}
	var raw, escaped strings.Builder
	for i := 0; i < len(name); i++ {
		c, width, escape := name[i], 1, false
		if c == '\\' && i+1 < len(name) {
			width, escape = 2, true
			if i+3 < len(name) {
				if n, err := strconv.ParseUint(name[i+1:i+4], 10, 8); err == nil {
					c, width, escape = byte(n), 4, n < utf8.RuneSelf
				}
			}
		}
		if escape && width == 2 {
			c = name[i+1]
		}
		switch {
		case escape && c > ' ' && c < 0x7F && !strings.ContainsRune(specials, rune(c)):
			raw.WriteByte(c)
			escaped.WriteByte(c)
		case escape && width == 4 && strings.ContainsRune(specials, rune(c)):
			raw.WriteString(`\` + string(rune(c)))
			escaped.WriteString(`\` + string(rune(c)))
		case escape && width == 2 && c == ' ':
			raw.WriteString(`\032`)
			escaped.WriteString(`\032`)
		case escape || c < utf8.RuneSelf:
			raw.WriteString(name[i : i+width])
			escaped.WriteString(name[i : i+width])
		default:
			raw.WriteByte(c)
			fmt.Fprintf(&escaped, `\%03d`, c)
		}
		i += width - 1
	}
	if !utf8.ValidString(raw.String()) {
		return escaped.String()
	}
	return raw.String()
}
