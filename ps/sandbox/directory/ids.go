package directory

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
)

// GUID is an objectGUID in the byte order of the directory and of .NET's
// ToByteArray: the first three groups are little-endian.
type GUID [16]byte

// String returns the GUID in lower case with dashes, without braces.
func (g GUID) String() string {
	text := g.text()
	return string(text[:])
}

func (g GUID) text() (b [36]byte) {
	hex.Encode(b[0:8], []byte{g[3], g[2], g[1], g[0]})
	b[8] = '-'
	hex.Encode(b[9:13], []byte{g[5], g[4]})
	b[13] = '-'
	hex.Encode(b[14:18], []byte{g[7], g[6]})
	b[18] = '-'
	hex.Encode(b[19:23], g[8:10])
	b[23] = '-'
	hex.Encode(b[24:36], g[10:16])
	return b
}

// Ref returns the GUID as an object reference, "<GUID=...>".
func (g GUID) Ref() string {
	text := g.text()
	return "<GUID=" + string(text[:]) + ">"
}

// IsZero reports whether g is the zero GUID, which no object has.
func (g GUID) IsZero() bool { return g == GUID{} }

// ParseGUID parses a GUID with dashes, with or without braces, in any case, or 32
// hexadecimal digits in the same order.
func ParseGUID(s string) (GUID, bool) {
	if len(s) >= 2 && s[0] == '{' && s[len(s)-1] == '}' {
		s = s[1 : len(s)-1]
	}
	var digits [36]byte
	b := digits[:0]
	switch {
	case len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-':
		for _, group := range [...]string{s[0:8], s[9:13], s[14:18], s[19:23], s[24:36]} {
			b = append(b, group...)
		}
	case len(s) == 32:
		b = append(b, s...)
	default:
		return GUID{}, false
	}
	var t [16]byte
	if _, err := hex.Decode(t[:], b); err != nil {
		return GUID{}, false
	}
	g := GUID(t)
	g[0], g[1], g[2], g[3] = t[3], t[2], t[1], t[0]
	g[4], g[5], g[6], g[7] = t[5], t[4], t[7], t[6]
	return g, true
}

// GUIDFromBytes converts the 16 octets of an objectGUID.
func GUIDFromBytes(b []byte) (GUID, bool) {
	if len(b) != 16 {
		return GUID{}, false
	}
	return GUID(b), true
}

// SID is a security identifier, comparable with ==. The zero SID means none.
type SID struct{ raw string }

// IsZero reports whether s is the zero SID.
func (s SID) IsZero() bool { return s.raw == "" }

// Bytes returns the octets of objectSid, or nil for the zero SID.
func (s SID) Bytes() []byte {
	if s.raw == "" {
		return nil
	}
	return []byte(s.raw)
}

// Ref returns the SID as an object reference, "<SID=...>".
func (s SID) Ref() string { return "<SID=" + s.String() + ">" }

// String returns the S-1-... form, or "" for the zero SID.
func (s SID) String() string {
	if len(s.raw) < 8 {
		return ""
	}
	var authority uint64
	for i := 2; i < 8; i++ {
		authority = authority<<8 | uint64(s.raw[i])
	}
	b := make([]byte, 0, 48)
	b = append(b, "S-"...)
	b = strconv.AppendUint(b, uint64(s.raw[0]), 10)
	b = append(b, '-')
	b = strconv.AppendUint(b, authority, 10)
	for i := 8; i+4 <= len(s.raw); i += 4 {
		b = append(b, '-')
		b = strconv.AppendUint(b, uint64(le32(s.raw[i:])), 10)
	}
	return string(b)
}

// RID returns the last sub-authority, or 0 for the zero SID.
func (s SID) RID() uint32 {
	if len(s.raw) < 12 {
		return 0
	}
	return le32(s.raw[len(s.raw)-4:])
}

// Domain returns the SID without its last sub-authority.
func (s SID) Domain() SID {
	if len(s.raw) < 12 {
		return SID{}
	}
	return SID{string(s.raw[0]) + string(s.raw[1]-1) + s.raw[2:len(s.raw)-4]}
}

// WithRID returns the SID with another sub-authority appended.
func (s SID) WithRID(rid uint32) SID {
	if len(s.raw) < 8 {
		return SID{}
	}
	b := []byte(s.raw)
	b[1]++
	return SID{string(binary.LittleEndian.AppendUint32(b, rid))}
}

// ParseSID parses the S-1-... form, in any case.
func ParseSID(text string) (SID, bool) {
	parts := strings.Split(text, "-")
	if len(parts) < 3 || len(parts) > 18 || !strings.EqualFold(parts[0], "S") {
		return SID{}, false
	}
	rev, err := strconv.ParseUint(parts[1], 10, 8)
	if err != nil || rev != 1 {
		return SID{}, false
	}
	authority, err := strconv.ParseUint(parts[2], 10, 48)
	if err != nil {
		return SID{}, false
	}
	b := []byte{1, byte(len(parts) - 3)}
	b = append(b, byte(authority>>40), byte(authority>>32), byte(authority>>24),
		byte(authority>>16), byte(authority>>8), byte(authority))
	for _, p := range parts[3:] {
		n, err := strconv.ParseUint(p, 10, 32)
		if err != nil {
			return SID{}, false
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return SID{string(b)}, true
}

// SIDFromBytes converts the octets of an objectSid.
func SIDFromBytes(b []byte) (SID, bool) {
	if len(b) < 8 || b[0] != 1 || len(b) != 8+4*int(b[1]) || b[1] > 15 {
		return SID{}, false
	}
	return SID{string(b)}, true
}

func le32(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}
