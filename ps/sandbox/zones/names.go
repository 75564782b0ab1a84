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

// owner makes a name relative to the zone: "@", "", "." and the zone's own name
// are the apex (facts E52), a name that ends in the zone's is cut, a name with a
// trailing dot must lie in the zone. It returns the code of the fault, or 0.
func (z *zone) owner(name string) (string, int) {
	absolute := strings.HasSuffix(name, ".")
	bare := strings.TrimSuffix(name, ".")
	switch lower := strings.ToLower(bare); {
	case bare == "" || bare == "@" || lower == fold(z.Name):
		return "@", 0
	case strings.HasSuffix(lower, "."+fold(z.Name)):
		bare = cutLabels(bare, strings.Count(fold(z.Name), ".")+1)
	case absolute:
		return "", CodeNameNotInZone
	}
	if code := checkName(bare); code != 0 {
		return "", code
	}
	if len(bare)+len(z.Name)+3 > maxName { // two dots and the root's length octet
		return "", CodeInvalidName
	}
	return bare, 0
}

// cutLabels takes the last n labels off. Folding may change lengths, so the cut
// is made by labels and not by bytes.
func cutLabels(name string, n int) string {
	for ; n > 0; n-- {
		name = name[:strings.LastIndexByte(name, '.')]
	}
	return name
}

// checkName tells whether a name can be stored: CodeInvalidName for empty or
// too long labels, CodeInvalidNameChar for characters outside letters, digits,
// '-', '_', '/' (RFC 2317), non-ASCII text (the server's default name check is
// multibyte) and '*' as the whole first label.
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

// plain turns the escapes \DDD of octets beyond ASCII into these octets, as the
// server shows names, when that makes valid UTF-8; else it escapes all of them.
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
		switch {
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
