package dotnet

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// guidOrder maps the text order of a GUID's bytes to the order of ToByteArray: the first three
// groups are little-endian.
var guidOrder = [16]int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}

// ParseGuid parses a GUID with or without hyphens, braces or parentheses.
func ParseGuid(s string) (Guid, bool) {
	s = strings.TrimSpace(s)
	if n := len(s); n == 38 && (s[0] == '{' && s[37] == '}' || s[0] == '(' && s[37] == ')') {
		s = s[1:37]
	}
	switch len(s) {
	case 36:
		if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
			return Guid{}, false
		}
		s = s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	case 32:
	default:
		return Guid{}, false
	}
	var raw [16]byte
	if _, err := hex.Decode(raw[:], []byte(s)); err != nil {
		return Guid{}, false
	}
	var g Guid
	for i, at := range guidOrder {
		g[at] = raw[i]
	}
	return g, true
}

func (g Guid) digits() string {
	var raw [16]byte
	for i, at := range guidOrder {
		raw[i] = g[at]
	}
	return hex.EncodeToString(raw[:])
}

// String returns the form with hyphens, in lower case.
func (g Guid) String() string {
	s := g.digits()
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// ParseVersion parses two to four numbers separated by dots.
func ParseVersion(s string) (Version, bool) {
	parts := strings.Split(s, ".")
	if len(parts) < 2 || len(parts) > 4 {
		return Version{}, false
	}
	v := [4]int32{-1, -1, -1, -1}
	for i, part := range parts {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil || n < 0 {
			return Version{}, false
		}
		v[i] = int32(n)
	}
	return Version{v[0], v[1], v[2], v[3]}, true
}

// String returns the parts that are set.
func (v Version) String() string {
	s := strconv.Itoa(int(v.Major)) + "." + strconv.Itoa(int(v.Minor))
	if v.Build >= 0 {
		s += "." + strconv.Itoa(int(v.Build))
		if v.Revision >= 0 {
			s += "." + strconv.Itoa(int(v.Revision))
		}
	}
	return s
}
