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

// owner returns a name relative to the zone. "@", "", "." and the zone's own name
// mean the apex (facts E52); the zone's name is cut off; an absolute name must be
// in the zone. The code is that of the error, or 0.
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
	if len(bare)+len(z.Name)+3 > maxName { // plus two dots and the root label
		return "", CodeInvalidName
	}
	return bare, 0
}

// cutLabels removes the last n labels. Counting labels is safe where counting
// bytes is not: folding may change the length.
func cutLabels(name string, n int) string {
	for ; n > 0; n-- {
		name = name[:strings.LastIndexByte(name, '.')]
	}
	return name
}

// checkName returns 0 if a name can be stored, CodeInvalidName if a label or the
// name is empty or too long, and CodeInvalidNameChar for other characters than
// letters, digits, '-', '_', '/' (RFC 2317), non-ASCII characters (the server's
// default name check is multibyte) and '*' as the whole first label.
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

// plain replaces the escapes \DDD of non-ASCII octets by these octets, as the
// server shows names, if the result is valid UTF-8. Otherwise it escapes all
// non-ASCII octets.
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
